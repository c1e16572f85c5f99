/* SPDX-License-Identifier: Apache-2.0 */
/* write: sends a message of a stream. One send(2) for the common case, a loop for the others. */
#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/io.h"
#include "transport/ring.h"

static enum nm_io_status send_some(struct nm_io *io, struct nm_conn *conn,
				   const struct nm_instr *instr, uint64_t left, ssize_t *ret_n)
{
	return nm_conn_send(io, conn, instr->message.opts, io->tx, nm_message_chunk(io, left),
			    ret_n);
}

/* Posts a send, which the worker hands over with those of its other flows. Until it is done the
 * connection takes no more. */
static enum nm_step post(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	uint64_t left = nm_message_left(io, flow, instr);
	size_t want = nm_message_chunk(io, left);

	if (conn->waiter & NM_URING_SENT) {
		conn->waiter &= (uint8_t)~NM_URING_SENT;
		nm_io_count_sent(io, want);
		flow->left = left -= want;
		if (!left)
			return NM_STEP_NEXT;
		want = nm_message_chunk(io, left);
	}
	int r = instr->message.no_wait ? nm_ring_let_go(io->ring, conn, io->tx, want)
				       : nm_ring_send(io->ring, conn, io->tx, want, NM_RING_SENT);

	if (r < 0) {
		flow->error = -r;
		return NM_STEP_FAIL;
	}
	conn->posted = (uint32_t)want;
	if (!instr->message.no_wait) {
		flow->left = left;
		conn->flags &= ~(uint32_t)NM_CONN_OUT;
		return NM_STEP_WAIT_OUT;
	}
	nm_io_count_sent(io, want);
	return instr->expects_reply && !conn->ahead ? NM_STEP_NEXT_WAIT_IN : NM_STEP_NEXT;
}

/* The message is longer than one call may take, was begun before, or the transport is no plain
 * socket. */
static __attribute__((noinline)) enum nm_step send_more(struct nm_io *io, struct nm_flow *flow,
							const struct nm_instr *instr)
{
	if (io->ring)
		return post(io, flow, instr);
	return nm_message_send(io, flow, instr, nm_message_left(io, flow, instr), send_some);
}

/* One call has not taken the whole message: notes the rest, or the failure. */
static __attribute__((noinline)) enum nm_step send_other(struct nm_io *io, struct nm_flow *flow,
							 const struct nm_instr *instr, ssize_t n)
{
	enum nm_io_status status = nm_io_sent(io, flow->conn, n, instr->size);

	if (status == NM_IO_ERROR)
		return nm_flow_failed(flow, n);
	flow->left = instr->size - (status == NM_IO_AGAIN ? 0 : (uint64_t)n);
	return NM_STEP_WAIT_OUT;
}

enum nm_step nm_write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (__builtin_expect(!(conn->flags & NM_CONN_OUT), 0))
		return NM_STEP_WAIT_OUT;
	/* The common case is one message with one call, and no function around it. */
	if (__builtin_expect(flow->left || !instr->single_call, 0))
		return send_more(io, flow, instr);
	ssize_t n;

	/* The connection's flow is this one, and need not be kept during the call. */
	if (__builtin_expect(!nm_conn_send_message(io, conn, instr->size, &n), 0))
		return send_other(io, conn->flow, instr, n);
	/* Spares the call of the read that would only find out that it has to wait. */
	if (instr->expects_reply && !((conn->flags & (NM_CONN_IN | NM_CONN_HUP)) | conn->ahead))
		return NM_STEP_NEXT_WAIT_IN;
	return NM_STEP_NEXT;
}

const struct nm_flowop nm_flowop_write = {
	.name = "write",
	.mirror_op = &nm_flowop_read,
	.help = "sends one message of `size` bytes",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = nm_write_step,
	.lossy_step = nm_datagram_write,
};
