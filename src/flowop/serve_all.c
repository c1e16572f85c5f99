/* SPDX-License-Identifier: Apache-2.0 */
/* accept with from=any, and serve: whoever connects is answered for as long as the connection
 * lasts. */
#include "flowop/ask.h"
#include "flowop/message.h"
#include "host/clock.h"
#include "transport/socket.h"

/* The pause of a flow for whose connection there is no room. */
#define PAUSE_NS 100000000u

enum nm_step nm_accept_any_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	enum nm_step answer = nm_flowop_accept.step(io, flow, instr);

	if (answer == NM_STEP_NEXT) /* the pass is how long the connection lasts */
		flow->request.sent_ns = nm_clock_ns();
	if (answer != NM_STEP_FAIL || !nm_socket_lacks_room(flow->error))
		return answer;
	nm_counter_add(&io->count->errors, 1);
	flow->error = 0;
	flow->timer.at_ns = nm_clock_ns() + PAUSE_NS;
	return NM_STEP_SLEEP;
}

/* --- a request --- */

/* How far the present request is: flow->progress. */
enum { TAKING, SERVING };

/* NEXT: the request has been served for its time. What is drawn depends on the connection's number
 * among those of the flow, and on the request's number among those of the connection. */
static enum nm_step work(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_law *service = &((const struct nm_opts_serve *)instr->opts)->service;

	if (!service->max)
		return NM_STEP_NEXT;
	if (flow->progress == TAKING) {
		const uint64_t key = nm_step_key(io, flow, instr);

		flow->progress = SERVING;
		flow->timer.at_ns = nm_clock_ns() + nm_law_draw(service, key, flow->repeated);
	}
	if (!flow->timer.at_ns)
		return NM_STEP_NEXT;
	if (nm_clock_ns() < flow->timer.at_ns)
		return NM_STEP_SLEEP;
	flow->timer.at_ns = 0;
	return NM_STEP_NEXT;
}

static enum nm_step serve_one(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	enum nm_step answer = nm_serve_take(io, flow, instr);

	if (answer == NM_STEP_NEXT)
		answer = work(io, flow, instr);
	if (answer == NM_STEP_NEXT)
		answer = nm_serve_send(io, flow, instr);
	if (answer == NM_STEP_NEXT) {
		flow->progress = TAKING;
		flow->repeated++;
	}
	return answer;
}

/* --- a connection --- */

/* The connection is of no more use; what closes it need not wait for the client. */
static enum nm_step leave(struct nm_flow *flow)
{
	flow->progress = TAKING;
	flow->repeated = 0;
	flow->conn->flags |= NM_CONN_HUP;
	flow->error = 0;
	flow->ended = false;
	return NM_STEP_NEXT;
}

/* The connection has failed; with it the request that was under way, if any. */
static void count_failed(const struct nm_io *io, const struct nm_flow *flow,
			 const struct nm_instr *instr)
{
	enum nm_verb verb;

	if (flow->error == EPROTO)
		nm_counter_add(&nm_serve_count_request(io, instr, NM_VERB_NONE)->malformed, 1);
	else if (nm_serve_is_under_way(io, flow, &verb))
		nm_counter_add(&nm_serve_count_request(io, instr, verb)->lost, 1);
}

enum nm_step nm_serve_all_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		enum nm_step answer = serve_one(io, flow, instr);

		if (answer == NM_STEP_FAIL)
			count_failed(io, flow, instr);
		if (answer == NM_STEP_FAIL ||
		    (answer == NM_STEP_NEXT && nm_serve_is_over(io, flow)))
			return leave(flow);
		if (answer != NM_STEP_NEXT)
			return answer;
	}
	return NM_STEP_YIELD;
}
