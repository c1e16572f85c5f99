/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces connections that will not last, since their keys will expire, while their phase goes on;
 * and connections to servers that are not netmodel, which have ended between two requests.
 *
 * The side that leads the phase closes such a connection where one of its passes is over and the
 * next has not begun, so that nothing is on the way to it, and all that it has sent arrives before
 * the end of the stream. The other side finds that end where its pass begins. Each side then opens
 * the connection anew as it did the first time, by its connect or its accept. Only the counts of
 * openings differ after that.
 *
 * Connections that last as long as the profile says (flowop/life.h) are replaced in the same way
 * by the side that asks over them, and before a request within a pass, too.
 *
 * A connection that was not replaced in time is dead, and nothing tells so but the transport: a
 * flow that waits for it fails. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/runq.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/reopen.h"
#include "engine/phase/retry.h"
#include "flowop/ask.h"
#include "flowop/flowop.h"
#include "flowop/queue.h"
#include "host/clock.h"
#include "plan/shape.h"
#include "transport/transport.h"

/* The last instruction of a program that opens a connection anew: it fails, and
 * nm_reconnect_goes_on has the flow go on where it was, which no step can do. */
static enum nm_step replaced_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	(void)io;
	(void)flow;
	(void)instr;
	return NM_STEP_FAIL;
}

/* Before a connection is opened anew once more. */
static enum nm_step pause_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	(void)io;
	(void)instr;
	if (flow->timer.at_ns > nm_clock_ns())
		return NM_STEP_SLEEP;
	flow->timer.at_ns = 0;
	return NM_STEP_NEXT;
}

static void make_program(const struct nm_instr *opening, struct nm_instr *program)
{
	for (unsigned i = 0; i < NM_REOPEN__COUNT; i++)
		program[i] = *opening;
	program[NM_REOPEN_PAUSE].step = pause_step;
	program[NM_REOPEN_OPEN].open.defer_handshake = false;
	program[NM_REOPEN_OPEN].can_fail = false;
	program[NM_REOPEN_DONE].step = replaced_step;
	if (nm_instr_is_to_server(opening))
		nm_retry_limit(&program[NM_REOPEN_OPEN]);
}

int nm_reconnect_init(struct nm_worker *worker)
{
	const struct nm_group *group = worker->group;
	struct nm_reconnect *reconnect = &worker->reconnect;

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (!nm_instr_opens(instr) ||
		    (!nm_transport_reconnects(instr->transport) && !nm_instr_is_to_server(instr) &&
		     !nm_instr_lives(instr)))
			continue;
		if (!reconnect->openings)
			reconnect->openings = calloc(group->n_openings,
						     NM_REOPEN__COUNT * sizeof(struct nm_instr));
		if (!reconnect->retries && nm_instr_is_to_server(instr))
			reconnect->retries = nm_retry_new(worker->n_flows);
		if (!reconnect->openings || (!reconnect->retries && nm_instr_is_to_server(instr)))
			return -ENOMEM;
		make_program(instr,
			     &reconnect->openings[(size_t)NM_REOPEN__COUNT * instr->opening]);
	}
	return 0;
}

void nm_reconnect_fini(struct nm_reconnect *reconnect)
{
	free(reconnect->openings);
	free(reconnect->retries);
}

static const struct nm_instr *opening_of(const struct nm_worker *worker, const struct nm_conn *conn)
{
	uint32_t slot = (uint32_t)(conn - nm_flow_conn(conn->flow, 0));

	for (uint32_t o = 0; o < worker->group->n_openings; o++) {
		const struct nm_instr *instr =
			&worker->reconnect.openings[(size_t)NM_REOPEN__COUNT * o + NM_REOPEN_OPEN];

		if (instr->op && instr->slot == slot && instr->transport == conn->transport)
			return instr;
	}
	return NULL;
}

/* How many connections of the flow are to be replaced; *ret_first, if not NULL: the first of
 * them. */
static uint32_t reconnects_of(const struct nm_worker *worker, struct nm_flow *flow,
			      struct nm_conn **ret_first)
{
	uint32_t count = 0;

	for (uint32_t c = worker->group->n_conns; c-- > 0;) {
		if ((nm_flow_conn(flow, c)->flags & (NM_CONN_RECONNECT | NM_CONN_OPEN)) !=
		    (NM_CONN_RECONNECT | NM_CONN_OPEN))
			continue;
		count++;
		if (ret_first)
			*ret_first = nm_flow_conn(flow, c);
	}
	return count;
}

bool nm_reconnect_expired(const struct nm_worker *worker, const struct nm_conn *conn, char *why,
			  size_t why_size)
{
	if (!(conn->flags & NM_CONN_OPEN) || !conn->transport->events)
		return false;
	const struct nm_instr *opening = opening_of(worker, conn);

	return opening && conn->transport->events->expired(
				  conn, worker->io.started[opening->opening], why, why_size);
}

static bool any_expired(const struct nm_worker *worker)
{
	char why[1];

	for (uint32_t i = 0; worker->reconnect.openings && i < worker->n_flows; i++)
		for (uint32_t c = 0; c < worker->group->n_conns; c++)
			if (nm_reconnect_expired(worker, nm_flow_conn(nm_worker_flow(worker, i), c),
						 why, sizeof why))
				return true;
	return false;
}

/* The worker looks at expired connections once more when the grace of the first is over. */
void nm_reconnect_watch(struct nm_worker *worker)
{
	if (!worker->run.phase || !any_expired(worker))
		nm_worker_disarm(worker, &worker->reconnect.timer);
	else if (!worker->reconnect.timer.at_ns)
		nm_worker_arm(worker, &worker->reconnect.timer, NM_TIMER_EXPIRY,
			      nm_clock_ns() + NM_TUNE_EXPIRY_GRACE_NS);
}

bool nm_reconnect_is_in_vain(const struct nm_worker *worker, const struct nm_flow *flow)
{
	char why[1];

	return nm_flow_is_waiting(flow) &&
	       nm_reconnect_expired(worker, flow->conn, why, sizeof why);
}

static void count_reconnects(struct nm_worker *worker)
{
	worker->reconnect.pending = 0;
	if (!worker->reconnect.openings || !worker->run.phase ||
	    !worker->run.phase->anew.between_passes || !worker->run.phase->leads)
		return;
	for (uint32_t i = 0; i < worker->n_flows; i++)
		worker->reconnect.pending += reconnects_of(worker, nm_worker_flow(worker, i), NULL);
}

void nm_reconnect_count(struct nm_worker *worker)
{
	count_reconnects(worker);
	nm_reconnect_watch(worker);
}

/* False: no opening of the program can be repeated. */
static bool replace(struct nm_worker *worker, struct nm_flow *flow, struct nm_conn *conn,
		    const struct nm_instr *resume)
{
	const struct nm_instr *opening = opening_of(worker, conn);

	if (opening)
		nm_reopen_begin(worker, flow, conn, opening, resume);
	return opening;
}

/* The same of the flow's present connection, by the opening of that number. */
static void replace_by(struct nm_worker *worker, struct nm_flow *flow, uint32_t number,
		       const struct nm_instr *resume)
{
	const struct nm_instr *program =
		&worker->reconnect.openings[(size_t)NM_REOPEN__COUNT * number];

	nm_reopen_begin(worker, flow, flow->conn, &program[NM_REOPEN_OPEN], resume);
}

/* Replaces a connection whose life is over, unless the phase is to end; arrivals that are due go on
 * until then. No request is under way, and what it takes is no part of a pass. */
static bool replace_in_time(struct nm_worker *worker, struct nm_flow *flow)
{
	if (!worker->run.phase->leads ||
	    (!worker->run.open.on &&
	     atomic_load_explicit(&worker->commands.stop, memory_order_relaxed)))
		return false;
	for (uint32_t c = 0; c < worker->group->n_conns; c++) {
		flow->conn = nm_flow_conn(flow, c);
		struct nm_life *life = nm_ask_life(&worker->io, flow);

		if (!(flow->conn->flags & NM_CONN_OPEN) || !nm_life_ends(flow->conn, life))
			continue;
		if (worker->reconnect.retries)
			nm_retry_begin(worker, flow);
		replace_by(worker, flow, life->opening, worker->run.body);
		return true;
	}
	return false;
}

bool nm_reconnect_before_pass(struct nm_worker *worker, struct nm_flow *flow)
{
	struct nm_conn *conn = NULL;

	flow->between = (worker->run.phase->anew.lives && replace_in_time(worker, flow)) ||
			(worker->reconnect.pending && reconnects_of(worker, flow, &conn) &&
			 replace(worker, flow, conn, worker->run.body));
	return flow->between;
}

/* Flows whose next pass is not due yet need not wait for it: it may be after the next rotation. */
static void hurry(struct nm_worker *worker)
{
	for (uint32_t n = worker->run.open.n_free; n > 0; n--) {
		struct nm_flow *flow = nm_open_take_free(worker);

		if (!nm_reconnect_before_pass(worker, flow))
			nm_open_free(worker, flow);
	}
	if (worker->run.open.on)
		return;
	for (uint32_t i = 0; worker->reconnect.pending && i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state != NM_FLOW_ASLEEP || !flow->paced ||
		    !reconnects_of(worker, flow, NULL))
			continue;
		nm_timers_remove(&worker->timers, &flow->timer);
		flow->paced = !nm_reconnect_before_pass(worker, flow);
		if (flow->paced)
			nm_timers_add(&worker->timers, &flow->timer);
	}
}

void nm_reconnect_command(struct nm_worker *worker)
{
	uint32_t asked = atomic_load_explicit(&worker->commands.reconnect, memory_order_acquire);

	if (asked == worker->reconnect.taken)
		return;
	worker->reconnect.taken = asked;
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		for (uint32_t c = 0; c < worker->group->n_conns; c++)
			if ((nm_flow_conn(flow, c)->flags & NM_CONN_OPEN) &&
			    nm_transport_reconnects(nm_flow_conn(flow, c)->transport))
				nm_flow_conn(flow, c)->flags |= NM_CONN_RECONNECT;
	}
	nm_reconnect_count(worker);
	if (!worker->run.phase)
		return;
	nm_worker_set_end(worker, worker->run.end_at);
	hurry(worker);
}

/* The peer has ended the stream before the message that instr reads: the connection is replaced,
 * and the flow goes on with instr after that. */
static bool replace_after_end(struct nm_worker *worker, struct nm_flow *flow,
			      const struct nm_instr *instr)
{
	const struct nm_phase *phase = worker->run.phase;

	/* Of netmodel's own server: the end that asks has had enough of it. */
	if (phase->anew.lives && nm_instr_asks(instr) &&
	    (!phase->leads || (flow->conn->traits & NM_CONN_LAST))) {
		replace_by(worker, flow, instr->opening, instr);
		return true;
	}
	if (!phase->anew.between_passes || phase->leads || !instr->pass.rekey_point ||
	    flow->repeated)
		return false;
	return replace(worker, flow, flow->conn, instr);
}

/* The flow's connection has been replaced. True: the flow is where it was; false: it is queued, to
 * go on within its pass, or to replace another connection first. */
static bool finish(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *done)
{
	if (worker->run.open.drops)
		nm_open_reconnected(worker, nm_clock_ns());
	if (!flow->between && (nm_instr_is_to_server(done) || nm_instr_asks(flow->resume))) {
		/* The pass goes on, and has taken that much longer. */
		flow->at = flow->resume;
		nm_worker_queue(worker, flow);
		return false;
	}
	if (worker->run.rcvlowat.on)
		nm_rcvlowat_conn(worker, flow->conn);
	if (worker->run.phase->leads && worker->reconnect.pending &&
	    --worker->reconnect.pending == 0)
		nm_worker_set_end(worker, worker->run.end_at);
	flow->at = flow->resume;
	flow->request.sent_ns = nm_clock_ns();
	flow->request.think_ns = 0;
	return !nm_reconnect_before_pass(worker, flow);
}

enum nm_reconnect_answer nm_reconnect_goes_on(struct nm_worker *worker, struct nm_flow *flow,
					      const struct nm_instr *instr)
{
	bool ended = flow->ended;

	flow->ended = false;
	if (nm_instr_is_queue(instr)) /* it tells behind the passes that have ended */
		flow->between = !nm_pipe_is_busy(nm_pipe_of(&worker->io, flow));
	if (instr->step == replaced_step)
		return finish(worker, flow, instr) ? NM_RECONNECT_DONE : NM_RECONNECT_BEGUN;
	if (nm_retry_concerns(worker, instr))
		return nm_retry_goes_on(worker, flow, instr, ended) ? NM_RECONNECT_BEGUN
								    : NM_RECONNECT_NO;
	return ended && replace_after_end(worker, flow, instr) ? NM_RECONNECT_BEGUN
							       : NM_RECONNECT_NO;
}
