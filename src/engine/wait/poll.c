/* SPDX-License-Identifier: Apache-2.0 */
/* The poll waiter: a worker with one flow whose connection is a new one with each pass. Epoll would
 * be told of each for one or two waits only, which costs more than a poll(2) for each. The worker
 * polls the flow's connection, the listening socket, and the descriptor that wakes its epoll. While
 * the flow waits on its connection the worker does the work that the other end need not wait
 * for. */
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "engine/accept/listener.h"
#include "engine/engine_priv.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "flowop/open_opts.h"
#include "host/syscalls.h"

/* In passes with one connection the next socket is made ahead, and the last one closed later. */
static void begin_cache(struct nm_worker *worker)
{
	const struct nm_phase_shape *shape = worker->shape;
	const struct nm_instr *connect = nm_worker_instr(worker, shape->make_ahead_at);
	struct nm_conn_cache *cache = &worker->waiter.cache;

	if (!shape->lone_conn)
		return;
	nm_conn_cache_init(cache);
	if (connect) {
		cache->transport = connect->transport;
		cache->opts = connect->open.transport_opts;
		cache->endpoint = nm_flow_endpoint(&worker->io, nm_worker_flow(worker, 0), connect);
		cache->resets = shape->resets;
	}
	worker->io.cache = cache;
}

/* Receives on accepted connections may sleep: the worker hears commands between two messages. */
static int begin(struct nm_worker *worker)
{
	struct nm_listen_fd *listener;

	if ((nm_worker_flow(worker, 0)->conn->flags & NM_CONN_OPEN) ||
	    !nm_worker_only_listener(worker, &listener) ||
	    (listener && nm_listener_watch(worker, listener, false) < 0))
		return 1;
	worker->waiter.listener = listener;
	begin_cache(worker);
	if (worker->shape->sleeps_in_recv)
		worker->io.recv_flags = 0;
	return 0;
}

static void sleep_no_more(struct nm_worker *worker)
{
	const struct nm_conn *conn = nm_worker_flow(worker, 0)->conn;

	if (worker->io.recv_flags)
		return;
	worker->io.recv_flags = MSG_DONTWAIT;
	if (conn->flags & NM_CONN_OPEN)
		(void)fcntl(conn->fd, F_SETFL, O_NONBLOCK);
}

/* Connections that have come meanwhile are events of epoll again. */
static void end(struct nm_worker *worker)
{
	nm_waiter_fini(worker);
	if (worker->waiter.listener) {
		sleep_no_more(worker);
		(void)nm_listener_watch(worker, worker->waiter.listener, true);
	}
	worker->waiter.listener = NULL;
	nm_waiter_rearm(worker);
}

static int arm(struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	(void)worker;
	conn->flags |= NM_CONN_ARMED | (output ? NM_CONN_ARMED_OUT : 0u);
	return 0;
}

/* Only the connection on which the flow waits is polled. */
static void ignore(struct nm_worker *worker, struct nm_conn *conn)
{
	(void)worker;
	(void)conn;
}

/* Poll tells states, not changes: the worker asks only for those that it does not know yet. */
static uint32_t unknown(const struct nm_conn *conn)
{
	uint32_t events = 0;

	if (!(conn->flags & NM_CONN_IN))
		events |= POLLIN;
	if (!(conn->flags & NM_CONN_HUP))
		events |= POLLRDHUP;
	if ((conn->flags & NM_CONN_ARMED_OUT) && !(conn->flags & NM_CONN_OUT))
		events |= POLLOUT;
	return events;
}

static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLRDHUP == EPOLLRDHUP &&
		      POLLERR == EPOLLERR && POLLHUP == EPOLLHUP,
	      "events of poll are passed on as those of epoll");

static int wait_polling(struct nm_worker *worker, struct epoll_event *ready, int room,
			int64_t timeout_ns)
{
	const struct nm_flow *flow = nm_worker_flow(worker, 0);
	struct nm_listen_fd *listener = worker->waiter.listener;
	bool waits = nm_flow_is_waiting(flow) && (flow->conn->flags & NM_CONN_ARMED);
	/* When the worker's epoll has no other events than wake_fd, that is polled instead. */
	int others_fd = worker->accept.handoff[0] < 0 ? worker->wake_fd : worker->epoll_fd;
	struct pollfd fds[3] = {
		{.fd = others_fd, .events = POLLIN},
		{.fd = waits ? flow->conn->fd : -1, .events = (short)unknown(flow->conn)},
		{.fd = listener && !listener->ready ? listener->fd : -1, .events = POLLIN}};
	int n = 0;

	if (worker->io.cache && (waits || flow->state == NM_FLOW_DEFERRED))
		nm_conn_cache_idle(worker->io.cache, flow->conn);
	if (nm_sys_poll(fds, listener ? 3 : 2, timeout_ns) <= 0)
		return 0;
	if (fds[1].revents & (POLLHUP | POLLERR))
		nm_defer_note_reset(worker, flow->conn);
	if (fds[1].revents)
		ready[n++] = (struct epoll_event){.events = (uint32_t)fds[1].revents,
						  .data.ptr = flow->conn};
	if (fds[2].revents)
		ready[n++] = (struct epoll_event){.events = EPOLLIN,
						  .data.u64 = (uint64_t)(uintptr_t)listener |
							      NM_TAG_LISTEN};
	if (fds[0].revents) {
		int more = nm_sys_epoll_wait(worker->epoll_fd, ready + n, room, 0);

		n += more > 0 ? more : 0;
	}
	return n;
}

const struct nm_waiter_ops nm_waiter_poll = {
	.kind = NM_WAITER_POLL,
	.begin = begin,
	.arm = arm,
	.ignore = ignore,
	.disarm = ignore,
	.wait = wait_polling,
	.end = end,
};
