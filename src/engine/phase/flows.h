/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a phase for the worker's flows, which have nothing more to do in it. On the worker's
 * thread. */
#ifndef NM_ENGINE_PHASE_FLOWS_H
#define NM_ENGINE_PHASE_FLOWS_H

#include <stdint.h>

struct nm_flow;
struct nm_worker;

/* Sends the bytes that the flow's connections hold back for more to come: nothing more comes in
 * this phase. */
void nm_flow_push(const struct nm_worker *worker, struct nm_flow *flow);
/* Stops all flows for the rest of the phase: each is idle, on no queue, and without a timer. A
 * message that this cuts in two is noted as abandoned. May be called again. */
void nm_flows_stop(struct nm_worker *worker);
/* Counts the request of the flow's flowop, where that asks, as one that was not answered in time,
 * or as lost where the network has said that it reaches nobody. */
void nm_flows_time_out(struct nm_worker *worker, const struct nm_flow *flow);
/* Counts the passes that this side has begun, and whose answer is lost: nothing comes any more, at
 * now_ns. */
void nm_flows_count_unanswered(struct nm_worker *worker, uint64_t now_ns);

#endif
