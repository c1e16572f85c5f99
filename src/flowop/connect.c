/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>

#include "flowop/flowop.h"
#include "flowop/greeting.h"
#include "flowop/opening.h"
#include "host/clock.h"
#include "host/syscalls.h"
#include "transport/transport.h"

/* How long to wait before trying a listener again whose queue was full (unix(7): EAGAIN). */
#define RETRY_NS 200000u

static enum nm_step retry_later(struct nm_flow *flow)
{
	flow->wake_ns = nm_clock_ns() + RETRY_NS;
	return NM_STEP_SLEEP;
}

/* A write that follows finds out by itself when the connection is there, or why not: spare the wait
 * in between. */
static bool write_follows(const struct nm_instr *instr)
{
	const uint32_t writes = NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES;

	return !instr->can_fail && !instr->greets && !instr->transport->send &&
	       !(instr->transport->caps & NM_TRANSPORT_WAITS) && instr[1].op &&
	       (instr[1].op->flags & writes) == writes && instr[1].slot == instr->slot;
}

/* The first bytes that the connection takes may go with its first packet. */
static uint32_t writes_first(const struct nm_instr *instr)
{
	return write_follows(instr) || (instr->transport->send && !instr->greets)
		       ? NM_CONN_WRITES_FIRST
		       : 0;
}

/* The greeting goes out before the transport's own handshake. */
static bool greets_first(const struct nm_instr *instr)
{
	return instr->greets && instr->transport->greet;
}

/* The greeting is sent, and counts when it is answered: the engine has it sent again after each
 * limit of the wait. */
static enum nm_step await_answer(const struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	int r = nm_greeting_answer(io, flow, instr);

	flow->conn->flags |= NM_CONN_GREETING;
	if (r == -EAGAIN) {
		flow->conn->flags &= ~(uint32_t)NM_CONN_IN;
		return NM_STEP_WAIT_IN;
	}
	if (r < 0) {
		flow->error = -r;
		return NM_STEP_FAIL;
	}
	flow->conn->flags &= ~(uint32_t)NM_CONN_GREETING;
	flow->conn->heard = 0;
	nm_counter_add(&io->count->connects, 1);
	return NM_STEP_NEXT;
}

/* How long the worker waits before it looks whether the run is over. */
#define SLICE_NS 50000000u

/* Waits as connect(2) does that blocks: 0 when it has an answer, which `established` tells;
 * -ETIMEDOUT; or -EINPROGRESS when the run is over. */
static int wait_for_answer(struct nm_io *io, const struct nm_conn *conn, uint64_t limit_ns)
{
	struct pollfd fd = {.fd = conn->fd, .events = POLLOUT};
	uint64_t end_ns = limit_ns ? nm_clock_ns() + limit_ns : UINT64_MAX;
	uint64_t left_ns = limit_ns ? limit_ns : SLICE_NS;

	while (!io->quit || !atomic_load_explicit(io->quit, memory_order_relaxed)) {
		int n = nm_sys_poll(&fd, 1, (int64_t)(left_ns < SLICE_NS ? left_ns : SLICE_NS));

		/* Limits of what comes next count from now on. */
		io->now_ns = nm_clock_ns();
		if (n > 0)
			return 0;
		if (io->now_ns >= end_ns)
			return -ETIMEDOUT;
		left_ns = end_ns - io->now_ns;
	}
	return -EINPROGRESS;
}

/* All flows of the worker wait for the connection; but not for a handshake that comes after the
 * kernel's. */
static int connect_now(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr)
{
	int r = wait_for_answer(io, conn, instr->timeout_ns);

	conn->flags &= ~(uint32_t)NM_CONN_OUT;
	if (r == -ETIMEDOUT)
		nm_counter_add(&io->count->timeouts, 1);
	if (r < 0)
		return r;
	conn->flags |= NM_CONN_OUT;
	return nm_opening_continue(conn, instr);
}

static enum nm_step connect_step(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	int r;

	if (conn->flags & NM_CONN_GREETING) {
		r = 0;
	} else if (conn->flags & NM_CONN_CONNECTING) {
		r = nm_opening_continue(conn, instr);
	} else {
		conn->transport = instr->transport;
		conn->lossy = instr->lossy;
		conn->state = io->started[instr->opening];
		if (io->spare) {
			conn->fd = io->spare->made_fd;
			io->spare->made_fd = -1;
		}
		conn->flags = writes_first(instr) | (instr->later ? NM_CONN_LATER : 0u);
		r = instr->transport->connect(conn, instr->transport_opts,
					      &io->endpoints[instr->opening]);
		if (!(conn->flags & NM_CONN_OPEN))
			conn->flags = 0;
		if (r == -EINPROGRESS && greets_first(instr))
			nm_greeting_leave(io, flow, instr);
		if (r == -EINPROGRESS) {
			conn->flags |= NM_CONN_CONNECTING;
			if (!((const struct nm_opts_opening *)instr->opts)->async)
				r = connect_now(io, conn, instr);
			else if (write_follows(instr) && !(conn->flags & NM_CONN_UNSETTLED))
				r = 0;
			else
				conn->flags &= ~(uint32_t)NM_CONN_OUT;
		}
	}
	if (conn->flags & NM_CONN_OPEN) {
		if (r == -EINPROGRESS)
			return NM_STEP_WAIT_OUT;
		if (r == -EAGAIN)
			return NM_STEP_WAIT_IN;
	}
	if (r == -EAGAIN)
		return retry_later(flow);
	flow->wake_ns = 0;
	if (r == 0 && (conn->flags & NM_CONN_UNSETTLED))
		r = instr->transport->settle(conn, instr->transport_opts);
	if (r == 0 && instr->greets && !(conn->flags & NM_CONN_GREETING) && !greets_first(instr))
		r = nm_greeting_send(io, flow, instr);
	if (r < 0) {
		flow->error = -r;
		return NM_STEP_FAIL;
	}
	if (instr->greets && instr->transport->redirect)
		return await_answer(io, flow, instr);
	nm_counter_add(&io->count->connects, 1);
	return NM_STEP_NEXT;
}

const struct nm_flowop nm_flowop_connect = {
	.name = "connect",
	.mirror = "accept",
	.help = "opens a connection to the other host, which accepts it",
	.flags = NM_FLOWOP_OPENS | NM_FLOWOP_INITIATES,
	.opts = nm_opening_opts,
	.opts_size = sizeof(struct nm_opts_opening),
	.step = connect_step,
};
