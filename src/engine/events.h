/* SPDX-License-Identifier: Apache-2.0 */
/* Events of transports while a run goes on. All on the control thread. */
#ifndef NM_ENGINE_EVENTS_H
#define NM_ENGINE_EVENTS_H

#include <stdbool.h>

struct nm_engine;
struct nm_engine_error;
struct nm_events;

/* Makes engine->events when a transport that has started may have events; after all transports have
 * started. 0 or -errno; nm_events_free then releases the parts that were made. */
int nm_events_open(struct nm_engine *engine);
/* Accepts NULL, returns NULL. */
struct nm_events *nm_events_free(struct nm_events *events);
/* Readable when the engine's event_fd is, or when a transport has an event. Borrowed. */
int nm_events_fd(const struct nm_engine *engine);
/* Takes all events: has the workers replace connections, keeps the first loss. */
void nm_events_read(struct nm_engine *engine);
/* Whether a transport has lost all connections of a group; then *ret_error says which and why. */
bool nm_events_lost(const struct nm_engine *engine, struct nm_engine_error *ret_error);

#endif
