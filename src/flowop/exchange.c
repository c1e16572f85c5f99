/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends send a message and receive one, neither waiting for the other: a stream each way on one
 * connection. */
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/io.h"

/* Sends, or receives, as much as one call moves. False: flow->error is set. */
static bool send_some(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	ssize_t n;

	if (!conn->stream.exchange_left || !(conn->flags & NM_CONN_OUT))
		return true;
	if (nm_conn_send(io, conn, instr->message.opts, io->tx,
			 nm_message_chunk(io, conn->stream.exchange_left), &n) == NM_IO_ERROR) {
		(void)nm_flow_failed(flow, n);
		return false;
	}
	conn->stream.exchange_left -= (uint64_t)n;
	return true;
}

static bool receive_some(struct nm_io *io, struct nm_flow *flow)
{
	struct nm_conn *conn = flow->conn;
	uint64_t left = flow->left;
	ssize_t n;

	if (!left || !(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
		return true;
	if (nm_conn_recv(io, conn, nm_message_chunk(io, left), &n) >= NM_IO_EOF) {
		(void)nm_flow_failed(flow, n);
		return false;
	}
	flow->left -= (uint64_t)n;
	return true;
}

static void begin(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	uint64_t size = nm_message_bytes(io, flow, instr);
	uint64_t ahead = conn->ahead < size ? conn->ahead : size;

	conn->stream.exchange_left = size;
	conn->ahead -= (uint32_t)ahead;
	flow->left = size - ahead;
	flow->progress = 1;
}

static enum nm_step go_on(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; conn->stream.exchange_left || flow->left; calls++) {
		bool out = conn->stream.exchange_left && (conn->flags & NM_CONN_OUT);
		bool in = flow->left && (conn->flags & (NM_CONN_IN | NM_CONN_HUP));

		if (!out && !in)
			return conn->stream.exchange_left ? NM_STEP_WAIT_OUT : NM_STEP_WAIT_IN;
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		if (!send_some(io, flow, instr) || !receive_some(io, flow))
			return NM_STEP_FAIL;
	}
	flow->progress = 0;
	return NM_STEP_NEXT;
}

static enum nm_step exchange_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	if (!flow->progress)
		begin(io, flow, instr);
	return go_on(io, flow, instr);
}

/* The other end decides whether there is a next pass: this end sends nothing before the first byte
 * has come. */
static enum nm_step exchanged_step(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (!flow->progress) {
		uint32_t ahead = conn->ahead;

		begin(io, flow, instr);
		uint64_t all = flow->left;

		while (!ahead && flow->left == all) {
			if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP))) {
				flow->left = 0;
				flow->progress = 0;
				return NM_STEP_WAIT_IN;
			}
			if (!receive_some(io, flow))
				return NM_STEP_FAIL;
		}
	}
	return go_on(io, flow, instr);
}

#define EXCHANGE_FLAGS (NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_BOTH)

const struct nm_flowop nm_flowop_exchanged = {
	.name = "exchanged",
	.mirror_op = &nm_flowop_exchange,
	.help = "the other end of exchange",
	.flags = EXCHANGE_FLAGS | NM_FLOWOP_FOLLOWS | NM_FLOWOP_INTERNAL,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = exchanged_step,
};

const struct nm_flowop nm_flowop_exchange = {
	.name = "exchange",
	.mirror_op = &nm_flowop_exchanged,
	.help = "sends one message of `size` bytes and receives one as long, both at the same time",
	.flags = EXCHANGE_FLAGS | NM_FLOWOP_INITIATES,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = exchange_step,
};
