/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "flowop/greeting.h"
#include "flowop/moving.h"
#include "transport/io.h"

struct stamp {
	uint32_t number, seen;
};

_Static_assert(sizeof(struct stamp) == NM_DATAGRAM_STAMP, "no padding");

void nm_datagram_give_up(struct nm_conn *conn)
{
	conn->flags &= ~(uint32_t)NM_CONN_ASKING;
}

/* Whether a is after b; numbers go round. */
static bool after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* Counts what the number of a message tells: the window holds which of the 64 up to `seen` have come. */
static void note_number(struct nm_io *io, struct nm_conn *conn, uint32_t number)
{
	if (after(number, conn->seen)) {
		uint32_t step = number - conn->seen;

		conn->window = step < 64 ? conn->window << step | 1 : 1;
		conn->seen = number;
		return;
	}
	uint32_t back = conn->seen - number;

	if (back < 64 && (conn->window >> back & 1)) {
		nm_counter_add(&io->count->duplicates, 1);
		return;
	}
	if (back < 64)
		conn->window |= UINT64_C(1) << back;
	nm_counter_add(&io->count->reordered, 1);
}

/* The other end repeats its greeting, as the answer is lost. */
static bool is_greeting(const struct nm_io *io, struct nm_conn *conn, size_t size)
{
	struct nm_greeting greeting;
	char wire[NM_GREETING_BYTES];
	bool answer;

	if (!nm_greeting_read(io->rx, size, &greeting, &answer) || greeting.cookie != io->cookie)
		return false;
	if (!answer) {
		greeting.port = conn->transport->port_of(conn);
		nm_greeting_write(&greeting, true, wire);
		(void)nm_sys_send(conn->fd, wire, sizeof wire, MSG_NOSIGNAL);
	}
	return true;
}

/* Whether the message is what the flow reads: an answer is, when the other end had seen some of what was written since
 * the last answer. */
static bool take(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr, size_t size)
{
	struct stamp stamp;

	if (size == NM_GREETING_BYTES && is_greeting(io, conn, size))
		return false;
	nm_counter_add(&io->count->bytes_received, size);
	nm_counter_add(&io->count->messages_received, 1);
	if (size < sizeof stamp)
		return true;
	memcpy(&stamp, io->rx, sizeof stamp);
	note_number(io, conn, ntohl(stamp.number));
	if (!instr->answers)
		return true;
	if (!after(ntohl(stamp.seen), conn->heard)) {
		nm_counter_add(&io->count->late, 1);
		return false;
	}
	conn->flags &= ~(uint32_t)NM_CONN_ASKING;
	/* Nothing else can come before something is written: spare the call that would find nothing. */
	if (instr->answers_last)
		conn->flags &= ~(uint32_t)NM_CONN_IN;
	return true;
}

ssize_t nm_datagram_discard(struct nm_io *io, struct nm_conn *conn)
{
	static const struct nm_instr nobodys = {.step = NULL};
	ssize_t n = nm_conn_recv(conn->transport, conn, io->rx, io->chunk);

	if (n >= 0)
		(void)take(io, conn, &nobodys, (size_t)n);
	return n;
}

enum nm_step nm_datagram_read(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		ssize_t n = nm_conn_recv(instr->transport, conn, io->rx, io->chunk);

		if (n >= 0) {
			if (take(io, conn, instr, (size_t)n))
				return NM_STEP_NEXT;
		} else if (n == -EAGAIN) {
			conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
		} else if (n != -ECONNREFUSED) { /* what an earlier message has met is lost */
			flow->error = (int)-n;
			return NM_STEP_FAIL;
		}
	}
	return NM_STEP_YIELD;
}

enum nm_step nm_datagram_write(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;
	size_t size = (size_t)nm_message_bytes(io, flow, instr);

	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	if (!(conn->flags & NM_CONN_ASKING)) {
		conn->heard = conn->sent;
		conn->flags |= NM_CONN_ASKING;
	}
	if (size >= NM_DATAGRAM_STAMP) {
		const struct stamp stamp = {.number = htonl(conn->sent + 1),
					    .seen = htonl(conn->seen)};

		memcpy(io->tx, &stamp, sizeof stamp);
	}
	ssize_t n = nm_conn_send(instr->transport, conn, instr->message_opts, io->tx, size);

	if (n == -ECONNREFUSED) /* what an earlier message has met; this one is not sent yet */
		n = nm_conn_send(instr->transport, conn, instr->message_opts, io->tx, size);
	if (n == -EAGAIN) {
		conn->flags &= ~(uint32_t)NM_CONN_OUT;
		return NM_STEP_WAIT_OUT;
	}
	if (n == -ENOBUFS)
		return NM_STEP_YIELD;
	if (n < 0 && n != -ECONNREFUSED) {
		flow->error = (int)-n;
		return NM_STEP_FAIL;
	}
	conn->sent++;
	nm_counter_add(&io->count->bytes_sent, size);
	nm_counter_add(&io->count->messages_sent, 1);
	return NM_STEP_NEXT;
}
