/* SPDX-License-Identifier: Apache-2.0 */
/* Many flows, or one whose resets come in on the CPU of its worker; each pass takes a connection
 * that the other end opens and resets. Nobody waits for this end to close it: epoll is not told of
 * it, and it is looked at when its flow is needed for the next connection. */
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include "engine/engine_priv.h"
#include "engine/waits.h"
#include "flowop/disconnect.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "host/syscalls.h"

void nm_worker_closing_begin(struct nm_worker *worker)
{
	struct nm_closing *closing = &worker->closing;

	*closing = (struct nm_closing){.at = NULL};
	if (worker->shape->defer == NM_DEFER_UNTIL_NEEDED &&
	    (worker->polls || worker->shape->waiter != NM_WAITER_POLL) &&
	    nm_worker_only_listener(worker, &closing->listener) && closing->listener)
		closing->at = nm_worker_instr(worker, worker->shape->close_at);
}

/* Whether no connection comes any more for which the flow would be needed. */
static bool is_almost_over(const struct nm_worker *worker, const struct nm_flow *flow)
{
	uint64_t done = nm_count_passes(worker->io.count);

	return flow->iterations_left == 1 || worker->run.end_at <= done ||
	       worker->run.end_at - done <= worker->n_flows;
}

bool nm_worker_closes_later(struct nm_worker *worker, struct nm_flow *flow)
{
	const uint32_t states = NM_CONN_OPEN | NM_CONN_REGISTERED | NM_CONN_LEVEL;
	struct nm_closing *closing = &worker->closing;

	if ((flow->conn->flags & states) != NM_CONN_OPEN || is_almost_over(worker, flow) ||
	    (worker->polls && !closing->here))
		return false;
	if (closing->skips) {
		closing->skips--;
		return false;
	}
	worker->busy = true;
	flow->state = NM_FLOW_CLOSING;
	flow->next = NULL;
	closing->added++;
	if (closing->last) {
		closing->last->next = flow;
	} else {
		closing->first = flow;
		closing->looked_ns = nm_clock_ns();
	}
	closing->last = flow;
	return true;
}

static struct nm_flow *take(struct nm_closing *closing)
{
	struct nm_flow *flow = closing->first;

	closing->first = flow->next;
	if (!closing->first)
		closing->last = NULL;
	flow->next = NULL;
	return flow;
}

static void tell_epoll(struct nm_worker *worker, uint32_t skips)
{
	worker->closing.skips = skips;
	worker->closing.pending = 0;
	/* Should epoll not take it, the flow fails, and that may end the phase. */
	while (worker->closing.first)
		nm_worker_wait_in(worker, take(&worker->closing));
}

void nm_worker_closing_flush(struct nm_worker *worker)
{
	struct nm_closing *closing = &worker->closing;

	if (!closing->first)
		return;
	closing->vain = nm_more_vain(closing->vain);
	tell_epoll(worker, closing->vain);
}

bool nm_worker_lacks_flows(const struct nm_worker *worker)
{
	const struct nm_closing *closing = &worker->closing;

	return closing->first && closing->listener->ready && !closing->listener->listener->first;
}

/* How many are looked at with one call: more than are closed as a rule, so that the next look need
 * not be soon. */
#define CHUNK 16

/* The next few that wait. */
struct sight {
	struct pollfd fds[CHUNK + 1]; /* at last the listening socket */
	struct nm_flow *flows[CHUNK];
	unsigned n;
};

/* From flow on, and whether a connection waits. How many are closed. */
static int see(struct sight *sight, struct nm_flow *flow, struct nm_listen_fd *listener)
{
	unsigned n = 0;

	for (; flow && n < CHUNK; flow = flow->next) {
		sight->fds[n] = (struct pollfd){.fd = flow->conn->fd, .events = POLLRDHUP};
		sight->flows[n++] = flow;
	}
	sight->n = n;
	sight->fds[n] = (struct pollfd){.fd = listener->fd, .events = POLLIN};
	int seen = nm_sys_poll(sight->fds, n + 1, 0);

	if (seen > 0 && sight->fds[n].revents)
		return seen - 1;
	listener->ready = false; /* epoll tells of the next */
	return seen > 0 ? seen : 0;
}

/* Those that are closed leave the list, of which `before` is the last before them all, or NULL. */
static void pick(struct nm_closing *closing, struct sight *sight, struct nm_flow *before)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sight->n; i++) {
		struct nm_flow *flow = sight->flows[i];

		if (!sight->fds[i].revents) {
			before = flow;
			continue;
		}
		*(before ? &before->next : &closing->first) = flow->next;
		if (closing->last == flow)
			closing->last = before;
		flow->next = NULL;
		sight->fds[n].revents = sight->fds[i].revents;
		sight->flows[n++] = flow;
	}
	sight->n = n;
}

/* Those of the list up to `last` have been overtaken by others: nobody knows when they will be
 * closed. */
static void give_up(struct nm_worker *worker, const struct nm_flow *last)
{
	for (bool more = last; more && worker->closing.first;) {
		struct nm_flow *flow = take(&worker->closing);

		more = flow != last;
		nm_worker_wait_in(worker, flow);
	}
}

/* How often it is asked where resets come in: seldom while the answer is the same. */
#define LEAST_ASKS 64u
#define MOST_ASKS  4096u

void nm_worker_closing_seen(struct nm_worker *worker, const struct nm_conn *conn)
{
	struct nm_closing *closing = &worker->closing;
	int cpu = -1;
	socklen_t len = sizeof cpu;

	if (!closing->at)
		return;
	if (closing->asks) {
		closing->asks--;
		return;
	}
	bool here = getsockopt(conn->fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len) == 0 &&
		    cpu >= 0 && cpu == sched_getcpu();

	if (here != closing->here || !closing->asks_next)
		closing->asks_next = LEAST_ASKS;
	else if (closing->asks_next < MOST_ASKS)
		closing->asks_next *= 2;
	closing->asks = closing->asks_next;
	closing->here = here;
}

static void go_on(struct nm_worker *worker, const struct sight *sight)
{
	for (unsigned i = 0; i < sight->n; i++) {
		struct nm_flow *flow = sight->flows[i];

		if (flow->state != NM_FLOW_CLOSING)
			continue; /* the phase has ended meanwhile */
		if (worker->polls)
			nm_worker_closing_seen(worker, flow->conn);
		flow->state = NM_FLOW_WAITING;
		nm_worker_conn_event(worker, flow->conn, (uint32_t)sight->fds[i].revents);
	}
}

/* How many looks of one turn may find some closed: events must not wait for too long. */
#define MOST_LOOKS 16
/* How many looks in a row may find none: connections are not closed in the order of their
 * answers. */
#define MOST_VAIN 8

/* At the oldest, and on for as long as all are closed, or flows are lacked. */
static void look(struct nm_worker *worker)
{
	struct nm_closing *closing = &worker->closing;
	struct nm_flow *before = NULL, *from = closing->first;
	unsigned found = 0, vain = 0;
	struct sight sight;
	bool all; /* that one look may see */

	closing->added = 0;
	closing->looked_ns = nm_clock_ns();
	do {
		int n_closed = see(&sight, from, closing->listener);

		all = n_closed == CHUNK;
		if (n_closed) {
			pick(closing, &sight, before);
			give_up(worker, before);
			go_on(worker, &sight);
			closing->vain = closing->pending = 0;
			before = NULL;
			from = closing->first;
			vain = 0;
			found++;
		} else if (++vain == MOST_VAIN) {
			tell_epoll(worker, worker->n_flows);
			return;
		} else {
			before = sight.flows[sight.n - 1];
			from = before->next;
		}
	} while (from && found < MOST_LOOKS && (all || nm_worker_lacks_flows(worker)));
}

/* How many turns a connection may wait though no other is closed: its reset is on the way, or it is
 * a stranger's. */
#define MOST_PENDING 64

void nm_worker_closing_turn(struct nm_worker *worker)
{
	struct nm_closing *closing = &worker->closing;

	if (closing->added >= CHUNK || nm_worker_lacks_flows(worker))
		look(worker);
	else if (nm_clock_ns() - closing->looked_ns >= NM_CLOSING_NS)
		nm_worker_closing_flush(worker);
	if (nm_worker_lacks_flows(worker) && ++closing->pending > MOST_PENDING)
		nm_worker_closing_flush(worker);
}
