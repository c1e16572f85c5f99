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
	/* Its listening socket stays that of its connections (udp_mux.h). */
	NM_TRANSPORT_MUX = 1 << 8,
	/* Every connection has to say whose it is before it gets to a flow, whether or not it
	 * matters which: so that a stranger who connects is nobody's business. Needs attach and
	 * preamble->queue. An established that answers -ECONNABORTED to the end that accepts has
	 * found a stranger all the same, and the next is waited for. */
	NM_TRANSPORT_PREAMBLE = 1 << 9,
	/* Has a handshake that may come later: with NM_CONN_DEFER_HANDSHAKE, connect and accept
	 * leave it out, and what is then called until it answers 0 is established. */
	NM_TRANSPORT_DEFERS_HANDSHAKE = 1 << 10,
	/* Has events (NM_TRANSPORT_EVENT_RENEW) after which a connection can be opened anew in
	 * place of an old one. */
	NM_TRANSPORT_RECONNECTS = 1 << 11,
};

struct nm_peers;

#define NM_ENDPOINT_TEXT 108

enum nm_listen {
	NM_LISTEN_FIRST,  /* of a listener that the kernel names */
	NM_LISTEN_SHARED, /* one more of the same: their queues add up */
	NM_LISTEN_FIXED,  /* the only one of a listener that the profile names */
};

struct nm_transport {
	const char *name;
	const char *alias; /* another value of protocol= that means it, or NULL */
	const char *help;  /* one sentence for --describe and the manual */
	unsigned caps;
	const struct nm_opt *opts; /* options of connect and accept over this transport */
	size_t opts_size;

	/* Required, but for listen and endpoint of one that has NO_PEER, and accept of one whose
	 * connections a datagram begins. */

	/* Opens a listening socket. `local`: the address to bind, port ignored. `text`: what the
	 * listener is called (port number, path): written for the first, for the peer to know; read
	 * for the others. -EOPNOTSUPP: there cannot be such a one. Returns 0 with an owned *ret_fd.
	 */
	int (*listen)(const void *opts, const struct nm_addr *local, enum nm_listen how,
		      int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd);
	/* Turns the peer's host address and what its listener is called into an address to connect
	 * to. */
	int (*endpoint)(const struct nm_addr *host, const char *text, struct nm_addr *ret_to);
	/* Opens conn. conn->fd is -1, or what socket->make has made. conn->state is what
	 * shared->start has made (NULL without it); the transport may put its own there instead,
	 * which is its business until close. 0: established; -EINPROGRESS: wait for output, then
	 * call `established`; other: failed. */
	int (*connect)(struct nm_conn *conn, const void *opts, const struct nm_addr *to);
	/* After -EINPROGRESS and an event: 0; -EINPROGRESS: wait for output; -EAGAIN: wait for
	 * input; or the error. */
	int (*established)(struct nm_conn *conn);
	/* Takes one connection; conn->state as for connect; -EAGAIN when there is none;
	 * -EINPROGRESS: taken, but `established` has to be called until it is ready. `peers`:
	 * whose connections are taken (NULL: anybody's); others are closed at once and
	 * -ECONNABORTED is returned. */
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
	/* Ends what this end sends, and leaves the rest open: sets NM_CONN_FINISHED. */
	void (*finish)(struct nm_conn *conn);
	/* Why the last hook that failed on this open conn has failed, in a phrase that says more
	 * than its errno; false: nothing more is known. */
	bool (*why)(const struct nm_conn *conn, char *buf, size_t size);
	/* What tcp(7) knows about conn, as NM_TCP_N_FIELDS values (tcp_fields.h). 0 or -errno.
	 * NULL: its sockets are not those of tcp(7). */
	int (*tcp_fields)(const struct nm_conn *conn, uint64_t *ret_values);
	/* What is known about conn: 0 or -errno. */
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

/* Whether its listening socket stays that of its connections. */
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
 * or -EADDRNOTAVAIL with a phrase in why that says what would reach it, or -EACCES with one. */
int nm_transport_check_reach(const struct nm_transport *transport, const struct nm_peers *host,
			     char *why, size_t why_size);

/* What the optional functions say, and without them the answer that means nothing special. */
int nm_transport_prepare(const struct nm_transport *transport, void *opts, struct nm_why *why);
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
/* The transport of the end that accepts, over that of the end that connects. */
const struct nm_transport *nm_transport_accepting(const struct nm_transport *transport,
						  const void *opts);

#endif
