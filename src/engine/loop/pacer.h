/* SPDX-License-Identifier: Apache-2.0 */
/* Paced phases: when the passes of a flow are due. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_PACER_H
#define NM_ENGINE_LOOP_PACER_H

#include "engine/engine_priv.h"

/* The flow sleeps until its request is due, or until the time of the phase is over. */
void nm_worker_await_pass(struct nm_worker *worker, struct nm_flow *flow);
/* After a pass of a phase with a rate; the flow's request is the next one. True: it begins later,
 * or there is none, or a connection is replaced first. A flow whose passes are done stays until the
 * time is over: otherwise the passes would seem to have come in less time. */
bool nm_worker_pace(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* The pass that the flow has slept for is due. True when it begins now; false: the phase is over
 * for the flow, or a connection is replaced before it. */
bool nm_worker_begin_paced_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* Whether no pass of a phase with open arrivals begins any more; then free flows are done with the
 * phase, which may end by that. */
bool nm_worker_close_arrivals(struct nm_worker *worker, uint64_t now_ns);
/* Whether the flow, which has several passes under way at a time and none now, begins no more. */
bool nm_worker_passes_are_over(struct nm_worker *worker, const struct nm_flow *flow,
			       uint64_t now_ns);
/* Of such phases, where flows have several requests outstanding (io->asks): takes the pass that is
 * due, if one is; flow->request is that then. False: the flow, which has room for it, runs again
 * when one is due. */
bool nm_worker_take_due(struct nm_io *io, struct nm_flow *flow, uint64_t now_ns);
/* After a pass of a phase with open arrivals: whether the flow makes the next one, from now_ns on,
 * as it is due and the flow has its turn. False: it is free, replaces a connection, or is done with
 * the phase. */
bool nm_worker_begin_due(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns,
			 bool has_turn);
/* The worker is told to stop a phase with a rate: flows that only wait for their next pass to be
 * due are done. When the time of the phase is over, flows that are a moment late still make a pass
 * that was due within it: so there are as many passes as the rate says. The phase may end. */
void nm_worker_release_paced(struct nm_worker *worker);
/* The flow's connection has been replaced before or within a pass: the flow goes on, or sleeps
 * until the pass is due. The phase may end. */
void nm_worker_resume_pass(struct nm_worker *worker, struct nm_flow *flow);

#endif
