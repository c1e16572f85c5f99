/* SPDX-License-Identifier: Apache-2.0 */
/* TCP over IPv4 and IPv6; tcp(7). */
#include <errno.h>
#include <stdio.h>

#include "transport/address.h"
#include "transport/inet.h"
#include "transport/socket.h"
#include "transport/tcp_fields.h"
#include "transport/transport.h"
#include "transport/errqueue.h"

struct tcp_opts {
	struct nm_inet_opts inet;
	/* Options of uperf, for other systems. */
	char *stack;
	char *bblog;
	uint64_t encaps;
};

static const struct nm_opt tcp_opts[] = {
	NM_INET_OPTS,
	NM_OPT(STRING, struct tcp_opts, stack, "stack",
	       .help = "the TCP stack (FreeBSD's TCP_FUNCTION_BLK); no effect on Linux, which has "
		       "one"),
	NM_OPT(STRING, struct tcp_opts, bblog, "bblog",
	       .help = "black box logging (FreeBSD's TCP_LOG); no effect on Linux, which has none"),
	NM_OPT(COUNT, struct tcp_opts, encaps, "encaps", .max = 65535,
	       .help = "port of the peer to which segments go in UDP datagrams; must be 0 (none), "
		       "as Linux cannot do that with TCP"),
	NM_OPT_END,
};

static int tcp_prepare(void *opts, struct nm_why *why)
{
	struct tcp_opts *o = opts;
	int r = nm_inet_prepare(&o->inet, why);

	if (r < 0)
		return r;
	if (o->encaps)
		return nm_why_set(
			why, "encaps",
			"encaps=\"%llu\": TCP has no UDP encapsulation on Linux; must be 0",
			(unsigned long long)o->encaps);
	if (o->stack || o->bblog)
		snprintf(why->text, sizeof why->text, "%s%s%s: no effect on Linux",
			 o->stack ? "stack" : "", o->stack && o->bblog ? " and " : "",
			 o->bblog ? "bblog" : "");
	return 0;
}

static void tcp_close(struct nm_conn *conn, bool reset)
{
	nm_mapped_end(conn);
	nm_socket_close(conn, reset);
}

const struct nm_transport nm_transport_tcp = {
	.name = "tcp",
	.help = "TCP over IPv4 or IPv6, as the host's address says",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_TCP | NM_TRANSPORT_SERVERS,
	.opts = tcp_opts,
	.opts_size = sizeof(struct tcp_opts),
	.listen = nm_inet_listen,
	.endpoint = nm_addr_endpoint,
	.connect = nm_inet_connect,
	.established = nm_socket_established,
	.accept = nm_inet_accept,
	.close = tcp_close,
	.finish = nm_socket_finish,
	.tcp_fields = nm_tcp_fields_read,
	.info = nm_inet_info,
	.checks = &(const struct nm_transport_checks){.prepare = tcp_prepare,
						      .group = nm_inet_check_group},
	.shared = &nm_inet_shared,
	.socket = &nm_inet_socket,
	.preamble = &nm_inet_preamble,
};
