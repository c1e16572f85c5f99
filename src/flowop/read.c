/* SPDX-License-Identifier: Apache-2.0 */
/* read: receives a message of a stream. One recv(2) for the common case, a loop for the others. */
#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/io.h"

/* Asks for one byte beyond the message, or with rsize for many: a shorter answer proves that the
 * queue is empty, so that the next read waits at once instead of trying in vain. */
static enum nm_io_status receive(struct nm_io *io, struct nm_conn *conn,
				 const struct nm_instr *instr, uint64_t left, ssize_t *ret_n)
{
	return nm_conn_recv(io, conn, nm_message_chunk(io, left) + instr->ahead, ret_n);
}

/* The message is longer than one call may bring, was begun before, or the transport is no plain
 * socket. */
static __attribute__((noinline)) enum nm_step receive_more(struct nm_io *io, struct nm_flow *flow,
							   const struct nm_instr *instr)
{
	if (flow->conn->uncounted) {
		nm_io_count_received(io, flow->conn->uncounted);
		flow->conn->uncounted = 0;
	}
	return nm_message_receive(io, flow, instr, nm_message_left(io, flow, instr), receive);
}

/* One call, for the message and one byte more, did not bring exactly the message. */
static __attribute__((noinline)) enum nm_step receive_other(struct nm_io *io, struct nm_flow *flow,
							    const struct nm_instr *instr, ssize_t n)
{
	enum nm_io_status status = nm_io_received(io, flow->conn, n, instr->size + 1);

	if (status == NM_IO_AGAIN)
		return NM_STEP_WAIT_IN;
	if (status == NM_IO_EOF && instr->pass.rekey_point) {
		flow->error = ECONNRESET;
		flow->ended = true;
		return NM_STEP_FAIL;
	}
	if (status >= NM_IO_EOF)
		return nm_flow_failed(flow, n);
	flow->conn->ahead = (uint32_t)n;
	return nm_message_receive(io, flow, instr, instr->size, receive);
}

/* The common case: one message with one call. A function of its own, so that waiting saves no
 * registers. */
static __attribute__((noinline)) enum nm_step
receive_message(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr)
{
	ssize_t n;

	/* The connection's flow is this one, and need not be kept during the call. */
	if (__builtin_expect(!nm_conn_recv_message(io, conn, instr->size, &n), 0))
		return receive_other(io, conn->flow, instr, n);
	return NM_STEP_NEXT;
}

enum nm_step nm_read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (!((conn->flags & (NM_CONN_IN | NM_CONN_HUP)) | conn->ahead))
		return NM_STEP_WAIT_IN;
	if (__builtin_expect((flow->left | conn->ahead) || !instr->single_call, 0))
		return receive_more(io, flow, instr);
	return receive_message(io, conn, instr);
}

const struct nm_flowop nm_flowop_read = {
	.name = "read",
	.mirror_op = &nm_flowop_write,
	.help = "receives one message of exactly `size` bytes",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = nm_read_step,
	.lossy_step = nm_datagram_read,
};
