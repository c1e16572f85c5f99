/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter: runs a flow through its program until a step would wait, and ends passes. Events
 * of connections are dispatched here, too, beside the flows that they run. */
#include "engine/loop/interp.h"

#include <assert.h>
#include <errno.h>

#include "engine/loop/deadline.h"
#include "engine/loop/fault.h"
#include "engine/loop/pacer.h"
#include "engine/loop/request.h"
#include "engine/runq.h"
#include "engine/phase/phase.h"
#include "engine/phase/reconnect.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "flowop/flowop.h"
#include "flowop/pipeline.h"
#include "host/clock.h"
#include "plan/shape.h"

#if defined __has_attribute
#if __has_attribute(no_stack_protector)
#define NO_STACK_GUARD __attribute__((no_stack_protector))
#endif
#endif
#ifndef NO_STACK_GUARD
#define NO_STACK_GUARD
#endif

static void wait_for(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		     bool output)
{
	flow->error = -nm_waiter_arm(worker, flow->conn, output);
	if (flow->error)
		nm_worker_fail_flow(worker, flow, instr);
}

static bool has_deadline(const struct nm_worker *worker, const struct nm_flow *flow,
			 const struct nm_instr *instr)
{
	return worker->run.has_deadlines && (instr->timeout_ns | flow->timer.at_ns);
}

/* Sets the deadline of the wait that has begun, unless the flow has failed. */
static void set_deadline(struct nm_worker *worker, struct nm_flow *flow,
			 const struct nm_instr *instr)
{
	if (flow->state != NM_FLOW_PARKED && flow->state != NM_FLOW_WAITING_UNTIL)
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
	if (has_deadline(worker, flow, instr)) {
		flow->state = NM_FLOW_WAITING_UNTIL;
		wait_for(worker, flow, instr, output);
		set_deadline(worker, flow, instr);
	} else if (!worker->defer.policy || !nm_defer_add(worker, flow, instr)) {
		flow->state = NM_FLOW_WAITING;
		wait_for(worker, flow, instr, output);
	}
}

/* The step has answered FAIL. It has failed, unless the flow replaces its connection now, or has
 * replaced it. */
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
	case NM_STEP_WAIT_OUT:
		if (worker->run.open.on)
			nm_open_refused(worker, flow);
		/* fall through */
	case NM_STEP_WAIT_IN:
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
	case NM_STEP_JUMP:
		fail(worker, flow, instr);
		break;
	}
}

/* Between two passes: other flows have their turn, or the control thread wants something. */
static __attribute__((noinline)) bool take_turn(struct nm_worker *worker, struct nm_flow *flow)
{
	if (worker->waiter.sleeps_in_recv &&
	    !atomic_load_explicit(&worker->commands.has_command, memory_order_relaxed))
		return true;
	nm_worker_queue(worker, flow);
	return false;
}

/* Whether the flow still has its turn, after so many passes of all flows. */
static inline __attribute__((always_inline)) bool has_turn(const struct nm_worker *worker,
							   uint64_t done)
{
	return (done & worker->run.budget_mask) &&
	       !atomic_load_explicit(&worker->commands.has_command, memory_order_relaxed);
}

/* The phase goes on, unless all passes of the flow are done. */
static inline __attribute__((always_inline)) bool go_on(struct nm_worker *worker,
							struct nm_flow *flow, uint64_t done)
{
	if (--flow->iterations_left == 0) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	if (__builtin_expect(!has_turn(worker, done), 0))
		return take_turn(worker, flow);
	return true;
}

/* The end of a pass while further requests may be outstanding: the flow is done with the phase only
 * when none is. */
static bool end_pipelined_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns,
			       uint64_t done)
{
	const struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);

	if (worker->run.open.on)
		nm_open_end_pass(worker, flow, now_ns);
	flow->iterations_left--;
	if (!pipe->outstanding)
		flow->request.due_ns = pipe->next.due_ns;
	if (!nm_pipe_is_busy(pipe)) {
		const bool paces = nm_pacer_paces(&worker->run.pacer);

		if (!now_ns && (worker->run.open.on || paces))
			now_ns = nm_clock_ns();
		if (nm_worker_passes_are_over(worker, flow, now_ns)) {
			nm_phase_flow_done(worker, flow);
			return false;
		}
		if (paces)
			return !nm_worker_pace(worker, flow, now_ns);
	}
	bool goes_on = has_turn(worker, done) || take_turn(worker, flow);

	/* By the flow's next turn this time will be too old. */
	if (!goes_on)
		flow->request.sent_ns = 0;
	return goes_on;
}

/* After a pass of an open phase: the flow makes the next one if it is due, unless others are to
 * have their turn first: then it is free, and what is due goes to flows in their order. */
static bool go_on_open(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns,
		       uint64_t done)
{
	flow->iterations_left--;
	return nm_worker_begin_due(worker, flow, now_ns, has_turn(worker, done));
}

/* After a pass behind which something else than the next one may come: the phase may be over, and
 * a paced phase comes here after every pass. */
static __attribute__((noinline)) bool after_pass(struct nm_worker *worker, struct nm_flow *flow,
						 uint64_t now_ns)
{
	uint64_t done = nm_count_passes(worker->io.count);
	bool paced = nm_pacer_paces(&worker->run.pacer);

	if (worker->run.phase->pipeline)
		return end_pipelined_pass(worker, flow, now_ns, done);
	if (worker->run.open.on)
		return go_on_open(worker, flow, now_ns ? now_ns : nm_clock_ns(), done);
	if (done < worker->run.end_at) {
		if (flow->iterations_left == 1 || !nm_reconnect_before_pass(worker, flow))
			return go_on(worker, flow, done);
		flow->iterations_left--;
		return false;
	}

	if (!paced && !worker->run.phase->leads) {
		/* All flows follow: the passes that the other end has begun are done, by any of the
		 * flows. */
		nm_phase_passes_done(worker);
		return false;
	}
	if (--flow->iterations_left == 0 || !paced ||
	    atomic_load_explicit(&worker->commands.stop, memory_order_relaxed)) {
		nm_phase_flow_done(worker, flow);
		return false;
	}
	flow->request.due_ns = nm_pacer_next(&worker->run.pacer, flow, flow->request.due_ns);
	return !nm_worker_pace(worker, flow, now_ns ? now_ns : nm_clock_ns());
}

/* The end of a pass of which more is recorded than the latency, or that has lost a message. */
static __attribute__((noinline)) bool end_unusual_pass(struct nm_worker *worker,
						       struct nm_flow *flow)
{
	uint64_t now_ns = 0;

	if (worker->run.latency)
		now_ns = worker->io.now_ns = nm_clock_ns();
	nm_request_end(worker, flow, now_ns);
	return nm_counter_read(&worker->io.count->iterations) >= worker->run.check_at
		       ? after_pass(worker, flow, now_ns)
		       : go_on(worker, flow, nm_count_passes(worker->io.count));
}

/* The end of a pass. True when the flow goes on with the next one at once. */
static inline __attribute__((always_inline)) bool end_pass(struct nm_worker *worker,
							   struct nm_flow *flow)
{
	_Atomic uint64_t *iterations = &worker->io.count->iterations;
	uint64_t now_ns = 0;
	uint64_t done = nm_counter_read(iterations) + 1;

	if (__builtin_expect(flow->request.unusual, 0))
		return end_unusual_pass(worker, flow);
	atomic_store_explicit(iterations, done, memory_order_relaxed);
	if (worker->run.latency) {
		now_ns = worker->io.now_ns = nm_clock_ns();
		nm_hist_record(worker->run.latency, now_ns - flow->request.sent_ns);
		flow->request.sent_ns = now_ns;
	}
	if (__builtin_expect(done >= worker->run.check_at, 0))
		return after_pass(worker, flow, now_ns);
	return go_on(worker, flow, done);
}

/* Whether the wait for input that begins is that of a request with a limit, and needs no call. */
static inline bool awaits_answer(const struct nm_flow *flow, const struct nm_instr *instr)
{
	return nm_instr_asks(instr) && instr->timeout_ns && (flow->conn->flags & NM_CONN_ARMED);
}

/* Answers up to NEXT_WAIT_IN but NEXT are waits for input, of this instruction or the next. */
static_assert(NM_STEP_NEXT == 0 && NM_STEP_WAIT_IN == 1 && NM_STEP_NEXT_WAIT_IN == 2 &&
		      NM_STEPS <= 9,
	      "the interpreter adds answers to instructions");

/* The flow is READY. */
static inline __attribute__((always_inline)) void run_flow(struct nm_worker *worker,
							   struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	for (;;) {
		while (instr->step) {
			enum nm_step answer = instr->step(&worker->io, flow, instr);

			if (answer == NM_STEP_NEXT) {
				instr++;
				continue;
			}
			if (answer <= NM_STEP_NEXT_WAIT_IN && (flow->conn->flags & NM_CONN_ARMED) &&
			    !has_deadline(worker, flow, instr + (answer - NM_STEP_WAIT_IN))) {
				flow->at = instr + (answer - NM_STEP_WAIT_IN);
				flow->state = NM_FLOW_WAITING;
			} else if (answer == NM_STEP_JUMP) {
				instr = flow->at;
				continue;
			} else if (answer == NM_STEP_WAIT_IN && awaits_answer(flow, instr)) {
				flow->at = instr;
				flow->state = NM_FLOW_WAITING_UNTIL;
				nm_deadline_of_request(worker, flow);
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
	flow->state = NM_FLOW_READY;
	run_flow(worker, flow);
}

static inline bool run_step(struct nm_worker *worker, struct nm_flow *flow)
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

static_assert((uint32_t)NM_CONN_IN == EPOLLIN && (uint32_t)NM_CONN_OUT == EPOLLOUT,
	      "masks are added as they are");

/* An event for a flow that is not simply waiting. True: it ends the flow's limited wait. False: the
 * flow does not go on by it; after the last pass the phase takes it. */
static __attribute__((noinline)) bool end_limited(struct nm_worker *worker, struct nm_conn *conn)
{
	struct nm_flow *flow = conn->flow;

	if (worker->run.state > NM_PHASE_RUN)
		nm_phase_conn_event(worker, conn);
	if (flow->state != NM_FLOW_WAITING_UNTIL || (flow->conn != conn && !flow->abandons)) {
		nm_waiter_ignore(worker, conn);
		return false;
	}
	nm_deadline_lift(worker, flow);
	return true;
}

/* The same of an event for a flow that awaits the answer to a request, as long as passes are made:
 * true, or end_limited decides. The limit of the request is noted with it. */
static inline bool end_request_wait(const struct nm_worker *worker, const struct nm_conn *conn)
{
	struct nm_flow *flow = conn->flow;

	if (flow->state != NM_FLOW_WAITING_UNTIL || flow->conn != conn ||
	    worker->run.state > NM_PHASE_RUN || !nm_instr_asks(flow->at))
		return false;
	flow->timer.at_ns = 0;
	return true;
}

/* The peer has closed, or the connection has failed; or the kernel tells about sends without a
 * copy, by its error queue. */
static __attribute__((noinline)) void note_end(struct nm_conn *conn, uint32_t events)
{
	if ((conn->traits & NM_CONN_ZEROCOPY) && !(events & (EPOLLRDHUP | EPOLLHUP)))
		conn->flags |= NM_CONN_OUT | NM_CONN_ERRQUEUE;
	else
		conn->flags |= NM_CONN_IN | NM_CONN_OUT | NM_CONN_HUP;
}

/* Notes the event. True: the flow has waited, for this or for another of its connections: its step
 * will find out. */
static inline bool note_event(struct nm_worker *worker, struct nm_conn *conn, uint32_t events)
{
	conn->flags |= events & (EPOLLIN | EPOLLOUT);
	if (__builtin_expect(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), 0))
		note_end(conn, events);
	return __builtin_expect(conn->flow->state == NM_FLOW_WAITING, 1) ||
	       end_request_wait(worker, conn) || end_limited(worker, conn);
}

void nm_worker_conn_event(struct nm_worker *worker, struct nm_conn *conn, uint32_t events)
{
	if (note_event(worker, conn, events))
		nm_worker_run_flow(worker, conn->flow);
}

static inline bool is_conn(const struct epoll_event *event)
{
	return (event->data.u64 & NM_TAG_MASK) == NM_TAG_CONN;
}

static inline __attribute__((always_inline)) void dispatch_one(struct nm_worker *worker,
							       const struct epoll_event *event)
{
	struct nm_conn *conn = event->data.ptr;

	if (__builtin_expect(!is_conn(event), 0)) {
		worker->waiter.events->other(worker, event);
	} else if (note_event(worker, conn, event->events)) {
		conn->flow->state = NM_FLOW_READY;
		run_flow(worker, conn->flow);
	}
}

/* Each flow takes its input before any of them answers, so that the answers leave together: one
 * that left early would wake the other end for itself alone. */
static void dispatch_all(struct nm_worker *worker, struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		struct nm_conn *conn = events[i].data.ptr;

		if (__builtin_expect(!is_conn(&events[i]), 0)) {
			worker->waiter.events->other(worker, &events[i]);
			events[i].data.ptr = NULL;
			continue;
		}
		struct nm_flow *flow = conn->flow;

		if (!note_event(worker, conn, events[i].events) || !run_step(worker, flow))
			flow = NULL;
		events[i].data.ptr = flow;
	}
	for (int i = 0; i < n; i++) {
		struct nm_flow *flow = events[i].data.ptr;

		/* The end of the phase may have come in between. */
		if (flow && flow->state == NM_FLOW_READY)
			run_flow(worker, flow);
	}
}

/* The only variable on this stack whose address is taken is a time that the clock writes: a guard
 * of it (-fstack-protector-strong) would take six instructions of each pass, and guard nothing. */
NO_STACK_GUARD
void nm_worker_dispatch(struct nm_worker *worker, struct epoll_event *events, int n)
{
	if (__builtin_expect(n == 1, 1))
		dispatch_one(worker, &events[0]);
	else
		dispatch_all(worker, events, n);
}
