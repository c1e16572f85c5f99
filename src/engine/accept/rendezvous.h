/* SPDX-License-Identifier: Apache-2.0 */
/* Rendezvous listeners, which serve several flows, of any workers and groups. A thread of its own
 * takes the connections, reads their preambles, and hands each to the worker of its flow
 * (handoff.h). */
#ifndef NM_ENGINE_ACCEPT_RENDEZVOUS_H
#define NM_ENGINE_ACCEPT_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

struct nm_engine;
struct nm_engine_error;
struct nm_rendezvous;

/* Opens the listeners that the engine's plan needs and gives their texts to the workers.
 * *ret_rendezvous borrows the engine; NULL: none is needed. On failure -errno and a phrase in why.
 * The control thread calls this, as all here. */
int nm_rendezvous_open(struct nm_engine *engine, struct nm_rendezvous **ret_rendezvous, char *why,
		       size_t why_size);
/* Starts the thread, after the workers. 0 or -errno. */
int nm_rendezvous_start(struct nm_rendezvous *rendezvous);
/* Whether a flow waits for a connection in vain, as this host has no port for its end; the
 * rendezvous may be NULL. */
bool nm_rendezvous_lacks_port(const struct nm_rendezvous *rendezvous,
			      struct nm_engine_error *ret_error);
/* Ends the thread and closes everything. Accepts NULL, returns NULL. */
struct nm_rendezvous *nm_rendezvous_free(struct nm_rendezvous *rendezvous);

#endif
