/* SPDX-License-Identifier: Apache-2.0 */
/* read and write over TCP where options ask for other calls: without a copy, corked, or dropped by
 * the kernel. */
#include "flowop/copy_modes.h"

#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/message.h"
#include "host/clock.h"
#include "host/syscalls.h"
#include "transport/io.h"
#include "transport/udp_batch.h"
#include "transport/transport.h"
#include "transport/errqueue.h"

bool nm_copy_modes_drain(const struct nm_io *io, struct nm_conn *conn)
{
	struct nm_completions told = {0};
	bool tcp = conn->transport->caps & NM_TRANSPORT_TCP;
	bool any = nm_errqueue_drain(conn, tcp ? NULL : nm_udp_batch_zc_pool(io->udp_batch), &told);

	nm_counter_add(&io->count->zerocopy_sends, told.sends);
	nm_counter_add(&io->count->zerocopy_copied, told.copied);
	return any;
}

/* How long a refusal may last: it is for the socket's limit, of which nothing is in use then, or
 * for the user's limit, of which other sockets may use a part. */
#define REFUSED_NS 1000000000u

enum nm_step nm_copy_modes_nobufs(struct nm_io *io, struct nm_flow *flow)
{
	uint64_t now_ns = nm_clock_ns();

	if (!io->nobufs_ns)
		io->nobufs_ns = now_ns;
	if (now_ns - io->nobufs_ns < REFUSED_NS)
		return NM_STEP_YIELD;
	flow->error = ENOBUFS;
	return NM_STEP_FAIL;
}

/* Sends with one call, after taking the kernel's reports of calls before it. With no room for such
 * reports (ENOBUFS) the flow waits for the next report, if one is to come, as for room in a full
 * buffer. */
static ssize_t send_uncopied(struct nm_io *io, struct nm_conn *conn, size_t size, int flags)
{
	if ((conn->flags & NM_CONN_ERRQUEUE) ||
	    conn->stream.zc_sent - conn->stream.zc_completed >= NM_ZEROCOPY_PENDING)
		(void)nm_copy_modes_drain(io, conn);
	ssize_t n = nm_sys_send(conn->fd, io->tx, size, flags | MSG_ZEROCOPY);

	if (n == -ENOBUFS && nm_copy_modes_drain(io, conn))
		n = nm_sys_send(conn->fd, io->tx, size, flags | MSG_ZEROCOPY);
	if (n > 0) {
		conn->stream.zc_sent++;
		io->nobufs_ns = 0;
	}
	if (n != -ENOBUFS || conn->stream.zc_sent == conn->stream.zc_completed)
		return n;
	conn->flags |= NM_CONN_NOBUFS;
	return -EAGAIN;
}

static enum nm_io_status send_some(struct nm_io *io, struct nm_conn *conn,
				   const struct nm_instr *instr, uint64_t left, ssize_t *ret_n)
{
	const struct nm_opts_message *o = instr->opts;
	int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (instr->message.cork ? MSG_MORE : 0);
	size_t want = nm_message_chunk(io, left);
	ssize_t n = o->zerocopy ? send_uncopied(io, conn, want, flags)
				: nm_sys_send(conn->fd, io->tx, want, flags);
	enum nm_io_status status = nm_io_sent(io, conn, n, want);

	*ret_n = status == NM_IO_AGAIN ? 0 : n;
	return status;
}

static enum nm_step write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_opts_message *o = instr->opts;
	struct nm_conn *conn = flow->conn;
	int r = o->zerocopy ? nm_errqueue_begin(conn) : 0;

	if (r < 0)
		return nm_flow_failed(flow, r);
	if (instr->message.cork)
		conn->flags |= NM_CONN_MORE;
	enum nm_step answer =
		nm_message_send(io, flow, instr, nm_message_left(io, flow, instr), send_some);

	if (answer != NM_STEP_FAIL || flow->error != ENOBUFS || !o->zerocopy)
		return answer;
	flow->error = 0;
	return nm_copy_modes_nobufs(io, flow);
}

/* With mapped pages fewer bytes than asked for do not mean that the queue is empty. */
static enum nm_io_status receive_some(struct nm_io *io, struct nm_conn *conn,
				      const struct nm_instr *instr, uint64_t left, ssize_t *ret_n)
{
	const struct nm_opts_message *o = instr->opts;
	size_t asked = o->rx_zerocopy ? 0 : nm_message_chunk(io, left) + instr->ahead;
	uint64_t mapped = 0;
	ssize_t n = o->rx_zerocopy ? nm_mapped_receive(conn, io->rx, io->chunk, left, &mapped)
				   : nm_sys_recv(conn->fd, io->rx, asked, MSG_DONTWAIT | MSG_TRUNC);
	enum nm_io_status status = nm_io_received(io, conn, n, asked);

	nm_counter_add(&io->count->bytes_mapped, mapped);
	*ret_n = status == NM_IO_AGAIN ? 0 : n;
	return status;
}

static enum nm_step read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	return nm_message_receive(io, flow, instr, nm_message_left(io, flow, instr), receive_some);
}

nm_step_fn nm_copy_modes_step(const void *opts, bool sends)
{
	const struct nm_opts_message *o = opts;

	if (sends)
		return o->more || o->zerocopy ? write_step : NULL;
	return o->discard || o->rx_zerocopy ? read_step : NULL;
}
