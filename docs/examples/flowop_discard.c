/* SPDX-License-Identifier: Apache-2.0 */
/* Example: a flowop in one file. docs/adding-a-flowop.md explains it.
 *
 * discard receives a message as read does, but asks the kernel to drop the bytes instead of copying
 * them (MSG_TRUNC, tcp(7)). What remains is the cost of the protocol without the cost of the
 * copy. */
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/io.h"

/* One call, for at most one byte beyond the message: a shorter answer proves that nothing else is
 * queued. The buffer has room for that, since not every kind of socket knows MSG_TRUNC. */
static enum nm_io_status drop(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr,
			      uint64_t left, ssize_t *ret_n)
{
	size_t asked = nm_message_chunk(io, left) + 1;

	if (instr->transport->recv)
		return nm_conn_recv(io, conn, asked, ret_n);
	ssize_t n = nm_sys_recv(conn->fd, io->rx, asked, MSG_DONTWAIT | MSG_TRUNC);
	enum nm_io_status status = nm_io_received(io, conn, n, asked);

	*ret_n = status == NM_IO_AGAIN ? 0 : n;
	return status;
}

static enum nm_step discard_step(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	return nm_message_receive(io, flow, instr, nm_message_left(io, flow, instr), drop);
}

const struct nm_flowop nm_flowop_discard = {
	.name = "discard",
	.mirror_op = &nm_flowop_write,
	.help = "receives one message of `size` bytes and lets the kernel drop it",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = discard_step,
};
