/* SPDX-License-Identifier: Apache-2.0 */
/* Over the stream a query is as any request, but that no failure of the connection ends the run: a
 * server may have nobody who listens there. */
#include "flowop/tcp_fallback.h"

#include <errno.h>

#include "flowop/datagram.h"
#include "flowop/open_opts.h"
#include "transport/io.h"

static void close_conn(struct nm_conn *conn)
{
	if (conn->flags & NM_CONN_OPEN)
		conn->transport->close(conn, false);
}

/* Opens the connection: 0: it is there; -EINPROGRESS; or another -errno. */
static int open_conn(const struct nm_io *io, const struct nm_flow *flow,
		     const struct nm_instr *instr)
{
	struct nm_conn *conn = flow->conn;

	if (conn->flags & NM_CONN_CONNECTING)
		return nm_open_continue(conn);
	conn->state = NULL;
	conn->wishes = 0;
	int r = nm_opening_begin(conn, instr->ask.fallback.transport,
				 instr->ask.fallback.transport_opts,
				 nm_flow_endpoint(io, flow, instr));

	if (r == -EINPROGRESS)
		conn->flags = (conn->flags & ~(uint32_t)NM_CONN_OUT) | NM_CONN_CONNECTING;
	return r;
}

/* NEXT: the request may be sent. */
static enum nm_step connect_step(const struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr, struct nm_asking *asking)
{
	int r = open_conn(io, flow, instr);

	if (r == -EINPROGRESS)
		return NM_STEP_WAIT_OUT;
	if (r < 0)
		return nm_asking_lose(io, flow, instr, asking, r);
	nm_counter_add(&io->count->connects, 1);
	flow->progress = NM_ASK_SENDING;
	return NM_STEP_NEXT;
}

/* Whether a connection has failed as those to servers do, and not for want of means here. */
static bool is_of_server(int error)
{
	return nm_datagram_is_unreachable(-error) || error == ECONNRESET || error == EPIPE ||
	       error == ETIMEDOUT || error == EPROTO;
}

static void come_back(struct nm_flow *flow, struct nm_asking *asking)
{
	flow->conn = nm_flow_conn(flow, asking->instead_of - 1u);
	asking->instead_of = 0;
	flow->left = 0;
	flow->progress = NM_ASK_BEGIN;
}

static enum nm_step go_on(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			  struct nm_asking *asking)
{
	enum nm_step answer = NM_STEP_NEXT;

	if (flow->progress == NM_ASK_CONNECTING)
		answer = connect_step(io, flow, instr, asking);
	if (answer == NM_STEP_NEXT && flow->progress == NM_ASK_SENDING)
		answer = nm_asking_send(io, flow, instr, asking);
	return answer == NM_STEP_NEXT ? nm_asking_await(io, flow, instr, asking) : answer;
}

/* Begins with the request, over a connection that is open, or is opened now. */
static void begin(struct nm_flow *flow, struct nm_asking *asking)
{
	asking->again = asking->any = asking->cut = asking->unasked = asking->refused = false;
	nm_app_parser_begin(&asking->parser);
	flow->error = 0;
	flow->ended = false;
	flow->left = 0;
	flow->progress = flow->conn->flags & NM_CONN_OPEN ? NM_ASK_SENDING : NM_ASK_CONNECTING;
}

enum nm_step nm_tcp_fallback_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr, struct nm_asking *asking)
{
	enum nm_step answer = go_on(io, flow, instr, asking);

	if (answer == NM_STEP_FAIL && asking->again) {
		/* The server has ended a good connection, as servers do after some seconds. */
		nm_counter_add(&io->count->reissued, 1);
		close_conn(flow->conn);
		begin(flow, asking);
		answer = go_on(io, flow, instr, asking);
	}
	if (answer == NM_STEP_FAIL && is_of_server(flow->error)) {
		close_conn(flow->conn);
		flow->error = 0;
		answer = NM_STEP_NEXT;
	}
	flow->ended = false;
	if (answer == NM_STEP_NEXT)
		come_back(flow, asking);
	return answer;
}

enum nm_step nm_tcp_fallback_begin(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr, const struct nm_asking *cut)
{
	struct nm_conn *before = flow->conn;

	flow->conn = nm_flow_conn(flow, instr->ask.fallback.slot);
	struct nm_asking *asking = nm_app_state(io, flow);

	/* An answer that the end of a phase has cut off would be taken for that to this query. */
	if (asking->instead_of || (flow->conn->traits & NM_CONN_LAST) ||
	    ((flow->conn->flags & NM_CONN_OPEN) &&
	     nm_asking_look(io, flow, instr, asking) != NM_STEP_NEXT))
		close_conn(flow->conn);
	asking->request = cut->request;
	asking->due_ns = cut->due_ns;
	asking->sent_ns = cut->sent_ns;
	asking->instead_of = (uint16_t)(before - nm_flow_conn(flow, 0) + 1);
	nm_counter_add(&nm_app_outcomes(io, flow, instr)->tcp_fallback, 1);
	begin(flow, asking);
	return nm_tcp_fallback_step(io, flow, instr, asking);
}

void nm_ask_give_up(const struct nm_io *io, struct nm_flow *flow)
{
	struct nm_asking *asking = nm_app_state(io, flow);

	if (!asking->instead_of)
		return;
	close_conn(flow->conn);
	come_back(flow, asking);
}
