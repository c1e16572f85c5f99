/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase, before the phase ends: the rest of messages that were abandoned
 * on streams goes, and comes. On the worker's thread; worker->run.n_abandoning says on how many
 * connections that still goes on. */
#ifndef NM_ENGINE_PHASE_FLUSH_H
#define NM_ENGINE_PHASE_FLUSH_H

#include <stdint.h>

struct nm_conn;
struct nm_worker;

/* On how many connections of flows that have not failed a message was abandoned. */
uint32_t nm_flush_count(const struct nm_worker *worker);
/* Moves the bytes that can move on all of these connections, and arms the connections for more. The
 * worker's flows are idle. */
void nm_flush_begin(struct nm_worker *worker);
/* Moves the bytes that can move on the connection, by its flags; nothing when no message was
 * abandoned. */
void nm_flush_conn(struct nm_worker *worker, struct nm_conn *conn);

#endif
