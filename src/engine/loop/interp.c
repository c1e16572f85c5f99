/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter: runs a flow through its program until a step would wait, and ends passes. */
#include "engine/loop/interp.h"

#include <assert.h>
#include <errno.h>

#include "engine/loop/deadline.h"
#include "engine/loop/pacer.h"
#include "engine/loop/runq.h"
#include "engine/phase/reconnect.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "flowop/flowop.h"
#include "flowop/pipeline.h"
#include "host/clock.h"

void nm_worker_sleep(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->busy = true;
	flow->state = NM_FLOW_ASLEEP;
	nm_timers_add(&worker->timers, &flow->timer);
}

static void wait_for(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		     bool output)
{
	flow->error = -nm_waiter_arm(worker, flow->conn, output);
	if (flow->error)
		nm_worker_fail_flow(worker, flow, instr);
}

void nm_worker_wait_in(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->state = NM_FLOW_WAITING;
	wait_for(worker, flow, flow->at, false);
}

static bool has_deadline(const struct nm_flow *flow, const struct nm_instr *instr)
{
	return instr->timeout_ns | flow->timer.at_ns;
}

/* The wait that has begun ends by itself; unless the flow has failed. */
static void set_deadline(struct nm_worker *worker, struct nm_flow *flow,
			 const struct nm_instr *instr)
{
	if (flow->state != NM_FLOW_PARKED && flow->state != NM_FLOW_LIMITED)
		return;
	if (instr->timeout_ns) {
		if (!nm_flow_is_late(flow, instr))
			nm_deadline_set(worker, flow);
		return;
	}
	worker->busy = true;
	nm_timers_add(&worker->timers, &flow->timer);
}

static void wait_on_conn(struct nm_worker *worker, struct nm_flow *flow,
			 const struct nm_instr *instr, bool output)
{
	if (has_deadline(flow, instr)) {
		flow->state = NM_FLOW_LIMITED;
		wait_for(worker, flow, instr, output);
		set_deadline(worker, flow, instr);
	} else if (!worker->defer.policy || !nm_defer_add(worker, flow, instr)) {
		flow->state = NM_FLOW_WAITING;
		wait_for(worker, flow, instr, output);
	}
}

/* The step has failed, unless by that the flow replaces its connection, or has replaced it. */
static void fail(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	enum nm_reconnect_answer answer = nm_reconnect_goes_on(worker, flow, instr);

	if (answer == NM_RECONNECT_NO)
		nm_worker_fail_flow(worker, flow, instr);
	else if (answer == NM_RECONNECT_DONE)
		nm_worker_resume_pass(worker, flow);
}

static void suspend(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		    enum nm_step answer)
{
	if (answer == NM_STEP_NEXT_WAIT_IN) {
		instr++;
		answer = NM_STEP_WAIT_IN;
	}
	flow->at = instr;
	switch (answer) {
	case NM_STEP_WAIT_IN:
	case NM_STEP_WAIT_OUT:
		wait_on_conn(worker, flow, instr, answer == NM_STEP_WAIT_OUT);
		break;
	case NM_STEP_YIELD:
		nm_worker_queue(worker, flow);
		break;
	case NM_STEP_SLEEP:
		nm_worker_sleep(worker, flow);
		break;
	case NM_STEP_PARK:
		flow->state = NM_FLOW_PARKED;
		if (instr->timeout_ns)
			set_deadline(worker, flow, instr);
		break;
	case NM_STEP_FAIL:
	case NM_STEP_NEXT:
	case NM_STEP_NEXT_WAIT_IN:
	case NM_STEP_BACK:
		fail(worker, flow, instr);
		break;
	}
}

/* Between two passes: others have their turn, or main wants something. */
static __attribute__((noinline)) bool take_turn(struct nm_worker *worker, struct nm_flow *flow)
{
	if (worker->waiter.sleeps_in_recv &&
	    !atomic_load_explicit(&worker->commands.has_command, memory_order_relaxed))
		return true;
	nm_worker_queue(worker, flow);
	return false;
}

/* The phase is not over, unless all passes of the flow are done. */
static inline __attribute__((always_inline)) bool go_on(struct nm_worker *worker,
							struct nm_flow *flow, uint64_t done)
{
	if (--flow->iterations_left == 0) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	if (__builtin_expect(!(done & worker->run.budget_mask) ||
				     atomic_load_explicit(&worker->commands.has_command,
							  memory_order_relaxed),
			     0))
		return take_turn(worker, flow);
	return true;
}

/* The end of a pass while further requests may be outstanding: the flow ends the phase when none
 * is. */
static bool end_pipelined_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns,
			       uint64_t done)
{
	const struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);
	bool over = atomic_load_explicit(&worker->commands.stop, memory_order_relaxed);

	if (worker->run.response)
		nm_hist_record(worker->run.response, now_ns - flow->plan_ns);
	if (!nm_pipe_is_busy(pipe) && over) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	if (!nm_pipe_is_busy(pipe) && nm_pacer_paces(&worker->run.pacer) &&
	    flow->iterations_left > 1) {
		flow->iterations_left--;
		flow->plan_ns = pipe->plan_ns;
		return !nm_worker_pace(worker, flow, now_ns ? now_ns : nm_clock_ns());
	}
	bool goes_on = go_on(worker, flow, done);

	/* By its next turn it will be later. */
	if (!goes_on)
		flow->start_ns = 0;
	return goes_on;
}

/* The end of a pass after which something else than the next pass may come: the phase may be over,
 * and a paced phase has a target of 0 all the time, as have those whose passes are counted for each
 * flow. */
static __attribute__((noinline)) bool end_special_pass(struct nm_worker *worker,
						       struct nm_flow *flow, uint64_t now_ns)
{
	uint64_t done = nm_count_passes(worker->io.count);
	bool paced = nm_pacer_paces(&worker->run.pacer);

	if (worker->observe.counts_passes)
		nm_flowop_stats_pass(worker, flow, now_ns);
	if (worker->run.phase->pipeline)
		return end_pipelined_pass(worker, flow, now_ns, done);
	if (done < worker->run.end_at) {
		if (flow->iterations_left == 1 || !nm_reconnect_before_pass(worker, flow))
			return go_on(worker, flow, done);
		flow->iterations_left--;
		return false;
	}

	if (paced && worker->run.response && !flow->unanswered)
		nm_hist_record(worker->run.response, now_ns - flow->plan_ns);
	if (!paced && !worker->run.phase->leads) {
		/* All flows follow: all passes that the other end has begun are done, whoever has
		 * made them. */
		nm_phase_passes_done(worker);
		return false;
	}
	if (--flow->iterations_left == 0 || !paced ||
	    atomic_load_explicit(&worker->commands.stop, memory_order_relaxed)) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	flow->plan_ns = nm_pacer_next(&worker->run.pacer, flow, flow->plan_ns);
	return !nm_worker_pace(worker, flow, now_ns ? now_ns : nm_clock_ns());
}

/* The end of a pass that has lost something: none of the transactions, and its length is that of
 * the limit. */
static __attribute__((noinline)) bool end_unanswered_pass(struct nm_worker *worker,
							  struct nm_flow *flow)
{
	uint64_t now_ns = worker->run.latency ? nm_clock_ns() : 0;

	nm_counter_add(&worker->io.count->unanswered, 1);
	nm_worker_set_end(worker,
			  worker->run.end_at); /* with one answered pass less it is reached */
	worker->io.now_ns = flow->start_ns = now_ns;
	bool goes_on = nm_counter_read(&worker->io.count->iterations) >= worker->run.check_at
			       ? end_special_pass(worker, flow, now_ns)
			       : go_on(worker, flow, nm_count_passes(worker->io.count));

	flow->unanswered = false;
	return goes_on;
}

/* The end of a pass. True when the flow goes on with the next one at once. */
static inline __attribute__((always_inline)) bool end_pass(struct nm_worker *worker,
							   struct nm_flow *flow)
{
	_Atomic uint64_t *iterations = &worker->io.count->iterations;
	uint64_t now_ns = 0;
	uint64_t done = nm_counter_read(iterations) + 1;

	if (__builtin_expect(flow->unanswered, 0))
		return end_unanswered_pass(worker, flow);
	atomic_store_explicit(iterations, done, memory_order_relaxed);
	if (worker->run.latency) {
		now_ns = worker->io.now_ns = nm_clock_ns();
		nm_hist_record(worker->run.latency, now_ns - flow->start_ns);
		flow->start_ns = now_ns;
	}
	if (__builtin_expect(done >= worker->run.check_at, 0))
		return end_special_pass(worker, flow, now_ns);
	return go_on(worker, flow, done);
}

/* Answers up to NEXT_WAIT_IN but NEXT are waits for input, of this instruction or the next. */
static_assert(NM_STEP_NEXT == 0 && NM_STEP_WAIT_IN == 1 && NM_STEP_NEXT_WAIT_IN == 2 &&
		      NM_STEPS <= 9,
	      "the interpreter adds answers to instructions");

static inline __attribute__((always_inline)) void run_flow(struct nm_worker *worker,
							   struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	flow->state = NM_FLOW_READY;
	for (;;) {
		while (instr->step) {
			enum nm_step answer = instr->step(&worker->io, flow, instr);

			if (answer == NM_STEP_NEXT) {
				instr++;
				continue;
			}
			if (answer <= NM_STEP_NEXT_WAIT_IN && (flow->conn->flags & NM_CONN_ARMED) &&
			    !has_deadline(flow, instr + (answer - NM_STEP_WAIT_IN))) {
				flow->at = instr + (answer - NM_STEP_WAIT_IN);
				flow->state = NM_FLOW_WAITING;
			} else if (answer == NM_STEP_BACK) {
				instr--;
				continue;
			} else {
				suspend(worker, flow, instr, answer);
			}
			return;
		}
		instr = flow->at = worker->run.body;
		if (!end_pass(worker, flow))
			return;
	}
}

void nm_worker_run_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	run_flow(worker, flow);
}

bool nm_worker_run_step(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	flow->state = NM_FLOW_READY;
	enum nm_step answer = instr->step(&worker->io, flow, instr);

	if (answer == NM_STEP_NEXT)
		flow->at = instr + 1;
	else
		suspend(worker, flow, instr, answer);
	return answer == NM_STEP_NEXT;
}

void nm_worker_retry_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	nm_defer_try(worker, flow);
	enum nm_step answer = instr->step(&worker->io, flow, instr);

	if (answer == NM_STEP_WAIT_IN || answer == NM_STEP_WAIT_OUT) {
		nm_defer_missed(worker);
		flow->state = NM_FLOW_WAITING;
		wait_for(worker, flow, instr, answer == NM_STEP_WAIT_OUT);
		return;
	}
	flow->state = NM_FLOW_READY;
	if (answer != NM_STEP_NEXT) {
		suspend(worker, flow, instr, answer);
		return;
	}
	flow->at = instr + 1;
	nm_worker_run_flow(worker, flow);
}
