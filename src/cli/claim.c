/* SPDX-License-Identifier: Apache-2.0 */
/* A name is an abstract address of a Unix socket: the kernel gives it to one socket, and takes it
 * back when all who have that have ended, however they did. Whoever connects is told whose it is;
 * processes of the same user get the socket, too, to be kept by who is of the same owner. */
#include "cli/claim.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/pass_fd.h"

#define PREFIX	 "netmodel-claim/"
#define AGAIN_MS 10

static socklen_t address_of(const char *name, struct sockaddr_un *ret_address)
{
	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	int n = snprintf(ret_address->sun_path + 1, sizeof ret_address->sun_path - 1, PREFIX "%s",
			 name);

	return n < (int)sizeof ret_address->sun_path - 1
		       ? (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)
		       : 0;
}

/* Whether the socket has the name, or, with *ret_asks, is connected to its owner. */
static int bind_or_connect(int fd, const struct sockaddr *address, socklen_t size, bool *ret_asks)
{
	int error = bind(fd, address, size) < 0 ? errno : 0;

	*ret_asks = error == EADDRINUSE;
	if (error && !*ret_asks)
		return -error;
	return (*ret_asks ? connect(fd, address, size) : listen(fd, SOMAXCONN)) < 0 ? -errno : 0;
}

/* An owner that refuses has ended meanwhile, or does not listen yet. */
static int take_or_ask(int fd, const char *name, bool *ret_asks)
{
	struct sockaddr_un address;
	socklen_t size = address_of(name, &address);
	int error = size ? -ECONNREFUSED : -ENAMETOOLONG;

	*ret_asks = false;
	for (int tries = 0; error == -ECONNREFUSED && tries < NM_CLAIM_TRIES; tries++) {
		if (tries)
			(void)poll(NULL, 0, AGAIN_MS);
		error = bind_or_connect(fd, (const struct sockaddr *)&address, size, ret_asks);
	}
	return error && *ret_asks ? -EADDRINUSE : error;
}

int nm_claim(const char *name, bool *ret_asks)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = fd < 0 ? -errno : take_or_ask(fd, name, ret_asks);

	if (error && fd >= 0)
		(void)close(fd);
	return error ? error : fd;
}

int nm_claim_hear(int fd, const char *owner, char ret_holder[NM_CLAIM_OWNER])
{
	int held;
	ssize_t n = nm_pass_fd_receive(fd, ret_holder, NM_CLAIM_OWNER - 1, &held);

	ret_holder[n > 0 ? n : 0] = '\0';
	(void)close(fd);
	if (n == 0 || n == -ECONNRESET)
		return -ECONNRESET;
	if (held >= 0 && strcmp(ret_holder, owner) != 0) {
		(void)close(held);
		held = -1;
	}
	return held >= 0 ? held : -EADDRINUSE;
}

void nm_claim_answer(int fd, const char *owner)
{
	int asker = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred who = {.uid = 0};
	socklen_t size = sizeof who;

	if (asker < 0)
		return;
	if (getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid())
		(void)nm_pass_fd_send(asker, owner, strlen(owner), fd);
	else
		(void)send(asker, owner, strlen(owner), MSG_NOSIGNAL);
	(void)close(asker);
}
