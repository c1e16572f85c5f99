/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "flowop/moving.h"
#include "transport/io.h"
#include "transport/ring.h"

/* What is not one message with one call. n: what the first send of `want` bytes moved or
 * answered. */
static __attribute__((noinline)) enum nm_step send_parts(struct nm_io *io, struct nm_flow *flow,
							 const struct nm_instr *instr,
							 uint64_t left, ssize_t n, size_t want)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0;; calls++) {
		if (n > 0) {
			nm_counter_add(&io->count->bytes_sent, (uint64_t)n);
			left -= (uint64_t)n;
		}
		/* In progress: the connection is not open yet, and its first packet takes no
		 * data. */
		if (n < 0 && n != -EAGAIN && n != -EINPROGRESS) {
			flow->error = (int)-n;
			return NM_STEP_FAIL;
		}
		flow->left = left;
		if (!left)
			return NM_STEP_NEXT;
		/* A short send means a full buffer as much as EAGAIN does: the kernel will tell
		 * when there is room. */
		if (n < (ssize_t)want) {
			conn->flags &= ~(uint32_t)NM_CONN_OUT;
			return NM_STEP_WAIT_OUT;
		}
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		want = left < io->chunk ? (size_t)left : io->chunk;
		n = nm_conn_send(instr->transport, conn, instr->message_opts, io->tx, want);
	}
}

/* The worker hands over what its flows post all together. A connection has room for nothing more
 * until that is done. */
static enum nm_step post(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	uint64_t left = nm_message_left(io, flow, instr);
	size_t want = left < io->chunk ? (size_t)left : io->chunk;

	if (conn->flags & NM_CONN_SENT) {
		conn->flags &= ~(uint32_t)NM_CONN_SENT;
		nm_counter_add(&io->count->bytes_sent, want);
		flow->left = left -= want;
		if (!left)
			return NM_STEP_NEXT;
		want = left < io->chunk ? (size_t)left : io->chunk;
	}
	int r = instr->lets_go ? nm_ring_let_go(io->ring, conn, io->tx, want)
			       : nm_ring_send(io->ring, conn, io->tx, want, NM_RING_SENT);

	if (r < 0) {
		flow->error = -r;
		return NM_STEP_FAIL;
	}
	conn->posted = (uint32_t)want;
	if (!instr->lets_go) {
		flow->left = left;
		conn->flags &= ~(uint32_t)NM_CONN_OUT;
		return NM_STEP_WAIT_OUT;
	}
	nm_counter_add(&io->count->bytes_sent, want);
	return instr->then_reads && !conn->ahead ? NM_STEP_NEXT_WAIT_IN : NM_STEP_NEXT;
}

/* The message is longer than one call may take, was begun before, or the transport is no plain
 * socket. */
static __attribute__((noinline)) enum nm_step send_more(struct nm_io *io, struct nm_flow *flow,
							const struct nm_instr *instr)
{
	if (io->ring)
		return post(io, flow, instr);
	uint64_t left = nm_message_left(io, flow, instr);

	return send_parts(io, flow, instr, left, 0, 0);
}

enum nm_step nm_write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	size_t size = instr->size;
	const struct nm_conn *conn = flow->conn;

	if (__builtin_expect(!(conn->flags & NM_CONN_OUT), 0))
		return NM_STEP_WAIT_OUT;
	/* The common case is one message with one call, and no function around it. */
	if (__builtin_expect(flow->left || !instr->plain, 0))
		return send_more(io, flow, instr);
	ssize_t n = nm_sys_send(conn->fd, io->tx, size, MSG_NOSIGNAL | MSG_DONTWAIT);

	/* The connection's flow is this one, and need not be kept during the call. */
	if (__builtin_expect(n != (ssize_t)size, 0))
		return send_parts(io, conn->flow, instr, size, n, size);
	nm_counter_add(&io->count->bytes_sent, size);
	/* Spares the call of the read that would only find out that it has to wait. */
	if (instr->then_reads && !((conn->flags & (NM_CONN_IN | NM_CONN_HUP)) | conn->ahead))
		return NM_STEP_NEXT_WAIT_IN;
	return NM_STEP_NEXT;
}

const struct nm_flowop nm_flowop_write = {
	.name = "write",
	.mirror = "read",
	.help = "sends one message of `size` bytes",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES,
	.opts = nm_moving_opts,
	.opts_size = sizeof(struct nm_opts_moving),
	.step = nm_write_step,
	.lossy_step = nm_datagram_write,
};
