/* SPDX-License-Identifier: Apache-2.0 */
/* TCP over IPv4 and IPv6; tcp(7). */
#include "transport/address.h"
#include "transport/inet.h"
#include "transport/socket.h"
#include "transport/transport.h"
#include "transport/zerocopy.h"

static const struct nm_opt tcp_opts[] = {NM_INET_OPTS, NM_OPT_END};

static void tcp_close(struct nm_conn *conn, bool reset)
{
	nm_mapped_end(conn);
	nm_socket_close(conn, reset);
}

const struct nm_transport nm_transport_tcp = {
	.name = "tcp",
	.help = "TCP over IPv4 or IPv6, as the host's address says",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_TCP,
	.opts = tcp_opts,
	.opts_size = sizeof(struct nm_inet_opts),
	.prepare = nm_inet_prepare,
	.suits = nm_inet_suits,
	.start = nm_inet_start,
	.ports = nm_inet_ports,
	.listen = nm_inet_listen,
	.comes_from = nm_inet_comes_from,
	.endpoint = nm_addr_endpoint,
	.connect = nm_inet_connect,
	.settle = nm_inet_settle,
	.established = nm_socket_established,
	.accept = nm_inet_accept,
	.adopt = nm_inet_adopt,
	.finish = nm_socket_finish,
	.close = tcp_close,
	.info = nm_inet_info,
};
