/* SPDX-License-Identifier: Apache-2.0 */
/* Abilities of a transport beside opening, closing and moving bytes: groups of functions that its
 * descriptor (transport.h) points to, or leaves out. They return values as the descriptor's own
 * functions do. */
#ifndef NM_TRANSPORT_OPTIONAL_H
#define NM_TRANSPORT_OPTIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffers.h"

struct nm_addr;
struct nm_conn;
struct nm_opt;
struct nm_transport;
struct nm_file_root;
struct nm_why;

/* The kinds of events of an opening. */
enum nm_transport_event {
	NM_TRANSPORT_EVENT_NONE,
	NM_TRANSPORT_EVENT_RENEW, /* connections open now should be replaced soon */
	NM_TRANSPORT_EVENT_LOST,  /* all open connections are dead */
};

#define NM_SECRET_BYTES 32

/* The opening, as start sees it. */
struct nm_start {
	bool accepting;			    /* this side accepts; otherwise it connects */
	bool can_fail;			    /* connections that cannot be opened are counted only */
	const struct nm_addr *peer, *local; /* ends of the control connection to its host */
	const char *localhost_words;	    /* the option localhost in messages; NULL: localhost */
	const char *peer_name;		    /* the other host's name or numeric address here */
	/* Servers that are not netmodel: their names, of which connection i goes to number i modulo
	 * n_servers; peer_name is then unused. */
	const char *const *servers;
	uint32_t n_servers; /* 0: the other end is netmodel's */
	const char *alpn;   /* what is spoken over TLS (RFC 7301); NULL: nothing is offered */
	/* NM_SECRET_BYTES that only the hosts of the run know; to derive keys of */
	const unsigned char *secret;
	const struct nm_file_root *files; /* files are read below it only; NULL: any */
	struct nm_buffers *cut; /* takes the buffers that the kernel cuts; NULL: nobody asks */
};

/* Checks of options of its connections, and of hosts. All may be NULL. */
struct nm_transport_checks {
	/* Checks and completes parsed options (resolves addresses). Both ends do so, with all
	 * options: it reads no file. 0, with a phrase in why when the user should be warned, or
	 * -EINVAL with a phrase in why. */
	int (*prepare)(void *opts, struct nm_why *why);
	/* The connections go to servers that are not netmodel: sets what follows from that, before
	 * `prepare`. 0, or -EINVAL with a phrase in why. */
	int (*server)(void *opts, struct nm_why *why);
	/* Whether the options fit a group of so many flows, and the port that the opening names (0:
	 * none): 0, or -EINVAL with a phrase in why. */
	int (*group)(const void *opts, uint32_t n_flows, uint32_t port, struct nm_why *why);
	/* Whether a host can be named so: 0, or -EINVAL with a phrase in why that says how it is
	 * named. */
	int (*host)(const char *host, char *why, size_t why_size);
	/* Whether this host has the protocol at all: 0, or -errno with a phrase in why that says
	 * what is missing. host: as the profile names the other end, "master" on a slave. Asked
	 * before a run begins. */
	int (*available)(const char *host, char *why, size_t why_size);
	/* Turns options, which the profile gives for the master's end, into the other end's, where
	 * the two ends have them the other way round. Strings stay. */
	void (*mirror)(void *opts);
};

/* Limits of single messages, and the options of a flowop that moves one. */
struct nm_transport_message {
	size_t max_bytes;	/* of a message; 0: no limit */
	size_t max_lossy_bytes; /* where messages may be lost; 0: max_bytes */
	/* Options of flowops that move a message over it; NULL: none. */
	const struct nm_opt *opts;
	size_t opts_size;
	/* Whether a message with these options may be lost, though the transport is RELIABLE. NULL:
	 * never. The other messages of such a connection are then treated as if they might be lost,
	 * too. */
	bool (*may_lose)(const void *message_opts);
	/* Whether a message may have these options, on a connection with those: 0, or -EINVAL with
	 * a phrase in why. by_master: the master sends it, otherwise its peer. May be NULL. */
	int (*check)(const void *opts, const void *message_opts, bool by_master,
		     struct nm_why *why);
};

/* State that all connections of one opening share on one side, for work that must not be done for
 * each of them (reading certificates). Workers share it, and use it at the same time. */
struct nm_transport_shared {
	/* Makes the state: 0 with *ret_started, or -errno with a phrase in why. */
	int (*start)(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		     size_t why_size);
	/* Releases the state, after the last connection is closed. NULL: there is nothing to
	 * release. */
	void (*stop)(void *started);
};

/* Sockets of its connections, beside how they connect. All may be NULL. */
struct nm_transport_socket {
	/* Makes the socket of a connection that `connect` opens to the same address later. A
	 * descriptor, or -errno. NULL: `connect` makes its own, always. */
	int (*make)(const void *opts, const struct nm_addr *to);
	/* Sets what must not concern the handshake: called once conn is established, where connect
	 * has left NM_CONN_UNSETTLED. 0 or -errno. */
	int (*settle)(struct nm_conn *conn, const void *opts);
	/* How many ports a listener has, one behind the other: `listen` opens each, `connect`
	 * chooses one by conn->number. NULL: one. */
	uint32_t (*ports)(const void *opts);
	/* The address with that number of those from which the connecting end's connections leave
	 * (localhost=); false: there are no more. NULL: the options cannot name any. */
	bool (*source)(const void *opts, uint32_t number, struct nm_addr *ret);
	/* How many ports of this host each flow's connections have in turn (source_ports=); 0: the
	 * kernel chooses theirs. With source. */
	uint64_t (*source_ports)(const void *opts);
	/* Makes connections leave from that address, where the options name none. With source. */
	void (*leave_from)(void *opts, const struct nm_addr *addr);
	/* How long, at either end, a wait for its connections polls the network card. NULL: not at
	 * all. */
	uint64_t (*busy_poll_ns)(const void *opts);
	/* The largest segment that the kernel is asked for; 0: none. NULL: there are none. */
	uint64_t (*mss_bytes)(const void *opts);
	/* What the kernel is asked to delay all that a connection sends by, and that it does only
	 * where the sending device takes it; 0: nothing. NULL: there is none. */
	uint64_t (*tx_delay_ns)(const void *opts);
	/* The rate that the kernel is asked to keep each connection to, and that it keeps only
	 * where the sending device paces; 0: none. NULL: the kernel keeps whatever is asked for. */
	double (*max_pacing_bps)(const void *opts);
	/* Whether conn, which is open, is one of a simpler protocol, to which it has fallen back:
	 * Multipath TCP. NULL: there is none. */
	bool (*is_plain)(const struct nm_conn *conn);
};

/* For connections that may begin with a preamble, which names their flow. */
struct nm_transport_preamble {
	/* Makes conn of a socket that has been accepted (or made for a datagram) and has sent its
	 * preamble; takes fd when it returns 0 or -EINPROGRESS, as `accept` does, with conn->state
	 * as there. */
	int (*attach)(struct nm_conn *conn, int fd, const void *opts);
	/* Gives conn, which `connect` has just begun, the bytes to send before anything else; they
	 * are copied. Only where the transport has a handshake of its own; NULL: the bytes go out
	 * by the socket, once conn is established. */
	void (*queue)(struct nm_conn *conn, const void *bytes, size_t size);
};

/* For connections that a datagram begins: preambles may be lost, and so are answered. */
struct nm_transport_datagram {
	/* The socket for a peer whose preamble has come to a listening socket, on its port or on
	 * another, or -errno. */
	int (*accept)(int listen_fd, bool same_port, const void *opts, const struct nm_addr *peer);
	/* The port at which the peer can reach conn. */
	uint32_t (*port_of)(const struct nm_conn *conn);
	/* Makes conn, which was opened to `to`, go on with that port of it. The peer may send from
	 * there before conn is retargeted: until then conn takes datagrams from any port. */
	int (*retarget)(struct nm_conn *conn, const struct nm_addr *to, uint32_t port);
	/* The transport of the end that accepts, when its options ask for one socket that serves
	 * all connections of a worker (udp_mux.h); NULL: they do not. */
	const struct nm_transport *(*multiplexed)(const void *opts);
};

/* Events that concern all connections of an opening while they are open. */
struct nm_transport_events {
	/* A descriptor, which stays the transport's own, that becomes readable when there is an
	 * event. */
	int (*fd)(const void *started);
	/* The next event, with a phrase in why for NM_TRANSPORT_EVENT_LOST. The control thread asks
	 * while workers run. */
	enum nm_transport_event (*next)(void *started, char *why, size_t why_size);
	/* Whether conn, which is open, has not been replaced in time for the event, and is dead;
	 * with a phrase in why. Here `started` belongs to the worker's own process, which gets no
	 * events by itself. */
	bool (*expired)(const struct nm_conn *conn, const void *started, char *why,
			size_t why_size);
};

#endif
