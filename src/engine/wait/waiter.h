/* SPDX-License-Identifier: Apache-2.0 */
/* How a worker learns which of its flows can go on.
 *
 * A step function tries first, and answers that it must wait only when the kernel has no more for
 * it. What is known about a connection's readiness is kept in its flags (transport/io.h):
 * NM_CONN_IN and NM_CONN_OUT are set when something is reported, and cleared by the call that finds
 * nothing.
 *
 * A worker has one waiter at a time, which the shape of the phase says (plan/shape.h), so that it
 * can be read with --dump-plan before anything is run:
 *
 *   epoll     any number of flows. A connection is told to epoll at its first wait, edge-triggered,
 *             and stays there until it is closed; in groups with edge_trigger="no" epoll is told
 *             what each wait is for, level-triggered, and no more than that.
 *   poll      one flow, with another connection in each pass: a connection that lives for one or
 *             two waits costs more to tell to epoll than to poll(2). Polls that connection, the
 *             listening socket, and what wakes the worker.
 *   recv      one flow, whose passes are a request and its answer on one connection: the receive
 *             itself sleeps, which spares a call for each message. The waiter answers at once that
 *             the connection is readable; a receive that sleeps in vain is given up after a while,
 *             and epoll waits instead for some passes.
 *   io_uring  any number of flows that only send and receive: receives and sends are posted, and
 *             one call hands them over and waits. Epoll's descriptor is one of those watched.
 *
 * What comes for the worker as a whole (commands of the control thread, connections that are handed
 * over, listening sockets) comes by the worker's epoll, whatever the waiter: each of them looks
 * there, too.
 *
 * A flow that waits arms its connection. NM_CONN_ARMED in the flags of a connection says that the
 * waiter will report input of it without being told again, and NM_CONN_ARMED_OUT the same of
 * output; the interpreter then lets the flow wait without a call. Waiters that must be told of each
 * wait do not set them. What else a waiter has to know of a connection is in conn->waiter, which
 * nobody else reads.
 *
 * Some waits are cheaper not armed at all, see wait/defer.h: a flow that waits is asked for there
 * first. A wait ends by what is reported (loop/loop.c), by its deadline (loop/deadline.c), by the
 * end of the phase, or because its connection fails.
 *
 * Whatever the waiter does it may end: nm_waiter_end leaves every connection as epoll finds it that
 * has never seen it, and arms those again for which a flow waits. From then on epoll is the waiter,
 * until the next phase begins.
 *
 * All functions run on the worker's thread. */
#ifndef NM_ENGINE_WAIT_WAITER_H
#define NM_ENGINE_WAIT_WAITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "plan/shape.h"
#include "transport/conn_cache.h"

struct nm_conn;
struct nm_flow;
struct nm_listen_fd;
struct nm_ring;
struct nm_worker;

struct nm_waiter_ops {
	enum nm_waiter_kind kind;
	/* Of a phase, before its flows run: 0; 1: epoll is to be the waiter instead; or -errno. */
	int (*begin)(struct nm_worker *worker);
	/* Flow conn->flow waits for input of conn, or for output and input: 0 or -errno. */
	int (*arm)(struct nm_worker *worker, struct nm_conn *conn, bool output);
	/* Something was reported, or taken, of a connection that its flow does not wait for. */
	void (*ignore)(struct nm_worker *worker, struct nm_conn *conn);
	/* Nothing more is to be reported of conn: it is to be closed, or has no more to give. */
	void (*disarm)(struct nm_worker *worker, struct nm_conn *conn);
	/* Waits, timeout_ns < 0 without limit, and answers how many events there are; a negative
	 * number counts as none. ready has room for so many and NM_WAITER_MORE more; their data are
	 * pointers with tags (NM_TAG_*) as the worker's epoll has them. */
	int (*wait)(struct nm_worker *worker, struct epoll_event *ready, int room,
		    int64_t timeout_ns);
	void (*end)(struct nm_worker *worker);
};

#define NM_WAITER_MORE 2

/* Whom to tell what has come: functions of the loop. The phase may end in any of them. */
struct nm_waiter_events {
	/* Something has come for conn, by a mask of epoll's. */
	void (*conn)(struct nm_worker *worker, struct nm_conn *conn, uint32_t events);
	/* The flow cannot wait, or not any more, by flow->error. */
	void (*failed)(struct nm_worker *worker, struct nm_flow *flow);
	/* An event that has another tag than NM_TAG_CONN. */
	void (*other)(struct nm_worker *worker, const struct epoll_event *event);
};

extern const struct nm_waiter_ops nm_waiter_epoll, nm_waiter_poll, nm_waiter_recv, nm_waiter_uring;

/* A worker's waiter. Those members that only one kind of it uses are its own. */
struct nm_waiter {
	const struct nm_waiter_ops *ops;
	const struct nm_waiter_events *events; /* set before the loop waits first */
	/* Receives sleep: after a number of passes the flow need not let the loop have its turn. */
	bool sleeps_in_recv;
	unsigned vain_looks; /* of one that spins: how often in a row nothing was found */
	/* poll: the only socket that connections come to; NULL: none */
	struct nm_listen_fd *listener;
	struct nm_conn_cache cache; /* poll: io.cache is the same in a phase that uses it */
	/* recv: has said that the connection is readable; and how many passes were done when epoll
	 * was to wait instead, UINT64_MAX: it is not. */
	bool told_readable;
	uint64_t given_up_at;
	uint64_t received; /* recv, spinning: bytes when it was last looked */
	/* io_uring: made and released by the worker's thread; whether epoll may have events */
	struct nm_ring *ring;
	bool epoll_is_ready;
};

/* Makes the waiter that the shape of the present phase says: 0 or -errno. */
int nm_waiter_begin(struct nm_worker *worker);
/* From now on epoll waits. May be called again, and between phases. */
void nm_waiter_end(struct nm_worker *worker);
/* Before the worker's thread ends: epoll waits, and what the thread has made is released. */
void nm_waiter_stop(struct nm_worker *worker);
/* The sockets that the phase keeps ahead or has not closed yet are closed. Also of a worker whose
 * thread has ended. */
void nm_waiter_fini(struct nm_worker *worker);

/* The flow of conn waits for input of it, or for output as well. 0 or -errno. */
int nm_waiter_arm(struct nm_worker *worker, struct nm_conn *conn, bool output);
/* See the functions of the same names in struct nm_waiter_ops. */
void nm_waiter_ignore(struct nm_worker *worker, struct nm_conn *conn);
void nm_waiter_disarm(struct nm_worker *worker, struct nm_conn *conn);

/* --- for waiters --- */

/* Whether the flow waits on its connection. */
bool nm_flow_is_waiting(const struct nm_flow *flow);
/* The connection of the worker's first flow is armed again where the flow waits for it, after its
 * waiter has ended. */
void nm_waiter_rearm(struct nm_worker *worker);
/* A worker that spins leaves the CPU at times: whoever is waited for may need this very one. */
void nm_waiter_spun(struct nm_worker *worker, int n_events);
/* epoll_wait(2) with nanoseconds. */
int nm_epoll_wait(const struct nm_worker *worker, struct epoll_event *ready, int room,
		  int64_t timeout_ns);
/* Conn is known to the worker's epoll no more, whether it ever was or not. */
void nm_epoll_forget(const struct nm_worker *worker, struct nm_conn *conn);

#endif
