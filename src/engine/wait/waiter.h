/* SPDX-License-Identifier: Apache-2.0 */
/* How a worker learns which of its flows can go on.
 *
 * A step function tries first, and answers that it must wait only when the kernel has no more for
 * it. The flags of a connection tell its readiness (transport/io.h): NM_CONN_IN and NM_CONN_OUT are
 * set when the kernel reports it, and cleared by the call that finds nothing.
 *
 * A worker has one waiter at a time. The shape of the phase says which (plan/shape.h), so
 * --dump-plan shows it before a run:
 *
 *   epoll     any number of flows. A connection is told to epoll at its first wait, edge-triggered,
 *             and stays there until it is closed; in groups with edge_trigger="no" epoll is
 *             asked only for the events of each wait, level-triggered.
 *   poll      one flow, with another connection in each pass: a connection that lives for one or
 *             two waits costs more to tell to epoll than to poll(2). Polls that connection, the
 *             listening socket, and the descriptor that wakes the worker.
 *   recv      one flow, whose passes are a request and its answer on one connection: the receive
 *             itself sleeps, which spares a call for each message. The waiter answers at once that
 *             the connection is readable; a receive that sleeps in vain is given up after a while,
 *             and epoll waits instead for some passes.
 *   io_uring  any number of flows that only send and receive: receives and sends are posted, and
 *             one call hands them over and waits. Epoll's descriptor is one of those watched.
 *
 * Events for the worker as a whole (commands of the control thread, connections that are handed
 * over, listening sockets) come by the worker's epoll, at which every waiter looks, too.
 *
 * A flow that waits arms its connection. NM_CONN_ARMED in the flags of a connection says that the
 * waiter will report its input without being told again, and NM_CONN_ARMED_OUT that it will report
 * room for output; the interpreter then lets the flow wait without a call. Waiters that must be
 * told of each wait do not set these flags. A waiter keeps its own state of a connection in
 * conn->waiter, which no other code reads.
 *
 * Some waits are cheaper not armed at all: wait/defer.h decides that first. A wait ends by an event
 * (loop/loop.c), by its deadline (loop/deadline.c), by the end of the phase, or because its
 * connection fails.
 *
 * A waiter may end at any time: nm_waiter_end leaves every connection as if epoll had never seen
 * it, and arms the connections anew on which a flow waits. From then on epoll is the waiter, until
 * the next phase begins.
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
	/* Begins a phase, before its flows run: 0; 1: epoll must be the waiter instead; or
	 * -errno. */
	int (*begin)(struct nm_worker *worker);
	/* Flow conn->flow waits for input of conn, or for output and input: 0 or -errno. */
	int (*arm)(struct nm_worker *worker, struct nm_conn *conn, bool output);
	/* Something was reported or taken on a connection on which its flow does not wait. */
	void (*ignore)(struct nm_worker *worker, struct nm_conn *conn);
	/* Ends all reports of conn: it is about to be closed, or has no more to give. */
	void (*disarm)(struct nm_worker *worker, struct nm_conn *conn);
	/* Waits, timeout_ns < 0 without limit, and answers how many events there are; a negative
	 * number counts as none. ready has room for so many and NM_WAITER_MORE more; their data are
	 * pointers with tags (NM_TAG_*) as the worker's epoll has them. */
	int (*wait)(struct nm_worker *worker, struct epoll_event *ready, int room,
		    int64_t timeout_ns);
	void (*end)(struct nm_worker *worker);
};

#define NM_WAITER_MORE 2

/* The functions of the loop that take events. The phase may end in any of them. */
struct nm_waiter_events {
	/* Something has come for conn, by a mask of epoll's. */
	void (*conn)(struct nm_worker *worker, struct nm_conn *conn, uint32_t events);
	/* The flow cannot wait, or not any longer, because of flow->error. */
	void (*failed)(struct nm_worker *worker, struct nm_flow *flow);
	/* An event that has another tag than NM_TAG_CONN. */
	void (*other)(struct nm_worker *worker, const struct epoll_event *event);
};

extern const struct nm_waiter_ops nm_waiter_epoll, nm_waiter_poll, nm_waiter_recv, nm_waiter_uring;

/* A worker's waiter. Members that name a kind belong to that kind of waiter alone. */
struct nm_waiter {
	const struct nm_waiter_ops *ops;
	const struct nm_waiter_events *events; /* set before the loop waits first */
	/* Receives sleep: the flow need not give the loop its turn after a number of passes. */
	bool sleeps_in_recv;
	unsigned vain_looks; /* of a worker that spins: how often in a row it has found nothing */
	/* poll: the only listening socket; NULL: none */
	struct nm_listen_fd *listener;
	struct nm_conn_cache cache; /* poll: io.cache points to it in a phase that uses it */
	/* recv: whether it has said that the connection is readable; and how many passes were done
	 * when it had epoll wait instead, UINT64_MAX: it has not. */
	bool told_readable;
	uint64_t given_up_at;
	uint64_t received; /* recv, spinning: bytes received at the last look */
	/* io_uring: made and released by the worker's thread; whether epoll may have events */
	struct nm_ring *ring;
	bool epoll_is_ready;
};

/* Begins the waiter that the shape of the present phase names: 0 or -errno. */
int nm_waiter_begin(struct nm_worker *worker);
/* From now on epoll waits. May be called again, and between phases. */
void nm_waiter_end(struct nm_worker *worker);
/* Called before the worker's thread ends: has epoll wait, and releases what the thread has made. */
void nm_waiter_stop(struct nm_worker *worker);
/* Closes the sockets that the phase has made ahead or not closed yet; also for a worker whose
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
/* Arms the connection of the worker's first flow at epoll if the flow waits on it, after its waiter
 * has ended. */
void nm_waiter_rearm(struct nm_worker *worker);
/* A worker that spins leaves the CPU at times: the other end may need this very CPU. */
void nm_waiter_spun(struct nm_worker *worker, int n_events);
/* epoll_wait(2) with nanoseconds. */
int nm_epoll_wait(const struct nm_worker *worker, struct epoll_event *ready, int room,
		  int64_t timeout_ns);
/* Has the worker's epoll forget conn, if epoll knows it. */
void nm_epoll_forget(const struct nm_worker *worker, struct nm_conn *conn);

#endif
