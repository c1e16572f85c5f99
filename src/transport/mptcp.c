/* SPDX-License-Identifier: Apache-2.0 */
/* Multipath TCP (RFC 8684) over IPv4 and IPv6: to the program a TCP socket, whose bytes may take
 * several paths. The kernel chooses the paths; ip-mptcp(8). */
#include <errno.h>
#include <linux/mptcp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

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

/* Of a socket that is one of TCP by now, or is used as one, the kernel tells no MPTCP_INFO, and one
 * before Linux 5.16 of none at all. Such a socket has all options of TCP, also this one, which
 * Multipath TCP does not have. */
static bool mptcp_is_plain(const struct nm_conn *conn)
{
	struct mptcp_info info = {0};
	socklen_t size = sizeof info;
	int repair;

	if (getsockopt(conn->fd, SOL_MPTCP, MPTCP_INFO, &info, &size) == 0)
		return info.mptcpi_flags & MPTCP_INFO_FLAG_FALLBACK;
	size = sizeof repair;
	return getsockopt(conn->fd, IPPROTO_TCP, TCP_REPAIR, &repair, &size) == 0;
}

const struct nm_transport nm_transport_mptcp = {
	.name = "mptcp",
	.help = "Multipath TCP over IPv4 or IPv6, as the host's address says",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_SERVERS,
	.opts = mptcp_opts,
	.opts_size = sizeof(struct nm_inet_opts),
	.listen = nm_inet_listen,
	.endpoint = nm_addr_endpoint,
	.connect = nm_inet_connect,
	.established = nm_socket_established,
	.accept = nm_inet_accept,
	.close = nm_socket_close,
	.tcp_fields = nm_tcp_fields_read,
	.info = nm_inet_info,
	.checks = &(const struct nm_transport_checks){.prepare = mptcp_prepare,
						      .group = nm_inet_check_group,
						      .available = mptcp_available},
	.shared = &nm_inet_shared,
	.socket = &(const struct nm_transport_socket){.make = nm_inet_make,
						      NM_INET_HOOKS,
						      .is_plain = mptcp_is_plain},
	.preamble = &nm_inet_preamble,
};
