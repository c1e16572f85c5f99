/* SPDX-License-Identifier: Apache-2.0 */
/* The epoll waiter. Edge-triggered, as a rule: a connection is registered once, for as long as it
 * is open. In groups with edge_trigger="no" connections are level-triggered. Epoll would report
 * bytes that no flow takes on and on: so it is asked only for events that a flow waits for and does
 * not know yet, and no longer than the flow waits. Two waits for the same events in a row cost no
 * second call. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine_priv.h"
#include "engine/wait/waiter.h"
#include "flowop/abandoned.h"
#include "flowop/copy_modes.h"
#include "host/syscalls.h"

/* conn->waiter of a level-triggered connection: epoll knows it, and is asked for these events. */
#define KNOWN	1u
#define ASK_IN	2u
#define ASK_OUT 4u
#define ASK_END 8u

/* --- level-triggered --- */

/* An event may come for a connection that its flow does not use now; so as not to wake the worker
 * in vain it is told once. */
static bool tells_once(const struct nm_worker *worker)
{
	return worker->group->n_conns > 1;
}

static uint8_t mask_of(uint32_t events)
{
	return (uint8_t)(KNOWN | (events & EPOLLIN ? ASK_IN : 0u) |
			 (events & EPOLLOUT ? ASK_OUT : 0u) | (events & EPOLLRDHUP ? ASK_END : 0u));
}

/* 0 or -errno. */
static int ask(const struct nm_worker *worker, struct nm_conn *conn, uint32_t events)
{
	const bool once = tells_once(worker);
	struct epoll_event event = {.events = events | (once ? (uint32_t)EPOLLONESHOT : 0u),
				    .data.ptr = conn};
	int how = conn->waiter & KNOWN ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (!once && conn->waiter == mask_of(events))
		return 0;
	if (epoll_ctl(worker->epoll_fd, how, conn->fd, &event) < 0)
		return -errno;
	conn->waiter = mask_of(events);
	conn->flags = (conn->flags & ~(uint32_t)NM_CONN_ARMED_OUT) |
		      (events & EPOLLOUT ? (uint32_t)NM_CONN_ARMED_OUT : 0u);
	return 0;
}

/* The events to ask epoll for while a flow waits on conn. Epoll always reports errors, and reports
 * of sends without a copy count as one until they are taken. */
static uint32_t wanted_of(const struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	uint32_t events = 0;

	if (!(conn->flags & NM_CONN_IN))
		events |= EPOLLIN;
	if (!(conn->flags & NM_CONN_HUP))
		events |= EPOLLRDHUP;
	if (output || (conn->abandoned_out && !(conn->flags & NM_CONN_OUT)))
		events |= EPOLLOUT;
	if (conn->flags & NM_CONN_ERRQUEUE)
		(void)nm_copy_modes_drain(&worker->io, conn);
	else if (conn->flags & NM_CONN_NOBUFS)
		events &= ~(uint32_t)EPOLLOUT;
	conn->flags &= ~(uint32_t)NM_CONN_NOBUFS;
	return events;
}

/* Abandoned messages on the flow's other connections move meanwhile. */
static int ask_others(const struct nm_worker *worker, struct nm_flow *flow)
{
	int r = 0;

	for (uint32_t c = 0; r == 0 && c < worker->group->n_conns; c++) {
		struct nm_conn *conn = nm_flow_conn(flow, c);

		if (conn != flow->conn && (conn->flags & NM_CONN_OPEN) &&
		    nm_conn_has_abandoned(conn))
			r = ask(worker, conn, wanted_of(worker, conn, false));
	}
	return r;
}

static int arm_level(const struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	int r = ask(worker, conn, wanted_of(worker, conn, output));

	return r == 0 && conn->flow->abandons ? ask_others(worker, conn->flow) : r;
}

/* --- both --- */

static int arm(struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	if (worker->group->level_triggered)
		return arm_level(worker, conn, output);
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET |
					      (output ? (uint32_t)EPOLLOUT : 0u),
				    .data.ptr = conn};
	int how = conn->flags & NM_CONN_ARMED ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (epoll_ctl(worker->epoll_fd, how, conn->fd, &event) < 0)
		return -errno;
	conn->flags |= NM_CONN_ARMED | (output ? NM_CONN_ARMED_OUT : 0u);
	return 0;
}

static void forget_level(const struct nm_worker *worker, struct nm_conn *conn)
{
	if (!(conn->waiter & KNOWN))
		return;
	(void)epoll_ctl(worker->epoll_fd, EPOLL_CTL_DEL, conn->fd, NULL);
	conn->waiter = 0;
	conn->flags &= ~(uint32_t)NM_CONN_ARMED_OUT;
}

void nm_epoll_forget(const struct nm_worker *worker, struct nm_conn *conn)
{
	if ((conn->flags & NM_CONN_OPEN) && (conn->flags & NM_CONN_ARMED))
		(void)epoll_ctl(worker->epoll_fd, EPOLL_CTL_DEL, conn->fd, NULL);
	forget_level(worker, conn);
	conn->flags &= ~(uint32_t)(NM_CONN_ARMED | NM_CONN_ARMED_OUT);
}

/* After the passes of a phase, when no flow waits, the worker has taken the bytes that came and may
 * still wait for more. */
static void ignore(struct nm_worker *worker, struct nm_conn *conn)
{
	if (!(conn->waiter & KNOWN))
		return;
	if (worker->run.state == NM_PHASE_DRAIN ||
	    (worker->run.n_abandoning && nm_conn_has_abandoned(conn)))
		(void)ask(worker, conn, wanted_of(worker, conn, false));
	else if (!tells_once(worker))
		forget_level(worker, conn);
}

/* An edge-triggered connection has nothing more to report then. */
static void disarm(struct nm_worker *worker, struct nm_conn *conn)
{
	forget_level(worker, conn);
}

/* Kernels before 5.11 have milliseconds only. */
int nm_epoll_wait(const struct nm_worker *worker, struct epoll_event *ready, int room,
		  int64_t timeout_ns)
{
	if (timeout_ns > 0) {
		struct timespec ts = {.tv_sec = timeout_ns / 1000000000,
				      .tv_nsec = timeout_ns % 1000000000};
		long n = syscall(SYS_epoll_pwait2, worker->epoll_fd, ready, room, &ts, NULL, 0);

		if (n >= 0 || errno != ENOSYS)
			return (int)n;
		timeout_ns = (timeout_ns + 999999) / 1000000;
	}
	return nm_sys_epoll_wait(worker->epoll_fd, ready, room,
				 timeout_ns < 0 ? -1 : (int)timeout_ns);
}

static int wait_events(struct nm_worker *worker, struct epoll_event *ready, int room,
		       int64_t timeout_ns)
{
	int n = nm_epoll_wait(worker, ready, room, timeout_ns);

	if (worker->group->spins)
		nm_waiter_spun(worker, n);
	return n;
}

static int begin(struct nm_worker *worker)
{
	(void)worker;
	return 0;
}

/* Epoll keeps its connections for the next phase. */
static void end(struct nm_worker *worker)
{
	(void)worker;
}

const struct nm_waiter_ops nm_waiter_epoll = {
	.kind = NM_WAITER_EPOLL,
	.begin = begin,
	.arm = arm,
	.ignore = ignore,
	.disarm = disarm,
	.wait = wait_events,
	.end = end,
};
