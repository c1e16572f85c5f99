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
#include "engine/loop/accepted.h"
#include "engine/loop/commands.h"
#include "engine/loop/deadline.h"
#include "engine/loop/interp.h"
#include "engine/loop/pacer.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/phase.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "flowop/datagram.h"
#include "flowop/abandoned.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "host/cpus.h"
#include "host/syscalls.h"
#include "transport/ring.h"
#include "transport/transport.h"

#define TURNS 256 /* of queued flows between two waits for events */

static_assert((uint32_t)NM_CONN_IN == EPOLLIN && (uint32_t)NM_CONN_OUT == EPOLLOUT,
	      "masks are added as they are");

/* Whether it comes in time for a flow whose wait is limited; or else, whether anybody takes it. */
static __attribute__((noinline)) bool end_limited(struct nm_worker *worker, struct nm_conn *conn)
{
	struct nm_flow *flow = conn->flow;

	if (worker->run.state > NM_PHASE_RUN)
		nm_phase_conn_event(worker, conn);
	if (flow->state != NM_FLOW_LIMITED || (flow->conn != conn && !flow->abandons)) {
		nm_waiter_ignore(worker, conn);
		return false;
	}
	nm_deadline_lift(worker, flow);
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

/* Whether the flow has waited for that; or for another of its connections, and then its step will
 * find out. */
static inline bool note_event(struct nm_worker *worker, struct nm_conn *conn, uint32_t events)
{
	conn->flags |= events & (EPOLLIN | EPOLLOUT);
	if (__builtin_expect(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), 0))
		note_end(conn, events);
	return __builtin_expect(conn->flow->state == NM_FLOW_WAITING, 1) ||
	       end_limited(worker, conn);
}

void nm_worker_conn_event(struct nm_worker *worker, struct nm_conn *conn, uint32_t events)
{
	if (note_event(worker, conn, events))
		nm_worker_run_flow(worker, conn->flow);
}

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

static void dispatch(struct nm_worker *worker, const struct epoll_event *event)
{
	uintptr_t tagged = (uintptr_t)event->data.u64;
	void *what = (void *)(tagged & ~(uintptr_t)NM_TAG_MASK);

	if (__builtin_expect((tagged & NM_TAG_MASK) == NM_TAG_CONN, 1)) {
		if (note_event(worker, what, event->events))
			nm_worker_run_flow(worker, ((struct nm_conn *)what)->flow);
	} else if ((tagged & NM_TAG_MASK) == NM_TAG_LISTEN) {
		nm_worker_listener_event(worker, what);
	} else if ((tagged & NM_TAG_MASK) == NM_TAG_HANDOFF) {
		nm_worker_handoff_event(worker);
	} else {
		take_commands(worker);
	}
}

/* Each flow takes what has come before any of them answers, so that the answers leave together: one
 * that left early would wake the other end for itself alone. */
static void dispatch_all(struct nm_worker *worker, struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		bool is_conn = (events[i].data.u64 & NM_TAG_MASK) == NM_TAG_CONN;
		struct nm_conn *conn = is_conn ? events[i].data.ptr : NULL;
		struct nm_flow *flow = is_conn ? conn->flow : NULL;

		if (!is_conn)
			dispatch(worker, &events[i]);
		else if (!note_event(worker, conn, events[i].events) ||
			 !nm_worker_run_step(worker, flow))
			flow = NULL;
		events[i].data.ptr = flow;
	}
	for (int i = 0; i < n; i++) {
		struct nm_flow *flow = events[i].data.ptr;

		/* The end of the phase may have come in between. */
		if (flow && flow->state == NM_FLOW_READY)
			nm_worker_run_flow(worker, flow);
	}
}

/* A wait has lasted as long as the profile allows. Where messages may be lost this ends the wait
 * and nothing else. */
void nm_worker_expire(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	flow->timer.at_ns = 0;
	if (!instr->timeout_ns) { /* it was no limit: something else is due */
		nm_worker_run_flow(worker, flow);
		return;
	}
	if (instr->pass.is_first && instr->can_fail &&
	    !nm_abandoned_has_begun(&worker->io, flow, instr)) {
		flow->late = flow->iterations_left;
		return;
	}
	nm_counter_add(&worker->io.count->timeouts, 1);
	if (flow->state == NM_FLOW_PARKED)
		nm_listener_unpark(&worker->accept.listeners[instr->opening], flow);
	if (nm_instr_moves(instr) && instr->lossy) {
		flow->unanswered = true;
		nm_datagram_give_up(flow->conn);
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
	nm_worker_fail_flow(worker, flow, instr);
}

static void fire_flow(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	if (flow->state == NM_FLOW_READY)
		return; /* it is queued, and what it once waited for is over */
	if (flow->state != NM_FLOW_ASLEEP)
		nm_worker_expire(worker, flow);
	else if (!flow->paced || nm_worker_begin_paced_pass(worker, flow, now_ns))
		nm_worker_run_flow(worker, flow);
}

/* What is due when a timer of the worker's own fires. */
static void (*const fire[NM_TIMER__COUNT])(struct nm_worker *worker, uint64_t now_ns) = {
	[NM_TIMER_QUIESCE] = nm_phase_look,
	[NM_TIMER_RCVLOWAT] = nm_rcvlowat_sweep,
	[NM_TIMER_EXPIRY] = nm_reconnect_expire,
	[NM_TIMER_SAMPLER] = nm_tcp_sampler_run,
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

/* Gives one turn to each flow that is queued now, but not to so many that events would have to
 * wait. */
static void run_queued(struct nm_worker *worker)
{
	struct nm_flow *last = worker->run_last;
	struct nm_flow *flow;

	nm_defer_begin_round(worker);
	for (unsigned turns = 0; turns < TURNS && (flow = worker->run_first); turns++) {
		worker->run_first = flow->next;
		if (!worker->run_first)
			worker->run_last = NULL;
		flow->next = NULL;
		if (flow->state == NM_FLOW_LOOKING)
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

	if (worker->run_first || most_ns == 0 || (worker->group->spins && worker->run.phase))
		return 0;
	if (next_ns == UINT64_MAX)
		return most_ns;
	uint64_t now_ns = nm_clock_ns();

	int64_t sleep_ns = next_ns > now_ns ? (int64_t)(next_ns - now_ns) : 0;

	return most_ns >= 0 && sleep_ns > most_ns ? most_ns : sleep_ns;
}

void *nm_worker_main(void *arg)
{
	struct nm_worker *worker = arg;
	struct epoll_event events[NM_PLAN_MAX_EVENTS + NM_WAITER_MORE];
	const int n_events = worker->group->max_events;
	int64_t timeout_ns = -1;
	sigset_t pipe_set;

	/* sendfile(2) has no MSG_NOSIGNAL: what it meets is told by its answer. */
	(void)sigemptyset(&pipe_set);
	(void)sigaddset(&pipe_set, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_set, NULL);
	/* Sleeps end when they should, not up to 50 us later. */
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	if (worker->spawn.cpu >= 0)
		(void)nm_cpu_bind_self((unsigned)worker->spawn.cpu);
	for (;;) {
		int n = worker->waiter.ops->wait(worker, events, n_events, timeout_ns);

		if (worker->timers.count)
			worker->io.now_ns = nm_clock_ns();
		if (__builtin_expect(n == 1, 1))
			dispatch(worker, &events[0]);
		else
			dispatch_all(worker, events, n);
		if (__builtin_expect(!worker->busy, 1))
			continue;
		if (atomic_load_explicit(&worker->commands.quit, memory_order_relaxed))
			break;
		nm_defer_turn(worker);
		if (worker->timers.count)
			fire_timers(worker, worker->io.now_ns);
		if (worker->run_first)
			run_queued(worker);
		timeout_ns = next_timeout_ns(worker);
		worker->busy = timeout_ns >= 0;
	}
	nm_waiter_end(worker);
	worker->waiter.ring = nm_ring_free(worker->waiter.ring);
	return NULL;
}
