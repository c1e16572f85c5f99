/* SPDX-License-Identifier: Apache-2.0 */
/* The one way in for connections that begin with a preamble, which says for which flow they are:
 * rendezvous listeners and the demultiplexer find the accept that a preamble means, and the
 * connection is pending at its flow until that accept takes it (flowop/accept.c). */
#ifndef NM_ENGINE_ACCEPT_PENDING_H
#define NM_ENGINE_ACCEPT_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "flowop/flow.h"
#include "flowop/listening.h"

struct nm_plan;
struct nm_preamble;

/* The accept that the preamble means, of a group that this host runs; NULL: there is none. Any
 * thread. */
const struct nm_instr *nm_pending_find_accept(const struct nm_plan *plan,
					      const struct nm_preamble *preamble);
/* Adds a connection to the pending ones of the flow, which owns it from now on: fd (then peer is
 * NULL) or peer (then fd is -1). 0 or -ENOMEM; then the caller still owns it. On the worker's
 * thread, as all below. */
int nm_pending_add(struct nm_flow *flow, uint32_t opening, int fd, struct nm_udp_mux_peer *peer);
/* Whether the flow waits for a connection that is pending now, and for nothing else. */
bool nm_pending_is_awaited(const struct nm_flow *flow);
/* Closes all connections that are pending at the flow. */
void nm_pending_close(struct nm_flow *flow);

#endif
