/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred waits, by either policy: see wait/defer.h. */
#include "engine/wait/defer.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include "engine/accept/listener.h"
#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/runq.h"
#include "engine/wait/waiter.h"
#include "host/clock.h"
#include "host/syscalls.h"

/* --- both policies --- */

/* Deferring then hardly costs more than to arm each wait, and a bad start is soon forgotten. */
static void back_off(struct nm_backoff *backoff, uint32_t waits)
{
	const uint8_t most = NM_TUNE_MOST_BACKOFF;

	backoff->vain = backoff->vain < most ? (uint8_t)(backoff->vain * 2 + 1) : most;
	backoff->skips = waits * backoff->vain;
}

/* Whether the next wait is armed at once, since rounds before did not pay. */
static bool is_skipped(struct nm_backoff *backoff)
{
	if (!backoff->skips)
		return false;
	backoff->skips--;
	return true;
}

static bool is_unarmed(const struct nm_conn *conn)
{
	return (conn->flags & (NM_CONN_OPEN | NM_CONN_ARMED)) == NM_CONN_OPEN && !conn->waiter;
}

bool nm_worker_only_listener(const struct nm_worker *worker, struct nm_listen_fd **ret)
{
	const struct nm_instr *accept = nm_worker_instr(worker, worker->shape->accept_at);

	*ret = NULL;
	if (!accept)
		return true;
	const struct nm_listener *listener = &worker->accept.listeners[accept->opening];

	if (listener->n_fds != 1)
		return false;
	*ret = &listener->fds[0];
	return true;
}

static bool polls(const struct nm_worker *worker)
{
	return worker->waiter.ops->kind == NM_WAITER_POLL;
}

void nm_defer_begin(struct nm_worker *worker)
{
	struct nm_defer *defer = &worker->defer;

	*defer = (struct nm_defer){.policy = worker->shape->defer};
	if (defer->policy != NM_DEFER_UNTIL_NEEDED)
		return;
	if ((polls(worker) || worker->shape->waiter != NM_WAITER_POLL) &&
	    nm_worker_only_listener(worker, &defer->listener) && defer->listener)
		defer->at = nm_worker_instr(worker, worker->shape->close_at);
	else
		defer->policy = NM_DEFER_NO;
}

void nm_defer_end(struct nm_worker *worker)
{
	worker->defer = (struct nm_defer){.policy = NM_DEFER_NO};
}

/* --- next turn --- */

static bool add_to_next_turn(struct nm_worker *worker, struct nm_flow *flow,
			     const struct nm_instr *instr)
{
	/* The end that accepts waits for the close after its message anyway, and is told of
	 * that. */
	if (!is_unarmed(flow->conn) || (flow->conn->traits & NM_CONN_ACCEPTED) ||
	    !nm_instr_moves_message(instr) || is_skipped(&worker->defer.backoff))
		return false;
	nm_worker_queue(worker, flow);
	flow->state = NM_FLOW_RETRYING;
	return true;
}

void nm_defer_try(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->conn->flags |= nm_instr_receives(flow->at) ? NM_CONN_IN : NM_CONN_OUT;
	worker->defer.tried++;
}

void nm_defer_missed(struct nm_worker *worker)
{
	worker->defer.missed++;
}

void nm_defer_begin_round(struct nm_worker *worker)
{
	struct nm_defer *defer = &worker->defer;
	bool many = defer->tried >= NM_TUNE_MANY_TRIES;

	if (defer->policy != NM_DEFER_NEXT_TURN)
		return;
	defer->tried = defer->missed = 0;
	if (many && worker->runq.first->state == NM_FLOW_RETRYING)
		(void)sched_yield();
}

void nm_defer_end_round(struct nm_worker *worker)
{
	struct nm_defer *defer = &worker->defer;

	if (defer->missed > defer->tried / 2)
		back_off(&defer->backoff, defer->missed);
	else if (defer->tried)
		defer->backoff.vain = 0;
}

/* --- until needed --- */

/* Whether the phase will need the flow for no further connection. */
static bool is_almost_over(const struct nm_worker *worker, const struct nm_flow *flow)
{
	uint64_t done = nm_count_passes(worker->io.count);

	return flow->iterations_left == 1 || worker->run.end_at <= done ||
	       worker->run.end_at - done <= worker->n_flows;
}

static bool add_until_needed(struct nm_worker *worker, struct nm_flow *flow)
{
	struct nm_defer *defer = &worker->defer;

	if (!is_unarmed(flow->conn) || is_almost_over(worker, flow) ||
	    (polls(worker) && !defer->here) || is_skipped(&defer->backoff))
		return false;
	worker->busy = true;
	flow->state = NM_FLOW_DEFERRED;
	flow->next = NULL;
	defer->added++;
	if (defer->last) {
		defer->last->next = flow;
	} else {
		defer->first = flow;
		defer->looked_ns = nm_clock_ns();
	}
	defer->last = flow;
	return true;
}

bool nm_defer_add(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	if (worker->defer.policy == NM_DEFER_NEXT_TURN)
		return add_to_next_turn(worker, flow, instr);
	return instr == worker->defer.at && add_until_needed(worker, flow);
}

static struct nm_flow *take(struct nm_defer *defer)
{
	struct nm_flow *flow = defer->first;

	defer->first = flow->next;
	if (!defer->first)
		defer->last = NULL;
	flow->next = NULL;
	return flow;
}

/* Has the flow wait for an event, as other flows do. */
static void wait_armed(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->state = NM_FLOW_WAITING;
	flow->error = -nm_waiter_arm(worker, flow->conn, false);
	if (flow->error)
		worker->waiter.events->failed(worker, flow);
}

static void arm_all(struct nm_worker *worker, uint32_t skips)
{
	worker->defer.backoff.skips = skips;
	worker->defer.pending = 0;
	/* A flow that the waiter does not take fails, which may end the phase. */
	while (worker->defer.first)
		wait_armed(worker, take(&worker->defer));
}

void nm_defer_flush(struct nm_worker *worker)
{
	struct nm_defer *defer = &worker->defer;

	if (!defer->first)
		return;
	back_off(&defer->backoff, 1);
	arm_all(worker, defer->backoff.skips);
}

static bool lacks_flows(const struct nm_worker *worker)
{
	const struct nm_defer *defer = &worker->defer;

	return defer->first && defer->listener->ready && !defer->listener->listener->first;
}

/* The next few flows that wait. */
struct sight {
	struct pollfd fds[NM_TUNE_LOOK_FLOWS + 1]; /* at last the listening socket */
	struct nm_flow *flows[NM_TUNE_LOOK_FLOWS];
	unsigned n;
};

/* Polls the connections of the next few flows, from flow on, and the listening socket. How many of
 * the connections are closed. */
static int see(struct sight *sight, struct nm_flow *flow, struct nm_listen_fd *listener)
{
	unsigned n = 0;

	for (; flow && n < NM_TUNE_LOOK_FLOWS; flow = flow->next) {
		sight->fds[n] = (struct pollfd){.fd = flow->conn->fd, .events = POLLRDHUP};
		sight->flows[n++] = flow;
	}
	sight->n = n;
	sight->fds[n] = (struct pollfd){.fd = listener->fd, .events = POLLIN};
	int seen = nm_sys_poll(sight->fds, n + 1, 0);

	if (seen > 0 && sight->fds[n].revents)
		return seen - 1;
	listener->ready = false; /* the next connection is an event again */
	return seen > 0 ? seen : 0;
}

/* Takes the flows whose connections are closed off the list; before: the last flow ahead of all
 * that were polled, or NULL. */
static void pick(struct nm_defer *defer, struct sight *sight, struct nm_flow *before)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sight->n; i++) {
		struct nm_flow *flow = sight->flows[i];

		if (!sight->fds[i].revents) {
			before = flow;
			continue;
		}
		*(before ? &before->next : &defer->first) = flow->next;
		if (defer->last == flow)
			defer->last = before;
		flow->next = NULL;
		sight->fds[n].revents = sight->fds[i].revents;
		sight->flows[n++] = flow;
	}
	sight->n = n;
}

/* Arms the flows on the list up to `last`: connections of later flows were closed before theirs,
 * and nothing tells when theirs will be. */
static void give_up(struct nm_worker *worker, const struct nm_flow *last)
{
	for (bool more = last; more && worker->defer.first;) {
		struct nm_flow *flow = take(&worker->defer);

		more = flow != last;
		wait_armed(worker, flow);
	}
}

void nm_defer_note_reset(struct nm_worker *worker, const struct nm_conn *conn)
{
	struct nm_defer *defer = &worker->defer;
	int cpu = -1;
	socklen_t len = sizeof cpu;

	if (!defer->at)
		return;
	if (defer->asks) {
		defer->asks--;
		return;
	}
	bool here = getsockopt(conn->fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len) == 0 &&
		    cpu >= 0 && cpu == sched_getcpu();

	if (here != defer->here || !defer->asks_next)
		defer->asks_next = NM_TUNE_LEAST_ASKS;
	else if (defer->asks_next < NM_TUNE_MOST_ASKS)
		defer->asks_next *= 2;
	defer->asks = defer->asks_next;
	defer->here = here;
}

static void go_on(struct nm_worker *worker, const struct sight *sight)
{
	for (unsigned i = 0; i < sight->n; i++) {
		struct nm_flow *flow = sight->flows[i];

		if (flow->state != NM_FLOW_DEFERRED)
			continue; /* the phase has ended meanwhile */
		if (polls(worker))
			nm_defer_note_reset(worker, flow->conn);
		flow->state = NM_FLOW_WAITING;
		worker->waiter.events->conn(worker, flow->conn, (uint32_t)sight->fds[i].revents);
	}
}

/* Looks at the oldest flows, and on as long as all seen are closed or flows are lacked. */
static void look(struct nm_worker *worker)
{
	struct nm_defer *defer = &worker->defer;
	struct nm_flow *before = NULL, *from = defer->first;
	unsigned found = 0, vain = 0;
	struct sight sight;
	bool all; /* all that one look may see */

	defer->added = 0;
	defer->looked_ns = nm_clock_ns();
	do {
		int n_closed = see(&sight, from, defer->listener);

		all = n_closed == NM_TUNE_LOOK_FLOWS;
		if (n_closed) {
			pick(defer, &sight, before);
			give_up(worker, before);
			go_on(worker, &sight);
			defer->backoff.vain = 0;
			defer->pending = 0;
			before = NULL;
			from = defer->first;
			vain = 0;
			found++;
		} else if (++vain == NM_TUNE_VAIN_LOOKS) {
			arm_all(worker, worker->n_flows);
			return;
		} else {
			before = sight.flows[sight.n - 1];
			from = before->next;
		}
	} while (from && found < NM_TUNE_MOST_LOOKS && (all || lacks_flows(worker)));
}

void nm_defer_turn(struct nm_worker *worker)
{
	struct nm_defer *defer = &worker->defer;

	if (!defer->first)
		return;
	if (defer->added >= NM_TUNE_LOOK_FLOWS || lacks_flows(worker))
		look(worker);
	else if (nm_clock_ns() - defer->looked_ns >= NM_TUNE_LOOK_NS)
		nm_defer_flush(worker);
	if (lacks_flows(worker) && ++defer->pending > NM_TUNE_MOST_PENDING)
		nm_defer_flush(worker);
}

int64_t nm_defer_timeout_ns(const struct nm_worker *worker)
{
	if (!worker->defer.first)
		return -1;
	return lacks_flows(worker) ? 0 : NM_TUNE_LOOK_NS;
}
