/* SPDX-License-Identifier: Apache-2.0 */
/* Example: a transport in one file. docs/adding-a-transport.md explains it.
 *
 * TCP whose sockets take little that cannot be sent yet (TCP_NOTSENT_LOWAT), so that what is
 * written next does not wait behind much. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/peers.h"
#include "transport/socket.h"
#include "transport/transport.h"

struct lowat_opts {
	uint64_t unsent_bytes;
};

static const struct nm_opt lowat_opts[] = {
	{.name = "unsent",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct lowat_opts, unsent_bytes),
	 .min = 1,
	 .max = INT32_MAX,
	 .def = "16k",
	 .help = "a socket takes no more as long as it has so many bytes to send, at both ends"},
	NM_OPT_END};

/* A socket, or -errno. Accepted sockets inherit the options of the listening one. */
static int open_socket(const struct lowat_opts *o, int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	int r = nm_socket_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)o->unsent_bytes);
	if (r == 0)
		return fd;
	(void)close(fd);
	return r;
}

/* Where an address of either family keeps its port. */
static in_port_t *port_of(struct nm_addr *addr)
{
	if (addr->sa.ss_family == AF_INET6)
		return &((struct sockaddr_in6 *)(void *)&addr->sa)->sin6_port;
	return &((struct sockaddr_in *)(void *)&addr->sa)->sin_port;
}

static int lowat_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
			int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	struct nm_addr at = *local;
	int r = 0;

	if (how != NM_LISTEN_FIRST) /* the port cannot be shared: one queue must do */
		return -EOPNOTSUPP;
	int fd = open_socket(opts, at.sa.ss_family);
	if (fd < 0)
		return fd;
	*port_of(&at) = 0; /* the kernel chooses */
	if (bind(fd, (const struct sockaddr *)&at.sa, at.len) < 0 || listen(fd, backlog) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at.sa, &at.len) < 0)
		r = -errno;
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	snprintf(text, NM_ENDPOINT_TEXT, "%u", ntohs(*port_of(&at)));
	*ret_fd = fd;
	return 0;
}

/* The text comes from another host: it is not trusted to be a port. */
static int lowat_endpoint(const struct nm_addr *host, const char *text, struct nm_addr *ret_to)
{
	char *end;
	unsigned long port = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

	if (port == 0 || port > 65535 || *end)
		return -EINVAL;
	*ret_to = *host;
	*port_of(ret_to) = htons((in_port_t)port);
	return 0;
}

static int lowat_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	int fd = open_socket(opts, to->sa.ss_family);
	int r = 0;

	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)&to->sa, to->len) < 0)
		r = -errno;
	if (r < 0 && r != -EINPROGRESS) {
		(void)close(fd);
		return r;
	}
	conn->fd = fd;
	conn->ahead = 0;
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT;
	conn->traits = 0;
	return r;
}

static int lowat_accept(struct nm_conn *conn, int listen_fd, const void *opts,
			const struct nm_peers *peers)
{
	struct nm_addr peer = {.len = sizeof peer.sa};
	int fd = accept4(listen_fd, (struct sockaddr *)&peer.sa, &peer.len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)opts; /* inherited */
	if (fd < 0)
		return -errno;
	if (!nm_peers_admit(peers, &peer)) {
		(void)close(fd);
		return -ECONNABORTED;
	}
	conn->fd = fd;
	conn->ahead = 0;
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT | NM_CONN_IN;
	conn->traits = NM_CONN_ACCEPTED;
	return 0;
}

const struct nm_transport nm_transport_lowat = {
	.name = "lowat",
	.help = "TCP over IPv4 or IPv6 that keeps little unsent",
	.caps = NM_TRANSPORT_RELIABLE,
	.opts = lowat_opts,
	.opts_size = sizeof(struct lowat_opts),
	.listen = lowat_listen,
	.endpoint = lowat_endpoint,
	.connect = lowat_connect,
	.established = nm_socket_established,
	.accept = lowat_accept,
	.close = nm_socket_close,
};
