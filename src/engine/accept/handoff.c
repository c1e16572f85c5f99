/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of connections on their way from the thread that took them to the worker that owns
 * their flow. */
#include "engine/accept/handoff.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/pass_fd.h"

/* How long one wait for room lasts before it looks whether the run is over. */
#define ROOM_MS 10

struct note {
	uint32_t opening, flow;
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

static int send_waiting(int to, const struct note *note, int fd, const _Atomic bool *quit)
{
	int r;

	while ((r = nm_pass_fd_send(to, note, sizeof *note, fd)) < 0) {
		struct pollfd room = {.fd = to, .events = POLLOUT};

		/* ETOOMANYREFS: too many descriptors are on their way already, to all workers. */
		if (r != -EAGAIN && r != -ETOOMANYREFS && r != -EINTR)
			return r;
		if (atomic_load_explicit(quit, memory_order_relaxed))
			return -ECANCELED;
		(void)poll(&room, 1, ROOM_MS);
	}
	return 0;
}

int nm_handoff_send(const int pair[2], uint32_t opening, uint32_t flow, int fd,
		    const _Atomic bool *quit)
{
	const struct note note = {.opening = opening, .flow = flow};
	int r = send_waiting(pair[1], &note, fd, quit);

	(void)close(fd);
	return r;
}

int nm_handoff_receive(const int pair[2], uint32_t *ret_opening, uint32_t *ret_flow, int *ret_fd)
{
	struct note note;
	ssize_t n = nm_pass_fd_receive(pair[0], &note, sizeof note, ret_fd);

	if (n == sizeof note && *ret_fd >= 0) {
		*ret_opening = note.opening;
		*ret_flow = note.flow;
		return 0;
	}
	if (*ret_fd >= 0)
		(void)close(*ret_fd);
	return n < 0 ? (int)n : -EMFILE; /* there was no room for the descriptor */
}
