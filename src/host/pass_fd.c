/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors in messages over a Unix socket. */
#include "host/pass_fd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Aligned, it may have room for more than the one descriptor, but never for a second header. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int nm_pass_fd_send(int to, const void *bytes, size_t size, int fd)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
	union control control = {.bytes = {0}};
	const struct msghdr message = {.msg_iov = &iov,
				       .msg_iovlen = 1,
				       .msg_control = control.bytes,
				       .msg_controllen = sizeof control.bytes};

	control.header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	return sendmsg(to, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Takes the one descriptor of the message, or closes all that it has. */
static int take(const struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fds[sizeof(union control) / sizeof(int)];

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return -1;
	size_t size = header->cmsg_len - CMSG_LEN(0);

	memcpy(fds, CMSG_DATA(header), size);
	if (size == sizeof *fds && !(message->msg_flags & MSG_CTRUNC))
		return *fds;
	for (size_t i = 0; i < size / sizeof *fds; i++)
		(void)close(fds[i]);
	return -1;
}

ssize_t nm_pass_fd_receive(int from, void *ret_bytes, size_t size, int *ret_fd)
{
	struct iovec iov = {.iov_base = ret_bytes, .iov_len = size};
	union control control;
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	ssize_t n = recvmsg(from, &message, MSG_CMSG_CLOEXEC);

	*ret_fd = n < 0 ? -1 : take(&message);
	return n < 0 ? -errno : n;
}
