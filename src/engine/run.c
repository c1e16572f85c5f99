/* SPDX-License-Identifier: Apache-2.0 */
/* The hot path: waits, runs each ready flow until it would wait, fires timers. */
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/waits.h"
#include "engine/door.h"
#include "engine/engine_priv.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/flush.h"
#include "flowop/datagram.h"
#include "flowop/debts.h"
#include "flowop/flowop.h"
#include "flowop/pipeline.h"
#include "host/clock.h"
#include "host/cpus.h"
#include "host/syscalls.h"
#include "transport/ring.h"
#include "transport/transport.h"

#define TURNS 256 /* of queued flows between two waits for events */

void nm_worker_queue(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->busy = true;
	flow->state = NM_FLOW_READY;
	flow->next = NULL;
	if (worker->run_last)
		worker->run_last->next = flow;
	else
		worker->run_first = flow;
	worker->run_last = flow;
}

/* Makes epoll watch the connection: once for input, and from its first full buffer on for output too. */
int nm_worker_watch(struct nm_worker *worker, struct nm_flow *flow, bool output)
{
	struct nm_conn *conn = flow->conn;
	uint32_t wanted = NM_CONN_REGISTERED | (output ? NM_CONN_OUT_REGISTERED : 0u);

	if (!(conn->flags & NM_CONN_OPEN))
		return -ENOTCONN;
	if ((conn->flags & wanted) == wanted)
		return 0;
	if (worker->io.ring)
		return output ? 0 : nm_worker_ring_await(worker, flow);
	if (worker->polls) {
		conn->flags |= wanted;
		return 0;
	}
	if (worker->group->level_triggered)
		return nm_level_watch(worker, flow, output);
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET |
					      (output ? (uint32_t)EPOLLOUT : 0u),
				    .data.ptr = conn};
	int how = conn->flags & NM_CONN_REGISTERED ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	/* One that waits alone is not watched, whatever its flags say: see lone.c. And it may be watched before that ends. */
	if (epoll_ctl(worker->epoll_fd, how, conn->fd, &event) < 0 &&
	    (!worker->lone || (errno != ENOENT && errno != EEXIST) ||
	     epoll_ctl(worker->epoll_fd, how ^ EPOLL_CTL_ADD ^ EPOLL_CTL_MOD, conn->fd, &event) <
		     0))
		return -errno;
	conn->flags |= wanted;
	return 0;
}

/* Should this fail, the flow's next wait tries it again. */
void nm_worker_rewatch(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->conn->flags &= ~(uint32_t)(NM_CONN_REGISTERED | NM_CONN_OUT_REGISTERED);
	if (worker->group->level_triggered)
		nm_level_rewatch(worker, flow);
	else
		(void)nm_worker_watch(worker, flow, false);
}

void nm_worker_sleep(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->busy = true;
	flow->state = NM_FLOW_ASLEEP;
	nm_timers_add(&worker->timers, flow);
}

static void wait_for(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		     bool output)
{
	flow->error = -nm_worker_watch(worker, flow, output);
	if (flow->error)
		nm_worker_fail_flow(worker, flow, instr);
}

void nm_worker_wait_in(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->state = NM_FLOW_WAITING;
	wait_for(worker, flow, flow->at, false);
}

/* The wait that has begun ends by itself. */
static void limit_wait(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	if (flow->state != NM_FLOW_PARKED && flow->state != NM_FLOW_LIMITED)
		return; /* it has failed */
	if (nm_flow_is_late(flow, instr))
		return;
	nm_worker_limit_set(worker, flow);
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
		if (nm_worker_looks_later(worker, flow, instr)) {
			nm_worker_queue(worker, flow);
			flow->state = NM_FLOW_LOOKING;
			break;
		}
		if (instr == worker->closing.at && nm_worker_closes_later(worker, flow))
			break;
		flow->state = NM_FLOW_WAITING;
		wait_for(worker, flow, instr, answer == NM_STEP_WAIT_OUT);
		break;
	case NM_STEP_LIMITED_IN:
	case NM_STEP_LIMITED_OUT:
		flow->state = NM_FLOW_LIMITED;
		wait_for(worker, flow, instr, answer == NM_STEP_LIMITED_OUT);
		limit_wait(worker, flow, instr);
		break;
	case NM_STEP_UNTIL_IN:
		flow->state = NM_FLOW_LIMITED;
		wait_for(worker, flow, instr, false);
		if (flow->state == NM_FLOW_LIMITED) {
			worker->busy = true;
			nm_timers_add(&worker->timers, flow);
		}
		break;
	case NM_STEP_YIELD:
		nm_worker_queue(worker, flow);
		break;
	case NM_STEP_SLEEP:
		nm_worker_sleep(worker, flow);
		break;
	case NM_STEP_PARK:
		flow->state = NM_FLOW_PARKED;
		break;
	case NM_STEP_LIMITED_PARK:
		flow->state = NM_FLOW_PARKED;
		limit_wait(worker, flow, instr);
		break;
	case NM_STEP_ENDED:
		if (!nm_reconnect_after_end(worker, flow, instr))
			nm_worker_fail_flow(worker, flow, instr);
		break;
	case NM_STEP_RENEWED:
		nm_reconnect_done(worker, flow);
		break;
	case NM_STEP_FAIL:
	case NM_STEP_NEXT:
	case NM_STEP_NEXT_WAIT_IN:
	case NM_STEP_BACK:
		nm_worker_fail_flow(worker, flow, instr);
		break;
	}
}

/* With a rate: true when the next pass is due only later, or not any more, or a connection is replaced before it. A flow
 * whose passes are done stays until the time is over: otherwise the passes would seem to have come in less time. */
static bool pace(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->plan_ns += worker->period_ns;
	bool over = flow->plan_ns >= worker->last_ns;
	uint64_t wake_ns = over ? worker->last_ns : flow->plan_ns;

	if (wake_ns <= now_ns && over) {
		nm_worker_flow_done(worker, flow);
		return true;
	}
	if (nm_reconnect_before_pass(worker, flow))
		return true;
	if (wake_ns <= now_ns)
		return false;
	flow->wake_ns = wake_ns;
	flow->paced = true;
	nm_worker_sleep(worker, flow);
	return true;
}

/* Between two passes: others have their turn, or main wants something. */
static __attribute__((noinline)) bool take_turn(struct nm_worker *worker, struct nm_flow *flow)
{
	if (worker->lone && !atomic_load_explicit(&worker->has_command, memory_order_relaxed))
		return true;
	if (!worker->lone && worker->n_flows == 1 && !worker->io.ring)
		nm_worker_lone_begin(worker);
	nm_worker_queue(worker, flow);
	return false;
}

/* The phase is not over, unless all passes of the flow are done. */
static inline __attribute__((always_inline)) bool go_on(struct nm_worker *worker,
							struct nm_flow *flow, uint64_t done)
{
	if (--flow->iterations_left == 0) {
		nm_worker_flow_done(worker, flow);
		return false;
	}
	if (__builtin_expect(
		    !(done & worker->budget_mask) ||
			    atomic_load_explicit(&worker->has_command, memory_order_relaxed),
		    0))
		return take_turn(worker, flow);
	return true;
}

/* The end of a pass while further requests may be outstanding: the flow ends the phase when none is. */
static bool end_pipelined_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns,
			       uint64_t done)
{
	const struct nm_pipe *pipe = nm_pipe_of(&worker->io, flow);
	bool over = atomic_load_explicit(&worker->stop, memory_order_relaxed);

	if (worker->response)
		nm_hist_record(worker->response, now_ns - flow->plan_ns);
	if (!nm_pipe_is_busy(pipe) && over) {
		nm_worker_flow_done(worker, flow);
		return false;
	}
	if (!nm_pipe_is_busy(pipe) && worker->period_ns && flow->iterations_left > 1) {
		flow->iterations_left--;
		flow->plan_ns = pipe->plan_ns - worker->period_ns;
		return !pace(worker, flow, now_ns ? now_ns : nm_clock_ns());
	}
	bool goes_on = go_on(worker, flow, done);

	/* By its next turn it will be later. */
	if (!goes_on)
		flow->start_ns = 0;
	return goes_on;
}

/* The end of a pass after which something else than the next pass may come: the phase may be over, and a paced phase
 * has a target of 0 all the time, as have those whose passes are counted for each flow. */
static __attribute__((noinline)) bool end_special_pass(struct nm_worker *worker,
						       struct nm_flow *flow, uint64_t now_ns)
{
	uint64_t done = nm_count_passes(worker->io.count);
	bool paced = worker->period_ns != 0;

	if (worker->counts_passes)
		nm_detail_pass(worker, flow, now_ns);
	if (worker->phase->pipeline)
		return end_pipelined_pass(worker, flow, now_ns, done);
	if (done < worker->end_at) {
		if (flow->iterations_left == 1 || !nm_reconnect_before_pass(worker, flow))
			return go_on(worker, flow, done);
		flow->iterations_left--;
		return false;
	}

	if (paced && worker->response && !flow->unanswered)
		nm_hist_record(worker->response, now_ns - flow->plan_ns);
	if (!paced && !worker->phase->leads) {
		/* All flows follow: all passes that the other end has begun are done, whoever has made them. */
		nm_worker_pass_phase(worker);
		return false;
	}
	if (--flow->iterations_left == 0 || !paced ||
	    atomic_load_explicit(&worker->stop, memory_order_relaxed)) {
		nm_worker_flow_done(worker, flow);
		return false;
	}
	return !pace(worker, flow, now_ns ? now_ns : nm_clock_ns());
}

/* The end of a pass that has lost something: none of the transactions, and its length is that of the limit. */
static __attribute__((noinline)) bool end_unanswered_pass(struct nm_worker *worker,
							  struct nm_flow *flow)
{
	uint64_t now_ns = worker->latency ? nm_clock_ns() : 0;

	nm_counter_add(&worker->io.count->unanswered, 1);
	nm_worker_set_end(worker, worker->end_at); /* with one answered pass less it is reached */
	worker->io.now_ns = flow->start_ns = now_ns;
	bool goes_on = nm_counter_read(&worker->io.count->iterations) >= worker->check_at
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
	if (worker->latency) {
		now_ns = worker->io.now_ns = nm_clock_ns();
		nm_hist_record(worker->latency, now_ns - flow->start_ns);
		flow->start_ns = now_ns;
	}
	if (__builtin_expect(done >= worker->check_at, 0))
		return end_special_pass(worker, flow, now_ns);
	return go_on(worker, flow, done);
}

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
			if (answer <= NM_STEP_NEXT_WAIT_IN &&
			    (flow->conn->flags & NM_CONN_REGISTERED)) {
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
		instr = flow->at = worker->body;
		if (!end_pass(worker, flow))
			return;
	}
}

void nm_worker_run_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	run_flow(worker, flow);
}

static_assert((uint32_t)NM_CONN_IN == EPOLLIN && (uint32_t)NM_CONN_OUT == EPOLLOUT,
	      "masks are added as they are");

/* Whether it comes in time for a flow whose wait is limited; or else, whether anybody takes it. */
static __attribute__((noinline)) bool end_limited(struct nm_worker *worker, struct nm_conn *conn)
{
	struct nm_flow *flow = conn->flow;

	if (worker->draining)
		nm_worker_drain_conn(worker, conn);
	if (worker->n_owing)
		nm_worker_flush_conn(worker, conn);
	if (flow->state != NM_FLOW_LIMITED || (flow->conn != conn && !flow->owes)) {
		if (worker->group->level_triggered)
			nm_level_ignore(worker, conn);
		return false;
	}
	nm_worker_limit_lift(worker, flow);
	return true;
}

/* The peer has closed, or the connection has failed; or the kernel tells about sends without a copy, by its error queue. */
static __attribute__((noinline)) void note_end(struct nm_conn *conn, uint32_t events)
{
	if ((conn->flags & NM_CONN_ZEROCOPY) && !(events & (EPOLLRDHUP | EPOLLHUP)))
		conn->flags |= NM_CONN_OUT | NM_CONN_TOLD;
	else
		conn->flags |= NM_CONN_IN | NM_CONN_OUT | NM_CONN_HUP;
}

/* Whether the flow has waited for that; or for another of its connections, and then its step will find out. */
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

/* The step that the flow has waited for, and no further. True when it is done. */
static bool run_step(struct nm_worker *worker, struct nm_flow *flow)
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

/* epoll_wait with nanoseconds; timeout_ns < 0 waits without limit. Kernels before 5.11 have milliseconds only. */
static int wait_events(int epoll_fd, struct epoll_event *events, int n_events, int64_t timeout_ns)
{
	if (timeout_ns > 0) {
		struct timespec ts = {.tv_sec = timeout_ns / 1000000000,
				      .tv_nsec = timeout_ns % 1000000000};
		long n = syscall(SYS_epoll_pwait2, epoll_fd, events, n_events, &ts, NULL, 0);

		if (n >= 0 || errno != ENOSYS)
			return (int)n;
		timeout_ns = (timeout_ns + 999999) / 1000000;
	}
	return nm_sys_epoll_wait(epoll_fd, events, n_events, timeout_ns < 0 ? -1 : (int)timeout_ns);
}

static inline int wait_any(struct nm_worker *worker, struct epoll_event *events, int n_events,
			   int64_t timeout_ns)
{
	if (worker->polls)
		return nm_worker_poll(worker, events, n_events, timeout_ns);
	if (worker->io.ring)
		return nm_worker_ring_wait(worker, events, n_events, timeout_ns);
	return wait_events(worker->epoll_fd, events, n_events, timeout_ns);
}

static __attribute__((noinline)) void take_commands(struct nm_worker *worker)
{
	uint64_t count;

	(void)!read(worker->wake_fd, &count, sizeof count);
	atomic_store_explicit(&worker->has_command, false, memory_order_relaxed);
	worker->busy = true;
	nm_worker_closing_flush(worker);
	if (worker->tcp)
		nm_tcp_watch_command(worker);
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
	} else if ((tagged & NM_TAG_MASK) == NM_TAG_MAIL) {
		nm_mail_event(worker);
	} else {
		take_commands(worker);
	}
}

/* Each flow takes what has come before any of them answers, so that the answers leave together: one that left early
 * would wake the other end for itself alone. */
static void dispatch_all(struct nm_worker *worker, struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		bool is_conn = (events[i].data.u64 & NM_TAG_MASK) == NM_TAG_CONN;
		struct nm_conn *conn = is_conn ? events[i].data.ptr : NULL;
		struct nm_flow *flow = is_conn ? conn->flow : NULL;

		if (!is_conn)
			dispatch(worker, &events[i]);
		else if (!note_event(worker, conn, events[i].events) || !run_step(worker, flow))
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

/* A wait has lasted as long as the profile allows. Where messages may be lost this ends the wait and nothing else. */
void nm_worker_expire(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	flow->wake_ns = 0;
	if (!instr->timeout_ns) { /* it was no limit: something else is due */
		nm_worker_run_flow(worker, flow);
		return;
	}
	if (instr->awaits && instr->can_fail && !nm_debts_has_begun(&worker->io, flow, instr)) {
		flow->late = flow->iterations_left;
		return;
	}
	if ((flow->conn->flags & NM_CONN_GREETING) && nm_mail_greet_again(worker, flow, instr))
		return;
	nm_counter_add(&worker->io.count->timeouts, 1);
	if (flow->state == NM_FLOW_PARKED)
		nm_listener_unpark(&worker->listeners[instr->opening], flow);
	if ((instr->op->flags & NM_FLOWOP_MOVES) && instr->lossy) {
		flow->unanswered = true;
		nm_datagram_give_up(flow->conn);
		if (worker->detail)
			nm_detail_expired(worker, flow, instr);
		flow->left = 0;
		flow->at = instr + 1;
		nm_worker_run_flow(worker, flow);
		nm_mail_hurry(worker, flow);
		return;
	}
	flow->error = ETIMEDOUT;
	nm_worker_fail_flow(worker, flow, instr);
}

static void fire_timers(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_flow *flow;

	while ((flow = nm_timers_take(&worker->timers, now_ns))) {
		if (flow->state == NM_FLOW_READY)
			continue; /* it is queued, and what it once waited for is over */
		if (flow->state != NM_FLOW_ASLEEP) {
			nm_worker_expire(worker, flow);
			continue;
		}
		if (flow->paced) {
			flow->paced = false;
			flow->wake_ns = 0;
			flow->start_ns = now_ns;
			if (flow->plan_ns >= worker->last_ns) {
				nm_worker_flow_done(worker, flow);
				continue;
			}
			if (nm_reconnect_before_pass(worker, flow))
				continue;
		}
		nm_worker_run_flow(worker, flow);
	}
}

/* The flow was to look later, which is now. */
static void look(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *instr = flow->at;

	flow->conn->flags |= instr->op->flags & NM_FLOWOP_FOLLOWS ? NM_CONN_IN : NM_CONN_OUT;
	worker->look.tried++;
	enum nm_step answer = instr->step(&worker->io, flow, instr);

	if (answer == NM_STEP_WAIT_IN || answer == NM_STEP_WAIT_OUT) {
		worker->look.missed++;
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

/* Gives one turn to each flow that is queued now, but not to so many that events would have to wait. */
static void run_queued(struct nm_worker *worker)
{
	struct nm_flow *last = worker->run_last;
	struct nm_flow *flow;

	if (worker->look.on)
		nm_worker_looks_begin(worker);
	for (unsigned turns = 0; turns < TURNS && (flow = worker->run_first); turns++) {
		worker->run_first = flow->next;
		if (!worker->run_first)
			worker->run_last = NULL;
		flow->next = NULL;
		if (flow->state == NM_FLOW_LOOKING)
			look(worker, flow);
		else
			nm_worker_run_flow(worker, flow);
		if (flow == last)
			break;
	}
	if (worker->look.on)
		nm_worker_looks_end(worker);
}

static int64_t next_timeout_ns(const struct nm_worker *worker)
{
	uint64_t next_ns = nm_timers_next_ns(&worker->timers);

	if (worker->run_first || worker->watching || nm_worker_lacks_flows(worker) ||
	    (worker->group->spins && worker->phase) ||
	    (worker->lone && nm_worker_waits_alone(worker, nm_worker_flow(worker, 0))))
		return 0;
	if (worker->quiet_ns && worker->quiet_ns < next_ns)
		next_ns = worker->quiet_ns;
	if (worker->rcvlowat.look_ns && worker->rcvlowat.look_ns < next_ns)
		next_ns = worker->rcvlowat.look_ns;
	if (worker->expiry_ns && worker->expiry_ns < next_ns)
		next_ns = worker->expiry_ns;
	if (next_ns == UINT64_MAX)
		return worker->closing.first ? NM_CLOSING_NS : -1;
	uint64_t now_ns = nm_clock_ns();

	int64_t sleep_ns = next_ns > now_ns ? (int64_t)(next_ns - now_ns) : 0;

	return worker->closing.first && sleep_ns > NM_CLOSING_NS ? NM_CLOSING_NS : sleep_ns;
}

/* How often a worker that spins looks before it lets others have the CPU. */
#define LOOKS 256

/* Whoever is waited for may need this very CPU. */
static void yield_at_times(struct nm_worker *worker, int n_events)
{
	worker->looks = n_events || !worker->phase ? 0 : worker->looks + 1;
	if (worker->looks >= (worker->lone ? 1 : LOOKS)) {
		worker->looks = 0;
		(void)sched_yield();
	}
}

void *nm_worker_main(void *arg)
{
	struct nm_worker *worker = arg;
	struct epoll_event events[NM_PLAN_MAX_EVENTS + NM_POLLED_EVENTS];
	const int n_events = worker->group->max_events;
	int64_t timeout_ns = -1;
	sigset_t pipe_set;

	/* sendfile(2) has no MSG_NOSIGNAL: what it meets is told by its answer. */
	(void)sigemptyset(&pipe_set);
	(void)sigaddset(&pipe_set, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_set, NULL);
	/* Sleeps end when they should, not up to 50 us later. */
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	if (worker->cpu >= 0)
		(void)nm_cpu_bind_self((unsigned)worker->cpu);
	for (;;) {
		int n = wait_any(worker, events, n_events, timeout_ns);

		if (worker->timers.count)
			worker->io.now_ns = nm_clock_ns();
		if (__builtin_expect(n == 1, 1))
			dispatch(worker, &events[0]);
		else
			dispatch_all(worker, events, n);
		if (worker->group->spins)
			yield_at_times(worker, n);
		if (worker->lone)
			nm_worker_run_lone(worker);
		if (__builtin_expect(!worker->busy, 1))
			continue;
		if (atomic_load_explicit(&worker->quit, memory_order_relaxed))
			break;
		if (worker->closing.first)
			nm_worker_closing_turn(worker);
		if (worker->timers.count)
			fire_timers(worker, worker->io.now_ns);
		if (worker->run_first)
			run_queued(worker);
		if (worker->watching)
			nm_tcp_watch_look(worker);
		if (worker->rcvlowat.look_ns)
			nm_rcvlowat_sweep(worker, nm_clock_ns());
		if (worker->quiet_ns)
			nm_worker_check_quiet(worker, nm_clock_ns());
		if (worker->expiry_ns)
			nm_reconnect_expire(worker, nm_clock_ns());
		timeout_ns = next_timeout_ns(worker);
		worker->busy = timeout_ns >= 0;
	}
	nm_worker_ring_end(worker);
	worker->ring = nm_ring_free(worker->ring);
	return NULL;
}
