/* SPDX-License-Identifier: Apache-2.0 */
/* A transport: one protocol, one file, one const descriptor. The build makes nm_transports[] from
 * the word list in src/transport/local.mk.
 *
 * Life of a connection: [start, once per opening; listen, once per listener] -> connect or accept
 * -> send/recv -> close -> [stop, once per opening]. All hooks return 0 or a positive result, or
 * -errno; none blocks, logs or touches statistics. Sockets are non-blocking and close-on-exec.
 * prepare, start, listen and endpoint run on the main thread before the workers start, stop there
 * after they have ended; all others run on the worker that owns the flow. */
#ifndef NM_TRANSPORT_TRANSPORT_H
#define NM_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/opt.h"
#include "transport/conn.h"

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
	 * greet. An established that answers -ECONNABORTED to who accepts has found a stranger all
	 * the same, and the next is waited for. */
	NM_TRANSPORT_PREAMBLE = 1 << 9,
	/* Has a handshake that may come later: with NM_CONN_DEFER_HANDSHAKE, connect and accept
	 * leave it out, and what is then called until it answers 0 is established. */
	NM_TRANSPORT_DEFERS_HANDSHAKE = 1 << 10,
	/* Has news (NM_NEWS_RENEW) after which a connection can be opened anew in place of an old
	 * one. */
	NM_TRANSPORT_RECONNECTS = 1 << 11,
};

/* What may become of all connections of an opening. */
enum nm_transport_news {
	NM_NEWS_NONE,
	NM_NEWS_RENEW, /* those that are open now should be replaced soon */
	NM_NEWS_LOST,  /* they are dead */
};

#define NM_ENDPOINT_TEXT 108
#define NM_SECRET_BYTES	 32

enum nm_listen {
	NM_LISTEN_FIRST,  /* of a listener that the kernel names */
	NM_LISTEN_SHARED, /* one more of the same: their queues add up */
	NM_LISTEN_FIXED,  /* the only one of a listener that the profile names */
};

/* What start is told about its opening. */
struct nm_start {
	bool accepting;			    /* this side accepts; otherwise it connects */
	bool can_fail;			    /* connections that cannot be opened are counted only */
	const struct nm_addr *peer, *local; /* ends of the control connection to its host */
	const char *peer_name; /* what the other host is called here: a name or a numeric address */
	/* NM_SECRET_BYTES that only the hosts of the run know; to derive keys of */
	const unsigned char *secret;
};

struct nm_transport {
	const char *name;
	const char *alias; /* another value of protocol= that means it, or NULL */
	const char *help;  /* one sentence for --describe and the manual */
	unsigned caps;
	const struct nm_opt *opts; /* options of connect and accept over this transport */
	size_t opts_size;
	size_t max_message; /* bytes; 0: no limit */
	/* options of flowops that move a message over it; NULL: none */
	const struct nm_opt *message_opts;
	size_t message_opts_size;
	/* Whether a message with these options may be lost, though the transport is RELIABLE. NULL:
	 * never. The other messages of such a connection are then treated as if they might be lost,
	 * too. */
	bool (*may_lose)(const void *message_opts);
	/* bytes of a message where messages may be lost; 0: max_message */
	size_t max_lossy_message;
	/* Whether a message may have these options, on a connection with those: 0, or -EINVAL with
	 * a phrase in why. by_master: the master sends it, otherwise its peer. May be NULL. */
	int (*check_message)(const void *opts, const void *message_opts, bool by_master, char *why,
			     size_t why_size);

	/* Checks and completes parsed options (resolves addresses). Both ends do it, on all of
	 * them: no file is read. 0, with a phrase in why when the user should be warned, or -EINVAL
	 * with a phrase in why. May be NULL. */
	int (*prepare)(void *opts, char *why, size_t why_size);
	/* Whether they fit a group of so many flows, and the port that the opening names (0: none):
	 * 0, or -EINVAL with a phrase in why. May be NULL. */
	int (*check_group)(const void *opts, uint32_t n_flows, uint32_t port, char *why,
			   size_t why_size);
	/* Turns options, as the profile says them of the master's end, into those of the other end:
	 * for what the two ends have the other way round. Strings stay. May be NULL. */
	void (*mirror)(void *opts);
	/* Whether a host can be named so: 0, or -EINVAL with a phrase in why that says how it is
	 * named. May be NULL: as any host. */
	int (*check_host)(const char *host, char *why, size_t why_size);
	/* Whether this host has the protocol at all: 0, or -errno with a phrase in why that says
	 * what is missing. host: as the profile names the other end, "master" on a slave. Asked
	 * before a run begins. May be NULL: always. */
	int (*available)(const char *host, char *why, size_t why_size);
	/* Makes what all connections of one opening share on this side, for what must not be done
	 * for each of them (reading certificates). 0 with *ret_started, or -errno with a phrase in
	 * why. May be NULL. Workers share it: what they do with it must be safe for all of them at
	 * once. */
	int (*start)(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		     size_t why_size);
	/* Releases it, after the last connection is closed. */
	void (*stop)(void *started);
	/* A descriptor, which stays its own, that becomes readable when there is news about all
	 * connections of the opening; and the next of it, with a phrase in why for NM_NEWS_LOST.
	 * Main asks while workers run. NULL: never any. */
	int (*news_fd)(const void *started);
	enum nm_transport_news (*news)(void *started, char *why, size_t why_size);
	/* Whether conn, which is open, has not been replaced in time for the news, and is dead;
	 * with a phrase in why. NULL: never. started is here that of the worker's own process,
	 * which has no news by itself. */
	bool (*expired)(const struct nm_conn *conn, const void *started, char *why,
			size_t why_size);
	/* Opens a listening socket. `local`: the address to bind, port ignored. `text`: what the
	 * listener is called (port number, path): written for the first, for the peer to know; read
	 * for the others. -EOPNOTSUPP: there cannot be such a one. Returns 0 with an owned
	 * *ret_fd. */
	int (*listen)(const void *opts, const struct nm_addr *local, enum nm_listen how,
		      int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd);
	/* How many ports a listener has, one behind the other: `listen` opens each, `connect`
	 * chooses one by conn->number. NULL: one. */
	uint32_t (*ports)(const void *opts);
	/* Whether the options let a connection come from the peer. from: the only host that may
	 * when they say nothing, NULL: any. NULL: by `from` alone. */
	bool (*allows_peer)(const void *opts, const struct nm_addr *peer,
			    const struct nm_addr *from);
	/* How long, at either end, a wait for its connections polls the network card. NULL: not at
	 * all. */
	uint64_t (*busy_poll_ns)(const void *opts);
	/* Turns the peer's host address and what its listener is called into an address to connect
	 * to. */
	int (*endpoint)(const struct nm_addr *host, const char *text, struct nm_addr *ret_to);
	/* Makes the socket of a connection that `connect` opens to the same address later. A
	 * descriptor, or -errno. NULL: `connect` makes its own, always. */
	int (*make)(const void *opts, const struct nm_addr *to);
	/* Opens conn. conn->fd is -1, or what make has made. conn->state is what start has made
	 * (NULL without start); the transport may put its own there instead, which is its business
	 * until close. 0: established; -EINPROGRESS: wait for output, then call `established`;
	 * other: failed. */
	int (*connect)(struct nm_conn *conn, const void *opts, const struct nm_addr *to);
	/* After -EINPROGRESS and an event: 0; -EINPROGRESS: wait for output; -EAGAIN: wait for
	 * input; or the error. */
	int (*established)(struct nm_conn *conn);
	/* Sets what must not concern the handshake: called once conn is established, where connect
	 * has left NM_CONN_UNSETTLED. 0 or -errno. */
	int (*settle)(struct nm_conn *conn, const void *opts);
	/* Takes one connection; conn->state as for connect; -EAGAIN when there is none;
	 * -EINPROGRESS: taken, but `established` has to be called until it is ready. `from`: the
	 * only host whose connections are taken (NULL: any); others are closed at once and
	 * -ECONNABORTED is returned. */
	int (*accept)(struct nm_conn *conn, int listen_fd, const void *opts,
		      const struct nm_addr *from);
	/* What a conn that `connect` has just begun must send before anything else, copied. Only
	 * where the transport has a handshake of its own: NULL where it goes out by the socket,
	 * once conn is established. */
	void (*greet)(struct nm_conn *conn, const void *greeting, size_t size);
	/* Makes conn of a socket that has been accepted (or made for a datagram) and has sent its
	 * greeting; takes fd when it returns 0 or -EINPROGRESS, as `accept` does, with conn->state
	 * as there. NULL: the transport cannot be greeted. */
	int (*attach)(struct nm_conn *conn, int fd, const void *opts);
	/* Where greetings may be lost they are answered. accept_datagram: the socket for a peer
	 * whose greeting has come to a listening socket, on its port or on another, or -errno;
	 * port_of: where conn can be reached; retarget: conn, which was opened to `to`, goes on at
	 * that port of it. The peer may send from there before it is retargeted: until then it
	 * takes what comes from any port. Otherwise NULL. */
	int (*accept_datagram)(int listen_fd, bool same_port, const void *opts,
			       const struct nm_addr *peer);
	uint32_t (*port_of)(const struct nm_conn *conn);
	int (*retarget)(struct nm_conn *conn, const struct nm_addr *to, uint32_t port);
	/* `opts`: by message_opts, NULL when there are none; `data` may be changed: nobody else
	 * uses it meanwhile. Bytes moved (> 0), 0 from recv at the end of the stream, -EAGAIN, or
	 * another -errno. Both NULL: send(2) and recv(2) on conn->fd, which the flowops then call
	 * without the detour. */
	ssize_t (*send)(struct nm_conn *conn, const void *opts, void *data, size_t size);
	ssize_t (*recv)(struct nm_conn *conn, void *data, size_t size);
	/* Ends what this end sends, and leaves the rest open: sets NM_CONN_FINISHED. NULL: it
	 * cannot. */
	void (*finish)(struct nm_conn *conn);
	/* Releases everything; the conn may be opened again. reset: abort instead of an orderly
	 * end. Never fails. */
	void (*close)(struct nm_conn *conn, bool reset);
	/* Why the last hook that failed on this open conn has failed, in a phrase that says more
	 * than its errno; false: nothing more is known. May be NULL. */
	bool (*why)(const struct nm_conn *conn, char *buf, size_t size);
	/* May be NULL: nothing is known. */
	int (*info)(const struct nm_conn *conn, struct nm_conn_info *ret_info);
};

extern const struct nm_transport *const nm_transports[]; /* ends with NULL */

const struct nm_transport *nm_transport_find(const char *name); /* or alias; NULL when unknown */

#endif
