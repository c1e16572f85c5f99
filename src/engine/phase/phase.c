/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's run through a phase: the code here tells events to the phase machine, and enters the
 * states that the machine answers. */
#include "engine/phase/phase.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "engine/alarm.h"
#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/phase/drain.h"
#include "engine/phase/ends.h"
#include "engine/phase/flows.h"
#include "engine/phase/flush.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "host/clock.h"
#include "plan/shape.h"

/* A number that grows while anything moves. A wait that is given up is no movement. */
static uint64_t moved(const struct nm_worker *worker)
{
	const struct nm_counters *count = worker->io.count;

	return nm_counter_read(&count->iterations) + nm_counter_read(&count->bytes_sent) +
	       nm_counter_read(&count->bytes_received);
}

/* Whether the other end has had its last pass, so that the message or connection for which the flow
 * waits is lost. */
static bool waits_in_vain(const struct nm_worker *worker, const struct nm_flow *flow)
{
	uint32_t leader = worker->run.phase->leader;

	if (leader != NM_NO_HOST && flow->at->host != leader)
		return false;
	return flow->state == NM_FLOW_PARKED || flow->at->lossy;
}

/* How long nothing must move for the phase to count as over. A phase with a flow that can go on by
 * itself is not over. */
static uint64_t patience_ns(const struct nm_worker *worker)
{
	/* What is due may still begin. */
	if (worker->run.open.on && !worker->run.open.closed)
		return UINT64_MAX;

	uint64_t patience_ns = worker->run.n_abandoning
				       ? NM_TUNE_SILENCE_NS + worker->run.phase->waits.all_ns
				       : NM_TUNE_QUIET_NS;

	for (uint32_t i = 0; i < worker->n_flows; i++) {
		const struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state == NM_FLOW_ASLEEP || flow->state == NM_FLOW_READY)
			return UINT64_MAX;
		if (flow->state == NM_FLOW_IDLE || waits_in_vain(worker, flow))
			continue;
		if (!worker->run.phase->counts.may_lose)
			return UINT64_MAX;
		patience_ns = NM_TUNE_SILENCE_NS + worker->run.phase->waits.all_ns;
	}
	return patience_ns;
}

static void look_again(struct nm_worker *worker, uint64_t now_ns)
{
	nm_worker_arm(worker, &worker->run.quiesce_timer, NM_TIMER_QUIESCE,
		      now_ns + NM_TUNE_QUIET_LOOK_NS);
}

static void end_quiesce(struct nm_worker *worker)
{
	nm_quiesce_end(&worker->run.quiesce);
	nm_worker_disarm(worker, &worker->run.quiesce_timer);
}

void nm_phase_await_quiescence(struct nm_worker *worker)
{
	uint64_t now_ns = nm_clock_ns();

	const struct nm_phase *phase = worker->run.phase;

	if (!(phase->counts.may_lose || phase->waits.may_miss) ||
	    nm_quiesce_looks(&worker->run.quiesce))
		return;
	nm_quiesce_begin(&worker->run.quiesce, moved(worker), now_ns);
	look_again(worker, now_ns);
}

static void enter_drain(struct nm_worker *worker)
{
	worker->run.ended_ns = 0;
	end_quiesce(worker); /* begins again when the worker knows how much there is */
	nm_waiter_end(worker);
	nm_flows_stop(worker); /* followers wait for messages that do not come */
	nm_drain_begin(worker);
	atomic_store_explicit(&worker->answers.passed, worker->run.number + 1,
			      memory_order_release);
	nm_worker_notify_owner(worker);
}

static void enter_flush(struct nm_worker *worker)
{
	if (worker->run.n_abandoning)
		worker->run.ended_ns = 0;
	nm_waiter_end(worker);
	nm_phase_await_quiescence(worker);
	nm_flush_begin(worker);
}

/* The phase has ended at end_ns. */
static void enter_done(struct nm_worker *worker, uint64_t end_ns)
{
	struct nm_phase_stats *stats = &worker->stats[worker->run.number];

	nm_alarm_set(worker, 0);
	nm_waiter_end(worker);
	atomic_store_explicit(&stats->end_ns, end_ns, memory_order_release);
	nm_rcvlowat_end(worker);
	if (worker->run.phase->measured)
		nm_worker_summarise_conns(worker, &stats->conns);
	if (worker->run.phase->measured && worker->observe.tcp)
		nm_tcp_sampler_end(worker);
	nm_flows_stop(worker);
	end_quiesce(worker);
	nm_open_end(worker);
	worker->run.phase = NULL;
	worker->run.n_abandoning = 0;
	worker->reconnect.pending = 0;
	worker->run.n_active = 0;
	atomic_store_explicit(&worker->answers.done, worker->run.number + 1, memory_order_release);
	nm_worker_notify_owner(worker);
}

/* When the phase that is over now has ended: neither the time in which nothing has moved any more
 * nor the time until the worker has heard of the end is part of it. */
static uint64_t end_of(const struct nm_phase_run *run, const struct nm_phase_input *in,
		       uint64_t now_ns)
{
	if (nm_phase_is_quiescent(in, now_ns))
		return in->moved_ns;
	return run->ended_ns ? run->ended_ns : nm_clock_ns();
}

/* Goes from state to state, as far as it can. */
static void advance(struct nm_worker *worker, struct nm_phase_input *in, uint64_t now_ns)
{
	struct nm_phase_run *run = &worker->run;

	for (;;) {
		in->begun = run->phase;
		in->n_abandoning = run->n_abandoning;
		in->drained = run->drained;
		in->to_drain = atomic_load_explicit(&worker->commands.drain, memory_order_acquire);
		enum nm_phase_state next = nm_phase_next(run->state, in, now_ns);

		if (next == run->state)
			return;
		run->state = next;
		if (next == NM_PHASE_DRAIN)
			enter_drain(worker);
		else if (next == NM_PHASE_FLUSH)
			enter_flush(worker);
		else if (next == NM_PHASE_DONE)
			enter_done(worker, end_of(run, in, now_ns));
		/* Quiescence in one state means nothing for the next. */
		if (next != NM_PHASE_DONE)
			in->moved_ns = 0;
	}
}

void nm_phase_passes_done(struct nm_worker *worker)
{
	const struct nm_phase *phase = worker->run.phase;
	struct nm_phase_input in = {.passes_done = true, .drains = phase->drains};

	nm_rcvlowat_end(worker);
	if (worker->run.state == NM_PHASE_RUN && worker->group->messages.gives_up &&
	    !phase->drains) {
		nm_flows_stop(worker);
		worker->run.n_abandoning = nm_flush_count(worker);
	}
	advance(worker, &in, 0);
}

void nm_phase_flow_done(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->state = NM_FLOW_IDLE;
	nm_flow_push(worker, flow);
	if (flow->error)
		nm_worker_notify_owner(worker);
	if (--worker->run.n_active == 0)
		nm_phase_passes_done(worker);
}

void nm_phase_conn_event(struct nm_worker *worker, struct nm_conn *conn)
{
	struct nm_phase_input in = {.drains = worker->run.phase->drains};

	if (worker->run.state == NM_PHASE_DRAIN)
		nm_drain_conn(worker, conn);
	else if (worker->run.state == NM_PHASE_FLUSH)
		nm_flush_conn(worker, conn);
	advance(worker, &in, 0);
}

/* Connections of the other end have never come, and do not come any more. */
static void count_missed(struct nm_worker *worker)
{
	uint64_t missed = nm_ends_missed(worker);

	nm_counter_add(&worker->io.count->unanswered, missed);
	nm_counter_add(&worker->io.count->unseen_ends, missed);
}

void nm_phase_look(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_quiesce *quiesce = &worker->run.quiesce;
	struct nm_phase_input in = {.patience_ns = UINT64_MAX};

	if (!worker->run.phase)
		return;
	nm_quiesce_look(quiesce, moved(worker), now_ns);
	in.drains = worker->run.phase->drains;
	in.moved_ns = quiesce->moved_ns;
	if (now_ns - quiesce->moved_ns >= NM_TUNE_QUIET_NS)
		in.patience_ns = patience_ns(worker);
	if (nm_phase_is_quiescent(&in, now_ns)) {
		count_missed(worker);
		nm_flows_count_unanswered(worker, now_ns);
	}
	advance(worker, &in, now_ns);
	if (nm_quiesce_looks(quiesce))
		look_again(worker, now_ns);
}

void nm_phase_drain_told(struct nm_worker *worker)
{
	struct nm_phase_input in = {.drains = true};

	advance(worker, &in, 0);
	if (worker->run.phase)
		nm_phase_await_quiescence(worker);
}

static uint64_t budget_mask(const struct nm_instr *body)
{
	uint64_t most = 1, passes = NM_TUNE_BUDGET;

	for (; body->step; body++)
		most = body->datagram.batch > most ? body->datagram.batch : most;
	while (passes > 1 && passes * most > NM_TUNE_BUDGET)
		passes /= 2;
	return passes - 1;
}

/* Only the side that begins the passes paces them. */
static void set_pacer(struct nm_worker *worker, uint64_t now_ns)
{
	const struct nm_phase *phase = worker->run.phase;
	uint64_t period_ns =
		phase->rate_per_s > 0 && phase->leads ? (uint64_t)ceil(1e9 / phase->rate_per_s) : 0;

	worker->run.pacer = (struct nm_pacer){
		.period_ns = period_ns,
		.begin_ns = now_ns,
		.last_ns = phase->duration_ns ? now_ns + phase->duration_ns : UINT64_MAX,
		.n_flows = worker->group->n_flows,
	};
}

/* Fills the members that the flows' steps read. */
static void set_io(struct nm_worker *worker, struct nm_phase_stats *stats)
{
	worker->io.count = &stats->tally.counters;
	worker->io.apps.verbs = stats->tally.verbs;
	worker->io.apps.turns = (struct nm_turns){
		.at = worker->worker_no,
		.n_workers = worker->group->n_workers,
		.by_arrival = nm_phase_is_open(worker->run.phase) &&
			      worker->run.phase->arrivals.law->by_trace,
	};
}

int nm_phase_begin(struct nm_worker *worker, uint32_t number, uint64_t now_ns)
{
	struct nm_phase_stats *stats = &worker->stats[number];
	const struct nm_phase *phase = &worker->group->phases[number];
	struct nm_phase_run *run = &worker->run;
	struct nm_phase_input in = {.drains = phase->drains};

	run->phase = phase;
	run->number = number;
	worker->shape = nm_phase_shape_of(worker->group, phase, worker->worker_no);
	run->body =
		nm_observe_program(&worker->observe, worker->group) + phase->first + phase->entry;
	run->budget_mask = budget_mask(run->body);
	run->has_deadlines = worker->shape->has_deadlines;
	memcpy(run->times, stats->tally.times, sizeof run->times);
	run->drained = 0;
	run->ended_ns = 0;
	set_pacer(worker, now_ns);
	set_io(worker, stats);
	nm_open_begin(worker);
	bool paces = nm_pacer_paces(&run->pacer) || worker->run.open.on;

	if (!paces)
		run->response = NULL;
	run->marks = run->pass || run->response || run->slowdown || worker->observe.counts_passes
			     ? NM_REQUEST_RECORDED
			     : 0;
	nm_worker_set_end(worker, paces ? 0 : UINT64_MAX);
	run->n_active = worker->n_flows;
	if (phase->duration_ns && phase->leads)
		nm_alarm_set(worker, now_ns + phase->duration_ns);
	atomic_store_explicit(&stats->begin_ns, now_ns, memory_order_release);
	advance(worker, &in, 0);
	if (phase->empty || (!phase->iterations && !phase->duration_ns)) {
		nm_phase_passes_done(worker);
		return 0;
	}
	nm_rcvlowat_begin(worker);
	nm_ends_begin(worker);
	int r = nm_waiter_begin(worker);

	nm_defer_begin(worker);
	return r;
}
