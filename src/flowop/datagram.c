/* SPDX-License-Identifier: Apache-2.0 */
/* read and write where messages may be lost: one message with a call, or a batch of them. */
#include "flowop/datagram.h"

#include <errno.h>
#include <limits.h>

#include "flowop/message.h"
#include "flowop/copy_modes.h"
#include "flowop/stamp.h"
#include "host/clock.h"
#include "transport/io.h"
#include "transport/udp_batch.h"
#include "transport/preamble.h"
#include "transport/zc_pool.h"

void nm_datagram_give_up(struct nm_conn *conn)
{
	conn->flags &= ~(uint32_t)NM_CONN_ASKING;
}

bool nm_datagram_is_preamble(const struct nm_io *io, struct nm_conn *conn,
			     const struct nm_instr *instr, const char *data)
{
	bool accepted = conn->traits & NM_CONN_ACCEPTED;
	const unsigned char *nonce = accepted ? io->own_nonce : io->nonces[instr->host];
	struct nm_preamble preamble;
	enum nm_preamble_kind kind = nm_preamble_unpack(data, NM_PREAMBLE_BYTES, &preamble);
	char wire[NM_PREAMBLE_BYTES];

	if (kind == NM_PREAMBLE_NONE || !nm_preamble_is_proved(data, io->prover, nonce))
		return false;
	if (kind == NM_PREAMBLE_HELLO && accepted && conn->transport->datagram) {
		preamble.port = conn->transport->datagram->port_of(conn);
		nm_preamble_pack(&preamble, NM_PREAMBLE_ANSWER, io->prover, nonce, wire);
		(void)nm_sys_send(conn->fd, wire, sizeof wire, MSG_NOSIGNAL);
	}
	return true;
}

/* Whether the flow's read takes the message: it must not have come before, and if it is an answer
 * the other end must have seen a message that was written since the last answer. */
static bool take(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr,
		 const char *data, size_t size)
{
	struct nm_stamp stamp;
	bool stamped = nm_stamp_unpack(data, size, &stamp);

	if (size == NM_PREAMBLE_BYTES && nm_datagram_is_preamble(io, conn, instr, data))
		return false;
	nm_io_count_message_received(io, size);
	if (!stamped)
		nm_counter_add(&io->count->unnumbered, 1);
	if (stamped && !nm_stamp_note_number(&conn->datagram, io->count, stamp.number))
		return false;
	if (stamped && stamp.sent_ns && stamp.sent_ns != conn->datagram.sent_ns) {
		if (!io->arrived_ns)
			io->arrived_ns = nm_clock_ns();
		nm_stamp_note_time(&conn->datagram, io->count, stamp.sent_ns, io->arrived_ns);
	}
	if (!instr->datagram.is_reply)
		return true;
	/* The other end cannot tell that it has seen a question without a number. */
	if (stamped && nm_stamp_is_late(&stamp, &conn->datagram)) {
		nm_counter_add(&io->count->late, 1);
		return false;
	}
	conn->flags &= ~(uint32_t)NM_CONN_ASKING;
	/* Nothing else can come before the next write: spares the call that would find nothing. */
	if (instr->datagram.is_reply_last)
		conn->flags &= io->in_kept;
	return true;
}

/* Receives all messages that have come, or many of them: how many bytes, or -errno. conn->ahead
 * counts the messages that the flow's reads take, *ret_taken their bytes. */
static ssize_t receive_many(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr,
			    uint64_t *ret_taken)
{
	int n = nm_udp_batch_receive(io->udp_batch, conn, io->recv_flags);
	ssize_t bytes = 0;
	unsigned joined = 0;

	*ret_taken = 0;
	io->arrived_ns = 0;
	if (n < 0)
		return n;
	/* An event tells of later messages, but not when receives sleep. */
	if (n < NM_UDP_BATCH_SLOTS)
		conn->flags &= io->in_kept;
	for (int i = 0; i < n; i++) {
		size_t size, each;
		const char *data = nm_udp_batch_segment(io->udp_batch, i, &size, &each);

		bytes += (ssize_t)size;
		do {
			size_t one = each < size ? each : size;

			if (take(io, conn, instr, data, one)) {
				conn->ahead++;
				*ret_taken += one;
			}
			data += one;
			size -= one;
			joined += size > 0;
		} while (size);
	}
	if (joined)
		nm_counter_add(&io->count->joined_received, joined);
	return bytes;
}

ssize_t nm_datagram_discard(struct nm_io *io, struct nm_conn *conn, uint64_t *ret_new)
{
	static const struct nm_instr nobodys = {.step = NULL};
	ssize_t n;

	if (io->udp_batch && !conn->transport->recv) {
		n = receive_many(io, conn, &nobodys, ret_new);
		conn->ahead = 0;
		return n;
	}
	n = nm_conn_call_recv(io, conn, io->chunk);
	io->arrived_ns = 0;
	*ret_new = n >= 0 && take(io, conn, &nobodys, io->rx, (size_t)n) ? (uint64_t)n : 0;
	return n;
}

/* A receive has brought nothing, but n (-errno, or 0). False: the flow has failed by it. */
static bool is_harmless(struct nm_flow *flow, ssize_t n)
{
	if (nm_datagram_is_unreachable(n))
		return true;
	if (nm_io_received_nothing(flow->conn, n) == NM_IO_AGAIN)
		return true;
	(void)nm_flow_failed(flow, n);
	return false;
}

/* Reads several messages, as many with one call as have come. */
static enum nm_step read_many(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	uint64_t left = flow->left ? flow->left : instr->datagram.batch + !instr->datagram.batch;

	if (instr->datagram.batch > 1)
		nm_udp_batch_want_gro(conn);
	for (unsigned calls = 0;; calls++) {
		uint32_t taken = conn->ahead < left ? conn->ahead : (uint32_t)left;

		conn->ahead -= taken;
		left -= taken;
		flow->left = left;
		if (!left)
			return NM_STEP_NEXT;
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		uint64_t taken_bytes;
		ssize_t n = receive_many(io, conn, instr, &taken_bytes);

		if (n < 0 && !is_harmless(flow, n))
			return NM_STEP_FAIL;
		if (!io->recv_flags && !conn->ahead)
			return NM_STEP_WAIT_IN;
	}
}

/* Whether one call takes all messages that have come. A receive that sleeps until a request comes
 * finds no second request before the answer. */
static bool takes_many(const struct nm_io *io, const struct nm_conn *conn,
		       const struct nm_instr *instr)
{
	if (conn->ahead || (conn->traits & NM_CONN_GRO))
		return true;
	return instr->datagram.batch > 1 ||
	       (instr->datagram.batch && (io->recv_flags || !instr[1].step));
}

enum nm_step nm_datagram_read(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (takes_many(io, conn, instr))
		return read_many(io, flow, instr);
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		ssize_t n = nm_conn_call_recv(io, conn, io->chunk);

		io->arrived_ns = 0;
		if (n == 0 && (instr->transport->caps & NM_TRANSPORT_RELIABLE))
			return nm_flow_failed(flow, n);
		if (n >= 0) {
			if (!take(io, conn, instr, io->rx, (size_t)n)) {
				if (!io->recv_flags)
					return NM_STEP_WAIT_IN;
				continue;
			}
			flow->left = 0; /* read_many may have begun the wait */
			return NM_STEP_NEXT;
		} else if (!is_harmless(flow, n)) {
			return NM_STEP_FAIL;
		}
	}
	return NM_STEP_YIELD;
}

static void begin_asking(struct nm_conn *conn)
{
	if (conn->flags & NM_CONN_ASKING)
		return;
	conn->datagram.acked = conn->datagram.sent;
	conn->flags |= NM_CONN_ASKING;
}

static void write_stamp(const struct nm_conn *conn, uint32_t number, uint64_t now_ns, char *to,
			size_t size)
{
	const struct nm_stamp stamp = {
		.number = number, .seen = conn->datagram.seen, .sent_ns = now_ns};

	nm_stamp_pack(&stamp, to, size);
}

/* The time in the head of messages that are sent now; 0: they have none. */
static uint64_t date_of(const struct nm_instr *instr, size_t size)
{
	return instr->datagram.timestamped && size >= NM_STAMP_BYTES ? nm_clock_ns() : 0;
}

/* The answer of a step whose send has moved nothing. */
static enum nm_step refused(struct nm_flow *flow, ssize_t n)
{
	if (nm_io_sent_nothing(flow->conn, n) == NM_IO_AGAIN)
		return NM_STEP_WAIT_OUT;
	return n == -ENOBUFS ? NM_STEP_YIELD : nm_flow_failed(flow, n);
}

static void count_sent(struct nm_io *io, struct nm_conn *conn, size_t size, unsigned count)
{
	if (size >= NM_STAMP_NUMBERS)
		conn->datagram.sent += count;
	nm_io_count_messages_sent(io, size, count);
}

/* Lays out the messages of one call: how many, or -errno. */
static int lay_out(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr,
		   size_t size, uint64_t left)
{
	unsigned most = left < UINT_MAX ? (unsigned)left : UINT_MAX;
	struct nm_zc_pool *pool = nm_udp_batch_zc_pool(io->udp_batch);
	int r = instr->datagram.zerocopy ? nm_zc_pool_begin(pool, conn) : 0;

	if (r < 0)
		return r;
	if (instr->datagram.zerocopy && (conn->flags & NM_CONN_ERRQUEUE))
		(void)nm_copy_modes_drain(io, conn);
	unsigned count =
		nm_udp_batch_stage(io->udp_batch, conn, size, most, instr->datagram.zerocopy);

	if (!count && nm_copy_modes_drain(io, conn))
		count = nm_udp_batch_stage(io->udp_batch, conn, size, most, true);
	uint64_t now_ns = date_of(instr, size);

	for (unsigned i = 0; i < count && size >= NM_STAMP_NUMBERS; i++)
		write_stamp(conn, conn->datagram.sent + 1 + i, now_ns,
			    nm_udp_batch_staged(io->udp_batch, i), size);
	return count ? (int)count : -ENOBUFS;
}

/* Sends the messages that are laid out; without room for the kernel's reports, after taking those
 * that have come. */
static int send_laid(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr)
{
	int n = nm_udp_batch_send(io->udp_batch, conn);

	if (nm_datagram_is_unreachable(n)) /* perhaps an earlier message; these are not sent yet */
		n = nm_udp_batch_send(io->udp_batch, conn);
	if (n == -ENOBUFS && instr->datagram.zerocopy && nm_copy_modes_drain(io, conn))
		n = nm_udp_batch_send(io->udp_batch, conn);
	return n;
}

/* Sends several messages of one size, as many with one call as it takes. */
static enum nm_step write_many(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	size_t size = (size_t)nm_message_bytes(io, flow, instr);

	if (!flow->left)
		flow->left = instr->datagram.batch + !instr->datagram.batch;
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		int count = lay_out(io, conn, instr, size, flow->left);
		int n = count < 0 ? count : send_laid(io, conn, instr);

		if (nm_datagram_is_unreachable(n))
			n = count;
		/* The kernel will report: the flow waits for that as for room. */
		if (n == -ENOBUFS && instr->datagram.zerocopy &&
		    nm_zc_pool_is_pending(nm_udp_batch_zc_pool(io->udp_batch), conn)) {
			conn->flags |= NM_CONN_NOBUFS;
			n = -EAGAIN;
		}
		if (n == -ENOBUFS && instr->datagram.zerocopy)
			return nm_copy_modes_nobufs(io, flow);
		if (n < 0)
			return refused(flow, n);
		io->nobufs_ns = 0;
		count_sent(io, conn, size, (unsigned)n);
		nm_counter_add(&io->count->joined_sent,
			       (unsigned)n - nm_udp_batch_packets(io->udp_batch, (unsigned)n));
		flow->left -= (unsigned)n;
		if (!flow->left)
			return NM_STEP_NEXT;
	}
	return NM_STEP_YIELD;
}

enum nm_step nm_datagram_write(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	begin_asking(conn);
	if (instr->datagram.batch > 1 || instr->datagram.zerocopy)
		return write_many(io, flow, instr);
	size_t size = (size_t)nm_message_bytes(io, flow, instr);

	write_stamp(conn, conn->datagram.sent + 1, date_of(instr, size), io->tx, size);
	ssize_t n = nm_conn_call_send(conn, instr->message.opts, io->tx, size);

	if (nm_datagram_is_unreachable(
		    n)) /* perhaps an earlier message; this one is not sent yet */
		n = nm_conn_call_send(conn, instr->message.opts, io->tx, size);
	if (n < 0 && !nm_datagram_is_unreachable(n))
		return refused(flow, n);
	count_sent(io, conn, size, 1);
	return NM_STEP_NEXT;
}
