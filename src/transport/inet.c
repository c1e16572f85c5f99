/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/inet.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/procfile.h"
#include "transport/address.h"
#include "transport/socket.h"

static int set_congestion_control(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) < 0
		       ? -errno
		       : 0;
}

/* Both ends set it, so that a host without it cannot take part; the kernel may load it as a module. */
static int check_congestion_control(const char *name, char *why, size_t why_size)
{
	char has[256];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0; /* whatever is wrong here, the connection itself will tell */
	int r = set_congestion_control(fd, name);

	(void)close(fd);
	if (r == 0)
		return 0;
	if (nm_procfile_read("/proc/sys/net/ipv4/tcp_available_congestion_control", has,
			     sizeof has) < 0)
		*has = '\0';
	has[strcspn(has, "\n")] = '\0';
	if (r == -ENOENT)
		snprintf(why, why_size,
			 "cc=\"%s\": this host has no such congestion control; it has: %s", name,
			 has);
	else
		snprintf(why, why_size, "cc=\"%s\": %s", name, strerror(-r));
	return -EINVAL;
}

int nm_inet_prepare(void *opts, char *why, size_t why_size)
{
	struct nm_inet_opts *o = opts;
	int r = 0;

	if (o->localhost && *o->localhost)
		r = nm_addr_source(o->localhost, SOCK_STREAM, &o->bind, why, why_size);
	if (r == 0 && o->congestion_control && *o->congestion_control)
		r = check_congestion_control(o->congestion_control, why, why_size);
	return r;
}

/* Options that must be set before listen or connect; accepted sockets inherit them. */
static int set_options(int fd, const struct nm_inet_opts *o)
{
	uint64_t sndbuf = o->sndbuf_bytes ? o->sndbuf_bytes : o->wndsz_bytes;
	uint64_t rcvbuf = o->rcvbuf_bytes ? o->rcvbuf_bytes : o->wndsz_bytes;
	int r = 0;

	if (sndbuf)
		r = nm_socket_set(fd, SOL_SOCKET, SO_SNDBUF, (int)sndbuf);
	if (r == 0 && rcvbuf)
		r = nm_socket_set(fd, SOL_SOCKET, SO_RCVBUF, (int)rcvbuf);
	if (r == 0 && o->nodelay)
		r = nm_socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (r == 0 && o->congestion_control && *o->congestion_control)
		r = set_congestion_control(fd, o->congestion_control);
	return r;
}

static int bind_and_listen(int fd, const struct nm_inet_opts *o, struct nm_addr *at, bool fixed,
			   int backlog)
{
	int r = set_options(fd, o);

	/* Several sockets of one listener share the port, so that their queues add up; but a port that the profile
	 * names must not be shared with another program. */
	if (r == 0)
		r = nm_socket_set(fd, SOL_SOCKET, fixed ? SO_REUSEADDR : SO_REUSEPORT, 1);
	if (r == 0 && bind(fd, (const struct sockaddr *)&at->sa, at->len) < 0)
		r = -errno;
	if (r == 0 && listen(fd, backlog) < 0)
		r = -errno;
	if (r == 0 && getsockname(fd, (struct sockaddr *)&at->sa, &at->len) < 0)
		r = -errno;
	return r;
}

int nm_inet_listen(const void *opts, const struct nm_addr *local, enum nm_listen how, int backlog,
		   char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	struct nm_addr at = *local;
	uint16_t port = 0;

	if (how != NM_LISTEN_FIRST && nm_addr_parse_port(text, &port) < 0)
		return -EINVAL;
	int fd = socket(at.sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	nm_addr_set_port(&at, port);
	int r = bind_and_listen(fd, opts, &at, how == NM_LISTEN_FIXED, backlog);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	snprintf(text, NM_ENDPOINT_TEXT, "%u", nm_addr_port(&at));
	*ret_fd = fd;
	return 0;
}

static int bind_source(int fd, const struct nm_addr *source)
{
	/* Lets the kernel choose the port at connect, when it knows the whole four-tuple. */
	(void)nm_socket_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	return bind(fd, (const struct sockaddr *)&source->sa, source->len) < 0 ? -errno : 0;
}

void nm_inet_source(const void *opts, struct nm_addr *ret_from)
{
	const struct nm_inet_opts *o = opts;

	if (o->bind.len)
		*ret_from = o->bind;
}

int nm_inet_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	const struct nm_inet_opts *o = opts;
	int fd = socket(to->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	int r = set_options(fd, o);
	if (r == 0 && o->bind.len)
		r = bind_source(fd, &o->bind);
	if (r == 0 && connect(fd, (const struct sockaddr *)&to->sa, to->len) < 0)
		r = -errno;
	if (r < 0 && r != -EINPROGRESS) {
		(void)close(fd);
		return r;
	}
	conn->fd = fd;
	conn->ahead = 0;
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT;
	return r;
}

int nm_inet_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		   const struct nm_addr *from)
{
	struct nm_addr peer = {.len = sizeof peer.sa};

	(void)opts; /* inherited from the listening socket */
	int fd = accept4(listen_fd, (struct sockaddr *)&peer.sa, &peer.len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (from && !nm_addr_same_host(&peer, from)) {
		(void)close(fd);
		return -ECONNABORTED;
	}
	conn->fd = fd;
	conn->ahead = 0;
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT | NM_CONN_IN | NM_CONN_ACCEPTED;
	return 0;
}

int nm_inet_adopt(struct nm_conn *conn, int fd, const void *opts)
{
	conn->fd = fd;
	conn->ahead = 0;
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT | NM_CONN_IN | NM_CONN_ACCEPTED;
	/* One listener may serve several accepts: what it has set is not meant for this one. */
	return set_options(fd, opts);
}

int nm_inet_info(const struct nm_conn *conn, struct nm_conn_info *ret_info)
{
	struct tcp_info info;
	socklen_t len = sizeof info;

	memset(&info, 0, sizeof info);
	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	*ret_info = (struct nm_conn_info){.retransmits = info.tcpi_total_retrans,
					  .rtt_us = info.tcpi_rtt,
					  .rttvar_us = info.tcpi_rttvar,
					  .snd_cwnd = info.tcpi_snd_cwnd,
					  .snd_mss = info.tcpi_snd_mss};
	len = sizeof ret_info->congestion_control - 1;
	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_CONGESTION, ret_info->congestion_control, &len) <
	    0)
		ret_info->congestion_control[0] = '\0';
	return 0;
}
