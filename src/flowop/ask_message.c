/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a request where messages may be lost, and looks for its answer in what comes. */
#include <errno.h>

#include "flowop/asking.h"
#include "flowop/datagram.h"
#include "flowop/message.h"
#include "flowop/tcp_fallback.h"
#include "transport/io.h"

enum nm_step nm_asking_send_message(struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr, struct nm_asking *asking,
				    bool *ret_refused)
{
	struct nm_conn *conn = flow->conn;

	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	size_t size = instr->ask.app->datagram->encode(&asking->request, io->tx);
	ssize_t n = nm_conn_call_send(conn, NULL, io->tx, size);

	if (nm_datagram_is_unreachable(n)) { /* perhaps an earlier one; this is not sent yet */
		*ret_refused = true;
		n = nm_conn_call_send(conn, NULL, io->tx, size);
	}
	if (n < 0 && !nm_datagram_is_unreachable(n)) {
		if (nm_io_sent_nothing(conn, n) == NM_IO_AGAIN)
			return NM_STEP_WAIT_OUT;
		return n == -ENOBUFS ? NM_STEP_YIELD : nm_flow_failed(flow, n);
	}
	asking->refused = n < 0;
	nm_io_count_messages_sent(io, size, 1);
	flow->progress = NM_ASK_AWAITING;
	return NM_STEP_NEXT;
}

/* Whether a message of n bytes is the answer. */
static bool is_answer(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
		      struct nm_asking *asking, size_t n)
{
	const struct nm_app_datagram *datagram = instr->ask.app->datagram;

	const bool is =
		datagram->parse(&asking->parser, &asking->request, io->rx, n) == NM_PARSED_DONE;

	if (!is && n == NM_PREAMBLE_BYTES && !io->apps.servers[instr->opening].count &&
	    nm_datagram_is_preamble(io, flow->conn, instr, io->rx))
		return false;
	nm_io_count_message_received(io, n);
	nm_counter_add(&io->count->late, !is);
	return is;
}

/* Nobody waits for the answer any more. */
static enum nm_step end_late_message(struct nm_io *io, struct nm_flow *flow,
				     const struct nm_instr *instr, const struct nm_asking *asking)
{
	struct nm_outcome_counters *outcomes = nm_app_outcomes(io, flow, instr);

	nm_asking_give_up(flow, instr, asking->refused ? &outcomes->lost : &outcomes->timed_out);
	nm_counter_add(&io->count->timeouts, 1);
	nm_datagram_give_up(flow->conn);
	flow->request.outcome = NM_TIMEOUT;
	flow->progress = NM_ASK_BEGIN;
	return NM_STEP_NEXT;
}

/* The answer is there, in time. */
static enum nm_step take(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 struct nm_asking *asking)
{
	if (asking->parser.class == NM_CLASS_TRUNCATED && instr->ask.fallback.transport)
		return nm_tcp_fallback_begin(io, flow, instr, asking);
	return nm_asking_end(io, flow, instr, asking);
}

static enum nm_step await_message(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr, struct nm_asking *asking)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		ssize_t n = nm_conn_call_recv(io, conn, io->chunk);

		if (n >= 0 && is_answer(io, flow, instr, asking, (size_t)n)) {
			/* Nothing else can come before the next request but what is late, which is
			 * found with its answer. */
			conn->flags &= io->in_kept;
			if (!nm_asking_is_late(asking))
				return take(io, flow, instr, asking);
			nm_counter_add(&io->count->late, 1);
			return end_late_message(io, flow, instr, asking);
		}
		/* The flow waits on, as one that asked again at once would do nothing else. */
		if (nm_datagram_is_unreachable(n))
			asking->refused = true;
		else if (n < 0 && nm_io_received_nothing(conn, n) != NM_IO_AGAIN)
			return nm_flow_failed(flow, n);
		if (!io->recv_flags)
			return NM_STEP_WAIT_IN;
	}
	/* Something else keeps coming, so that the flow never waits: its limit holds anyway. */
	return nm_asking_is_late_by_now(asking, instr) ? end_late_message(io, flow, instr, asking)
						       : NM_STEP_YIELD;
}

enum nm_step nm_ask_datagram_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	struct nm_asking *asking = nm_app_state(io, flow);
	enum nm_step answer = NM_STEP_NEXT;
	bool refused; /* an earlier one, which is over */

	if (flow->progress == NM_ASK_BEGIN)
		answer = nm_asking_begin(io, flow, instr, asking);
	else if (asking->instead_of)
		return nm_tcp_fallback_step(io, flow, instr, asking);
	if (flow->progress == NM_ASK_SENDING)
		answer = nm_asking_send_message(io, flow, instr, asking, &refused);
	return answer == NM_STEP_NEXT ? await_message(io, flow, instr, asking) : answer;
}
