/* SPDX-License-Identifier: Apache-2.0 */
/* Example: a flowop in one file. docs/adding-a-flowop.md explains it.
 *
 * discard receives a message as read does, but asks the kernel to drop the bytes instead of copying
 * them (MSG_TRUNC, tcp(7)). What remains is the cost of the protocol without the cost of the
 * copy. */
#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/moving.h"
#include "transport/io.h"

/* Receives at most size + 1 bytes: a shorter answer proves that nothing else is queued. The buffer
 * has room for them, since not every kind of socket knows MSG_TRUNC. */
static ssize_t drop(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr,
		    size_t size)
{
	if (instr->transport->recv)
		return instr->transport->recv(conn, io->rx, size + 1);
	return nm_sys_recv(conn->fd, io->rx, size + 1, MSG_TRUNC);
}

/* Takes `n` received bytes off `left`; what is too much belongs to the next message. */
static uint64_t take(struct nm_conn *conn, uint64_t left, uint64_t n)
{
	if (n <= left)
		return left - n;
	conn->ahead += (uint32_t)(n - left);
	return 0;
}

static enum nm_step pause_with(struct nm_flow *flow, uint64_t left, enum nm_step answer)
{
	flow->left = left;
	return answer;
}

static enum nm_step discard_step(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	/* 0: this is its first call. */
	uint64_t left = flow->left ? flow->left : nm_message_bytes(io, flow, instr);
	uint64_t ahead = conn->ahead;

	conn->ahead = 0;
	left = take(conn, left, ahead);
	for (unsigned calls = 0; left; calls++) {
		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return pause_with(flow, left, NM_STEP_WAIT_IN);
		if (calls == NM_STEP_CALLS)
			return pause_with(flow, left, NM_STEP_YIELD);
		size_t size = left < io->chunk ? (size_t)left : io->chunk;
		ssize_t n = drop(io, conn, instr, size);

		if (n == -EAGAIN) {
			conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
			continue;
		}
		if (n <= 0) {
			flow->error = n ? (int)-n : ECONNRESET;
			return NM_STEP_FAIL;
		}
		nm_counter_add(&io->count->bytes_received, (uint64_t)n);
		if ((size_t)n <= size)
			conn->flags &= ~(uint32_t)NM_CONN_IN;
		left = take(conn, left, (uint64_t)n);
	}
	return pause_with(flow, 0, NM_STEP_NEXT);
}

const struct nm_flowop nm_flowop_discard = {
	.name = "discard",
	.mirror = "write",
	.help = "receives one message of `size` bytes and lets the kernel drop it",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS,
	.opts = nm_moving_opts,
	.opts_size = sizeof(struct nm_opts_moving),
	.step = discard_step,
};
