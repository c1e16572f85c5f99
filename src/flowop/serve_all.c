/* SPDX-License-Identifier: Apache-2.0 */
/* accept with from=any, and serve: whoever connects is answered for as long as the connection
 * lasts. */
#include "app/fault.h"
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
	if (answer != NM_STEP_FAIL ||
	    !((flow->conn->flags & NM_CONN_OPEN) || nm_socket_lacks_room(flow->error)))
		return answer;
	nm_counter_add(&io->count->errors, 1);
	flow->error = 0;
	/* Whoever has connected cannot make the connection secure; the next one may. */
	if (flow->conn->flags & NM_CONN_OPEN) {
		flow->conn->transport->close(flow->conn, false);
		flow->conn->flags = 0;
		return NM_STEP_YIELD;
	}
	flow->timer.at_ns = nm_clock_ns() + PAUSE_NS;
	return NM_STEP_SLEEP;
}

/* --- a request --- */

/* How far it is: flow->progress, which is WORKING + its fault while it is served. */
enum { TAKING, WORKING };

static enum nm_fault fault_of(const struct nm_flow *flow)
{
	return flow->progress > WORKING ? (enum nm_fault)(flow->progress - WORKING) : NM_FAULT_NONE;
}

/* What is drawn depends on the connection's number among those of the flow, and on the request's
 * number among those of the connection. */
static void begin(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_law *service = &((const struct nm_opts_serve *)instr->opts)->service;
	const struct nm_faults *faults = instr->ask.faults;
	const uint64_t key = nm_step_key(io, flow, instr);
	enum nm_fault fault = faults ? nm_fault_draw(faults, ~key, flow->repeated) : NM_FAULT_NONE;
	uint64_t ns = service->max ? nm_law_draw(service, key, flow->repeated) : 0;

	if (fault == NM_FAULT_STALL && faults->stall_ns) {
		fault = NM_FAULT_NONE;
		ns += faults->stall_ns;
	}
	/* or the client would send its next request in between */
	if (fault == NM_FAULT_HANGUP)
		nm_conn_hold(flow->conn);
	nm_fault_spoil(fault, instr->ask.app, nm_serve_served(io, flow));
	flow->progress = (uint8_t)(WORKING + fault);
	flow->timer.at_ns = ns ? nm_clock_ns() + ns : 0;
}

/* NEXT: the request has been served for its time. */
static enum nm_step work(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	if (flow->progress == TAKING)
		begin(io, flow, instr);
	if (!flow->timer.at_ns)
		return NM_STEP_NEXT;
	if (nm_clock_ns() < flow->timer.at_ns)
		return NM_STEP_SLEEP;
	flow->timer.at_ns = 0;
	return NM_STEP_NEXT;
}

static bool is_answered(enum nm_fault fault)
{
	return fault != NM_FAULT_STALL && fault != NM_FAULT_CLOSE && fault != NM_FAULT_RESET;
}

/* As the client has to count it. */
static void count(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr)
{
	const enum nm_fault fault = fault_of(flow);

	if (fault == NM_FAULT_NONE || fault == NM_FAULT_HANGUP || fault == NM_FAULT_ERROR) {
		nm_serve_count(io, flow, instr);
		return;
	}
	struct nm_outcome_counters *outcomes =
		nm_serve_outcomes(io, instr, (enum nm_verb)nm_serve_served(io, flow)->verb);

	if (fault == NM_FAULT_STALL)
		nm_counter_add(&outcomes->timed_out, 1);
	else if (fault == NM_FAULT_LONG || fault == NM_FAULT_GARBAGE)
		nm_counter_add(&outcomes->malformed, 1);
	else
		nm_counter_add(&outcomes->lost, 1);
}

/* A pass of serve with a service time or faults. */
static enum nm_step serve_altered(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	enum nm_step answer = nm_serve_take(io, flow, instr);

	if (answer == NM_STEP_NEXT)
		answer = work(io, flow, instr);
	if (answer == NM_STEP_NEXT && is_answered(fault_of(flow)))
		answer = nm_serve_send(io, flow, instr);
	if (answer == NM_STEP_NEXT) {
		count(io, flow, instr);
		flow->repeated++;
	}
	return answer;
}

/* --- a connection --- */

/* Whether it is over behind the present request. */
static bool is_over(const struct nm_io *io, const struct nm_flow *flow)
{
	const enum nm_fault fault = fault_of(flow);

	return !is_answered(fault) || fault == NM_FAULT_SHORT || fault == NM_FAULT_HANGUP ||
	       nm_serve_is_over(io, flow);
}

/* Sends the end of the stream that nm_conn_hold waits for. A close alone would drop what waits
 * where something came that nobody has read. */
static void end_stream(struct nm_conn *conn)
{
	if (conn->transport->finish)
		conn->transport->finish(conn);
	else
		nm_socket_finish(conn);
	conn->traits &= ~(uint32_t)NM_CONN_FINISHED; /* nobody waits for the client's */
}

/* Whether the client is told that what it has got is all. Over TLS that is the server's part in any
 * case: an end of TCP alone may be somebody else's. */
static bool ends_in_order(const struct nm_conn *conn, enum nm_fault fault)
{
	return fault == NM_FAULT_HANGUP ||
	       (fault == NM_FAULT_NONE && (conn->transport->caps & NM_TRANSPORT_TLS));
}

/* The connection is of no more use; what closes it need not wait for the client, unless that is to
 * wait in vain. */
static enum nm_step leave(struct nm_flow *flow)
{
	const enum nm_fault fault = fault_of(flow);

	if (fault == NM_FAULT_RESET)
		nm_conn_linger(flow->conn, 0);
	else if (ends_in_order(flow->conn, fault))
		end_stream(flow->conn);
	if (fault != NM_FAULT_STALL)
		flow->conn->flags |= NM_CONN_HUP;
	flow->progress = TAKING;
	flow->repeated = 0;
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
		nm_counter_add(&nm_serve_outcomes(io, instr, NM_VERB_NONE)->malformed, 1);
	else if (nm_serve_is_under_way(io, flow, &verb))
		nm_counter_add(&nm_serve_outcomes(io, instr, verb)->lost, 1);
}

/* altered: requests have service times or faults. */
static inline __attribute__((always_inline)) enum nm_step
serve_all(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr, bool altered)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		enum nm_step answer = altered ? serve_altered(io, flow, instr)
					      : nm_flowop_serve.step(io, flow, instr);

		if (answer == NM_STEP_FAIL)
			count_failed(io, flow, instr);
		if (answer == NM_STEP_FAIL ||
		    (answer == NM_STEP_NEXT &&
		     (altered ? is_over(io, flow) : nm_serve_is_over(io, flow))))
			return leave(flow);
		if (answer != NM_STEP_NEXT)
			return answer;
		if (altered)
			flow->progress = TAKING;
	}
	return NM_STEP_YIELD;
}

static enum nm_step all_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	return serve_all(io, flow, instr, false);
}

static enum nm_step all_altered_step(struct nm_io *io, struct nm_flow *flow,
				     const struct nm_instr *instr)
{
	return serve_all(io, flow, instr, true);
}

nm_step_fn nm_serve_all_step(const void *opts, const struct nm_faults *faults)
{
	const struct nm_opts_serve *o = opts;

	return faults || o->service.max ? all_altered_step : all_step;
}
