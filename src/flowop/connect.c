/* SPDX-License-Identifier: Apache-2.0 */
/* connect: opens a connection; to a listener that serves several flows it says by a preamble for
 * which flow the connection is. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "flowop/flowop.h"
#include "flowop/multipath.h"
#include "flowop/open_opts.h"
#include "host/clock.h"
#include "host/syscalls.h"
#include "transport/address.h"
#include "transport/preamble.h"
#include "transport/conn_cache.h"
#include "transport/transport.h"

/* How long to wait before trying a listener again whose queue was full (unix(7): EAGAIN). */
#define RETRY_NS 200000u

static enum nm_step retry_later(struct nm_flow *flow)
{
	flow->timer.at_ns = nm_clock_ns() + RETRY_NS;
	return NM_STEP_SLEEP;
}

/* Whether the preamble goes out as soon as the socket takes it, maybe at once: its send finds out
 * when the connection is there, or why not. */
static bool sends_at_once(const struct nm_instr *instr)
{
	return instr->open.has_preamble && (instr->transport->caps & NM_TRANSPORT_TCP) &&
	       !instr->transport->preamble->queue;
}

static bool precedes_write(const struct nm_instr *instr)
{
	const uint32_t writes = NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES;

	return !instr->can_fail && !instr->transport->send &&
	       !(instr->transport->caps & NM_TRANSPORT_WAITS) && instr[1].op &&
	       (instr[1].op->flags & writes) == writes && instr[1].slot == instr->slot;
}

/* Whether a write follows, which finds out by itself when the connection is there, or why not: that
 * spares the wait in between. */
static bool write_follows(const struct nm_instr *instr)
{
	return precedes_write(instr) && !instr->open.has_preamble;
}

/* The wish that the first bytes may go with the connection's first packet, where bytes come at
 * once. */
static uint8_t writes_first(const struct nm_instr *instr)
{
	bool first = instr->open.has_preamble ? sends_at_once(instr) && precedes_write(instr)
					      : precedes_write(instr) || instr->transport->send;

	return first ? NM_CONN_WRITES_FIRST : 0;
}

/* --- the preamble --- */

static struct nm_preamble preamble_of(const struct nm_io *io, const struct nm_flow *flow,
				      const struct nm_instr *instr, uint32_t serial)
{
	return (struct nm_preamble){.group = io->group,
				    .opening = instr->opening,
				    .flow = flow->index,
				    .serial = serial};
}

/* Whether the preamble goes out before the transport's own handshake. */
static bool precedes_handshake(const struct nm_instr *instr)
{
	return instr->open.has_preamble && instr->transport->preamble->queue;
}

/* Whether the preamble may be lost: it is repeated until the answer comes. */
static bool is_answered(const struct nm_instr *instr)
{
	return instr->open.has_preamble && instr->transport->datagram;
}

/* Has the transport send the preamble when the connection is there. */
static void leave_preamble(const struct nm_io *io, struct nm_flow *flow,
			   const struct nm_instr *instr)
{
	struct nm_preamble_sender sender;
	char wire[NM_PREAMBLE_BYTES];

	nm_preamble_begin(&sender, &flow->serials, 0);
	struct nm_preamble preamble = preamble_of(io, flow, instr, sender.serial);

	nm_preamble_pack(&preamble, NM_PREAMBLE_HELLO, io->prover, io->nonces[instr->host], wire);
	instr->transport->preamble->queue(flow->conn, wire, sizeof wire);
}

/* Sends the preamble: 0 or -errno. The first bytes of a stream always have room. */
static int send_preamble(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 const struct nm_preamble_sender *sender)
{
	struct nm_preamble preamble = preamble_of(io, flow, instr, sender->serial);
	char wire[NM_PREAMBLE_BYTES];

	/* A socket that the answer may redirect is not connected yet. */
	const struct nm_addr *to =
		instr->transport->datagram ? &io->endpoints[instr->opening] : NULL;

	memcpy(preamble.cookie, sender->cookie, sizeof preamble.cookie);
	nm_preamble_pack(&preamble, NM_PREAMBLE_HELLO, io->prover, io->nonces[instr->host], wire);
	ssize_t n = sendto(flow->conn->fd, wire, sizeof wire, MSG_NOSIGNAL,
			   to ? (const struct sockaddr *)&to->sa : NULL, to ? to->len : 0);

	if (n == (ssize_t)sizeof wire)
		return 0;
	return n < 0 ? -errno : -EMSGSIZE;
}

/* Sends the first preamble of an open connection: 0 or -errno. */
static int begin_preamble(const struct nm_io *io, struct nm_flow *flow,
			  const struct nm_instr *instr)
{
	struct nm_preamble_sender sender;
	bool answered = is_answered(instr);

	nm_preamble_begin(&sender, &flow->serials, answered ? nm_clock_ns() : 0);
	if (answered) {
		flow->conn->preamble = sender;
		flow->conn->flags |= NM_CONN_PREAMBLE;
	}
	return send_preamble(io, flow, instr, &sender);
}

/* Reads replies, and returns a challenge: 0, and the connection goes on at the port that the answer
 * names; -EAGAIN: no answer yet; or another -errno. */
static int read_answer(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_preamble_sender *sender = &flow->conn->preamble;
	struct nm_preamble sent = preamble_of(io, flow, instr, sender->serial);
	char wire[NM_PREAMBLE_BYTES + 1];
	uint32_t port;

	for (;;) {
		ssize_t n = nm_sys_recv(flow->conn->fd, wire, sizeof wire, 0);

		if (n == -ECONNREFUSED) /* an earlier preamble was refused */
			continue;
		if (n < 0)
			return (int)n;
		switch (nm_preamble_read_reply(sender, &sent, wire, (size_t)n, io->prover,
					       io->nonces[instr->host], &port)) {
		case NM_PREAMBLE_UNRELATED:
			break;
		case NM_PREAMBLE_CHALLENGED:
			/* A preamble that cannot be sent now counts as lost. */
			(void)send_preamble(io, flow, instr, sender);
			break;
		case NM_PREAMBLE_ANSWERED:
			return instr->transport->datagram->retarget(
				flow->conn, &io->endpoints[instr->opening], port);
		}
	}
}

/* No answer yet: repeats the preamble when that is due, and waits until it is due again. */
static enum nm_step repeat_preamble(const struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr)
{
	struct nm_preamble_sender *sender = &flow->conn->preamble;
	uint64_t next_ns;

	switch (nm_preamble_due(sender, instr->open.preamble_ns, nm_clock_ns(), &next_ns)) {
	case NM_PREAMBLE_SEND:
		/* A preamble that cannot be sent now counts as lost. */
		(void)send_preamble(io, flow, instr, sender);
		break;
	case NM_PREAMBLE_WAIT:
		break;
	case NM_PREAMBLE_GIVE_UP:
		nm_counter_add(&io->count->timeouts, 1);
		flow->error = ETIMEDOUT;
		return NM_STEP_FAIL;
	}
	flow->conn->flags &= ~(uint32_t)NM_CONN_IN;
	flow->timer.at_ns = next_ns;
	return NM_STEP_WAIT_IN;
}

static enum nm_step connected(const struct nm_io *io, struct nm_flow *flow)
{
	nm_counter_add(&io->count->connects, 1);
	nm_multipath_look(io, flow->conn);
	return NM_STEP_NEXT;
}

/* The preamble is sent; the connection counts as open when the answer has come. */
static enum nm_step await_answer(const struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	int r = read_answer(io, flow, instr);

	if (r == -EAGAIN)
		return repeat_preamble(io, flow, instr);
	flow->timer.at_ns = 0;
	if (r < 0) {
		flow->error = -r;
		return NM_STEP_FAIL;
	}
	flow->conn->flags &= ~(uint32_t)NM_CONN_PREAMBLE;
	flow->conn->preamble = (struct nm_preamble_sender){.serial = 0};
	return connected(io, flow);
}

/* --- the connection --- */

/* How long the worker waits before it looks whether the run is over. */
#define SLICE_NS 50000000u

/* Waits like a connect(2) that blocks: 0: there is an answer, which nm_open_continue reads;
 * -ETIMEDOUT; or -EINPROGRESS when the run is over. */
static int wait_for_answer(struct nm_io *io, const struct nm_conn *conn, uint64_t limit_ns)
{
	struct pollfd fd = {.fd = conn->fd, .events = POLLOUT};
	uint64_t end_ns = limit_ns ? nm_clock_ns() + limit_ns : UINT64_MAX;
	uint64_t left_ns = limit_ns ? limit_ns : SLICE_NS;

	while (!io->quit || !atomic_load_explicit(io->quit, memory_order_relaxed)) {
		int n = nm_sys_poll(&fd, 1, (int64_t)(left_ns < SLICE_NS ? left_ns : SLICE_NS));

		/* The limits of the next waits count from now on. */
		io->now_ns = nm_clock_ns();
		if (n > 0)
			return 0;
		if (io->now_ns >= end_ns)
			return -ETIMEDOUT;
		left_ns = end_ns - io->now_ns;
	}
	return -EINPROGRESS;
}

/* Without async the whole worker waits for the connection; but not for a handshake that comes after
 * the kernel's. */
static int connect_now(struct nm_io *io, struct nm_conn *conn, const struct nm_instr *instr)
{
	int r = wait_for_answer(io, conn, instr->timeout_ns);

	conn->flags &= ~(uint32_t)NM_CONN_OUT;
	if (r == -ETIMEDOUT)
		nm_counter_add(&io->count->timeouts, 1);
	if (r < 0)
		return r;
	conn->flags |= NM_CONN_OUT;
	return nm_open_continue(conn);
}

/* The connection is there, and its preamble on the way. */
#define PROVED 1

/* Begins to open the connection: 0, PROVED, -EINPROGRESS, or another -errno. */
static int open_conn(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	conn->lossy = instr->lossy;
	conn->state = io->started[instr->opening];
	if (io->cache)
		conn->fd = nm_conn_cache_take(io->cache);
	conn->wishes = (uint8_t)(writes_first(instr) |
				 (instr->open.defer_handshake ? NM_CONN_DEFER_HANDSHAKE : 0));
	int r = nm_opening_begin(conn, instr->transport, instr->open.transport_opts,
				 nm_flow_endpoint(io, flow, instr));

	/* A server that is not netmodel answers from the port that it is asked at. */
	if (r == 0 && instr->transport->datagram && !instr->open.has_preamble) {
		const struct nm_addr *to = nm_flow_endpoint(io, flow, instr);

		r = instr->transport->datagram->retarget(conn, to, nm_addr_port(to));
	}
	if (r != -EINPROGRESS)
		return r;
	if (precedes_handshake(instr))
		leave_preamble(io, flow, instr);
	conn->flags |= NM_CONN_CONNECTING;
	if (!((const struct nm_opts_open *)instr->opts)->async)
		return connect_now(io, conn, instr);
	if (write_follows(instr) && !(conn->flags & NM_CONN_UNSETTLED))
		return 0;
	if (sends_at_once(instr))
		r = begin_preamble(io, flow, instr);
	if (r == 0) {
		conn->flags &= ~(uint32_t)NM_CONN_CONNECTING;
		return PROVED;
	}
	conn->flags &= ~(uint32_t)NM_CONN_OUT;
	return r == -EAGAIN ? -EINPROGRESS : r;
}

static enum nm_step connect_step(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (conn->flags & NM_CONN_PREAMBLE)
		return await_answer(io, flow, instr);
	int r = conn->flags & NM_CONN_CONNECTING ? nm_open_continue(conn)
						 : open_conn(io, flow, instr);

	flow->timer.at_ns = 0;
	if (conn->flags & NM_CONN_OPEN) {
		if (r == -EINPROGRESS)
			return NM_STEP_WAIT_OUT;
		if (r == -EAGAIN)
			return NM_STEP_WAIT_IN;
	}
	if (r == -EAGAIN)
		return retry_later(flow);
	bool proved = r == PROVED || precedes_handshake(instr);

	if (r >= 0 && (conn->flags & NM_CONN_UNSETTLED))
		r = instr->transport->socket->settle(conn, instr->open.transport_opts);
	if (r >= 0 && instr->open.has_preamble && !proved)
		r = begin_preamble(io, flow, instr);
	if (r < 0) {
		flow->error = -r;
		return NM_STEP_FAIL;
	}
	if (is_answered(instr))
		return await_answer(io, flow, instr);
	return connected(io, flow);
}

const struct nm_flowop nm_flowop_connect = {
	.name = "connect",
	.mirror_op = &nm_flowop_accept,
	.help = "opens a connection to the other host, which accepts it",
	.flags = NM_FLOWOP_OPENS | NM_FLOWOP_INITIATES,
	.opts = nm_open_opts,
	.opts_size = sizeof(struct nm_opts_open),
	.step = connect_step,
};
