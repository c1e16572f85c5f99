/* SPDX-License-Identifier: Apache-2.0 */
/* Entering and leaving phases. All on the worker's thread. */
#include <math.h>
#include <string.h>

#include "base/draw.h"
#include "engine/accept/listener.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "engine/engine_priv.h"
#include "engine/loop/pacer.h"
#include "engine/loop/interp.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/flush.h"
#include "flowop/abandoned.h"
#include "flowop/pipeline.h"
#include "host/clock.h"
#include "transport/transport.h"
#include "transport/errqueue.h"

static void add_connection(struct nm_conn_summary *sum, const struct nm_conn_info *info)
{
	double rtt_s = info->rtt_us * 1e-6;
	double n = (double)++sum->connections;

	if (sum->connections == 1) {
		sum->rtt_min_s = rtt_s;
		sum->mss_min = info->snd_mss;
		memcpy(sum->congestion_control, info->congestion_control,
		       sizeof sum->congestion_control);
	}
	sum->retransmits += info->retransmits;
	sum->rtt_min_s = fmin(sum->rtt_min_s, rtt_s);
	sum->rtt_max_s = fmax(sum->rtt_max_s, rtt_s);
	sum->rtt_mean_s += (rtt_s - sum->rtt_mean_s) / n;
	sum->cwnd_mean += (info->snd_cwnd - sum->cwnd_mean) / n;
	sum->mss_min = info->snd_mss < sum->mss_min ? info->snd_mss : sum->mss_min;
	sum->mss_max = info->snd_mss > sum->mss_max ? info->snd_mss : sum->mss_max;
	nm_conn_tls_add(&sum->tls, &info->tls);
}

static void summarise_connections(struct nm_worker *worker, struct nm_conn_summary *sum)
{
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		for (uint32_t c = 0; c < worker->group->n_conns; c++) {
			const struct nm_conn *conn = &nm_worker_flow(worker, i)->conns[c];
			struct nm_conn_info info;

			if ((conn->flags & NM_CONN_OPEN) && conn->transport->info &&
			    conn->transport->info(conn, &info) == 0)
				add_connection(sum, &info);
		}
	}
}

/* What is held back for more to come is sent: nothing more comes in this phase. */
static void push_flow(const struct nm_worker *worker, struct nm_flow *flow)
{
	for (uint32_t c = 0; worker->run.phase->cork && c < worker->group->n_conns; c++)
		if (flow->conns[c].flags & NM_CONN_MORE)
			nm_socket_push(&flow->conns[c]);
}

/* A message that the end of the phase has cut moves on before the next. */
static void reset_flow(const struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *at = flow->at;

	if (worker->group->messages.gives_up && (flow->left || flow->progress) && at && at->op &&
	    (!at->pass.is_first || nm_abandoned_has_begun(&worker->io, flow, at)))
		nm_abandoned_add(&worker->io, flow, flow->at);
	flow->late = 0;
	flow->state = NM_FLOW_IDLE;
	flow->left = 0;
	flow->progress = 0;
	flow->repeated = 0;
	flow->timer.at_ns = 0;
	flow->next = NULL;
	flow->paced = false;
}

void nm_worker_stop_flows(struct nm_worker *worker)
{
	for (uint32_t i = 0; i < worker->group->n_openings; i++)
		nm_listener_unpark_all(&worker->accept.listeners[i]);
	worker->run_first = worker->run_last = NULL;
	nm_defer_end(worker);
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		nm_timers_remove(&worker->timers, &flow->timer);
		push_flow(worker, flow);
		reset_flow(worker, flow);
		if (worker->run.phase->pipeline)
			nm_pipe_reset(nm_pipe_of(&worker->io, flow));
	}
}

static void end_phase_at(struct nm_worker *worker, uint64_t end_ns)
{
	struct nm_phase_stats *stats = &worker->stats[worker->run.number];

	nm_process_alarm(worker, 0);
	if (worker->waiter.ops->kind == NM_WAITER_URING)
		nm_waiter_end(worker);
	atomic_store_explicit(&stats->end_ns, end_ns, memory_order_release);
	nm_waiter_end(worker);
	nm_rcvlowat_end(worker);
	if (worker->run.phase->measured)
		summarise_connections(worker, &stats->conns);
	if (worker->run.phase->measured && worker->observe.tcp)
		nm_tcp_sampler_end(worker);
	nm_worker_stop_flows(worker);
	worker->run.phase = NULL;
	worker->run.n_abandoning = 0;
	worker->reconnect.pending = 0;
	worker->run.draining = false;
	worker->run.quiet_ns = 0;
	worker->run.n_active = 0;
	atomic_store_explicit(&worker->answers.done, worker->run.number + 1, memory_order_release);
	nm_worker_notify_owner(worker);
}

void nm_worker_end_phase_now(struct nm_worker *worker)
{
	end_phase_at(worker, nm_clock_ns());
}

void nm_worker_end_phase(struct nm_worker *worker)
{
	if (!worker->group->messages.gives_up || !nm_worker_flush(worker))
		nm_worker_end_phase_now(worker);
}

void nm_worker_pass_phase(struct nm_worker *worker)
{
	nm_rcvlowat_end(worker);
	if (worker->run.phase->drains && !worker->run.draining)
		nm_worker_drain(worker);
	else
		nm_worker_end_phase(worker);
}

void nm_worker_flow_done(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->state = NM_FLOW_IDLE;
	push_flow(worker, flow);
	if (flow->error)
		nm_worker_notify_owner(worker);
	if (--worker->run.n_active == 0)
		nm_worker_pass_phase(worker);
}

/* How many passes the flow makes at most. Who follows is told how many there are; but where both
 * ends know which flow it is they count down from the same number, since that is what sizes are
 * drawn by. */
static uint64_t passes_of(const struct nm_worker *worker, const struct nm_flow *flow)
{
	const struct nm_phase *phase = worker->run.phase;
	uint32_t n_flows = worker->group->n_flows;

	bool known = worker->group->needs_identity || n_flows == worker->group->n_workers;

	if (phase->total && (phase->leads || known))
		return phase->total / n_flows + (flow->index < phase->total % n_flows);
	return phase->iterations ? phase->iterations : UINT64_MAX;
}

static void start_flow(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->at = worker->run.body;
	flow->iterations_left = passes_of(worker, flow);
	flow->start_ns = now_ns;
	flow->unanswered = false;
	flow->plan_ns = now_ns;
	if (!flow->iterations_left) {
		nm_worker_flow_done(worker, flow);
		return;
	}
	if (nm_pacer_paces(&worker->run.pacer)) {
		flow->plan_ns = nm_pacer_next(&worker->run.pacer, flow, 0);
		nm_worker_await_pass(worker, flow);
		return;
	}
	if (!nm_reconnect_before_pass(worker, flow))
		nm_worker_run_flow(worker, flow);
}

/* How many messages a flow may move before the others have their turn. */
#define TURN 128u

static uint64_t budget_mask(const struct nm_instr *body)
{
	uint64_t most = 1, passes = TURN;

	for (; body->step; body++)
		most = body->datagram.batch > most ? body->datagram.batch : most;
	while (passes > 1 && passes * most > TURN)
		passes /= 2;
	return passes - 1;
}

/* Only the side that begins the passes paces them. */
static void set_pacer(struct nm_worker *worker, uint64_t now_ns)
{
	const struct nm_phase *phase = worker->run.phase;
	uint64_t period_ns = phase->rate_per_s > 0 && phase->leads
				     ? (uint64_t)llround(1e9 / phase->rate_per_s)
				     : 0;

	worker->run.pacer = (struct nm_pacer){
		.law = period_ns ? phase->arrival : NULL,
		.period_ns = period_ns,
		.begin_ns = now_ns,
		.last_ns = phase->duration_ns ? now_ns + phase->duration_ns : UINT64_MAX,
		.key = nm_draw(worker->io.seed, worker->run.number),
		.n_flows = worker->group->n_flows,
	};
}

static void begin_phase(struct nm_worker *worker, uint32_t number)
{
	struct nm_phase_stats *stats = &worker->stats[number];
	const struct nm_phase *phase = &worker->group->phases[number];
	uint64_t now_ns = nm_clock_ns();

	worker->run.phase = phase;
	worker->run.number = number;
	worker->shape = nm_phase_shape_of(worker->group, phase, worker->worker_no);
	worker->run.body =
		nm_observe_program(&worker->observe, worker->group) + phase->first + phase->entry;
	worker->run.budget_mask = budget_mask(worker->run.body);
	worker->io.count = &stats->counters;
	worker->run.latency = stats->latency;
	worker->run.response = stats->response;
	set_pacer(worker, now_ns);
	nm_reconnect_count(worker);
	worker->io.asks.pacer = nm_pacer_paces(&worker->run.pacer) ? &worker->run.pacer : NULL;
	worker->io.asks.stop = phase->pipeline ? &worker->commands.stop : NULL;
	worker->io.asks.timed = worker->run.latency != NULL;
	nm_worker_set_end(worker, nm_pacer_paces(&worker->run.pacer) ? 0 : UINT64_MAX);
	worker->run.n_active = worker->n_flows;
	if (phase->duration_ns && phase->leads)
		nm_process_alarm(worker, worker->commands.begin_ns + phase->duration_ns);
	atomic_store_explicit(&stats->begin_ns, now_ns, memory_order_release);
	if (phase->empty || (!phase->iterations && !phase->duration_ns)) {
		nm_worker_end_phase(worker);
		return;
	}
	nm_rcvlowat_begin(worker);
	int error = -nm_waiter_begin(worker);

	nm_defer_begin(worker);

	for (uint32_t i = 0; i < worker->n_flows && worker->run.phase; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->error) {
			nm_worker_flow_done(worker, flow);
			continue;
		}
		if (error) {
			flow->at = worker->run.body;
			flow->error = error;
			nm_worker_fail_flow(worker, flow, flow->at);
			continue;
		}
		start_flow(worker, flow, worker->run.latency ? nm_clock_ns() : now_ns);
	}
}

/* How long nothing must move at least for a phase to count as over whose last messages may be lost;
 * how often that is looked at, which is how much later than the last message the phase may seem to
 * have ended. */
#define QUIET_NS      100000000u
#define QUIET_LOOK_NS 2000000u
/* The same where what is awaited cannot be lost, unless by a flowop that may fail: TCP may be
 * silent for seconds before it repeats something. */
#define SILENCE_NS 5000000000u

/* A wait that is given up is no movement. */
static uint64_t moved(const struct nm_worker *worker)
{
	const struct nm_counters *count = worker->io.count;

	return nm_counter_read(&count->iterations) + nm_counter_read(&count->bytes_sent) +
	       nm_counter_read(&count->bytes_received);
}

/* Whether the other end of what the flow waits for has had its last pass, so that what is missing
 * is lost. */
static bool waits_in_vain(const struct nm_worker *worker, const struct nm_flow *flow)
{
	uint32_t leader = worker->run.phase->leader;

	if (leader != NM_NO_HOST && flow->at->host != leader)
		return false;
	return flow->state == NM_FLOW_PARKED || flow->at->lossy;
}

/* How long nothing must move for the phase to count as over. Where a flow is not done with what it
 * does by itself, it is not over. */
static uint64_t patience_ns(const struct nm_worker *worker)
{
	uint64_t patience_ns =
		worker->run.n_abandoning ? SILENCE_NS + worker->run.phase->wait_ns : QUIET_NS;

	for (uint32_t i = 0; i < worker->n_flows; i++) {
		const struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state == NM_FLOW_ASLEEP || flow->state == NM_FLOW_READY)
			return UINT64_MAX;
		if (flow->state != NM_FLOW_IDLE && !waits_in_vain(worker, flow))
			patience_ns = SILENCE_NS + worker->run.phase->wait_ns;
	}
	return patience_ns;
}

/* The time in which nothing has moved any more is no part of the phase. */
void nm_worker_check_quiet(struct nm_worker *worker, uint64_t now_ns)
{
	uint64_t seen = moved(worker);

	if (now_ns < worker->run.quiet_ns)
		return;
	if (seen != worker->run.quiet_seen) {
		worker->run.quiet_seen = seen;
		worker->run.moved_ns = now_ns;
	} else if (now_ns - worker->run.moved_ns >= QUIET_NS &&
		   now_ns - worker->run.moved_ns >= patience_ns(worker)) {
		if (worker->run.phase->drains && !worker->run.draining)
			nm_worker_drain(worker);
		else
			end_phase_at(worker, worker->run.moved_ns);
		return;
	}
	worker->run.quiet_ns = now_ns + QUIET_LOOK_NS;
}

/* The other end has gone through the phase, or will soon. What it has sent may be lost. */
void nm_worker_end_when_quiet(struct nm_worker *worker)
{
	if (!worker->run.phase->counts.may_lose || worker->run.quiet_ns)
		return;
	worker->run.quiet_seen = moved(worker);
	worker->run.moved_ns = nm_clock_ns();
	worker->run.quiet_ns = worker->run.moved_ns + QUIET_LOOK_NS;
}

/* Flows that only wait for their next pass to be due need not wait any longer; unless the time is
 * over, and they are a moment late with a pass that was due within it: so that there are as many
 * passes as the rate says. */
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
		nm_worker_flow_done(worker, flow);
	}
}

void nm_worker_commands(struct nm_worker *worker)
{
	uint32_t begun = atomic_load_explicit(&worker->commands.begin, memory_order_acquire);

	if (begun > atomic_load_explicit(&worker->answers.done, memory_order_relaxed) &&
	    !worker->run.phase)
		begin_phase(worker, begun - 1);
	nm_reconnect_command(worker);
	if (!worker->run.phase || worker->run.n_abandoning)
		return;
	if (worker->run.draining) {
		if (atomic_load_explicit(&worker->commands.drain, memory_order_acquire) ==
		    UINT64_MAX)
			return;
		nm_worker_drain_told(worker);
		if (worker->run.phase)
			nm_worker_end_when_quiet(worker);
	} else if (worker->run.phase->leads) {
		if (!atomic_load_explicit(&worker->commands.stop, memory_order_relaxed))
			return;
		nm_worker_set_end(worker, 0);
		nm_rcvlowat_end(worker);
		nm_worker_release_paced(worker);
		if (worker->run.phase)
			nm_worker_end_when_quiet(worker);
	} else {
		nm_worker_set_end(worker, atomic_load_explicit(&worker->commands.follow,
							       memory_order_acquire));
		if (worker->run.end_at == UINT64_MAX)
			return;
		nm_rcvlowat_end(worker);
		if (nm_count_passes(worker->io.count) >= worker->run.end_at)
			nm_worker_pass_phase(worker);
		else
			nm_worker_end_when_quiet(worker);
	}
}
