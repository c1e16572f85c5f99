/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that moves bytes over connections: it makes the call, counts the bytes that have
 * moved, and notes in the connection's flags whether another call can succeed. Flowops only see the
 * outcome.
 *
 * The flags spare calls that must fail: a receive that brings less than was asked for clears
 * NM_CONN_IN, as the queue is then empty, and a send that moves less clears NM_CONN_OUT, as the
 * buffer is then full. A call that moves nothing (EAGAIN) clears the flag of its direction, and a
 * receive also NM_CONN_HUP: the end of a stream, once known, is found by asking. The worker's
 * waiter sets them again. */
#ifndef NM_TRANSPORT_IO_H
#define NM_TRANSPORT_IO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/syscalls.h"
#include "stats/counters.h"
#include "transport/io_apps.h"
#include "transport/transport.h"

struct nm_instr;
struct nm_listener;
struct nm_udp_batch;
struct nm_pacer;
struct nm_ring;
struct nm_conn_cache;
struct nm_prover;

/* What lies behind each flow and its connections in memory, by its offset from the flow. */
struct nm_io_behind {
	size_t pipe_offset;	/* the struct nm_pipe, of groups that have them */
	size_t transfer_offset; /* the struct nm_transfer, of groups that move files */
	/* the state of each connection that asks or serves (flowop/ask.h); 0: none does */
	size_t app_offset, app_bytes;
};

/* A worker's means, as far as step functions may use them. */
struct nm_io {
	uint64_t seed;	/* of this group's random numbers */
	char *tx, *rx;	/* rx holds chunk + 1 bytes */
	size_t chunk;	/* the most that one call moves */
	int recv_flags; /* MSG_DONTWAIT; 0 when a receive may wait for data */
	/* The flags that a connection keeps when a receive has emptied its queue: all but
	 * NM_CONN_IN; where the next receive may wait, all. */
	uint32_t in_kept;
	struct nm_conn_cache *cache;	/* NULL: nothing is made ahead or closed later */
	struct nm_ring *ring;		/* sends are posted to it; NULL: they are called */
	struct nm_udp_batch *udp_batch; /* of datagrams; NULL: the group moves none */
	struct nm_counters *count;
	/* Proves that connections are of this run; NULL: no proof is needed. */
	struct nm_prover *prover;
	/* For each host of the plan its nonce, over which connections to it are proved; and this
	 * side's own. */
	const unsigned char (*nonces)[NM_NONCE_BYTES];
	const unsigned char *own_nonce;
	uint32_t group;
	uint32_t n_conns; /* of a flow */
	uint64_t now_ns;  /* when the worker last looked at the clock */
	/* when the data received last have come; 0: the clock has not been read since */
	uint64_t arrived_ns;
	/* since when each send without a copy has been refused; 0: the last one was not */
	uint64_t nobufs_ns;
	const _Atomic bool *quit;	 /* nothing matters any more; NULL: never so */
	struct nm_listener *listeners;	 /* by instr->opening */
	void *const *started;		 /* by instr->opening: made by the transport's start */
	const struct nm_addr *endpoints; /* by instr->opening */
	struct nm_io_apps apps;
	/* For a phase with several requests outstanding (flowop/pipeline.h), set at its begin. */
	struct {
		const struct nm_pacer *pacer; /* tells when a request is due; NULL: at once */
		const _Atomic uint8_t *stop;  /* nothing more is to be asked */
		bool timed;		      /* latencies are kept */
		/* nm_worker_take_due (engine/loop/pacer.h); NULL: there are no open arrivals */
		bool (*take_due)(struct nm_io *io, struct nm_flow *flow, uint64_t now_ns);
	} asks;
	struct nm_io_behind behind;
};

/* The outcome of a call. From NM_IO_EOF on, the connection is of no more use. */
enum nm_io_status {
	NM_IO_DONE,  /* all that was asked for has moved */
	NM_IO_SHORT, /* some of it, and for now there is no more */
	NM_IO_AGAIN, /* nothing, for now */
	NM_IO_EOF,   /* the other end sends no more */
	NM_IO_ERROR, /* the call has failed: *ret_n is -errno */
};

/* --- counting: for calls that are not made here --- */

/* So many bytes have gone out. */
static inline void nm_io_count_sent(struct nm_io *io, uint64_t n)
{
	nm_counter_add(&io->count->bytes_sent, n);
}

/* So many bytes have come in. */
static inline void nm_io_count_received(struct nm_io *io, uint64_t n)
{
	nm_counter_add(&io->count->bytes_received, n);
}

/* So many messages of `size` bytes have gone out, over a transport that may lose them. */
static inline void nm_io_count_messages_sent(struct nm_io *io, size_t size, unsigned count)
{
	nm_io_count_sent(io, (uint64_t)size * count);
	nm_counter_add(&io->count->messages_sent, count);
}

/* One such message has come in. */
static inline void nm_io_count_message_received(struct nm_io *io, size_t size)
{
	nm_io_count_received(io, size);
	nm_counter_add(&io->count->messages_received, 1);
	nm_counter_add(&io->count->message_bytes, size);
}

/* --- readiness --- */

/* The outcome of a receive that has returned n <= 0, and of a send that has returned n < 0. */
enum nm_io_status nm_io_received_nothing(struct nm_conn *conn, ssize_t n);
enum nm_io_status nm_io_sent_nothing(struct nm_conn *conn, ssize_t n);

/* Counts the bytes of a receive that has returned n, and notes whether the queue is empty now.
 * asked: the bytes that it asked for; 0: fewer do not mean that the queue is empty. */
static inline enum nm_io_status nm_io_received(struct nm_io *io, struct nm_conn *conn, ssize_t n,
					       size_t asked)
{
	if (__builtin_expect(n <= 0, 0))
		return nm_io_received_nothing(conn, n);
	nm_io_count_received(io, (uint64_t)n);
	if ((size_t)n >= asked)
		return NM_IO_DONE;
	conn->flags &= io->in_kept;
	return NM_IO_SHORT;
}

/* Counts the bytes of a send of `want` bytes that has returned n, and notes whether the buffer is
 * full. */
static inline enum nm_io_status nm_io_sent(struct nm_io *io, struct nm_conn *conn, ssize_t n,
					   size_t want)
{
	if (__builtin_expect(n < 0, 0))
		return nm_io_sent_nothing(conn, n);
	nm_io_count_sent(io, (uint64_t)n);
	if ((size_t)n >= want)
		return NM_IO_DONE;
	conn->flags &= ~(uint32_t)NM_CONN_OUT;
	return NM_IO_SHORT;
}

/* --- moving --- */

/* One send, of which nothing is counted or noted: bytes, or -errno. */
static inline ssize_t nm_conn_call_send(struct nm_conn *conn, const void *opts, void *data,
					size_t size)
{
	if (conn->transport->send)
		return conn->transport->send(conn, opts, data, size);
	return nm_sys_send(conn->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* One receive into io->rx, not counted or noted: bytes, 0 at the end of a stream, or -errno. */
static inline ssize_t nm_conn_call_recv(const struct nm_io *io, struct nm_conn *conn, size_t size)
{
	if (conn->transport->recv)
		return conn->transport->recv(conn, io->rx, size);
	return nm_sys_recv(conn->fd, io->rx, size, io->recv_flags);
}

/* Receives up to `want` bytes into io->rx. *ret_n: how many; 0 with NM_IO_AGAIN and NM_IO_EOF. */
static inline enum nm_io_status nm_conn_recv(struct nm_io *io, struct nm_conn *conn, size_t want,
					     ssize_t *ret_n)
{
	ssize_t n = nm_conn_call_recv(io, conn, want);
	bool apart = conn->transport->caps & NM_TRANSPORT_MESSAGES;
	enum nm_io_status status = nm_io_received(io, conn, n, apart ? 0 : want);

	*ret_n = status == NM_IO_AGAIN ? 0 : n;
	return status;
}

/* Sends up to `want` bytes of data, with the options of the message (NULL: none), which is changed
 * by some transports. *ret_n: how many; 0 with NM_IO_AGAIN. */
static inline enum nm_io_status nm_conn_send(struct nm_io *io, struct nm_conn *conn,
					     const void *opts, void *data, size_t want,
					     ssize_t *ret_n)
{
	ssize_t n = nm_conn_call_send(conn, opts, data, want);
	enum nm_io_status status = nm_io_sent(io, conn, n, want);

	*ret_n = status == NM_IO_AGAIN ? 0 : n;
	return status;
}

/* Receives a message of the most common form with one call, on a plain socket. True: it has come,
 * and is counted. False: *ret_n is the result of the call, and the caller has still to count it, by
 * nm_io_received with size + 1. The receive asks for one byte more than the message: when that does
 * not come, the queue is empty. */
static inline bool nm_conn_recv_message(struct nm_io *io, struct nm_conn *conn, size_t size,
					ssize_t *ret_n)
{
	ssize_t n = nm_sys_recv(conn->fd, io->rx, size + 1, io->recv_flags);

	*ret_n = n;
	if (__builtin_expect(n != (ssize_t)size, 0))
		return false;
	conn->flags &= io->in_kept;
	nm_io_count_received(io, size);
	return true;
}

/* Sends a message of so many bytes from io->tx, as nm_conn_recv_message receives one; after false
 * the caller counts by nm_io_sent. */
static inline bool nm_conn_send_message(struct nm_io *io, struct nm_conn *conn, size_t size,
					ssize_t *ret_n)
{
	ssize_t n = nm_sys_send(conn->fd, io->tx, size, MSG_NOSIGNAL | MSG_DONTWAIT);

	*ret_n = n;
	if (__builtin_expect(n != (ssize_t)size, 0))
		return false;
	nm_io_count_sent(io, size);
	return true;
}

#endif
