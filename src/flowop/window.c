/* SPDX-License-Identifier: Apache-2.0 */
/* A request stands in the table at its number, modulo the places. Numbers whose place is taken are
 * left out. As all requests have the same limit, they are in a list by age. */
#include "flowop/window.h"

#include <errno.h>

#include "flowop/asking.h"
#include "flowop/datagram.h"
#include "flowop/message.h"
#include "flowop/pacer.h"
#include "transport/io.h"

/* A place of the table, as large as one of the ring. */
struct place {
	uint64_t due_ns, sent_ns; /* as of struct nm_request; sent_ns 0: the place is free */
	uint64_t key;
	uint32_t number;
	uint16_t older, newer; /* by their places + 1; 0: none */
};
_Static_assert(sizeof(struct place) == sizeof(struct nm_request), "the ring has room for them");

struct window {
	struct nm_io *io;
	struct nm_flow *flow;
	const struct nm_instr *query;
	struct nm_asking *asking;
	struct nm_pipe *pipe; /* oldest, joined: the ends of the list, as in struct place */
	struct place *places;
	uint32_t mask;
};

uint32_t nm_window_places(uint32_t depth)
{
	uint32_t places = 2;

	while (places < 2 * depth)
		places *= 2;
	return places;
}

static struct window window_of(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_pipe *pipe = nm_pipe_of(io, flow);

	return (struct window){.io = io,
			       .flow = flow,
			       .query = instr - 1,
			       .asking = nm_app_state(io, flow),
			       .pipe = pipe,
			       .places = (struct place *)(void *)pipe->ring,
			       .mask = instr->pipeline.places - 1};
}

static void link_newest(const struct window *window, struct place *place)
{
	struct nm_pipe *pipe = window->pipe;
	uint16_t at = (uint16_t)(place - window->places + 1);

	place->older = (uint16_t)pipe->joined;
	place->newer = 0;
	if (pipe->joined)
		window->places[pipe->joined - 1].newer = at;
	else
		pipe->oldest = at;
	pipe->joined = at;
	pipe->outstanding++;
}

/* The request is over: it is the flow's own until its pass has ended. */
static void take_out(const struct window *window, struct place *place)
{
	struct nm_pipe *pipe = window->pipe;

	if (place->older)
		window->places[place->older - 1].newer = place->newer;
	else
		pipe->oldest = place->newer;
	if (place->newer)
		window->places[place->newer - 1].older = place->older;
	else
		pipe->joined = place->older;
	pipe->outstanding--;
	window->flow->request = (struct nm_request){
		.due_ns = place->due_ns, .sent_ns = place->sent_ns, .marks = pipe->next.marks};
	window->asking->sent_ns = place->sent_ns;
	place->sent_ns = 0;
}

static bool is_late(const struct window *window, const struct place *place, uint64_t now_ns)
{
	return now_ns - place->sent_ns >= window->query->timeout_ns;
}

static void give_up(const struct window *window, struct place *place)
{
	struct nm_outcome_counters *outcomes =
		nm_app_outcomes(window->io, window->flow, window->query);

	take_out(window, place);
	/* As the network has told of one, nobody is reached there until an answer comes. */
	nm_asking_give_up(window->flow, window->query,
			  window->asking->refused ? &outcomes->lost : &outcomes->timed_out);
	nm_counter_add(&window->io->count->timeouts, 1);
	window->flow->request.outcome = NM_TIMEOUT;
}

/* --- answers --- */

/* The request that a message of n bytes answers; NULL: none that is outstanding. */
static struct place *find(const struct window *window, size_t n)
{
	const struct nm_app_datagram *datagram = window->query->ask.app->datagram;
	struct nm_app_request *request = &window->asking->request;
	uint32_t number = datagram->number(window->io->rx, n);
	struct place *place = &window->places[number & window->mask];

	if (!place->sent_ns || (uint16_t)place->number != number)
		return NULL;
	request->number = place->number;
	request->key = place->key;
	return datagram->parse(&window->asking->parser, request, window->io->rx, n) ==
			       NM_PARSED_DONE
		       ? place
		       : NULL;
}

/* NEXT: a request is over. WAIT_IN: nothing more has come. */
static enum nm_step take(const struct window *window)
{
	struct nm_io *io = window->io;
	struct nm_conn *conn = window->flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		ssize_t n = nm_conn_call_recv(io, conn, io->chunk);

		if (nm_datagram_is_unreachable(n)) {
			window->asking->refused = true;
			continue;
		}
		if (n < 0)
			return nm_io_received_nothing(conn, n) == NM_IO_AGAIN
				       ? NM_STEP_WAIT_IN
				       : nm_flow_failed(window->flow, n);
		struct place *place = find(window, (size_t)n);
		bool late = place && is_late(window, place, nm_clock_ns());

		nm_io_count_message_received(io, (size_t)n);
		nm_counter_add(&io->count->late, !place || late);
		if (!place)
			continue;
		window->asking->refused = false;
		if (late) {
			give_up(window, place);
			return NM_STEP_NEXT;
		}
		take_out(window, place);
		return nm_asking_end(io, window->flow, window->query, window->asking);
	}
	return NM_STEP_YIELD;
}

/* --- requests --- */

/* Draws the next request, which gets a place. */
static void begin(const struct window *window)
{
	struct nm_asking *asking = window->asking;
	struct nm_flow *flow = window->flow;
	struct nm_pipe *pipe = window->pipe;

	while (window->places[(asking->first + asking->n_requests + 1) & window->mask].sent_ns)
		asking->n_requests++;
	/* Names are drawn by the pass of the request. */
	flow->iterations_left -= pipe->outstanding;
	nm_asking_draw(window->io, flow, window->query, asking);
	flow->iterations_left += pipe->outstanding;
	struct place *place = &window->places[asking->request.number & window->mask];

	/* When a pass that is timed has just ended the time is known. */
	bool known = window->io->asks.timed && flow->request.sent_ns;

	*place = (struct place){.due_ns = pipe->next.due_ns,
				.sent_ns = known ? flow->request.sent_ns : nm_clock_ns(),
				.key = asking->request.key,
				.number = asking->request.number};
	flow->request.sent_ns = 0;
	pipe->asking = 1;
	pipe->ask.left = asking->request.number;
}

/* NEXT: it is on its way, or lost already. */
static enum nm_step send_one(const struct window *window)
{
	struct nm_io *io = window->io;
	struct nm_conn *conn = window->flow->conn;
	struct place *place = &window->places[window->pipe->ask.left & window->mask];
	struct nm_app_request *request = &window->asking->request;
	bool refused = window->asking->refused;

	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	request->number = place->number;
	request->key = place->key;
	enum nm_step answer =
		nm_asking_send_message(io, window->flow, window->query, window->asking, &refused);

	window->asking->refused |= refused;
	if (answer != NM_STEP_NEXT)
		return answer;
	link_newest(window, place);
	window->pipe->asking = 0;
	if (io->asks.pacer)
		window->pipe->next.due_ns =
			nm_pacer_next(io->asks.pacer, window->flow, place->due_ns);
	return NM_STEP_NEXT;
}

/* NEXT: as many are outstanding as may be. */
static enum nm_step ask(const struct window *window, const struct nm_instr *instr)
{
	enum nm_step answer = NM_STEP_NEXT;

	for (unsigned calls = 0; answer == NM_STEP_NEXT; calls++) {
		if (!window->pipe->asking) {
			if (!nm_pipe_may_ask(window->io, window->flow, instr, window->pipe))
				break;
			if (calls == NM_STEP_CALLS)
				return NM_STEP_YIELD;
			begin(window);
		}
		answer = send_one(window);
	}
	window->flow->request.sent_ns = 0;
	return answer;
}

/* Nothing is outstanding: the flow's own pass is the next. What the end of a phase has cut off is
 * still in the table then. */
static void begin_alone(const struct window *window)
{
	struct nm_pipe *pipe = window->pipe;

	for (uint32_t i = 0; !pipe->answer.progress && i <= window->mask; i++)
		window->places[i].sent_ns = 0;
	pipe->answer.progress = 1;
	pipe->next = window->flow->request;
}

/* Takes what has come before it asks, so that the requests that are allowed go out together. */
enum nm_step nm_window_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	flow->conn = nm_flow_conn(flow, instr->slot);

	const struct window window = window_of(io, flow, instr);
	struct nm_pipe *pipe = window.pipe;

	flow->timer.at_ns = 0;
	pipe->ask_failed = true; /* if anything fails, the query has */
	if (!nm_pipe_is_busy(pipe))
		begin_alone(&window);
	enum nm_step answer = take(&window);

	if (answer == NM_STEP_YIELD)
		flow->request.sent_ns = 0; /* by then it is too old */
	if (answer != NM_STEP_WAIT_IN)
		return answer;
	if (pipe->oldest && is_late(&window, &window.places[pipe->oldest - 1], nm_clock_ns())) {
		give_up(&window, &window.places[pipe->oldest - 1]);
		return NM_STEP_NEXT;
	}
	answer = ask(&window, instr);
	if (pipe->oldest) /* may not be waited for any longer than that */
		nm_pipe_limit_wait(flow, window.places[pipe->oldest - 1].sent_ns +
						 window.query->timeout_ns);
	return answer == NM_STEP_NEXT ? NM_STEP_WAIT_IN : answer;
}
