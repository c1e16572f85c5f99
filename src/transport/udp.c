/* SPDX-License-Identifier: Apache-2.0 */
/* UDP over IPv4 and IPv6; udp(7). A connection is a pair of connected sockets: the preamble of
 * the connecting end makes the other (transport/preamble.h). */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/address.h"
#include "transport/udp_mux.h"
#include "transport/udp_sender.h"
#include "transport/socket.h"
#include "transport/sockopt.h"
#include "transport/transport.h"

struct udp_opts {
	struct nm_sock_opts sock;
	bool gso, gro, shared;
};

static const struct nm_opt udp_opts[] = {
	NM_SOCK_OPTS,
	NM_OPT(FLAG, struct udp_opts, gso, "gso", .def = "yes",
	       .help = "hand the messages of a batch_size to the kernel as one batch that it or "
		       "the network card takes apart (UDP_SEGMENT), where the path allows it; "
		       "otherwise one by one, still with one call; at both ends"),
	NM_OPT(FLAG, struct udp_opts, gro, "gro", .def = "yes",
	       .help = "where reads have a batch_size, take such batches as they come (UDP_GRO); "
		       "at both ends"),
	NM_OPT(FLAG, struct udp_opts, shared, "shared_socket",
	       .help = "the accepting end has one socket for all flows of a worker, which tells "
		       "them apart by where a message comes from, instead of a connected one for "
		       "each"),
	NM_OPT_END,
};

/* Sets all options on a socket that is for nothing else, so that one that cannot be set is reported
 * by name. */
static int udp_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		     size_t why_size)
{
	const struct udp_opts *o = opts;
	struct nm_setting setting = {.family = AF_INET};

	*ret_started = NULL;
	setting.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (setting.fd < 0)
		return -errno;
	nm_setting_common(&setting, &o->sock, !how->accepting);
	nm_setting_find_cut(&setting, &o->sock, how->cut);
	(void)close(setting.fd);
	int r = nm_setting_why(&setting, why, why_size);

	if (r == 0 && !how->accepting && !how->can_fail)
		r = nm_sock_try_sources(&o->sock, how, why, why_size);
	return r;
}

/* A socket with its options, or -errno. */
static int make_socket(const struct udp_opts *o, int family, bool connecting)
{
	struct nm_setting setting = {.family = family};

	setting.fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (setting.fd < 0)
		return -errno;
	nm_setting_common(&setting, &o->sock, connecting);
	return nm_socket_close_on_error(setting.fd, setting.error);
}

/* A bound socket of the accepting end, or -errno. Several sockets may share a port: a connected one
 * gets the datagrams of its peer. */
static int open_socket(const struct udp_opts *o, const struct nm_addr *at)
{
	int fd = make_socket(o, at->sa.ss_family, false);
	int r = 0;

	if (fd < 0)
		return fd;
	if (nm_addr_port(at))
		r = nm_socket_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r == 0 && bind(fd, (const struct sockaddr *)&at->sa, at->len) < 0)
		r = -errno;
	return nm_socket_close_on_error(fd, r);
}

static int udp_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
		      int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	struct nm_addr at = *local;
	uint16_t port = 0;

	(void)backlog;
	if (how == NM_LISTEN_SHARED)
		return -EOPNOTSUPP; /* one queue is as good as several */
	if (*text && nm_addr_parse_port(text, &port) < 0)
		return -EINVAL;
	/* Somebody else's socket on that port would not be noticed: both allow to share it. */
	nm_addr_set_port(&at, port);
	if (port) {
		int probe = socket(at.sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		int r = probe < 0 || bind(probe, (struct sockaddr *)&at.sa, at.len) < 0 ? -errno
											: 0;

		if (probe >= 0)
			(void)close(probe);
		if (r < 0)
			return r;
	}
	int fd = open_socket(opts, &at);
	if (fd < 0)
		return fd;
	if (getsockname(fd, (struct sockaddr *)&at.sa, &at.len) < 0)
		return nm_socket_close_on_error(fd, -errno);
	snprintf(text, NM_ENDPOINT_TEXT, "%u", nm_addr_port(&at));
	*ret_fd = fd;
	return 0;
}

static int start(struct nm_conn *conn, int fd, const struct udp_opts *o, uint32_t traits)
{
	if (!o->gso)
		traits |= NM_CONN_NO_GSO;
	if (!o->gro)
		traits |= NM_CONN_NO_GRO;
	*conn = (struct nm_conn){.fd = fd,
				 .flags = NM_CONN_OPEN | NM_CONN_OUT | NM_CONN_IN,
				 .traits = traits,
				 .transport = conn->transport,
				 .flow = conn->flow,
				 .number = conn->number,
				 .bind_count = conn->bind_count,
				 .zc_slot = conn->zc_slot};
	return 0;
}

/* Leaves the socket unconnected: the peer goes on from another port than its listener's, and may do
 * so before its answer is read here, so that the socket takes datagrams from any port until
 * then. */
static int udp_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	const struct udp_opts *o = opts;
	int fd = make_socket(o, to->sa.ss_family, true);
	int r;

	if (fd < 0)
		return fd;
	r = nm_sock_bind(fd, &o->sock, conn, to->sa.ss_family);
	return r < 0 ? nm_socket_close_on_error(fd, r) : start(conn, fd, o, 0);
}

static int udp_retarget(struct nm_conn *conn, const struct nm_addr *to, uint32_t port)
{
	struct nm_addr at = *to;

	if (port == 0 || port > 65535)
		return -EPROTO;
	nm_addr_set_port(&at, (uint16_t)port);
	return connect(conn->fd, (struct sockaddr *)&at.sa, at.len) < 0 ? -errno : 0;
}

/* The other end of a connection whose preamble has come from `peer`. */
static int udp_accept_datagram(int listen_fd, bool same_port, const void *opts,
			       const struct nm_addr *peer)
{
	struct nm_addr at = {.len = sizeof at.sa};

	if (getsockname(listen_fd, (struct sockaddr *)&at.sa, &at.len) < 0)
		return -errno;
	if (!same_port)
		nm_addr_set_port(&at, 0);
	int fd = open_socket(opts, &at);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&peer->sa, peer->len) < 0)
		return nm_socket_close_on_error(fd, -errno);
	return fd;
}

static int udp_attach(struct nm_conn *conn, int fd, const void *opts)
{
	return start(conn, fd, opts, NM_CONN_ACCEPTED);
}

/* The connection of whoever sends something: the listening socket itself. */
static int udp_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		      const struct nm_peers *peers)
{
	struct nm_addr at = {.len = sizeof at.sa};
	int fd = fcntl(listen_fd, F_DUPFD_CLOEXEC, 0);

	(void)peers;
	if (fd < 0)
		return -errno;
	int r = getsockname(fd, (struct sockaddr *)&at.sa, &at.len) < 0
			? -errno
			: nm_udp_sender_ask(fd, at.sa.ss_family);
	return r < 0 ? nm_socket_close_on_error(fd, r) : udp_attach(conn, fd, opts);
}

static uint32_t udp_port_of(const struct nm_conn *conn)
{
	struct nm_addr at = {.len = sizeof at.sa};

	return getsockname(conn->fd, (struct sockaddr *)&at.sa, &at.len) < 0 ? 0
									     : nm_addr_port(&at);
}

static const struct nm_transport_message udp_message = {
	.max_bytes = 65507,
};

static const struct nm_transport_shared udp_shared = {
	.start = udp_start,
};

static const struct nm_transport_socket udp_socket = {
	NM_SOCK_HOOKS,
	.max_pacing_bps = nm_sock_max_pacing_bps,
};

/* UDP at the end that has one socket for several peers: it is in no registry, as an option of udp
 * asks for it. */
static const struct nm_transport udp_mux = {
	.name = "udp",
	.help = "UDP at the end that has one socket for several peers",
	.caps = NM_TRANSPORT_MESSAGES | NM_TRANSPORT_MUX,
	.opts = udp_opts,
	.opts_size = sizeof(struct udp_opts),
	.listen = udp_listen,
	.endpoint = nm_addr_endpoint,
	.close = nm_udp_mux_close,
	.send = nm_udp_mux_send,
	.recv = nm_udp_mux_recv,
	.message = &udp_message,
	.shared = &udp_shared,
	.socket = &udp_socket,
};

static const struct nm_transport *udp_multiplexed(const void *opts)
{
	const struct udp_opts *o = opts;

	return o->shared ? &udp_mux : NULL;
}

const struct nm_transport nm_transport_udp = {
	.name = "udp",
	.help = "UDP over IPv4 or IPv6, as the host's address says; messages may be lost",
	.caps = NM_TRANSPORT_MESSAGES | NM_TRANSPORT_UDP,
	.opts = udp_opts,
	.opts_size = sizeof(struct udp_opts),
	.listen = udp_listen,
	.endpoint = nm_addr_endpoint,
	.connect = udp_connect,
	.established = nm_socket_established,
	.accept = udp_accept,
	.close = nm_socket_close,
	.checks = &(const struct nm_transport_checks){.prepare = nm_sock_prepare,
						      .group = nm_sock_check_group},
	.message = &udp_message,
	.shared = &udp_shared,
	.socket = &udp_socket,
	.preamble = &(const struct nm_transport_preamble){.attach = udp_attach},
	.datagram = &(const struct nm_transport_datagram){.retarget = udp_retarget,
							  .accept = udp_accept_datagram,
							  .port_of = udp_port_of,
							  .multiplexed = udp_multiplexed},
};
