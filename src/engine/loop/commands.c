/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the control thread's commands, which begin phases, stop them, and tell the numbers of
 * passes and bytes. */
#include "engine/loop/commands.h"

#include "engine/engine_priv.h"
#include "engine/loop/arrivals.h"
#include "engine/loop/fault.h"
#include "engine/loop/interp.h"
#include "engine/loop/pacer.h"
#include "engine/phase/phase.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/retry.h"
#include "engine/places.h"
#include "host/clock.h"

/* How many passes the flow makes at most. The control thread tells a follower how many there are;
 * but where both ends know the flow they count down from one number, by which they draw sizes. */
static uint64_t passes_of(const struct nm_worker *worker, const struct nm_flow *flow)
{
	const struct nm_phase *phase = worker->run.phase;
	uint32_t n_flows = worker->group->n_flows;

	bool known = worker->group->needs_identity || n_flows == worker->group->n_workers;

	if (phase->flows.solitary && (phase->leads || known))
		return flow->index ? 0 : phase->total;
	if (phase->total && (phase->leads || known))
		return phase->total / n_flows + (flow->index < phase->total % n_flows);
	return phase->iterations ? phase->iterations : UINT64_MAX;
}

static void start_flow(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->at = worker->run.body;
	flow->iterations_left = passes_of(worker, flow);
	flow->request = (struct nm_request){
		.due_ns = now_ns, .sent_ns = now_ns, .marks = worker->run.marks};
	if (!flow->iterations_left) {
		nm_phase_flow_done(worker, flow);
		return;
	}
	if (worker->run.open.on && !worker->run.phase->pipeline) {
		nm_open_free(worker, flow);
		return;
	}
	if (nm_pacer_paces(&worker->run.pacer)) {
		flow->request.due_ns = nm_pacer_next(&worker->run.pacer, flow, 0);
		nm_worker_await_pass(worker, flow);
		return;
	}
	if (!nm_reconnect_before_pass(worker, flow))
		nm_worker_run_flow(worker, flow);
}

/* Where the flows' steps see what they may ask in the phase that begins. */
static void set_asks(struct nm_worker *worker)
{
	const struct nm_phase_run *run = &worker->run;

	worker->io.asks.pacer = nm_pacer_paces(&run->pacer) ? &run->pacer : NULL;
	worker->io.asks.stop = run->phase->pipeline ? &worker->commands.stop : NULL;
	worker->io.asks.timed = run->latency != NULL;
	worker->io.asks.take_due = run->open.on ? nm_worker_take_due : NULL;
}

static void begin(struct nm_worker *worker, uint32_t number)
{
	uint64_t now_ns = nm_clock_ns();
	int error = -nm_phase_begin(worker, number, now_ns);

	if (worker->run.phase) {
		set_asks(worker);
		nm_reconnect_count(worker);
		nm_worker_set_end(worker, worker->run.end_at);
	}
	for (uint32_t i = 0; i < worker->n_flows && worker->run.phase; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->error) {
			nm_phase_flow_done(worker, flow);
		} else if (error) {
			flow->at = worker->run.body;
			flow->error = error;
			nm_worker_fail_flow(worker, flow, flow->at);
		} else {
			start_flow(worker, flow, worker->run.latency ? nm_clock_ns() : now_ns);
		}
	}
}

/* A leader ends the phase when it is told to stop. */
static void lead(struct nm_worker *worker)
{
	if (!atomic_load_explicit(&worker->commands.stop, memory_order_relaxed))
		return;
	/* What is under way has no end that this host knows. */
	if (worker->run.phase->waits.is_public) {
		nm_phase_passes_done(worker);
		return;
	}
	nm_worker_set_end(worker, 0);
	nm_rcvlowat_end(worker);
	nm_retry_stop(worker);
	if (worker->run.open.on)
		nm_worker_stop_arrivals(worker);
	else
		nm_worker_release_paced(worker);
	if (worker->run.state == NM_PHASE_RUN)
		nm_phase_await_quiescence(worker);
}

/* A follower ends the phase after the number of passes that it is told. By then the other end has
 * gone through the phase, or will soon; its last messages may be lost. */
static void follow(struct nm_worker *worker)
{
	uint64_t end_at = atomic_load_explicit(&worker->commands.follow, memory_order_acquire);

	nm_worker_set_end(worker, end_at);
	if (end_at == UINT64_MAX)
		return;
	nm_rcvlowat_end(worker);
	if (nm_count_passes(worker->io.count) < end_at) {
		nm_phase_await_quiescence(worker);
		return;
	}
	worker->run.ended_ns = worker->commands.followed_ns;
	nm_phase_passes_done(worker);
}

void nm_worker_commands(struct nm_worker *worker)
{
	uint32_t begun = atomic_load_explicit(&worker->commands.begin, memory_order_acquire);

	if (begun > atomic_load_explicit(&worker->answers.done, memory_order_relaxed) &&
	    !worker->run.phase)
		begin(worker, begun - 1);
	nm_reconnect_command(worker);
	nm_worker_tell_places(worker);
	nm_ends_command(worker);
	if (worker->run.state == NM_PHASE_RUN && worker->run.phase->leads)
		lead(worker);
	else if (worker->run.state == NM_PHASE_RUN)
		follow(worker);
	else if (worker->run.state == NM_PHASE_DRAIN &&
		 atomic_load_explicit(&worker->commands.drain, memory_order_acquire) != UINT64_MAX)
		nm_phase_drain_told(worker);
}
