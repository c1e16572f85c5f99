/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's mailbox: a socket over which the doors pass connections, to threads and processes
 * alike. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/accept/rendezvous.h"
#include "engine/engine_priv.h"
#include "engine/loop/interp.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "transport/transport.h"

struct letter {
	uint32_t opening, flow;
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int nm_handoff_init(struct nm_worker *worker)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = NM_TAG_HANDOFF};

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		       worker->accept.handoff) < 0)
		return -errno;
	return epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, worker->accept.handoff[0], &event) < 0
		       ? -errno
		       : 0;
}

void nm_handoff_fini(struct nm_worker *worker)
{
	for (uint32_t i = 0; worker->flows && i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		while (flow->pending) {
			struct nm_pending_conn *arrival = flow->pending;

			flow->pending = arrival->next;
			if (arrival->fd >= 0)
				(void)close(arrival->fd);
			free(arrival);
		}
	}
	for (int i = 0; i < 2; i++)
		if (worker->accept.handoff[i] >= 0)
			(void)close(worker->accept.handoff[i]);
}

int nm_handoff_send(struct nm_worker *worker, unsigned opening, unsigned flow, int fd)
{
	struct letter letter = {.opening = opening, .flow = flow};
	struct iovec iov = {.iov_base = &letter, .iov_len = sizeof letter};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int r = 0;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	while (sendmsg(worker->accept.handoff[1], &message, MSG_NOSIGNAL) < 0) {
		struct pollfd room = {.fd = worker->accept.handoff[1], .events = POLLOUT};

		r = -errno;
		if (r != -EAGAIN && r != -ETOOMANYREFS)
			break;
		r = 0;
		if (atomic_load_explicit(&worker->commands.quit, memory_order_relaxed))
			break;
		(void)poll(&room, 1, 10);
	}
	(void)close(fd);
	return r;
}

/* The next connection: 0 with its descriptor, or -errno. */
static int receive(const struct nm_worker *worker, struct letter *letter, int *ret_fd)
{
	struct iovec iov = {.iov_base = letter, .iov_len = sizeof *letter};
	union control control;
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	ssize_t n = recvmsg(worker->accept.handoff[0], &message, MSG_CMSG_CLOEXEC);

	if (n < 0)
		return -errno;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (n != sizeof *letter || !header || header->cmsg_type != SCM_RIGHTS)
		return -EMFILE; /* there was no room for the descriptor */
	memcpy(ret_fd, CMSG_DATA(header), sizeof *ret_fd);
	return 0;
}

/* How long a message may need more than a connection that was opened after it was sent. */
#define OVERTAKEN_NS 10000000u

void nm_worker_shorten_wait(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *at = flow->at;
	uint64_t until_ns = nm_clock_ns() + OVERTAKEN_NS;

	if (!flow->pending || (flow->state != NM_FLOW_WAITING && flow->state != NM_FLOW_LIMITED) ||
	    !at->transport || !(at->op->flags & NM_FLOWOP_MOVES) || !at->lossy)
		return;
	if (flow->state == NM_FLOW_LIMITED && flow->timer.at_ns <= until_ns)
		return;
	nm_timers_remove(&worker->timers, &flow->timer);
	flow->state = NM_FLOW_LIMITED;
	flow->timer.at_ns = until_ns;
	worker->busy = true;
	nm_timers_add(&worker->timers, &flow->timer);
}

void nm_pending_add(struct nm_worker *worker, struct nm_flow *flow, struct nm_pending_conn *arrival)
{
	struct nm_pending_conn **end = &flow->pending;

	while (*end)
		end = &(*end)->next;
	*end = arrival;
	if (flow->state == NM_FLOW_PARKED && flow->at->has_preamble &&
	    flow->at->opening == arrival->opening) {
		nm_timers_remove(&worker->timers, &flow->timer);
		flow->timer.at_ns = 0;
		nm_worker_run_flow(worker, flow);
	} else {
		nm_worker_shorten_wait(worker, flow);
	}
}

static void arrive(struct nm_worker *worker, const struct letter *letter, int fd)
{
	struct nm_flow *flow = nm_worker_flow(worker, letter->flow / worker->group->n_workers);
	struct nm_pending_conn *arrival = malloc(sizeof *arrival);

	if (!arrival) {
		(void)close(fd);
		return;
	}
	*arrival = (struct nm_pending_conn){.fd = fd, .opening = letter->opening};
	nm_pending_add(worker, flow, arrival);
}

void nm_handoff_event(struct nm_worker *worker)
{
	struct letter letter;
	int fd = -1;

	while (receive(worker, &letter, &fd) == 0)
		arrive(worker, &letter, fd);
	worker->busy = true;
}
