/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that epoll tells of as long as there is something (edge_trigger="no"). What nobody
 * takes would be told on and on: so epoll is asked for what a flow waits for and does not know yet,
 * and no longer than it waits. What it asks for is kept in the connection's flags, and stays as it
 * is from one wait to the next alike, which then costs no call.
 *
 * NM_CONN_REGISTERED is not set, so that each wait comes here. */
#include <errno.h>
#include <sys/epoll.h>

#include "engine/engine_priv.h"
#include "engine/waits.h"
#include "flowop/abandoned.h"
#include "flowop/copy_modes.h"

#define ASKED (NM_CONN_LEVEL_IN | NM_CONN_LEVEL_OUT | NM_CONN_LEVEL_END)

/* An event may come for a connection that its flow does not use now, which would run in vain: it is
 * told once. */
static bool tells_once(const struct nm_worker *worker)
{
	return worker->group->n_conns > 1;
}

static uint32_t flags_of(uint32_t events)
{
	return NM_CONN_LEVEL | (events & EPOLLIN ? NM_CONN_LEVEL_IN : 0u) |
	       (events & EPOLLOUT ? NM_CONN_LEVEL_OUT : 0u) |
	       (events & EPOLLRDHUP ? NM_CONN_LEVEL_END : 0u);
}

/* 0 or -errno. */
static int ask(const struct nm_worker *worker, struct nm_conn *conn, uint32_t events)
{
	const bool once = tells_once(worker);
	struct epoll_event event = {.events = events | (once ? (uint32_t)EPOLLONESHOT : 0u),
				    .data.ptr = conn};
	int how = conn->flags & NM_CONN_LEVEL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (!once && (conn->flags & (NM_CONN_LEVEL | ASKED)) == flags_of(events))
		return 0;
	if (epoll_ctl(worker->epoll_fd, how, conn->fd, &event) < 0)
		return -errno;
	conn->flags = (conn->flags & ~(uint32_t)ASKED) | flags_of(events);
	return 0;
}

/* What epoll is to tell of a connection that is waited for. Errors it tells always: what sends
 * without a copy have to tell is one, until it is taken. */
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

/* What is owed on the flow's other connections moves meanwhile. */
static int ask_others(const struct nm_worker *worker, const struct nm_flow *flow)
{
	int r = 0;

	for (uint32_t c = 0; r == 0 && c < worker->group->n_conns; c++) {
		struct nm_conn *conn = &flow->conns[c];

		if (conn != flow->conn && (conn->flags & NM_CONN_OPEN) &&
		    nm_conn_has_abandoned(conn))
			r = ask(worker, conn, wanted_of(worker, conn, false));
	}
	return r;
}

int nm_level_watch(struct nm_worker *worker, struct nm_flow *flow, bool output)
{
	/* The receive itself waits: see lone.c. */
	if (worker->lone && !output) {
		nm_level_forget(worker, flow->conn);
		return 0;
	}
	int r = ask(worker, flow->conn, wanted_of(worker, flow->conn, output));

	return r == 0 && flow->abandons ? ask_others(worker, flow) : r;
}

void nm_level_rewatch(struct nm_worker *worker, struct nm_flow *flow)
{
	if ((flow->state == NM_FLOW_WAITING || flow->state == NM_FLOW_LIMITED) &&
	    !(flow->conn->flags & NM_CONN_LEVEL))
		(void)ask(worker, flow->conn, wanted_of(worker, flow->conn, false));
}

void nm_level_forget(const struct nm_worker *worker, struct nm_conn *conn)
{
	if (!(conn->flags & NM_CONN_LEVEL))
		return;
	(void)epoll_ctl(worker->epoll_fd, EPOLL_CTL_DEL, conn->fd, NULL);
	conn->flags &= ~(uint32_t)(NM_CONN_LEVEL | ASKED);
}

void nm_level_ignore(struct nm_worker *worker, struct nm_conn *conn)
{
	if (!(conn->flags & NM_CONN_LEVEL))
		return;
	/* What has come was taken, and more is waited for, but by no flow. */
	if (worker->run.draining || (worker->run.n_abandoning && nm_conn_has_abandoned(conn)))
		(void)ask(worker, conn, wanted_of(worker, conn, false));
	else if (!tells_once(worker))
		nm_level_forget(worker, conn);
}
