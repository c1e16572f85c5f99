/* SPDX-License-Identifier: Apache-2.0 */
/* A worker with one flow whose connection is a new one with each pass: it would be told to epoll
 * for one or two waits only, which costs more than each of these waits. Such a worker polls what
 * the flow waits for, and what wakes its epoll with it. */
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "engine/waits.h"
#include "engine/accept/listener.h"
#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "host/syscalls.h"
#include "transport/transport.h"

static void sleep_no_more(struct nm_worker *worker)
{
	const struct nm_conn *conn = nm_worker_flow(worker, 0)->conn;

	if (worker->io.recv_flags)
		return;
	worker->io.recv_flags = MSG_DONTWAIT;
	if (conn->flags & NM_CONN_OPEN)
		(void)fcntl(conn->fd, F_SETFL, O_NONBLOCK);
}

bool nm_worker_only_listener(const struct nm_worker *worker, struct nm_listen_fd **ret)
{
	*ret = NULL;
	for (uint32_t i = 0; i < worker->run.phase->n_instrs; i++) {
		const struct nm_instr *instr = worker->group->instrs + worker->run.phase->first + i;

		if (!nm_instr_accepts(instr))
			continue;
		const struct nm_listener *listener = &worker->accept.listeners[instr->opening];

		/* The kernel may have had no more than one port. */
		if (*ret || listener->n_fds != 1)
			return false;
		*ret = &listener->fds[0];
	}
	return true;
}

void nm_worker_polled_begin(struct nm_worker *worker)
{
	struct nm_listen_fd *listen_fd;

	if (worker->shape->waiter != NM_WAITER_POLL ||
	    (nm_worker_flow(worker, 0)->conn->flags & NM_CONN_OPEN) ||
	    !nm_worker_only_listener(worker, &listen_fd) ||
	    (listen_fd && nm_listener_watch(worker, listen_fd, false) < 0))
		return;
	worker->polls = true;
	worker->polled_listener = listen_fd;
	nm_worker_spare_begin(worker);
	/* The first receive after an accept, or after something has come: main is heard between two
	 * messages. */
	if (worker->shape->sleeps_in_recv)
		worker->io.recv_flags = 0;
}

void nm_worker_polled_end(struct nm_worker *worker)
{
	struct nm_flow *flow = nm_worker_flow(worker, 0);

	if (!worker->polls)
		return;
	worker->polls = false;
	nm_worker_spare_end(worker);
	/* What has come meanwhile is an event again. */
	if (worker->polled_listener) {
		sleep_no_more(worker);
		(void)nm_listener_watch(worker, worker->polled_listener, true);
	}
	worker->polled_listener = NULL;
	if (flow->conn->flags & NM_CONN_OPEN)
		nm_worker_rewatch(worker, flow);
}

/* Poll tells what is the case, not what has changed: only what is not known yet is asked for. */
static uint32_t unknown(const struct nm_conn *conn)
{
	uint32_t events = 0;

	if (!(conn->flags & NM_CONN_IN))
		events |= POLLIN;
	if (!(conn->flags & NM_CONN_HUP))
		events |= POLLRDHUP;
	if ((conn->flags & NM_CONN_OUT_REGISTERED) && !(conn->flags & NM_CONN_OUT))
		events |= POLLOUT;
	return events;
}

static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLRDHUP == EPOLLRDHUP &&
		      POLLERR == EPOLLERR && POLLHUP == EPOLLHUP,
	      "events of poll are passed on as those of epoll");

int nm_worker_poll(struct nm_worker *worker, struct epoll_event *events, int n_events,
		   int64_t timeout_ns)
{
	const struct nm_flow *flow = nm_worker_flow(worker, 0);
	bool waits = flow->state == NM_FLOW_WAITING || flow->state == NM_FLOW_LIMITED;
	struct nm_listen_fd *listen_fd = worker->polled_listener;
	/* Where epoll is told of nothing else it is not asked about what wakes it. */
	int others_fd = worker->accept.handoff[0] < 0 ? worker->wake_fd : worker->epoll_fd;
	struct pollfd fds[3] = {
		{.fd = others_fd, .events = POLLIN},
		{.fd = waits && (flow->conn->flags & NM_CONN_REGISTERED) ? flow->conn->fd : -1,
		 .events = (short)unknown(flow->conn)},
		{.fd = listen_fd && !listen_fd->ready ? listen_fd->fd : -1, .events = POLLIN}};
	int n = 0;

	if (fds[1].fd >= 0 || flow->state == NM_FLOW_CLOSING)
		nm_worker_spare_time(worker);
	if (nm_sys_poll(fds, listen_fd ? 3 : 2, timeout_ns) <= 0)
		return 0;
	if (fds[1].revents & (POLLHUP | POLLERR))
		nm_worker_closing_seen(worker, flow->conn);
	if (fds[1].revents)
		events[n++] = (struct epoll_event){.events = (uint32_t)fds[1].revents,
						   .data.ptr = flow->conn};
	if (fds[2].revents)
		events[n++] = (struct epoll_event){.events = EPOLLIN,
						   .data.u64 = (uint64_t)(uintptr_t)listen_fd |
							       NM_TAG_LISTEN};
	if (fds[0].revents) {
		int more = nm_sys_epoll_wait(worker->epoll_fd, events + n, n_events, 0);

		n += more > 0 ? more : 0;
	}
	return n;
}
