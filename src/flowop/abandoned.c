/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that a flow has given up half-way: the rest of them moves before the next ones. */
#include "flowop/abandoned.h"

#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/io.h"

bool nm_abandoned_has_begun(const struct nm_io *io, const struct nm_flow *flow,
			    const struct nm_instr *instr)
{
	if (flow->repeated)
		return true;
	if (instr->op->flags & NM_FLOWOP_BOTH)
		return flow->progress;
	/* A receive that was tried in vain leaves the whole message. */
	return flow->left && flow->left < nm_message_bytes(io, flow, instr);
}

void nm_abandoned_add(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (instr->lossy || !(instr->op->flags & NM_FLOWOP_MOVES) ||
	    (instr->op->flags & NM_FLOWOP_FILES) || !(conn->flags & NM_CONN_OPEN))
		return;
	uint64_t size = nm_message_bytes(io, flow, instr);
	uint64_t left = flow->left ? flow->left : size;

	/* exchange has its progress in the flow and the connection: exchange.c. */
	if (instr->op->flags & NM_FLOWOP_BOTH) {
		conn->abandoned_in += flow->progress ? flow->left : size;
		conn->abandoned_out += flow->progress ? conn->stream.exchange_left : size;
	} else if (instr->op->flags & NM_FLOWOP_FOLLOWS) {
		conn->abandoned_in += left;
	} else {
		conn->abandoned_out += left;
	}
	flow->abandons = true;
}

/* 0 or -errno. */
static int pay_out(struct nm_io *io, struct nm_conn *conn)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		size_t want = nm_message_chunk(io, conn->abandoned_out);
		ssize_t n;

		if (!want || !(conn->flags & NM_CONN_OUT))
			return 0;
		if (nm_conn_send(io, conn, NULL, io->tx, want, &n) == NM_IO_ERROR)
			return (int)n;
		conn->abandoned_out -= (uint64_t)n;
	}
	return 0;
}

/* 0 or -errno. Bytes that the last receive brought ahead come first. */
static int take_in(struct nm_io *io, struct nm_conn *conn)
{
	uint32_t ahead =
		conn->ahead < conn->abandoned_in ? conn->ahead : (uint32_t)conn->abandoned_in;

	conn->ahead -= ahead;
	conn->abandoned_in -= ahead;
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		size_t want = nm_message_chunk(io, conn->abandoned_in);
		ssize_t n;

		if (!want || !(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return 0;
		if (nm_conn_recv(io, conn, want, &n) >= NM_IO_EOF)
			return n ? (int)n : -ECONNRESET;
		conn->abandoned_in -= (uint64_t)n;
	}
	return 0;
}

enum nm_step nm_abandoned_move(struct nm_io *io, struct nm_conn *conn)
{
	int r = pay_out(io, conn);

	if (r == 0)
		r = take_in(io, conn);
	if (r < 0) {
		conn->flow->error = -r;
		return NM_STEP_FAIL;
	}
	if ((conn->abandoned_out && (conn->flags & NM_CONN_OUT)) ||
	    (conn->abandoned_in && (conn->flags & (NM_CONN_IN | NM_CONN_HUP))))
		return NM_STEP_YIELD;
	return NM_STEP_NEXT;
}

/* Moves abandoned messages on all connections of the flow. If a connection that the step does not
 * use has failed, its own flowops find out. */
static enum nm_step pay_all(struct nm_io *io, struct nm_flow *flow)
{
	enum nm_step answer = NM_STEP_NEXT;

	flow->abandons = false;
	for (uint32_t i = 0; i < io->n_conns; i++) {
		struct nm_conn *conn = nm_flow_conn(flow, i);

		if (!(conn->flags & NM_CONN_OPEN) || !nm_conn_has_abandoned(conn))
			continue;
		enum nm_step paid = nm_abandoned_move(io, conn);

		if (paid == NM_STEP_FAIL) {
			conn->abandoned_in = conn->abandoned_out = 0;
			if (conn == flow->conn)
				return paid;
			flow->error = 0;
		}
		if (paid == NM_STEP_YIELD)
			answer = paid;
		flow->abandons |= nm_conn_has_abandoned(conn);
	}
	return answer;
}

enum nm_step nm_abandoning_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	const struct nm_conn *conn = flow->conn;
	uint32_t flags = instr->op->flags;

	if (flow->abandons) {
		enum nm_step paid = pay_all(io, flow);

		if (paid != NM_STEP_NEXT)
			return paid;
		if (conn->abandoned_out && (flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_BOTH)))
			return NM_STEP_WAIT_OUT;
		if (conn->abandoned_in && (flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH)))
			return NM_STEP_WAIT_IN;
	}
	enum nm_step answer = instr->carried_step(io, flow, instr);

	if (answer == NM_STEP_NEXT && nm_flow_is_late(flow, instr)) {
		flow->request.marks &= (uint8_t)~NM_REQUEST_LATE;
		nm_counter_add(&nm_flow_counters(io, flow)->errors, 1);
		nm_counter_add(&io->count->timeouts, 1);
	}
	return answer;
}
