/* SPDX-License-Identifier: Apache-2.0 */
/* A transport: one protocol, one file, one const descriptor. The build makes nm_transports[] from
 * the word list in src/transport/local.mk.
 *
 * Life of a connection: [start, once per opening; listen, once per listener] -> connect or accept
 * -> send/recv -> close -> [stop, once per opening]. All hooks return 0 or a positive result, or
 * -errno; none blocks, logs or touches statistics. Sockets are made non-blocking and close-on-exec;
 * a waiter of the engine may let a connection's receives block for a while. prepare, start, listen
 * and endpoint run on the control thread before the workers start, stop there after they have
 * ended; all others run on the worker that owns the flow. */
#ifndef NM_TRANSPORT_TRANSPORT_H
#define NM_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/opt.h"
#include "transport/conn.h"
#include "transport/optional.h"

enum nm_transport_caps {
	NM_TRANSPORT_RELIABLE = 1 << 0, /* every byte sent arrives: both ends' counts must agree */
	NM_TRANSPORT_NO_PEER = 1 << 1,	/* nothing crosses to another process: no mirror is run */
	NM_TRANSPORT_ONE_HOST = 1 << 2, /* reaches only processes of this host */
	/* Keeps messages apart: a receive brings one at most, so that a short one does not mean
	 * that nothing else is queued. */
	NM_TRANSPORT_MESSAGES = 1 << 3,
	/* Reaches hosts whose control connection is over vsock; all others need an internet
	 * address. */
	NM_TRANSPORT_VSOCK = 1 << 4,
	/* A send before the connection is established fails, instead of finding no room. */
	NM_TRANSPORT_WAITS = 1 << 5,
	/* Its sockets are those of tcp(7), which know MSG_MORE, MSG_TRUNC, MSG_ZEROCOPY and
	 * TCP_ZEROCOPY_RECEIVE. */
	NM_TRANSPORT_TCP = 1 << 6,
	/* Its sockets are those of udp(7), which know MSG_ZEROCOPY. */
	NM_TRANSPORT_UDP = 1 << 7,
	/* Its connections go on using the listening socket (udp_mux.h). */
	NM_TRANSPORT_MUX = 1 << 8,
	/* Each connection names its flow by a preamble before a flow gets it, even where any flow
	 * would do: a stranger's connection then concerns none. Needs attach and preamble->queue.
	 * When `established` returns -ECONNABORTED at the accepting end, a stranger has come all
	 * the same, and the engine waits for the next connection. */
	NM_TRANSPORT_PREAMBLE = 1 << 9,
	/* Has a handshake that may come later: with NM_CONN_DEFER_HANDSHAKE, connect and accept
	 * leave it out, and the engine then calls `established` until it returns 0. */
	NM_TRANSPORT_DEFERS_HANDSHAKE = 1 << 10,
	/* Has events (NM_TRANSPORT_EVENT_RENEW) after which a connection can be opened anew in
	 * place of an old one. */
	NM_TRANSPORT_RECONNECTS = 1 << 11,
	/* Its connections can go to servers that are not netmodel. */
	NM_TRANSPORT_SERVERS = 1 << 12,
	/* It is TLS: what is spoken over it may have a port of its own there. */
	NM_TRANSPORT_TLS = 1 << 13,
};

struct nm_peers;

#define NM_ENDPOINT_TEXT 108

enum nm_listen {
	NM_LISTEN_FIRST,  /* of a listener that the kernel names */
	NM_LISTEN_SHARED, /* a further socket of a listener: their queues add up */
	NM_LISTEN_FIXED,  /* the only one of a listener that the profile names */
};

struct nm_transport {
	const char *name;
	const char *alias; /* another value of protocol= that means it, or NULL */
	const char *help;  /* one sentence for --describe and the manual */
	unsigned caps;
	const struct nm_opt *opts; /* options of connect and accept over this transport */
	size_t opts_size;

	/* Required, but for listen and endpoint of a transport with NO_PEER. */

	/* Opens a listening socket. `local`: the address to bind, port ignored. `text`: the
	 * listener's name (port number, path), which the first socket writes, for the peer, and the
	 * others read. -EOPNOTSUPP: the transport has no such sockets. Returns 0 with an owned
	 * *ret_fd. */
	int (*listen)(const void *opts, const struct nm_addr *local, enum nm_listen how,
		      int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd);
	/* Turns the peer's host address and the name of its listener into an address to connect
	 * to. */
	int (*endpoint)(const struct nm_addr *host, const char *text, struct nm_addr *ret_to);
	/* Opens conn. conn->fd is -1, or the socket that socket->make has made. conn->state is the
	 * result of shared->start (NULL without it); the transport may put a state of its own there
	 * instead, until close. 0: established; -EINPROGRESS: wait for output, then call
	 * `established`; other: failed. */
	int (*connect)(struct nm_conn *conn, const void *opts, const struct nm_addr *to);
	/* After -EINPROGRESS and an event: 0; -EINPROGRESS: wait for output; -EAGAIN: wait for
	 * input; or the error. */
	int (*established)(struct nm_conn *conn);
	/* Takes one connection; conn->state as for connect; -EAGAIN when there is none;
	 * -EINPROGRESS: taken, but `established` has to be called until it is ready. `peers`: the
	 * hosts whose connections are taken (NULL: all); others are closed at once and
	 * -ECONNABORTED is returned. Over UDP it is called once, for an accept with from=any:
	 * its connection has the datagrams of all. */
	int (*accept)(struct nm_conn *conn, int listen_fd, const void *opts,
		      const struct nm_peers *peers);
	/* Releases everything; the conn may be opened again. reset: abort instead of an orderly
	 * end. Never fails. */
	void (*close)(struct nm_conn *conn, bool reset);

	/* Optional: NULL where the transport has none. */

	/* `opts`: by message->opts, NULL when there are none; `data` may be changed: nobody else
	 * uses it meanwhile. Bytes moved (> 0), 0 from recv at the end of the stream, -EAGAIN, or
	 * another -errno. Both NULL: send(2) and recv(2) on conn->fd, which io.h then calls without
	 * the detour. */
	ssize_t (*send)(struct nm_conn *conn, const void *opts, void *data, size_t size);
	ssize_t (*recv)(struct nm_conn *conn, void *data, size_t size);
	/* Ends this end's direction, and leaves the other open: sets NM_CONN_FINISHED. */
	void (*finish)(struct nm_conn *conn);
	/* Why the last hook that failed on this open conn has failed, in a phrase that says more
	 * than its errno; false: nothing more is known. */
	bool (*why)(const struct nm_conn *conn, char *buf, size_t size);
	/* Reads TCP_INFO of conn, as NM_TCP_N_FIELDS values (tcp_fields.h). 0 or -errno. NULL: its
	 * sockets have no TCP_INFO. */
	int (*tcp_fields)(const struct nm_conn *conn, uint64_t *ret_values);
	/* Reads statistics and parameters of conn: 0 or -errno. */
	int (*info)(const struct nm_conn *conn, struct nm_conn_info *ret_info);

	const struct nm_transport_checks *checks;
	const struct nm_transport_message *message;
	const struct nm_transport_shared *shared;
	const struct nm_transport_socket *socket;
	const struct nm_transport_preamble *preamble;
	const struct nm_transport_datagram *datagram;
	const struct nm_transport_events *events;
};

extern const struct nm_transport *const nm_transports[]; /* ends with NULL */

/* Whether its connections go on using the listening socket. */
static inline bool nm_transport_is_mux(const struct nm_transport *transport)
{
	return transport->caps & NM_TRANSPORT_MUX;
}
/* Whether nothing that is sent over its connections gets lost, unless they break. */
static inline bool nm_transport_is_reliable(const struct nm_transport *transport)
{
	return transport->caps & NM_TRANSPORT_RELIABLE;
}
/* Whether its connections may be replaced while a phase goes on. */
static inline bool nm_transport_reconnects(const struct nm_transport *transport)
{
	return transport->caps & NM_TRANSPORT_RECONNECTS;
}

const struct nm_transport *nm_transport_find(const char *name); /* or alias; NULL when unknown */
/* Whether the transport can reach the host at the other end of that control connection, and may: 0,
 * or -EADDRNOTAVAIL with a phrase in why that names a transport for it, or -EACCES with one. */
int nm_transport_check_reach(const struct nm_transport *transport, const struct nm_peers *host,
			     char *why, size_t why_size);

/* These call an optional function of the transport; where it is missing, they return the answer
 * that asks for nothing special. */
int nm_transport_prepare(const struct nm_transport *transport, void *opts, struct nm_why *why);
/* Before that, where the connections go to servers that are not netmodel. */
int nm_transport_set_server(const struct nm_transport *transport, void *opts, struct nm_why *why);
int nm_transport_check_group(const struct nm_transport *transport, const void *opts,
			     uint32_t n_flows, uint32_t port, struct nm_why *why);
int nm_transport_check_host(const struct nm_transport *transport, const char *host, char *why,
			    size_t why_size);
int nm_transport_check_available(const struct nm_transport *transport, const char *host, char *why,
				 size_t why_size);
uint32_t nm_transport_ports(const struct nm_transport *transport, const void *opts);
/* Options of flowops that move a message over it; NULL: none. */
const struct nm_opt *nm_transport_message_opts(const struct nm_transport *transport);
/* Whether sockets of connections can be made ahead of them. */
bool nm_transport_makes_sockets(const struct nm_transport *transport);
uint64_t nm_transport_busy_poll_ns(const struct nm_transport *transport, const void *opts);
uint64_t nm_transport_mss_bytes(const struct nm_transport *transport, const void *opts);
uint64_t nm_transport_tx_delay_ns(const struct nm_transport *transport, const void *opts);
/* The transport of the accepting end; `transport` is the one of the connecting end. */
const struct nm_transport *nm_transport_accepting(const struct nm_transport *transport,
						  const void *opts);

#endif
