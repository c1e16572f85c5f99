/* SPDX-License-Identifier: Apache-2.0 */
/* Options that the transports over TCP share, and sockets made with them; tcp(7). */
#ifndef NM_TRANSPORT_INET_H
#define NM_TRANSPORT_INET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "transport/conn.h"
#include "transport/sockopt.h"
#include "transport/transport.h"

struct tcp_info;

#define NM_INET_PORTS	   1024			  /* of one listener, at most */
#define NM_TX_DELAY_MAX_NS UINT64_C(268435455000) /* that the kernel takes: 28 bits of 1 us */
/* What the kernel takes as the largest segment. */
#define NM_MSS_LEAST 88u
#define NM_MSS_MOST  32767u

/* The option struct of such a transport begins with this one. */
struct nm_inet_opts {
	struct nm_sock_opts sock;
	int protocol; /* of the sockets, set by `prepare` where it is not TCP (0) */
	bool nodelay, fastopen;
	char *congestion_control;
	uint64_t num_ports, backlog;
	uint64_t mss_bytes, notsent_lowat_bytes;
	uint64_t tx_delay_ns, user_timeout_ns, keepalive_ns;
	int quickack;
};

extern const char *const nm_quickack_words[];

/* The table of its options begins with these. */
#define NM_INET_OPTS                                                                               \
	NM_OPT(FLAG, struct nm_inet_opts, nodelay, "nodelay", .alias = "tcp_nodelay",              \
	       .help = "send small segments at once (TCP_NODELAY), at both ends"),                 \
		NM_OPT(STRING, struct nm_inet_opts, congestion_control, "cc",                      \
		       .alias = "congestion_control",                                              \
		       .help = "congestion control algorithm (TCP_CONGESTION), at both ends; "     \
			       "unset leaves it to the kernel"),                                   \
		NM_OPT(COUNT, struct nm_inet_opts, num_ports, "num_ports", .min = 1,               \
		       .max = NM_INET_PORTS, .def = "1",                                           \
		       .help = "ports at which each listener of the accepting end listens, one "   \
			       "behind the other: of n of them flow i connects to number i "       \
			       "modulo n, at each of its connections"),                            \
		NM_OPT(COUNT, struct nm_inet_opts, backlog, "listen_backlog", .max = INT32_MAX,    \
		       .help = "connections that wait to be accepted at each listening socket, "   \
			       "at most; no more than net.core.somaxconn of that host; 0: 4096, "  \
			       "or what that allows"),                                             \
		NM_OPT(FLAG, struct nm_inet_opts, fastopen, "tcp_fastopen",                        \
		       .help = "where a write follows the connect in the same transaction: send "  \
			       "it with the first packet (TCP_FASTOPEN_CONNECT), and take such "   \
			       "at the accepting end (TCP_FASTOPEN), where net.ipv4.tcp_fastopen " \
			       "must have its bit 2; the result tells how often it was so"),       \
		NM_OPT(DURATION, struct nm_inet_opts, tx_delay_ns, "tcp_tx_delay",                 \
		       .max = NM_TX_DELAY_MAX_NS,                                                  \
		       .help = "delay what is sent once the connection is open by so much "        \
			       "(TCP_TX_DELAY), at both ends; needs the queueing discipline fq; "  \
			       "0: no delay"),                                                     \
		NM_OPT(SIZE, struct nm_inet_opts, mss_bytes, "mss", .max = NM_MSS_MOST,            \
		       .help = "the largest segment (TCP_MAXSEG), at both ends; 0 leaves it to "   \
			       "the kernel"),                                                      \
		NM_OPT(SIZE, struct nm_inet_opts, notsent_lowat_bytes, "notsent_lowat",            \
		       .max = INT32_MAX,                                                           \
		       .help = "bytes that may wait to be sent before a write finds no room "      \
			       "(TCP_NOTSENT_LOWAT), at both ends; 0: what max_pacing_rate sends " \
			       "in 20 ms, or without it what the kernel allows"),                  \
		NM_OPT(DURATION, struct nm_inet_opts, user_timeout_ns, "user_timeout",             \
		       .max = UINT64_C(2000000000000000),                                          \
		       .help = "how long what is sent may remain unacknowledged before the "       \
			       "connection fails (TCP_USER_TIMEOUT), at both ends; 0 leaves it "   \
			       "to the kernel"),                                                   \
		NM_OPT(DURATION, struct nm_inet_opts, keepalive_ns, "keepalive",                   \
		       .max = UINT64_C(32767000000000),                                            \
		       .help = "ask a silent peer for a sign of life after this time, and as "     \
			       "often (SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL, in whole "       \
			       "seconds), at both ends; 0: never"),                                \
		NM_OPT(ENUM, struct nm_inet_opts, quickack, "quickack",                            \
		       .choices = nm_quickack_words, .def = "kernel",                              \
		       .help = "whether an open connection begins with acknowledging at once or "  \
			       "late (TCP_QUICKACK), at both ends; the kernel may change it "      \
			       "later"),                                                           \
		NM_SOCK_OPTS

/* The hooks of struct nm_transport, for option structs that begin as above. */
int nm_inet_prepare(void *opts, struct nm_why *why);
int nm_inet_check_group(const void *opts, uint32_t n_flows, uint32_t port, struct nm_why *why);
int nm_inet_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		  size_t why_size);
uint32_t nm_inet_ports(const void *opts);
uint64_t nm_inet_mss_bytes(const void *opts);
uint64_t nm_inet_tx_delay_ns(const void *opts);
int nm_inet_listen(const void *opts, const struct nm_addr *local, enum nm_listen how, int backlog,
		   char text[NM_ENDPOINT_TEXT], int *ret_fd);
int nm_inet_make(const void *opts, const struct nm_addr *to);
int nm_inet_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to);
int nm_inet_settle(struct nm_conn *conn, const void *opts);
int nm_inet_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		   const struct nm_peers *peers);
int nm_inet_attach(struct nm_conn *conn, int fd, const void *opts);
int nm_inet_info(const struct nm_conn *conn, struct nm_conn_info *ret_info);
/* What of nm_conn_info concerns bytes on the way. */
struct nm_inet_flight {
	uint64_t unacked_bytes;
	uint32_t again_ms;
};
/* That of a socket that has so many bytes queued (SIOCOUTQ). */
struct nm_inet_flight nm_inet_flight(const struct tcp_info *info, uint64_t queued);

/* Those of struct nm_transport_socket that all such transports have. */
#define NM_INET_HOOKS                                                                              \
	.settle = nm_inet_settle, .ports = nm_inet_ports, .mss_bytes = nm_inet_mss_bytes,          \
	NM_SOCK_HOOKS

/* The optional functions of transports whose sockets are TCP's. */
extern const struct nm_transport_shared nm_inet_shared;
extern const struct nm_transport_socket nm_inet_socket;
extern const struct nm_transport_preamble nm_inet_preamble;

#endif
