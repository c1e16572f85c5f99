/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that the worker's epoll tells of, edge-triggered: once registered, for as long as
 * they are open. */
#include <errno.h>
#include <sys/epoll.h>

#include "engine/engine_priv.h"
#include "engine/waits.h"

/* Makes epoll watch the connection: once for input, and from its first full buffer on for output
 * too. */
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

	/* One that waits alone is not watched, whatever its flags say: see lone.c. And it may be
	 * watched before that ends. */
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
