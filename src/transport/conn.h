/* SPDX-License-Identifier: Apache-2.0 */
/* One data connection as the engine, the flowops and the transports see it. It belongs to one flow,
 * and so to one worker thread. */
#ifndef NM_TRANSPORT_CONN_H
#define NM_TRANSPORT_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "transport/preamble.h"

struct nm_flow;
struct nm_transport;

struct nm_addr {
	socklen_t len; /* 0: none */
	struct sockaddr_storage sa;
};

/* The longest that a receive sleeps (NM_CONN_SLEEPS): the worker hears the control thread that much
 * later. */
#define NM_CONN_SLEEP_US 50000

/* The first two have the values of EPOLLIN and EPOLLOUT, so that an event's mask can be added as it
 * is. */
enum nm_conn_flags {
	NM_CONN_IN = 0x001,  /* a receive may find something */
	NM_CONN_OUT = 0x004, /* a send may find room */
	NM_CONN_HUP = 0x010, /* the peer has closed or reset: receives always find something */
	/* A send waits for the kernel to report earlier ones complete, not for room. */
	NM_CONN_NOBUFS = 0x008,
	NM_CONN_OPEN = 0x100,
	NM_CONN_CONNECTING = 0x200,
	NM_CONN_MORE = 0x400,	    /* bytes may be held back until more come */
	NM_CONN_ARMED = 0x800,	    /* the waiter will report input of it: engine/wait/waiter.h */
	NM_CONN_ARMED_OUT = 0x1000, /* and output */
	NM_CONN_PREAMBLE = 0x2000,  /* the preamble is sent, and not answered yet */
	NM_CONN_UNSETTLED = 0x4000, /* socket->settle has to be called once it is established */
	NM_CONN_ERRQUEUE = 0x8000,  /* the kernel reports sends without a copy */
	NM_CONN_ASKING = 0x10000, /* unreliable transports: nothing is read since the last write */
	NM_CONN_RECONNECT = 0x20000, /* to be replaced when nothing is on the way */
	/* the last look found its flow waiting for its end: engine/phase/ends.h */
	NM_CONN_LOOKED = 0x40000,
};

/* Properties of an open connection, from its beginning or from a later moment on, until it is
 * closed. */
enum nm_conn_traits {
	NM_CONN_ACCEPTED = 0x01,   /* the peer opened it, so the peer closes it first */
	NM_CONN_FASTOPEN = 0x02,   /* counted if its first packet had data */
	NM_CONN_FINISHED = 0x04,   /* this end sends no more */
	NM_CONN_ZEROCOPY = 0x08,   /* its socket takes sends without a copy */
	NM_CONN_MAPPED = 0x10,	   /* state is the mapping of errqueue.h */
	NM_CONN_GRO = 0x20,	   /* a receive may bring several datagrams as one (udp_batch.h) */
	NM_CONN_NO_GRO = 0x40,	   /* a receive must bring datagrams one by one */
	NM_CONN_NO_GSO = 0x80,	   /* a send must take them one by one */
	NM_CONN_MULTIPATH = 0x100, /* over Multipath TCP, and not yet known to be plain TCP */
	/* its server has answered a request, or was given up without one */
	NM_CONN_ANSWERED = 0x200,
	/* and has said that it answers no more of them, or is asked no more */
	NM_CONN_LAST = 0x400,
	/* One has been answered since it was last taken note of: by this connection, or by one that
	 * the flow had before in its place. */
	NM_CONN_HEARD = 0x800,
	/* What belongs to no request has come of it in part (app/app.h, aside). */
	NM_CONN_ASIDE = 0x1000,
	NM_CONN_LIVES = 0x2000, /* a law says how long it lasts (flowop/life.h) */
};

/* A flowop's wishes for the transport's connect, accept and attach. */
enum nm_conn_wishes {
	NM_CONN_DEFER_HANDSHAKE = 0x1, /* the handshake comes later */
	NM_CONN_WRITES_FIRST = 0x2,    /* connect: a write comes next */
	/* accept, where it can be: receives wait, but not longer than NM_CONN_SLEEP_US */
	NM_CONN_SLEEPS = 0x4,
};

struct nm_conn {
	int fd;		/* -1 while it is closed */
	uint32_t flags; /* enum nm_conn_flags, 20 bits at most */
	/* Received beyond the last message: bytes; over unreliable transports, messages. */
	uint32_t ahead;
	uint32_t traits; /* enum nm_conn_traits */
	const struct nm_transport *transport;
	void *state;	      /* the transport's own, or NULL */
	struct nm_flow *flow; /* the flow that has it; set once */
	uint32_t number;      /* of its flow in the group; set once */
	uint32_t bind_count;  /* how often it has bound a port of its own */
	/* How many of the bytes ahead a posted receive has brought since the last step. */
	uint32_t uncounted;
	uint32_t posted; /* bytes of the send that was posted last */
	/* Its share of the worker's buffers for sends without a copy, counted from 1 (zc_pool.h);
	 * 0: none yet. */
	uint32_t zc_slot;
	bool lossy : 1;	 /* messages may be lost, though the transport is a reliable one */
	bool resets : 1; /* its close aborts it (SO_LINGER 0): nm_conn_resets */
	uint8_t wishes;	 /* enum nm_conn_wishes */
	uint8_t waiter;	 /* a note of the worker's waiter, for itself alone */
	uint8_t device;	 /* psp: the device that gave its key: 1 + index; 0: none yet */

	/* The second line of the cache. */

	/* Streams: bytes of messages that were given up, which come, or have to go, before the next
	 * message. */
	uint64_t abandoned_in, abandoned_out;
	union {
		struct nm_conn_stream {
			uint64_t exchange_left; /* bytes that an exchange has still to send */
			uint32_t zc_sent;	/* sends without a copy */
			uint32_t zc_completed;	/* of them, reported complete */
			/* psp: known rotations of the device when it gave the key, modulo 65536 */
			uint16_t rotations;
		} stream;
		struct nm_conn_datagram {
			uint64_t window; /* which of the 64 numbers up to `seen` have come */
			uint32_t seen;	 /* the highest number received */
			/* How many were sent before the question: answers to those are late. */
			uint32_t acked;
			uint32_t sent;	  /* numbered messages sent; the last one's number */
			uint32_t zc_sent; /* sends without a copy (zc_pool.h) */
			/* When the last dated message was sent, by the sender's clock, and its time
			 * on the way, by two clocks; 0: none has come. */
			uint64_t sent_ns, transit_ns;
			uint64_t jitter; /* RFC 3550, 6.4.1: 16 times the estimate, ns */
		} datagram;		 /* where messages may be lost */
		/* With NM_CONN_PREAMBLE: the preamble that is not answered yet. */
		struct nm_preamble_sender preamble;
	};
};

/* Parameters that connections over TLS have agreed upon. For a single connection the counts are 0
 * or 1. */
struct nm_conn_tls {
	uint64_t connections; /* 0: none is over TLS */
	uint64_t resumed;     /* that have continued a session instead of a full handshake */
	uint64_t ktls_send, ktls_receive; /* whose records the kernel makes and opens */
	char version[16];		  /* of the first; "TLSv1.3" */
	char cipher[64];
	char alpn[16]; /* the protocol that was agreed upon; "": none was offered, or taken */
};

/* Statistics and parameters of a connection, from the kernel and from the transport. */
struct nm_conn_info {
	uint64_t retransmits;
	uint32_t srtt_us, rttvar_us; /* the kernel's smoothed round trip time, and its variation */
	uint32_t min_rtt_us;	     /* the shortest round trip; 0: not known */
	uint32_t snd_cwnd, snd_mss;
	/* TCP: bytes on their way that nothing acknowledges, though the first of them were sent
	 * again and again, where no segments as large have been acknowledged before; 0: there are
	 * none */
	uint64_t unacked_bytes;
	/* TCP: milliseconds until the kernel sends bytes again that nothing has acknowledged, where
	 * segments as large have been acknowledged before; 0: it does not, or that is not near */
	uint32_t again_ms;
	bool syn_data; /* TCP: the first packet had data that was taken */
	char congestion_control[16];
	struct nm_conn_tls tls;
};

/* Has the close of a socket abort the connection, unless `close` says otherwise. */
void nm_conn_resets(struct nm_conn *conn);

/* Hands an open connection over to `to`, which is closed; conn may be opened again. */
void nm_conn_move(struct nm_conn *conn, struct nm_conn *to);

/* Has the last bytes that are sent from now on wait for the end of the stream, which then comes
 * with them: TCP_CORK. */
void nm_conn_hold(struct nm_conn *conn);

/* Makes the close of a socket wait until all bytes are acknowledged, at most so long
 * (SO_LINGER). */
void nm_conn_linger(struct nm_conn *conn, uint64_t ns);

/* Whether the other end's kernel has all that was sent (SIOCOUTQ), as far as this one can tell. */
bool nm_conn_is_acknowledged(const struct nm_conn *conn);

/* The other end of conn, whose socket is one of tcp(7), is to reset it, which nobody repeats when
 * it is lost. If nothing has come for so long that TCP would send a segment again, or, eagerly, for
 * two round trips, asks whether the other end still has the connection: its kernel answers with a
 * reset if not. From then on this end sends no more: NM_CONN_FINISHED. Whether it has asked. */
bool nm_conn_ask_end(struct nm_conn *conn, bool eager);

/* Whether a connection that was asked is one that the other end still has: its kernel has
 * acknowledged the question, which takes it 40 ms or so. Its reset is late, and not lost. */
bool nm_conn_has_peer(const struct nm_conn *conn);

/* Acknowledges at once what has come over a socket of tcp(7), where the kernel would wait. */
void nm_conn_acknowledge(const struct nm_conn *conn);

/* Adds up the parameters of two sets of connections. */
void nm_conn_tls_add(struct nm_conn_tls *into, const struct nm_conn_tls *from);

#endif
