/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop of a worker: waits, dispatches what has come, fires timers, and gives queued flows
 * their turn. */
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/accept/listener.h"
#include "engine/engine_priv.h"
#include "engine/loop/arrivals.h"
#include "engine/tune.h"
#include "engine/loop/accepted.h"
#include "engine/loop/commands.h"
#include "engine/loop/fault.h"
#include "engine/loop/interp.h"
#include "engine/loop/pacer.h"
#include "engine/phase/flows.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/retry.h"
#include "engine/phase/phase.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "flowop/ask.h"
#include "flowop/datagram.h"
#include "flowop/abandoned.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "host/cpus.h"
#include "host/syscalls.h"
#include "transport/transport.h"

static __attribute__((noinline)) void take_commands(struct nm_worker *worker)
{
	uint64_t count;

	(void)!read(worker->wake_fd, &count, sizeof count);
	atomic_store_explicit(&worker->commands.has_command, false, memory_order_relaxed);
	worker->busy = true;
	nm_defer_flush(worker);
	if (worker->observe.tcp)
		nm_tcp_sampler_command(worker);
	nm_worker_commands(worker);
}

static void dispatch_other(struct nm_worker *worker, const struct epoll_event *event)
{
	uintptr_t tag = (uintptr_t)event->data.u64 & NM_TAG_MASK;
	void *what = (void *)((uintptr_t)event->data.u64 & ~(uintptr_t)NM_TAG_MASK);

	if (tag == NM_TAG_LISTEN)
		nm_worker_listener_event(worker, what);
	else if (tag == NM_TAG_HANDOFF)
		nm_worker_handoff_event(worker);
	else
		take_commands(worker);
}

/* A wait has lasted as long as the profile allows. Where messages may be lost this ends the wait
 * and nothing else. */
static void expire(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	flow->timer.at_ns = 0;
	if (!instr->timeout_ns) { /* it was no limit: something else is due */
		nm_worker_run_flow(worker, flow);
		return;
	}
	if (instr->pass.is_first && instr->can_fail &&
	    !nm_abandoned_has_begun(&worker->io, flow, instr)) {
		flow->request.marks |= NM_REQUEST_LATE;
		return;
	}
	nm_counter_add(&worker->io.count->timeouts, 1);
	nm_flows_time_out(worker, flow);
	if (flow->state == NM_FLOW_PARKED)
		nm_listener_unpark(&worker->accept.listeners[instr->opening], flow);
	if (nm_instr_may_wait_in_vain(instr)) {
		flow->request.outcome = NM_TIMEOUT;
		nm_datagram_give_up(flow->conn);
		if (nm_instr_asks(instr))
			nm_ask_give_up(&worker->io, flow);
		if (worker->observe.stats)
			nm_flowop_stats_expired(worker, flow, instr);
		flow->left = 0;
		flow->progress = 0;
		flow->at = instr + 1;
		nm_worker_run_flow(worker, flow);
		nm_worker_shorten_wait(worker, flow);
		return;
	}
	flow->error = ETIMEDOUT;
	if (!nm_retry_concerns(worker, instr) || !nm_retry_expired(worker, flow, instr))
		nm_worker_fail_flow(worker, flow, instr);
}

static void fire_flow(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	if (flow->state == NM_FLOW_READY)
		return; /* it is queued: the wait of this timer is over */
	if (flow->state != NM_FLOW_ASLEEP)
		expire(worker, flow);
	else if (!flow->paced || nm_worker_begin_paced_pass(worker, flow, now_ns))
		nm_worker_run_flow(worker, flow);
}

/* Flows that wait for a connection that has expired fail. */
static void fail_expired(struct nm_worker *worker, uint64_t now_ns)
{
	(void)now_ns;
	for (uint32_t i = 0; i < worker->n_flows && worker->run.phase; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (!nm_reconnect_is_in_vain(worker, flow))
			continue;
		nm_timers_remove(&worker->timers, &flow->timer);
		flow->error = EKEYEXPIRED;
		nm_worker_fail_flow(worker, flow, flow->at);
	}
	nm_reconnect_watch(worker);
}

/* The work that is due when one of the worker's own timers fires. */
static void (*const fire[NM_TIMER__COUNT])(struct nm_worker *worker, uint64_t now_ns) = {
	[NM_TIMER_QUIESCE] = nm_phase_look,	 [NM_TIMER_RCVLOWAT] = nm_rcvlowat_sweep,
	[NM_TIMER_EXPIRY] = fail_expired,	 [NM_TIMER_SAMPLER] = nm_tcp_sampler_run,
	[NM_TIMER_ARRIVAL] = nm_worker_arrivals,
};

static void fire_timers(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_timer *timer;

	while ((timer = nm_timers_take(&worker->timers, now_ns))) {
		if (timer->kind == NM_TIMER_FLOW) {
			fire_flow(worker, nm_timer_flow(timer), now_ns);
			continue;
		}
		timer->at_ns = 0;
		fire[timer->kind](worker, nm_clock_ns());
	}
}

/* Gives one turn to each flow that is queued now, but to NM_TUNE_TURNS at most, as events wait
 * meanwhile. */
static void run_queued(struct nm_worker *worker)
{
	struct nm_flow *last = worker->runq.last;
	struct nm_flow *flow;

	nm_defer_begin_round(worker);
	for (unsigned turns = 0; turns < NM_TUNE_TURNS && (flow = worker->runq.first); turns++) {
		worker->runq.first = flow->next;
		if (!worker->runq.first)
			worker->runq.last = NULL;
		flow->next = NULL;
		if (flow->state == NM_FLOW_RETRYING)
			nm_worker_retry_flow(worker, flow);
		else
			nm_worker_run_flow(worker, flow);
		if (flow == last)
			break;
	}
	nm_defer_end_round(worker);
}

static int64_t next_timeout_ns(const struct nm_worker *worker)
{
	uint64_t next_ns = nm_timers_next_ns(&worker->timers);
	int64_t most_ns = nm_defer_timeout_ns(worker);

	if (worker->runq.first || most_ns == 0 || (worker->group->spins && worker->run.phase))
		return 0;
	if (next_ns == UINT64_MAX)
		return most_ns;
	uint64_t now_ns = nm_clock_ns();

	int64_t sleep_ns = next_ns > now_ns ? (int64_t)(next_ns - now_ns) : 0;

	return most_ns >= 0 && sleep_ns > most_ns ? most_ns : sleep_ns;
}

static void fail_wait(struct nm_worker *worker, struct nm_flow *flow)
{
	nm_worker_fail_flow(worker, flow, flow->at);
}

static const struct nm_waiter_events on_event = {
	.conn = nm_worker_conn_event, .failed = fail_wait, .other = dispatch_other};

void *nm_worker_main(void *arg)
{
	struct nm_worker *worker = arg;
	struct epoll_event events[NM_PLAN_MAX_EVENTS + NM_WAITER_MORE];
	const int n_events = worker->group->max_events;
	int64_t timeout_ns = -1;
	sigset_t pipe_set;

	/* sendfile(2) has no MSG_NOSIGNAL; its error tells enough. */
	(void)sigemptyset(&pipe_set);
	(void)sigaddset(&pipe_set, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_set, NULL);
	/* Sleeps end when they should, not up to 50 us later. */
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	if (worker->spawn.cpu >= 0)
		(void)nm_cpu_bind_self((unsigned)worker->spawn.cpu);
	worker->waiter.events = &on_event;
	for (;;) {
		int n = worker->waiter.ops->wait(worker, events, n_events, timeout_ns);

		if (worker->timers.count)
			worker->io.now_ns = nm_clock_ns();
		nm_worker_dispatch(worker, events, n);
		if (__builtin_expect(!worker->busy, 1))
			continue;
		if (atomic_load_explicit(&worker->commands.quit, memory_order_relaxed))
			break;
		nm_defer_turn(worker);
		if (worker->timers.count)
			fire_timers(worker, worker->io.now_ns);
		if (worker->runq.first)
			run_queued(worker);
		timeout_ns = next_timeout_ns(worker);
		worker->busy = timeout_ns >= 0;
	}
	nm_waiter_stop(worker);
	return NULL;
}
