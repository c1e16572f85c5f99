/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "flowop/moving.h"
#include "transport/io.h"

static enum nm_step pause_with(struct nm_flow *flow, uint64_t left, enum nm_step answer)
{
	flow->left = left;
	return answer;
}

static enum nm_step fail(struct nm_flow *flow, int error)
{
	flow->error = error;
	return NM_STEP_FAIL;
}

/* The peer has closed, which before the first byte of a message may be meant so. */
static enum nm_step ended(struct nm_flow *flow, bool between)
{
	flow->error = ECONNRESET;
	return between ? NM_STEP_ENDED : NM_STEP_FAIL;
}

/* Takes what the last receive brought too much. */
static uint64_t take_ahead(struct nm_flow *flow, uint64_t left)
{
	uint64_t take = flow->conn->ahead < left ? flow->conn->ahead : left;

	flow->conn->ahead -= (uint32_t)take;
	return left - take;
}

/* Counts what a receive of so many bytes has brought. Where it asks for more than the message, by
 * one byte or with rsize by many: a shorter answer proves that the queue is empty, so that the next
 * read waits at once instead of trying in vain; what is too much belongs to the next messages. */
static inline void received(struct nm_io *io, struct nm_conn *conn, ssize_t n, size_t asked)
{
	if ((size_t)n < asked)
		conn->flags &= io->in_kept;
	nm_counter_add(&io->count->bytes_received, (uint64_t)n);
}

/* Nothing has come. A receive that sleeps is also ended by signals, those that stop and continue a
 * process among them. */
static bool is_nothing(ssize_t n)
{
	return n == -EAGAIN || n == -EINTR;
}

/* What is not one message with one call. n: what the first receive brought, if there was one. */
static __attribute__((noinline)) enum nm_step receive_parts(struct nm_io *io, struct nm_flow *flow,
							    const struct nm_instr *instr,
							    uint64_t left, ssize_t n)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0;; calls++) {
		if (n > 0 && (uint64_t)n > left) {
			conn->ahead = (uint32_t)((uint64_t)n - left);
			left = 0;
		} else if (n > 0) {
			left -= (uint64_t)n;
		}
		if (!left) {
			flow->left = 0;
			return NM_STEP_NEXT;
		}
		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return pause_with(flow, left, NM_STEP_WAIT_IN);
		if (calls == NM_STEP_CALLS)
			return pause_with(flow, left, NM_STEP_YIELD);
		size_t asked = (left < io->chunk ? (size_t)left : io->chunk) + instr->ahead;

		n = instr->transport->recv ? instr->transport->recv(conn, io->rx, asked)
					   : nm_sys_recv(conn->fd, io->rx, asked, io->recv_flags);
		if (n > 0) {
			/* Where messages are kept apart, a short answer says nothing about the
			 * next. */
			received(io, conn, n,
				 instr->transport->caps & NM_TRANSPORT_MESSAGES ? 0 : asked);
		} else if (is_nothing(n)) {
			conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
		} else {
			return n ? fail(flow, (int)-n)
				 : ended(flow, instr->begins && left == instr->size);
		}
	}
}

/* The message is longer than one call may bring, was begun before, or the transport is no plain
 * socket. */
static __attribute__((noinline)) enum nm_step receive_more(struct nm_io *io, struct nm_flow *flow,
							   const struct nm_instr *instr)
{
	uint64_t left = nm_message_left(io, flow, instr);

	if (flow->conn->uncounted) {
		nm_counter_add(&io->count->bytes_received, flow->conn->uncounted);
		flow->conn->uncounted = 0;
	}
	return receive_parts(io, flow, instr, take_ahead(flow, left), 0);
}

/* One call, for the message and one byte more, did not bring exactly the message. */
static __attribute__((noinline)) enum nm_step receive_other(struct nm_io *io, struct nm_flow *flow,
							    const struct nm_instr *instr, ssize_t n)
{
	if (n > 0) {
		received(io, flow->conn, n, instr->size + 1);
		return receive_parts(io, flow, instr, instr->size, n);
	}
	if (!is_nothing(n))
		return n ? fail(flow, (int)-n) : ended(flow, instr->begins);
	flow->conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
	return NM_STEP_WAIT_IN;
}

/* The common case: one message with one call. A function of its own, so that waiting saves no
 * registers. */
static __attribute__((noinline)) enum nm_step
receive_message(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr)
{
	ssize_t n = nm_sys_recv(conn->fd, io->rx, instr->size + 1, io->recv_flags);

	if (__builtin_expect(n != (ssize_t)instr->size, 0))
		return receive_other(io, conn->flow, instr, n);
	received(io, conn, n, instr->size + 1);
	return NM_STEP_NEXT;
}

enum nm_step nm_read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (!((conn->flags & (NM_CONN_IN | NM_CONN_HUP)) | conn->ahead))
		return NM_STEP_WAIT_IN;
	if (__builtin_expect((flow->left | conn->ahead) || !instr->plain, 0))
		return receive_more(io, flow, instr);
	return receive_message(io, conn, instr);
}

const struct nm_flowop nm_flowop_read = {
	.name = "read",
	.mirror = "write",
	.help = "receives one message of exactly `size` bytes",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS,
	.opts = nm_moving_opts,
	.opts_size = sizeof(struct nm_opts_moving),
	.step = nm_read_step,
	.lossy_step = nm_datagram_read,
};
