/* SPDX-License-Identifier: Apache-2.0 */
/* The recv waiter: a worker with one flow, which waits again and again at one read, need not wait
 * for events. A receive that sleeps until something comes spares a system call; where workers spin,
 * receives are tried again and again. A receive that sleeps is given up after a while, so that the
 * worker sees commands of the control thread. Then epoll waits, until some passes are done.
 *
 * Meanwhile epoll does not know the connection, which would cost the kernel something with each
 * packet. */
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/wait/waiter.h"

static struct nm_conn *only_conn(const struct nm_worker *worker)
{
	return nm_worker_flow(worker, 0)->conn;
}

/* How long a receive sleeps at most: a wait beyond its limit is noticed only when the receive is
 * given up. */
static struct timeval sleep_of(const struct nm_worker *worker)
{
	const struct nm_instr *read = nm_worker_instr(worker, worker->shape->wait_at);
	suseconds_t us =
		worker->run.phase->leads ? NM_TUNE_ANSWER_SLEEP_US : NM_TUNE_REQUEST_SLEEP_US;

	if (read->timeout_ns && read->timeout_ns / 1000 < (uint64_t)us)
		us = read->timeout_ns < 2000 ? 1 : (suseconds_t)(read->timeout_ns / 2000);
	return (struct timeval){.tv_usec = us};
}

/* From now on receives sleep; where they cannot, epoll goes on. */
static void take_over(struct nm_worker *worker)
{
	struct nm_waiter *waiter = &worker->waiter;
	struct nm_conn *conn = only_conn(worker);
	struct timeval sleep = sleep_of(worker);

	waiter->told_readable = false;
	waiter->given_up_at = nm_count_passes(worker->io.count);
	if (!(conn->flags & NM_CONN_OPEN) || (conn->flags & NM_CONN_HUP))
		return;
	if (!worker->group->spins &&
	    (setsockopt(conn->fd, SOL_SOCKET, SO_RCVTIMEO, &sleep, sizeof sleep) < 0 ||
	     fcntl(conn->fd, F_SETFL, 0) < 0))
		return;
	nm_epoll_forget(worker, conn);
	waiter->given_up_at = UINT64_MAX;
	waiter->sleeps_in_recv = true;
}

/* From now on epoll waits. */
static void give_up(struct nm_worker *worker)
{
	struct nm_waiter *waiter = &worker->waiter;
	const struct nm_conn *conn = only_conn(worker);

	worker->io.recv_flags = MSG_DONTWAIT;
	worker->io.in_kept = ~(uint32_t)NM_CONN_IN;
	if (!waiter->sleeps_in_recv)
		return;
	waiter->sleeps_in_recv = false;
	waiter->given_up_at = nm_count_passes(worker->io.count);
	if ((conn->flags & NM_CONN_OPEN) && !worker->group->spins)
		(void)fcntl(conn->fd, F_SETFL, O_NONBLOCK);
	nm_waiter_rearm(worker);
}

static int begin(struct nm_worker *worker)
{
	take_over(worker);
	return 0;
}

/* Epoll waits for output, when the other end does not take it. */
static int arm(struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	if (output)
		give_up(worker);
	if (!worker->waiter.sleeps_in_recv)
		return nm_waiter_epoll.arm(worker, conn, output);
	conn->flags |= NM_CONN_ARMED;
	return 0;
}

static void ignore(struct nm_worker *worker, struct nm_conn *conn)
{
	nm_waiter_epoll.ignore(worker, conn);
}

static void disarm(struct nm_worker *worker, struct nm_conn *conn)
{
	give_up(worker);
	nm_waiter_epoll.disarm(worker, conn);
}

/* Whether the flow waits for its next message, and the worker has nothing else to do; looking for
 * quiescence is something else, since it needs the clock between events. */
static bool is_alone(const struct nm_worker *worker, const struct nm_flow *flow)
{
	return nm_flow_is_waiting(flow) &&
	       flow->at == nm_worker_instr(worker, worker->shape->wait_at) &&
	       !nm_quiesce_looks(&worker->run.quiesce) &&
	       !atomic_load_explicit(&worker->commands.has_command, memory_order_relaxed);
}

static int tell_readable(const struct nm_worker *worker, struct epoll_event *ready)
{
	ready[0] = (struct epoll_event){.events = EPOLLIN, .data.ptr = only_conn(worker)};
	return 1;
}

/* Has the flow try its receive again and again, but looks at epoll's events, too, at times. */
static int wait_spinning(struct nm_worker *worker, struct epoll_event *ready, int room)
{
	struct nm_waiter *waiter = &worker->waiter;
	uint64_t received = nm_counter_read(&worker->io.count->bytes_received);

	waiter->vain_looks = received == waiter->received ? waiter->vain_looks + 1 : 0;
	waiter->received = received;
	if (waiter->vain_looks < NM_TUNE_SPINS)
		return tell_readable(worker, ready);
	waiter->vain_looks = 0;
	int n = nm_epoll_wait(worker, ready, room, 0);

	if (n <= 0)
		(void)sched_yield();
	return n;
}

static bool is_to_take_over(const struct nm_worker *worker)
{
	return !worker->waiter.sleeps_in_recv && !nm_quiesce_looks(&worker->run.quiesce) &&
	       nm_count_passes(worker->io.count) - worker->waiter.given_up_at >=
		       NM_TUNE_GIVEN_UP_PASSES;
}

static int wait_readable(struct nm_worker *worker, struct epoll_event *ready, int room,
			 int64_t timeout_ns)
{
	struct nm_waiter *waiter = &worker->waiter;
	struct nm_flow *flow = nm_worker_flow(worker, 0);
	bool alone = is_alone(worker, flow);

	if (alone && is_to_take_over(worker))
		take_over(worker);
	/* Nothing has come for long. */
	if (waiter->sleeps_in_recv && (nm_quiesce_looks(&worker->run.quiesce) ||
				       (alone && waiter->told_readable && !worker->group->spins)))
		give_up(worker);
	if (!alone || !waiter->sleeps_in_recv) {
		waiter->told_readable = false;
		worker->io.recv_flags = MSG_DONTWAIT;
		worker->io.in_kept = ~(uint32_t)NM_CONN_IN;
		return nm_waiter_epoll.wait(worker, ready, room, timeout_ns);
	}
	if (worker->group->spins)
		return wait_spinning(worker, ready, room);
	waiter->told_readable = true;
	worker->io.recv_flags = 0;
	worker->io.in_kept = ~0u;
	return tell_readable(worker, ready);
}

static void end(struct nm_worker *worker)
{
	give_up(worker);
}

const struct nm_waiter_ops nm_waiter_recv = {
	.kind = NM_WAITER_RECV,
	.begin = begin,
	.arm = arm,
	.ignore = ignore,
	.disarm = disarm,
	.wait = wait_readable,
	.end = end,
};
