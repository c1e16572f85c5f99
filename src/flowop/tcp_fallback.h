/* SPDX-License-Identifier: Apache-2.0 */
/* A query whose answer was too long for a datagram is asked again over a stream: a connection of
 * the flow of its own, which is opened when it is needed first, and stays open. The request has one
 * latency and one limit, over both. */
#ifndef NM_FLOWOP_TCP_FALLBACK_H
#define NM_FLOWOP_TCP_FALLBACK_H

#include "flowop/asking.h"

/* `cut`: what the flow's present connection has asked. The flow goes on over the other one, and
 * comes back with the answer NEXT. */
enum nm_step nm_tcp_fallback_begin(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr, const struct nm_asking *cut);
/* `asking`: of the flow's present connection, which is the stream. */
enum nm_step nm_tcp_fallback_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr, struct nm_asking *asking);

#endif
