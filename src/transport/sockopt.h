/* SPDX-License-Identifier: Apache-2.0 */
/* Options that the transports over internet sockets share: the addresses to bind, and options of
 * the kernel that any such socket takes; socket(7), ip(7), ipv6(7). */
#ifndef NM_TRANSPORT_SOCKOPT_H
#define NM_TRANSPORT_SOCKOPT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "transport/conn.h"

#define NM_SOURCES 64 /* addresses that localhost= may list */

/* An address that is bound, in a tenth of the room that any socket address takes. */
union nm_source {
	sa_family_t family;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct nm_buffers;
struct nm_start;

/* The option struct of such a transport begins with this one. Zero leaves an option to the
 * kernel. */
struct nm_sock_opts {
	uint64_t wndsz_bytes, sndbuf_bytes, rcvbuf_bytes;
	char *localhost, *device;
	uint64_t source_port, source_ports, source_skip;
	uint64_t mark, tos, dscp, ttl, busy_poll_ns;
	double max_pacing_bps;
	int dont_fragment;
	bool reuseaddr, freebind, debug;
	uint32_t n_sources; /* of localhost */
	union nm_source sources[NM_SOURCES];
};

extern const char *const nm_dont_fragment_words[];

/* Sizes of buffers, for any option struct with these members. */
#define NM_BUFFER_OPTS(owner)                                                                      \
	NM_OPT(SIZE, owner, wndsz_bytes, "wndsz", .max = INT32_MAX,                                \
	       .help = "size of the send and the receive buffer (SO_SNDBUF, SO_RCVBUF), at both "  \
		       "ends; unset or 0 leaves it to the kernel"),                                \
		NM_OPT(SIZE, owner, sndbuf_bytes, "sndbuf", .max = INT32_MAX,                      \
		       .help = "size of the send buffer (SO_SNDBUF), at both ends; stronger than " \
			       "wndsz"),                                                           \
		NM_OPT(SIZE, owner, rcvbuf_bytes, "rcvbuf", .max = INT32_MAX,                      \
		       .help = "size of the receive buffer (SO_RCVBUF), at both ends; stronger "   \
			       "than wndsz")

/* The table of its options begins with these. */
#define NM_SOCK_OPTS                                                                               \
	NM_BUFFER_OPTS(struct nm_sock_opts),                                                       \
		NM_OPT(STRING, struct nm_sock_opts, localhost, "localhost", .alias = "bind",       \
		       .help = "IPv4 or IPv6 address that the connecting end binds before it "     \
			       "connects, or several, separated by commas: of n of them flow i "   \
			       "binds number i modulo n, at each of its connections"),             \
		NM_OPT(PORT, struct nm_sock_opts, source_port, "source_port",                      \
		       .help = "port that flow 0 of the connecting end binds, with SO_REUSEADDR; " \
			       "the others bind those behind it, each its own, at each of its "    \
			       "connections; 0 leaves it to the kernel"),                          \
		NM_OPT(COUNT, struct nm_sock_opts, source_ports, "source_ports", .min = 1,         \
		       .max = 65535, .def = "1",                                                   \
		       .help = "with source_port: how many ports each flow has, which it takes "   \
			       "in turn; more than one where a port that waits in TIME_WAIT must " \
			       "not hold up the next connection"),                                 \
		NM_OPT(COUNT, struct nm_sock_opts, source_skip, "source_skip", .max = UINT32_MAX,  \
		       .help = "with source_port: how many ports flow 0 lies behind it; they "     \
			       "belong to flows of another group"),                                \
		NM_OPT(FLAG, struct nm_sock_opts, reuseaddr, "reuseaddr",                          \
		       .help = "SO_REUSEADDR, before sockets are bound, at both ends"),            \
		NM_OPT(FLAG, struct nm_sock_opts, freebind, "freebind",                            \
		       .help = "bind addresses that the host does not have, too (IP_FREEBIND), "   \
			       "at both ends"),                                                    \
		NM_OPT(STRING, struct nm_sock_opts, device, "bind_to_device",                      \
		       .help = "network interface over which alone the connecting end sends and "  \
			       "receives (SO_BINDTODEVICE)"),                                      \
		NM_OPT(BITRATE, struct nm_sock_opts, max_pacing_bps, "max_pacing_rate",            \
		       .help = "the most that the kernel sends over a connection "                 \
			       "(SO_MAX_PACING_RATE), at both ends; over udp only queueing "       \
			       "disciplines as fq keep to it; unset or 0: no limit"),              \
		NM_OPT(INTEGER, struct nm_sock_opts, mark, "mark", .max = UINT32_MAX,              \
		       .help = "mark of the packets for routing and filters (SO_MARK), at both "   \
			       "ends; needs CAP_NET_ADMIN; 0: none"),                              \
		NM_OPT(INTEGER, struct nm_sock_opts, tos, "tos", .max = 255,                       \
		       .help = "type of service, or traffic class of IPv6 (IP_TOS, IPV6_TCLASS), " \
			       "at both ends; over TCP without the two lowest bits"),              \
		NM_OPT(INTEGER, struct nm_sock_opts, dscp, "dscp", .max = 63,                      \
		       .help = "the upper six bits of tos alone: 46 is tos=184"),                  \
		NM_OPT(INTEGER, struct nm_sock_opts, ttl, "ttl", .max = 255,                       \
		       .help = "time to live, or hop limit of IPv6 (IP_TTL, IPV6_UNICAST_HOPS), "  \
			       "at both ends; 0 leaves it to the kernel"),                         \
		NM_OPT(ENUM, struct nm_sock_opts, dont_fragment, "dont_fragment",                  \
		       .choices = nm_dont_fragment_words, .def = "kernel",                         \
		       .help = "whether packets must not be fragmented on the way "                \
			       "(IP_MTU_DISCOVER), at both ends"),                                 \
		NM_OPT(DURATION, struct nm_sock_opts, busy_poll_ns, "busy_poll",                   \
		       .max = UINT64_C(1000000000),                                                \
		       .help = "how long a wait for the connection polls the network card before " \
			       "it sleeps (SO_BUSY_POLL, and since Linux 6.9 EPIOCSPARAMS of the " \
			       "worker's epoll), at both ends; more than the system's needs "      \
			       "CAP_NET_ADMIN; 0 leaves it to the kernel"),                        \
		NM_OPT(FLAG, struct nm_sock_opts, debug, "debug",                                  \
		       .help = "SO_DEBUG, at both ends; needs CAP_NET_ADMIN")

/* One socket whose options are being set: the first failure counts, and ends it. */
struct nm_setting {
	int fd, family;
	int error;	  /* -errno of the first failure; 0: none */
	const char *name; /* of the option that failed */
};

/* Sets an option, if it is wanted and none has failed before. */
void nm_setting_put(struct nm_setting *setting, bool wanted, const char *name, int level,
		    int option, int value);
/* The sizes of the buffers; wndsz stands for either that is 0. */
void nm_setting_put_buffers(struct nm_setting *setting, uint64_t sndbuf, uint64_t rcvbuf,
			    uint64_t wndsz);
/* As nm_setting_put, for an option that is no int, and for a text: one that is empty, or NULL, is
 * not wanted. */
void nm_setting_put_data(struct nm_setting *setting, bool wanted, const char *name, int level,
			 int option, const void *value, size_t size);
void nm_setting_put_text(struct nm_setting *setting, const char *name, int level, int option,
			 const char *text);
/* Sets all of struct nm_sock_opts that is set before a socket is bound. connecting: it is the
 * connecting end's. */
void nm_setting_common(struct nm_setting *setting, const struct nm_sock_opts *opts,
		       bool connecting);
/* Reads the buffers back: the kernel gives less than is asked for, or more, without an error. */
void nm_setting_find_cut(const struct nm_setting *setting, const struct nm_sock_opts *opts,
			 struct nm_buffers *cut);
/* "mark: Operation not permitted", for `start`. */
int nm_setting_why(const struct nm_setting *setting, char *why, size_t why_size);

/* The hooks of struct nm_transport_checks, for option structs that begin so: reads localhost, and
 * checks options that depend on each other; and whether so many flows have ports. */
int nm_sock_prepare(void *opts, struct nm_why *why);
int nm_sock_check_group(const void *opts, uint32_t n_flows, uint32_t port, struct nm_why *why);
/* The hooks of struct nm_transport_socket, for option structs that begin so. */
bool nm_sock_source(const void *opts, uint32_t number, struct nm_addr *ret);
uint64_t nm_sock_source_ports(const void *opts);
void nm_sock_leave_from(void *opts, const struct nm_addr *addr);
uint64_t nm_sock_busy_poll_ns(const void *opts);
#define NM_SOCK_HOOKS                                                                              \
	.source = nm_sock_source, .source_ports = nm_sock_source_ports,                            \
	.leave_from = nm_sock_leave_from, .busy_poll_ns = nm_sock_busy_poll_ns
double nm_sock_max_pacing_bps(const void *opts);
/* Gives the sockets of `opts` what those of `from` have, but their ports. The strings stay with
 * `from`. Both structs begin with this one. */
void nm_sock_follow(void *opts, const void *from);
/* Whether the addresses of localhost can be bound here, and lead to how->peer (NULL: it is not
 * known): 0, or -errno with a phrase in why. */
int nm_sock_try_sources(const struct nm_sock_opts *opts, const struct nm_start *how, char *why,
			size_t why_size);
/* Binds the socket of conn as the options ask for its flow: 0 or -errno. */
int nm_sock_bind(int fd, const struct nm_sock_opts *opts, struct nm_conn *conn, int family);

#endif
