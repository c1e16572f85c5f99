/* SPDX-License-Identifier: Apache-2.0 */
/* Multipath TCP (RFC 8684) over IPv4 and IPv6: to the program a TCP socket, whose bytes may take
 * several paths. The kernel chooses the paths; ip-mptcp(8). */
#include <errno.h>
#include <linux/mptcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/address.h"
#include "transport/inet.h"
#include "transport/socket.h"
#include "transport/tcp_fields.h"
#include "transport/transport.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static const struct nm_opt mptcp_opts[] = {NM_INET_OPTS, NM_OPT_END};

static int mptcp_prepare(void *opts, struct nm_why *why)
{
	((struct nm_inet_opts *)opts)->protocol = IPPROTO_MPTCP;
	return nm_inet_prepare(opts, why);
}

static int mptcp_available(const char *host, char *why, size_t why_size)
{
	int r = nm_socket_probe(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);

	(void)host;
	if (r == -EPROTONOSUPPORT || r == -EINVAL)
		snprintf(why, why_size, "the kernel has no Multipath TCP (CONFIG_MPTCP)");
	else if (r == -ENOPROTOOPT)
		snprintf(why, why_size, "Multipath TCP is switched off (sysctl net.mptcp.enabled)");
	else if (r < 0)
		snprintf(why, why_size, "no socket: %s", strerror(-r));
	return r;
}

/* Whether the kernel tells about sockets of Multipath TCP: Linux 5.16. */
static bool is_told(int family)
{
	struct mptcp_info info;
	socklen_t size = sizeof info;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP);
	bool told = fd >= 0 && getsockopt(fd, SOL_MPTCP, MPTCP_INFO, &info, &size) == 0;

	if (fd >= 0)
		(void)close(fd);
	return told;
}

/* Whether a socket is one of TCP by now, for which the kernel refuses to tell, or is used as
 * one. */
static bool is_plain(int fd)
{
	struct mptcp_info info = {0};
	socklen_t size = sizeof info;
	int family = AF_INET;

	if (getsockopt(fd, SOL_MPTCP, MPTCP_INFO, &info, &size) == 0)
		return info.mptcpi_flags & MPTCP_INFO_FLAG_FALLBACK;
	size = sizeof family;
	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && is_told(family);
}

static int mptcp_info(const struct nm_conn *conn, struct nm_conn_info *ret_info)
{
	int r = nm_inet_info(conn, ret_info);

	if (r == 0)
		ret_info->plain = is_plain(conn->fd);
	return r;
}

static const struct nm_transport_checks mptcp_checks = {
	.prepare = mptcp_prepare,
	.group = nm_inet_check_group,
	.available = mptcp_available,
};

const struct nm_transport nm_transport_mptcp = {
	.name = "mptcp",
	.help = "Multipath TCP over IPv4 or IPv6, as the host's address says",
	.caps = NM_TRANSPORT_RELIABLE,
	.opts = mptcp_opts,
	.opts_size = sizeof(struct nm_inet_opts),
	.listen = nm_inet_listen,
	.endpoint = nm_addr_endpoint,
	.connect = nm_inet_connect,
	.established = nm_socket_established,
	.accept = nm_inet_accept,
	.close = nm_socket_close,
	.tcp_fields = nm_tcp_fields_read,
	.info = mptcp_info,
	.checks = &mptcp_checks,
	.shared = &nm_inet_shared,
	.socket = &nm_inet_socket,
	.preamble = &nm_inet_preamble,
};
