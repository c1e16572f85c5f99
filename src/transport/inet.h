/* SPDX-License-Identifier: Apache-2.0 */
/* What the transports over TCP share: their options, and how a socket is made of them. */
#ifndef NM_TRANSPORT_INET_H
#define NM_TRANSPORT_INET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "transport/conn.h"
#include "transport/transport.h"

/* The option struct of such a transport begins with this one. */
struct nm_inet_opts {
	bool nodelay;
	uint64_t wndsz_bytes, sndbuf_bytes, rcvbuf_bytes;
	char *congestion_control;
	char *localhost;
	struct nm_addr bind; /* of localhost; len 0: none */
};

/* And its table with these. */
/* clang-format off */
#define NM_INET_OPTS \
	{.name = "nodelay", .alias = "tcp_nodelay", .type = NM_TYPE_FLAG, \
	 .offset = offsetof(struct nm_inet_opts, nodelay), \
	 .help = "send small segments at once (TCP_NODELAY), at both ends"}, \
	{.name = "wndsz", .type = NM_TYPE_SIZE, \
	 .offset = offsetof(struct nm_inet_opts, wndsz_bytes), .max = INT32_MAX, \
	 .help = "size of the send and the receive buffer (SO_SNDBUF, SO_RCVBUF), at both ends; " \
		 "unset or 0 leaves it to the kernel"}, \
	{.name = "sndbuf", .type = NM_TYPE_SIZE, \
	 .offset = offsetof(struct nm_inet_opts, sndbuf_bytes), .max = INT32_MAX, \
	 .help = "size of the send buffer (SO_SNDBUF), at both ends; stronger than wndsz"}, \
	{.name = "rcvbuf", .type = NM_TYPE_SIZE, \
	 .offset = offsetof(struct nm_inet_opts, rcvbuf_bytes), .max = INT32_MAX, \
	 .help = "size of the receive buffer (SO_RCVBUF), at both ends; stronger than wndsz"}, \
	{.name = "cc", .alias = "congestion_control", .type = NM_TYPE_STRING, \
	 .offset = offsetof(struct nm_inet_opts, congestion_control), \
	 .help = "congestion control algorithm (TCP_CONGESTION), at both ends; unset leaves it to " \
		 "the kernel"}, \
	{.name = "localhost", .alias = "bind", .type = NM_TYPE_HOST, \
	 .offset = offsetof(struct nm_inet_opts, localhost), \
	 .help = "IPv4 or IPv6 address that the connecting end binds before it connects"}
/* clang-format on */

/* The hooks of struct nm_transport, for option structs that begin as above. */
int nm_inet_prepare(void *opts, char *why, size_t why_size);
int nm_inet_listen(const void *opts, const struct nm_addr *local, enum nm_listen how, int backlog,
		   char text[NM_ENDPOINT_TEXT], int *ret_fd);
void nm_inet_source(const void *opts, struct nm_addr *ret_from);
int nm_inet_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to);
int nm_inet_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		   const struct nm_addr *from);
int nm_inet_adopt(struct nm_conn *conn, int fd, const void *opts);
int nm_inet_info(const struct nm_conn *conn, struct nm_conn_info *ret_info);

#endif
