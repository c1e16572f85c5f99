/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of connections on their way from the thread that took them to the worker that owns
 * their flow. */
#include "engine/accept/handoff.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long one wait for room lasts before it looks whether the run is over. */
#define ROOM_MS 10

struct note {
	uint32_t opening, flow;
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int nm_handoff_open(int pair[2])
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

	return socketpair(AF_UNIX, type, 0, pair) < 0 ? -errno : 0;
}

void nm_handoff_close(int pair[2])
{
	for (int i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			(void)close(pair[i]);
		pair[i] = -1;
	}
}

static int send_waiting(int to, const struct msghdr *message, const _Atomic bool *quit)
{
	while (sendmsg(to, message, MSG_NOSIGNAL) < 0) {
		struct pollfd room = {.fd = to, .events = POLLOUT};

		/* ETOOMANYREFS: too many descriptors are on their way already, to all workers. */
		if (errno != EAGAIN && errno != ETOOMANYREFS && errno != EINTR)
			return -errno;
		if (atomic_load_explicit(quit, memory_order_relaxed))
			return -ECANCELED;
		(void)poll(&room, 1, ROOM_MS);
	}
	return 0;
}

int nm_handoff_send(const int pair[2], uint32_t opening, uint32_t flow, int fd,
		    const _Atomic bool *quit)
{
	struct note note = {.opening = opening, .flow = flow};
	struct iovec iov = {.iov_base = &note, .iov_len = sizeof note};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	int r = send_waiting(pair[1], &message, quit);

	(void)close(fd);
	return r;
}

int nm_handoff_receive(const int pair[2], uint32_t *ret_opening, uint32_t *ret_flow, int *ret_fd)
{
	struct note note;
	struct iovec iov = {.iov_base = &note, .iov_len = sizeof note};
	union control control;
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	ssize_t n = recvmsg(pair[0], &message, MSG_CMSG_CLOEXEC);

	if (n < 0)
		return -errno;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (n != sizeof note || !header || header->cmsg_type != SCM_RIGHTS)
		return -EMFILE; /* there was no room for the descriptor */
	*ret_opening = note.opening;
	*ret_flow = note.flow;
	memcpy(ret_fd, CMSG_DATA(header), sizeof *ret_fd);
	return 0;
}
