/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/special.h"

#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/moving.h"
#include "host/clock.h"
#include "host/syscalls.h"
#include "transport/many.h"
#include "transport/transport.h"
#include "transport/zerocopy.h"

static enum nm_step pause_with(struct nm_flow *flow, uint64_t left, enum nm_step answer)
{
	flow->left = left;
	return answer;
}

static enum nm_step fail(struct nm_flow *flow, ssize_t error)
{
	flow->error = error ? (int)-error : ECONNRESET;
	return NM_STEP_FAIL;
}

bool nm_special_drain(const struct nm_io *io, struct nm_conn *conn)
{
	struct nm_zerocopy_told told = {0};
	bool tcp = conn->transport->caps & NM_TRANSPORT_TCP;
	bool any = nm_zerocopy_drain(conn, tcp ? NULL : nm_many_uncopied(io->many), &told);

	nm_counter_add(&io->count->zerocopy_sends, told.sends);
	nm_counter_add(&io->count->zerocopy_copied, told.copied);
	return any;
}

/* The limits that it may be for are the socket's, of which nothing uses any, or the user's, which
 * others may use. */
#define REFUSED_NS 1000000000u

enum nm_step nm_special_refused(struct nm_io *io, struct nm_flow *flow)
{
	uint64_t now_ns = nm_clock_ns();

	if (!io->refused_ns)
		io->refused_ns = now_ns;
	if (now_ns - io->refused_ns < REFUSED_NS)
		return NM_STEP_YIELD;
	flow->error = ENOBUFS;
	return NM_STEP_FAIL;
}

/* One call, after what there is to be told about the calls before it; with no room for such
 * tellings (ENOBUFS) the flow waits for the next one as it waits for room in a full buffer, if
 * there is one to come. */
static ssize_t send_uncopied(struct nm_io *io, struct nm_conn *conn, const char *data, size_t size,
			     int flags)
{
	if ((conn->flags & NM_CONN_TOLD) || conn->sent - conn->seen >= NM_ZEROCOPY_PENDING)
		(void)nm_special_drain(io, conn);
	ssize_t n = nm_sys_send(conn->fd, data, size, flags | MSG_ZEROCOPY);

	if (n == -ENOBUFS && nm_special_drain(io, conn))
		n = nm_sys_send(conn->fd, data, size, flags | MSG_ZEROCOPY);
	if (n > 0) {
		conn->sent++;
		io->refused_ns = 0;
	}
	if (n != -ENOBUFS || conn->sent == conn->seen)
		return n;
	conn->flags |= NM_CONN_REFUSED;
	return -EAGAIN;
}

static enum nm_step write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_opts_moving *o = instr->opts;
	struct nm_conn *conn = flow->conn;
	uint64_t left = nm_message_left(io, flow, instr);
	int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (instr->holds ? MSG_MORE : 0);
	int r = o->zerocopy ? nm_zerocopy_begin(conn) : 0;

	if (r < 0)
		return fail(flow, r);
	if (instr->holds)
		conn->flags |= NM_CONN_MORE;
	for (unsigned calls = 0; left; calls++) {
		if (!(conn->flags & NM_CONN_OUT))
			return pause_with(flow, left, NM_STEP_WAIT_OUT);
		if (calls == NM_STEP_CALLS)
			return pause_with(flow, left, NM_STEP_YIELD);
		size_t want = left < io->chunk ? (size_t)left : io->chunk;
		ssize_t n = o->zerocopy ? send_uncopied(io, conn, io->tx, want, flags)
					: nm_sys_send(conn->fd, io->tx, want, flags);

		if (n > 0) {
			nm_counter_add(&io->count->bytes_sent, (uint64_t)n);
			left -= (uint64_t)n;
		} else if (n == -ENOBUFS && o->zerocopy) {
			return pause_with(flow, left, nm_special_refused(io, flow));
		} else if (n != -EAGAIN && n != -EINPROGRESS) {
			return fail(flow, n);
		}
		if (n < (ssize_t)want)
			conn->flags &= ~(uint32_t)NM_CONN_OUT;
	}
	flow->left = 0;
	return NM_STEP_NEXT;
}

/* One receive of at most `left` bytes; *asked is how many, or 0 if fewer do not mean that the queue
 * is empty. */
static ssize_t receive(const struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr,
		       uint64_t left, size_t *asked)
{
	const struct nm_opts_moving *o = instr->opts;
	uint64_t mapped = 0;

	*asked = 0;
	if (o->rx_zerocopy) {
		ssize_t n = nm_mapped_receive(conn, io->rx, io->chunk, left, &mapped);

		nm_counter_add(&io->count->bytes_mapped, mapped);
		return n;
	}
	*asked = (left < io->chunk ? (size_t)left : io->chunk) + instr->ahead;
	return nm_sys_recv(conn->fd, io->rx, *asked, MSG_DONTWAIT | MSG_TRUNC);
}

/* Takes so many bytes off what is left; what is too much belongs to the next message. */
static uint64_t take(struct nm_conn *conn, uint64_t left, uint64_t n)
{
	conn->ahead = n > left ? (uint32_t)(n - left) : 0;
	return n > left ? 0 : left - n;
}

static enum nm_step read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	uint64_t left = nm_message_left(io, flow, instr);

	left = take(conn, left, conn->ahead);
	for (unsigned calls = 0; left; calls++) {
		size_t asked;

		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return pause_with(flow, left, NM_STEP_WAIT_IN);
		if (calls == NM_STEP_CALLS)
			return pause_with(flow, left, NM_STEP_YIELD);
		ssize_t n = receive(io, conn, instr, left, &asked);

		if (n > 0) {
			nm_counter_add(&io->count->bytes_received, (uint64_t)n);
			left = take(conn, left, (uint64_t)n);
			if ((size_t)n < asked)
				conn->flags &= ~(uint32_t)NM_CONN_IN;
		} else if (n == -EAGAIN) {
			conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
		} else {
			return fail(flow, n);
		}
	}
	flow->left = 0;
	return NM_STEP_NEXT;
}

nm_step_fn nm_special_step(const void *opts, bool sends)
{
	const struct nm_opts_moving *o = opts;

	if (sends)
		return o->more || o->zerocopy ? write_step : NULL;
	return o->discard || o->rx_zerocopy ? read_step : NULL;
}
