/* SPDX-License-Identifier: Apache-2.0 */
/* The io_uring waiter: flows post their sends and receives instead of calling for each. The steps
 * stay the same: a flow that waits for input has a receive posted, whose bytes count as received
 * ahead of a message. Epoll, which the ring watches, reports all other events. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/wait/waiter.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "host/syscalls.h"
#include "transport/ring.h"

static int begin(struct nm_worker *worker)
{
	struct nm_waiter *waiter = &worker->waiter;
	char why[160];
	int r = 0;

	if (!waiter->ring)
		r = nm_ring_new(worker->n_flows * worker->group->n_conns, &waiter->ring, why,
				sizeof why);
	if (r == 0)
		r = nm_ring_watch(waiter->ring, worker->epoll_fd);
	if (r < 0)
		return r;
	worker->io.ring = waiter->ring;
	waiter->epoll_is_ready = true;
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		for (uint32_t c = 0; c < worker->group->n_conns; c++) {
			struct nm_conn *conn = nm_flow_conn(nm_worker_flow(worker, i), c);

			nm_epoll_forget(worker, conn);
			conn->waiter = 0;
			conn->flags &= ~(uint32_t)NM_CONN_IN;
			if (conn->flags & NM_CONN_OPEN)
				conn->flags |= NM_CONN_OUT;
		}
	}
	return 0;
}

/* A flow that waits for output has posted its send already. */
static int arm(struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	const struct nm_flow *flow = conn->flow;
	/* Bytes of the next messages only as far as the profile allows. */
	uint64_t most = (flow->left ? flow->left : flow->at->size) + flow->at->ahead - 1;

	if (output || (conn->waiter & NM_URING_POSTED))
		return 0;
	int r = nm_ring_receive(worker->waiter.ring, conn, worker->io.rx,
				most < worker->io.chunk ? (size_t)most : worker->io.chunk);

	if (r == 0)
		conn->waiter |= NM_URING_POSTED;
	return r;
}

static void fail(struct nm_worker *worker, struct nm_conn *conn, int result)
{
	struct nm_flow *flow = conn->flow;

	if (flow->state == NM_FLOW_IDLE || !(conn->flags & NM_CONN_OPEN))
		return;
	flow->error = -result;
	worker->waiter.events->failed(worker, flow);
}

/* A receive is done: the flow reads the bytes when it goes on. True: it goes on now. */
static bool received(struct nm_worker *worker, struct nm_conn *conn, int result,
		     struct epoll_event *event)
{
	if (!(conn->waiter & NM_URING_POSTED))
		return false; /* its flow has failed meanwhile */
	conn->waiter &= (uint8_t)~NM_URING_POSTED;
	if (result > 0) {
		conn->ahead += (uint32_t)result;
		conn->uncounted += (uint32_t)result;
	} else if (result == 0) {
		event->events = EPOLLRDHUP;
	} else if (result != -ECANCELED && result != -EINTR && result != -EAGAIN) {
		fail(worker, conn, result);
		return false;
	}
	return true;
}

/* How much of the present part of the flow's message had gone before the last posted send. */
static uint64_t gone(const struct nm_worker *worker, const struct nm_conn *conn)
{
	uint64_t left = conn->flow->left;

	return (left < worker->io.chunk ? left : worker->io.chunk) - conn->posted;
}

/* A send has not moved all of its bytes: posts the rest, which fails if the connection has
 * failed. */
static void send_rest(struct nm_worker *worker, const struct nm_ring_done *done)
{
	struct nm_conn *conn = done->conn;
	enum nm_ring_kind kind = done->kind == NM_RING_SENT ? NM_RING_SENT : NM_RING_REST;

	conn->posted -= done->result > 0 ? (uint32_t)done->result : 0;
	conn->flags &= ~(uint32_t)NM_CONN_OUT;
	int r = nm_ring_send(worker->waiter.ring, conn, worker->io.tx, conn->posted, kind);

	if (r < 0)
		fail(worker, conn, r);
}

/* A send is done. True: the flow goes on now. Sends that were let go are counted already. */
static bool sent(struct nm_worker *worker, const struct nm_ring_done *done)
{
	struct nm_conn *conn = done->conn;
	const struct nm_flow *flow = conn->flow;
	bool in_vain = done->result == -EAGAIN || done->result == -EINTR;

	if (!(conn->flags & NM_CONN_OPEN))
		return false; /* its flow has failed meanwhile */
	if (done->result <= 0 && !in_vain) {
		nm_counter_add(&worker->io.count->bytes_sent, done->kind == NM_RING_SENT
								      ? gone(worker, conn)
								      : -(uint64_t)conn->posted);
		fail(worker, conn, done->result ? done->result : -EPIPE);
		return false;
	}
	if (in_vain || (uint32_t)done->result < conn->posted) {
		send_rest(worker, done);
		return false;
	}
	conn->flags |= NM_CONN_OUT;
	conn->waiter |= done->kind == NM_RING_SENT ? NM_URING_SENT : 0u;
	return flow->state == NM_FLOW_WAITING && flow->conn == conn && nm_instr_sends(flow->at);
}

/* True: *event is for a flow that waits. */
static bool settle(struct nm_worker *worker, const struct nm_ring_done *done,
		   struct epoll_event *event)
{
	*event = (struct epoll_event){.data.ptr = done->conn};
	switch (done->kind) {
	case NM_RING_RECEIVED:
		return received(worker, done->conn, done->result, event);
	case NM_RING_SENT:
	case NM_RING_REST:
	case NM_RING_LET_GO:
		return sent(worker, done);
	case NM_RING_OTHER:
		worker->waiter.epoll_is_ready |= done->result > 0;
		break;
	}
	return false;
}

/* Takes the result of a call that is done after the last pass, when no step counts it. The step
 * that uses the connection next notices a failure. */
static void settle_last(struct nm_worker *worker, const struct nm_ring_done *done)
{
	struct nm_conn *conn = done->conn;
	struct nm_counters *count = worker->io.count;
	bool some = done->result > 0;

	if (done->kind == NM_RING_RECEIVED) {
		conn->waiter &= (uint8_t)~NM_URING_POSTED;
		conn->ahead += some ? (uint32_t)done->result : 0;
		nm_counter_add(&count->bytes_received, some ? (uint64_t)done->result : 0);
		if (!some && done->result != -ECANCELED)
			conn->flags |= NM_CONN_IN | NM_CONN_HUP;
	} else if (done->kind == NM_RING_SENT && (conn->flags & NM_CONN_OPEN)) {
		nm_counter_add(&count->bytes_sent,
			       gone(worker, conn) + (some ? (uint64_t)done->result : 0));
		conn->flags |= NM_CONN_OUT;
	} else if (done->kind != NM_RING_OTHER && (conn->flags & NM_CONN_OPEN)) {
		if (some && (uint32_t)done->result >= conn->posted)
			conn->flags |= NM_CONN_OUT;
		else if (!*worker->io.quit && (some || done->result == -EAGAIN))
			send_rest(worker, done);
		else
			nm_counter_add(&count->bytes_sent, -(uint64_t)conn->posted);
	}
}

static void fail_all(struct nm_worker *worker, int result)
{
	for (uint32_t i = 0; i < worker->n_flows && worker->io.ring; i++)
		fail(worker, nm_worker_flow(worker, i)->conn, result);
}

static int wait_posted(struct nm_worker *worker, struct epoll_event *ready, int room,
		       int64_t timeout_ns)
{
	struct nm_ring_done done;
	int n = 0;

	/* The ring tells only once that epoll has events. */
	if (worker->waiter.epoll_is_ready) {
		n = nm_sys_epoll_wait(worker->epoll_fd, ready, room, 0);
		worker->waiter.epoll_is_ready = n > 0;
		n = n < 0 ? 0 : n;
	}
	int r = nm_ring_wait(worker->waiter.ring, n ? 0 : timeout_ns);

	if (r < 0)
		fail_all(worker, r);
	while (n < room && worker->io.ring && nm_ring_take(worker->waiter.ring, &done))
		n += settle(worker, &done, &ready[n]);
	if (worker->group->spins)
		nm_waiter_spun(worker, n);
	return n;
}

static void ignore(struct nm_worker *worker, struct nm_conn *conn)
{
	(void)worker;
	(void)conn;
}

/* The flow of conn has failed, and conn is about to be closed. */
static void disarm(struct nm_worker *worker, struct nm_conn *conn)
{
	if (!worker->io.ring || !(conn->flags & NM_CONN_OPEN))
		return;
	/* A call that is not handed over yet must not find another socket behind the descriptor
	 * later; one that is keeps this socket open, so it is shut down. */
	(void)nm_ring_wait(worker->waiter.ring, 0);
	(void)shutdown(conn->fd, SHUT_RDWR);
	conn->waiter &= (uint8_t)~NM_URING_POSTED;
}

static void end_conn(struct nm_worker *worker, struct nm_conn *conn)
{
	if (conn->waiter & NM_URING_POSTED)
		(void)nm_ring_cancel(worker->waiter.ring, conn);
	if (conn->waiter & NM_URING_SENT)
		nm_counter_add(&worker->io.count->bytes_sent, gone(worker, conn) + conn->posted);
	nm_counter_add(&worker->io.count->bytes_received, conn->uncounted);
	conn->waiter &= (uint8_t)~NM_URING_SENT;
	conn->uncounted = 0;
}

/* Posted calls need the ring until they are done, so the worker waits for them; but when the run is
 * given up it cancels them. */
static void end(struct nm_worker *worker)
{
	struct nm_ring_done done;
	uint64_t until_ns = 0; /* once all is cancelled */

	if (!worker->io.ring)
		return;
	worker->io.ring = NULL;
	(void)nm_ring_unwatch(worker->waiter.ring);
	for (uint32_t i = 0; i < worker->n_flows; i++)
		for (uint32_t c = 0; c < worker->group->n_conns; c++)
			end_conn(worker, nm_flow_conn(nm_worker_flow(worker, i), c));
	do {
		(void)nm_ring_wait(worker->waiter.ring, NM_TUNE_URING_LOOK_NS);
		while (nm_ring_take(worker->waiter.ring, &done))
			settle_last(worker, &done);
		if (!until_ns && *worker->io.quit) {
			(void)nm_ring_cancel(worker->waiter.ring, NULL);
			until_ns = nm_clock_ns() + NM_TUNE_URING_CANCEL_NS;
		}
	} while (nm_ring_pending(worker->waiter.ring) && (!until_ns || nm_clock_ns() < until_ns));
	if (nm_ring_pending(worker->waiter.ring))
		worker->waiter.ring = nm_ring_free(worker->waiter.ring);
}

const struct nm_waiter_ops nm_waiter_uring = {
	.kind = NM_WAITER_URING,
	.begin = begin,
	.arm = arm,
	.ignore = ignore,
	.disarm = disarm,
	.wait = wait_posted,
	.end = end,
};
