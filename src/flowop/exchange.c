/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends send a message and receive one, neither waiting for the other: a stream each way on one
 * connection. */
#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/moving.h"
#include "transport/io.h"

/* Whether this end could go on with one of the two; false: flow->error is set. */
static bool send_some(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	size_t want = conn->window < io->chunk ? (size_t)conn->window : io->chunk;

	if (!want || !(conn->flags & NM_CONN_OUT))
		return true;
	ssize_t n = nm_conn_send(instr->transport, conn, instr->message_opts, io->tx, want);

	if (n < (ssize_t)want)
		conn->flags &= ~(uint32_t)NM_CONN_OUT;
	if (n > 0) {
		nm_counter_add(&io->count->bytes_sent, (uint64_t)n);
		conn->window -= (uint64_t)n;
	} else if (n != -EAGAIN && n != -EINPROGRESS) {
		flow->error = (int)-n;
	}
	return !flow->error;
}

static bool receive_some(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	/* One more than is left, as it says that the step has begun. */
	uint64_t left = flow->left - 1;
	size_t want = left < io->chunk ? (size_t)left : io->chunk;

	if (!want || !(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
		return true;
	ssize_t n = nm_conn_recv(instr->transport, conn, io->rx, want);

	if (n > 0) {
		nm_counter_add(&io->count->bytes_received, (uint64_t)n);
		flow->left -= (uint64_t)n;
		if ((size_t)n < want)
			conn->flags &= ~(uint32_t)NM_CONN_IN;
	} else if (n == -EAGAIN) {
		conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
	} else {
		flow->error = n ? (int)-n : ECONNRESET;
	}
	return !flow->error;
}

static void begin(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	uint64_t size = nm_message_bytes(io, flow, instr);
	uint64_t ahead = conn->ahead < size ? conn->ahead : size;

	/* The window has no other use on a stream. */
	conn->window = size;
	conn->ahead -= (uint32_t)ahead;
	flow->left = size - ahead + 1;
}

static enum nm_step go_on(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; conn->window || flow->left > 1; calls++) {
		bool out = conn->window && (conn->flags & NM_CONN_OUT);
		bool in = flow->left > 1 && (conn->flags & (NM_CONN_IN | NM_CONN_HUP));

		if (!out && !in)
			return conn->window ? NM_STEP_WAIT_OUT : NM_STEP_WAIT_IN;
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		if (!send_some(io, flow, instr) || !receive_some(io, flow, instr))
			return NM_STEP_FAIL;
	}
	flow->left = 0;
	return NM_STEP_NEXT;
}

static enum nm_step exchange_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	if (!flow->left)
		begin(io, flow, instr);
	return go_on(io, flow, instr);
}

/* The other end decides whether there is a next pass: nothing is sent before something has come. */
static enum nm_step exchanged_step(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (!flow->left) {
		uint32_t ahead = conn->ahead;

		begin(io, flow, instr);
		uint64_t all = flow->left;

		while (!ahead && flow->left == all) {
			if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP))) {
				flow->left = 0;
				return NM_STEP_WAIT_IN;
			}
			if (!receive_some(io, flow, instr))
				return NM_STEP_FAIL;
		}
	}
	return go_on(io, flow, instr);
}

#define EXCHANGE_FLAGS (NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_BOTH)

const struct nm_flowop nm_flowop_exchanged = {
	.name = "exchanged",
	.mirror = "exchange",
	.help = "the other end of exchange",
	.flags = EXCHANGE_FLAGS | NM_FLOWOP_FOLLOWS | NM_FLOWOP_INTERNAL,
	.opts = nm_moving_opts,
	.opts_size = sizeof(struct nm_opts_moving),
	.step = exchanged_step,
};

const struct nm_flowop nm_flowop_exchange = {
	.name = "exchange",
	.mirror = "exchanged",
	.help = "sends one message of `size` bytes and receives one as long, both at the same time",
	.flags = EXCHANGE_FLAGS | NM_FLOWOP_INITIATES,
	.opts = nm_moving_opts,
	.opts_size = sizeof(struct nm_opts_moving),
	.step = exchange_step,
};
