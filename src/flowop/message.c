/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on streams: their options, and the loops of read and write, for any call that moves
 * bytes. */
#include "flowop/message.h"

#include "flowop/flowop.h"

const struct nm_opt nm_message_opts[] = {
	{.name = "size",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct nm_opts_message, size),
	 .min = 1,
	 .max = UINT64_C(1) << 50,
	 .required = true,
	 .help = "bytes of the message; rand(A,B) draws them anew each time, alike at both ends"},
	{.name = "rsize",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct nm_opts_message, rsize_bytes),
	 .max = UINT64_C(1) << 50,
	 .help = "on what the master sends: the most that one receive of the slave takes, when "
		 "more than `size`, so that it takes several messages at once; at most 1m"},
	{.name = "more",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_message, more),
	 .help = "over tcp, where another message is sent next: the kernel may keep the end of "
		 "this one "
		 "until there is enough for a whole segment (MSG_MORE)"},
	{.name = "zerocopy",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_message, zerocopy),
	 .help = "over tcp and udp: the end that sends does it without copying, if the kernel and "
		 "the "
		 "network card "
		 "can (MSG_ZEROCOPY); the result tells how often"},
	{.name = "discard",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_message, discard),
	 .help = "over tcp: the end that receives lets the kernel drop the bytes instead of "
		 "copying them "
		 "(MSG_TRUNC)"},
	{.name = "rx_zerocopy",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_message, rx_zerocopy),
	 .help = "over tcp: the end that receives maps whole pages instead of copying them "
		 "(TCP_ZEROCOPY_RECEIVE), where they come so; the result tells how many bytes"},
	{.name = "rcvlowat",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct nm_opts_message, rcvlowat_bytes),
	 .max = UINT64_C(1) << 30,
	 .help = "over tcp, of a flowop that is alone in a transaction with a duration and no "
		 "rate: the end that receives is woken when so many bytes have come (SO_RCVLOWAT), "
		 "and at the transaction's end"},
	NM_OPT_END};

/* The stream has ended. Before the first byte of a message, where the next pass may replace the
 * connection, the other end may have meant it. */
static enum nm_step ended(const struct nm_io *io, struct nm_flow *flow,
			  const struct nm_instr *instr, uint64_t left)
{
	flow->error = ECONNRESET;
	flow->ended = instr->pass.rekey_point && left == nm_message_bytes(io, flow, instr);
	return NM_STEP_FAIL;
}

enum nm_step nm_message_receive(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr, uint64_t left, nm_move_fn receive)
{
	struct nm_conn *conn = flow->conn;

	left = nm_message_take(conn, left, conn->ahead);
	for (unsigned calls = 0;; calls++) {
		flow->left = left;
		if (!left)
			return NM_STEP_NEXT;
		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		ssize_t n;
		enum nm_io_status status = receive(io, conn, instr, left, &n);

		if (status == NM_IO_EOF)
			return ended(io, flow, instr, left);
		if (status == NM_IO_ERROR)
			return nm_flow_failed(flow, n);
		left = nm_message_take(conn, left, (uint64_t)n);
	}
}

enum nm_step nm_message_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     uint64_t left, nm_move_fn send)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0;; calls++) {
		flow->left = left;
		if (!left)
			return NM_STEP_NEXT;
		if (!(conn->flags & NM_CONN_OUT))
			return NM_STEP_WAIT_OUT;
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		ssize_t n;

		if (send(io, conn, instr, left, &n) == NM_IO_ERROR)
			return nm_flow_failed(flow, n);
		left -= (uint64_t)n;
	}
}
