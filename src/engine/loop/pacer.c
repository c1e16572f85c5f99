/* SPDX-License-Identifier: Apache-2.0 */
/* Paced phases: when the passes of a flow are due. */
#include "engine/loop/pacer.h"

#include "engine/phase/phase.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/retry.h"
#include "engine/runq.h"
#include "engine/wait/waiter.h"
#include "flowop/pipeline.h"
#include "host/clock.h"

/* When the flow has something to do next: its pass is due, or none is any more. */
static uint64_t wake_ns(const struct nm_worker *worker, const struct nm_flow *flow)
{
	uint64_t last_ns = worker->run.pacer.last_ns;

	return flow->request.due_ns < last_ns ? flow->request.due_ns : last_ns;
}

void nm_worker_await_pass(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->timer.at_ns = wake_ns(worker, flow);
	flow->paced = true;
	nm_worker_sleep(worker, flow);
}

bool nm_worker_pace(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	bool is_due = wake_ns(worker, flow) <= now_ns;

	if (is_due && flow->request.due_ns >= worker->run.pacer.last_ns) {
		nm_phase_flow_done(worker, flow);
		return true;
	}
	if (nm_reconnect_before_pass(worker, flow))
		return true;
	if (is_due)
		return false;
	nm_worker_await_pass(worker, flow);
	return true;
}

bool nm_worker_begin_paced_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->paced = false;
	flow->timer.at_ns = 0;
	flow->request.sent_ns = now_ns;
	if (flow->request.due_ns >= worker->run.pacer.last_ns) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	return !nm_reconnect_before_pass(worker, flow);
}

/* Whether nothing is outstanding on the flow's connection, which is there. */
static bool rests(struct nm_worker *worker, struct nm_flow *flow)
{
	return flow->at == worker->run.body && nm_flow_is_waiting(flow) &&
	       !nm_pipe_is_busy(nm_pipe_of(&worker->io, flow));
}

bool nm_worker_close_arrivals(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_flow *flow;

	if (__builtin_expect(!nm_open_close(worker, now_ns), 1))
		return false;
	while (worker->run.open.on && (flow = nm_open_take_free(worker)))
		if (!worker->run.phase->pipeline || rests(worker, flow))
			nm_phase_flow_done(worker, flow);
	return true;
}

bool nm_worker_passes_are_over(struct nm_worker *worker, const struct nm_flow *flow,
			       uint64_t now_ns)
{
	if (worker->run.open.on)
		return nm_worker_close_arrivals(worker, now_ns) || nm_retry_has_left(worker, flow);
	return !flow->iterations_left ||
	       atomic_load_explicit(&worker->commands.stop, memory_order_relaxed);
}

bool nm_worker_take_due(struct nm_io *io, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_worker *worker = nm_worker_of(io);
	/* Before the arrivals are closed, as that knows nothing of this flow's places. */
	const bool is_due = nm_open_is_due_for(worker, flow, now_ns);

	if (!nm_worker_close_arrivals(worker, now_ns) && is_due) {
		nm_open_begin_pass(worker, flow, now_ns);
		return true;
	}
	nm_open_free(worker, flow);
	if (worker->run.open.closed) /* it is done, if it waits for nothing: nobody else tells it */
		nm_worker_arm(worker, &worker->run.open.timer, NM_TIMER_ARRIVAL, now_ns + 1);
	return false;
}

bool nm_worker_begin_due(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns,
			 bool has_turn)
{
	if (nm_worker_close_arrivals(worker, now_ns) || nm_retry_has_left(worker, flow)) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	if (nm_reconnect_before_pass(worker, flow))
		return false;
	if (has_turn && nm_open_is_due(worker, now_ns)) {
		nm_open_begin_pass(worker, flow, now_ns);
		return true;
	}
	nm_open_free(worker, flow);
	return false;
}

void nm_worker_release_paced(struct nm_worker *worker)
{
	uint64_t duration_ns = worker->run.phase->duration_ns;
	bool over = duration_ns && nm_clock_ns() - worker->commands.begin_ns >= duration_ns;

	for (uint32_t i = 0; i < worker->n_flows && worker->run.phase; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state != NM_FLOW_ASLEEP || !flow->paced)
			continue;
		if (over && flow->timer.at_ns < worker->run.pacer.last_ns)
			continue;
		nm_timers_remove(&worker->timers, &flow->timer);
		flow->paced = false;
		flow->timer.at_ns = 0;
		nm_phase_flow_done(worker, flow);
	}
}

void nm_worker_resume_pass(struct nm_worker *worker, struct nm_flow *flow)
{
	const bool open = worker->run.open.on, pipelined = worker->run.phase->pipeline;

	if (pipelined && nm_worker_passes_are_over(worker, flow, nm_clock_ns())) {
		nm_phase_flow_done(worker, flow);
		return;
	}
	if (open && !pipelined) {
		(void)nm_worker_begin_due(worker, flow, nm_clock_ns(), false);
		return;
	}
	if (open || !nm_pacer_paces(&worker->run.pacer) ||
	    flow->request.due_ns <= flow->request.sent_ns) {
		if (pipelined) /* by its turn this time will be too old */
			flow->request.sent_ns = 0;
		nm_worker_queue(worker, flow);
		return;
	}
	nm_worker_await_pass(worker, flow);
	if (atomic_load_explicit(&worker->commands.stop, memory_order_relaxed))
		nm_worker_release_paced(worker);
}
