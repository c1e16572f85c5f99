/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport can do beside opening, closing and moving bytes: groups of functions that its
 * descriptor (transport.h) points to, or leaves out. They return as those of the descriptor do. */
#ifndef NM_TRANSPORT_OPTIONAL_H
#define NM_TRANSPORT_OPTIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_addr;
struct nm_conn;
struct nm_opt;
struct nm_transport;
struct nm_file_root;
struct nm_why;

/* What may become of all connections of an opening. */
enum nm_transport_event {
	NM_TRANSPORT_EVENT_NONE,
	NM_TRANSPORT_EVENT_RENEW, /* those that are open now should be replaced soon */
	NM_TRANSPORT_EVENT_LOST,  /* they are dead */
};

#define NM_SECRET_BYTES 32

/* What start is told about its opening. */
struct nm_start {
	bool accepting;			    /* this side accepts; otherwise it connects */
	bool can_fail;			    /* connections that cannot be opened are counted only */
	const struct nm_addr *peer, *local; /* ends of the control connection to its host */
	const char *localhost_words;	    /* what messages call that option; NULL: localhost */
	const char *peer_name; /* what the other host is called here: a name or a numeric address */
	/* NM_SECRET_BYTES that only the hosts of the run know; to derive keys of */
	const unsigned char *secret;
	const struct nm_file_root *files; /* files are read below it only; NULL: any */
};

/* What options of its connections are checked for, and where they hold. All may be NULL. */
struct nm_transport_checks {
	/* Checks and completes parsed options (resolves addresses). Both ends do it, on all of
	 * them: no file is read. 0, with a phrase in why when the user should be warned, or -EINVAL
	 * with a phrase in why. */
	int (*prepare)(void *opts, struct nm_why *why);
	/* Whether they fit a group of so many flows, and the port that the opening names (0: none):
	 * 0, or -EINVAL with a phrase in why. */
	int (*group)(const void *opts, uint32_t n_flows, uint32_t port, struct nm_why *why);
	/* Whether a host can be named so: 0, or -EINVAL with a phrase in why that says how it is
	 * named. */
	int (*host)(const char *host, char *why, size_t why_size);
	/* Whether this host has the protocol at all: 0, or -errno with a phrase in why that says
	 * what is missing. host: as the profile names the other end, "master" on a slave. Asked
	 * before a run begins. */
	int (*available)(const char *host, char *why, size_t why_size);
	/* Turns options, as the profile says them of the master's end, into those of the other end:
	 * for what the two ends have the other way round. Strings stay. */
	void (*mirror)(void *opts);
};

/* What single messages may be, and what the options of a flowop that moves one say. */
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

/* What all connections of one opening share on one side, for what must not be done for each of them
 * (reading certificates). Workers share it: what they do with it must be safe for all of them at
 * once. */
struct nm_transport_shared {
	/* Makes it: 0 with *ret_started, or -errno with a phrase in why. */
	int (*start)(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		     size_t why_size);
	/* Releases it, after the last connection is closed. NULL: there is nothing to release. */
	void (*stop)(void *started);
};

/* What its options say of sockets beside how they connect. All may be NULL. */
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
	/* The address with that number from which the options say that the connecting end's
	 * connections leave (localhost=); false: there are no more. NULL: they never say it. */
	bool (*source)(const void *opts, uint32_t number, struct nm_addr *ret);
	/* Has them leave from that address, where the options say nothing. With source. */
	void (*leave_from)(void *opts, const struct nm_addr *addr);
	/* How long, at either end, a wait for its connections polls the network card. NULL: not at
	 * all. */
	uint64_t (*busy_poll_ns)(const void *opts);
};

/* Where a connection may begin with a preamble, which says whose it is. */
struct nm_transport_preamble {
	/* Makes conn of a socket that has been accepted (or made for a datagram) and has sent its
	 * preamble; takes fd when it returns 0 or -EINPROGRESS, as `accept` does, with conn->state
	 * as there. */
	int (*attach)(struct nm_conn *conn, int fd, const void *opts);
	/* What a conn that `connect` has just begun must send before anything else, copied. Only
	 * where the transport has a handshake of its own: NULL where it goes out by the socket,
	 * once conn is established. */
	void (*queue)(struct nm_conn *conn, const void *bytes, size_t size);
};

/* Where preambles may be lost, and so are answered: connections that a datagram begins. */
struct nm_transport_datagram {
	/* The socket for a peer whose preamble has come to a listening socket, on its port or on
	 * another, or -errno. */
	int (*accept)(int listen_fd, bool same_port, const void *opts, const struct nm_addr *peer);
	/* Where conn can be reached. */
	uint32_t (*port_of)(const struct nm_conn *conn);
	/* conn, which was opened to `to`, goes on at that port of it. The peer may send from there
	 * before conn is retargeted: until then it takes what comes from any port. */
	int (*retarget)(struct nm_conn *conn, const struct nm_addr *to, uint32_t port);
	/* The transport of the end that accepts, when its options ask for one socket that serves
	 * all connections of a worker (udp_mux.h); NULL: they do not. */
	const struct nm_transport *(*multiplexed)(const void *opts);
};

/* What may become of all connections of an opening while they are open. */
struct nm_transport_events {
	/* A descriptor, which stays the transport's own, that becomes readable when there is an
	 * event. */
	int (*fd)(const void *started);
	/* The next event, with a phrase in why for NM_TRANSPORT_EVENT_LOST. The control thread asks
	 * while workers run. */
	enum nm_transport_event (*next)(void *started, char *why, size_t why_size);
	/* Whether conn, which is open, has not been replaced in time for the event, and is dead;
	 * with a phrase in why. started is here that of the worker's own process, which gets no
	 * events by itself. */
	bool (*expired)(const struct nm_conn *conn, const void *started, char *why,
			size_t why_size);
};

#endif
