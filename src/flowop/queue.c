/* SPDX-License-Identifier: Apache-2.0 */
/* The ring has, from the oldest on: requests that have ended and whose passes have not
 * (pipe->joined); those that are outstanding, of which some may have ended with a connection; and
 * those that are still to be sent (pipe->asking), of the first of which so many bytes are gone
 * (pipe->ask.left). */
#include "flowop/queue.h"

#include <errno.h>

#include "flowop/asking.h"
#include "flowop/message.h"
#include "flowop/mix.h"
#include "flowop/pacer.h"
#include "transport/io.h"

/* How a request has ended. */
enum end {
	WAITS, /* it has not */
	LOST,
	TIMED_OUT,
	MALFORMED,
	ANSWERED, /* + enum nm_class */
};

#define AGAIN 0x80u /* of `marks`: it is to be sent once more */

struct queued {
	uint64_t due_ns, sent_ns; /* as of struct nm_request */
	uint64_t key, size;	  /* as of struct nm_app_request */
	uint64_t sent, received;  /* bytes of the request, and of its answer */
	uint32_t number, check;	  /* as of struct nm_app_request */
	uint32_t arrival;	  /* as of struct nm_request */
	uint16_t instr;		  /* which one of the queue's asks it */
	uint8_t end, marks;
};
_Static_assert(sizeof(struct queued) == 2 * sizeof(struct nm_request), "a line of the cache each");

struct queue {
	struct nm_io *io;
	struct nm_flow *flow;
	const struct nm_instr *instr, *first; /* first: of those that ask, or the mix of them */
	struct nm_asking *asking;
	struct nm_pipe *pipe;
};

uint32_t nm_queue_places(uint32_t depth)
{
	return 2 * depth;
}

static struct queue queue_of(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	return (struct queue){.io = io,
			      .flow = flow,
			      .instr = instr,
			      .first = instr - instr->pipeline.n_instrs,
			      .asking = nm_app_state(io, flow),
			      .pipe = nm_pipe_of(io, flow)};
}

/* The i-th of the ring, from the oldest on. */
static struct queued *at(const struct queue *queue, uint32_t i)
{
	uint32_t place = queue->pipe->oldest + i;

	if (place >= queue->instr->count)
		place -= (uint32_t)queue->instr->count;
	return (struct queued *)(void *)queue->pipe->ring + place;
}

static const struct nm_instr *instr_of(const struct queue *queue, const struct queued *one)
{
	return queue->first + one->instr;
}

/* The request whose answer is the next; NULL: none has been sent. */
static struct queued *answered_next(const struct queue *queue)
{
	const struct nm_pipe *pipe = queue->pipe;
	uint32_t sent = pipe->outstanding - pipe->asking + (pipe->ask.left > 0);

	return pipe->joined < sent ? at(queue, pipe->joined) : NULL;
}

static void pass_over_ended(const struct queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;

	while (pipe->joined < pipe->outstanding && at(queue, pipe->joined)->end)
		pipe->joined++;
	if (pipe->asking > pipe->outstanding - pipe->joined)
		pipe->asking = pipe->outstanding - pipe->joined;
}

static void begin_answer(const struct queue *queue)
{
	queue->asking->any = false;
	nm_app_parser_begin(&queue->asking->parser);
}

/* The connection's present request is this one. */
static void recall(const struct queue *queue, const struct queued *one)
{
	struct nm_app_request *request = &queue->asking->request;

	if (queue->asking->drawn_by != instr_of(queue, one))
		nm_asking_take_options(queue->io, instr_of(queue, one), queue->asking);
	request->key = one->key;
	request->at = request->keyspace ? nm_pool_at(one->key) : queue->flow->index;
	request->size = one->size;
	request->number = one->number;
	request->check = one->check;
}

/* --- the end of a request --- */

/* Takes out the oldest, which is the flow's own then. */
static const struct queued *take_out(const struct queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;
	const struct queued *one = at(queue, 0);

	queue->flow->request = (struct nm_request){
		.due_ns = one->due_ns,
		.sent_ns = one->sent_ns,
		.marks = one->marks & (uint8_t)~AGAIN,
		.arrival = one->arrival,
	};
	pipe->oldest = pipe->oldest + 1 == queue->instr->count ? 0 : pipe->oldest + 1;
	pipe->outstanding--;
	pipe->joined -= pipe->joined > 0;
	return one;
}

/* Where it is counted that a request has ended without a good answer: of struct nm_outcomes. */
static size_t member_of(const struct queued *one)
{
	if (one->end == TIMED_OUT)
		return offsetof(struct nm_outcomes, timed_out);
	return one->end == MALFORMED ? offsetof(struct nm_outcomes, malformed)
				     : offsetof(struct nm_outcomes, lost);
}

static void give_up(const struct queue *queue, const struct queued *one)
{
	struct nm_outcome_counters *outcomes = nm_app_outcomes(queue->io, instr_of(queue, one));

	nm_asking_give_up(queue->flow, outcomes,
			  &outcomes->requests + member_of(one) / sizeof(uint64_t));
	if (one->end != TIMED_OUT)
		return;
	nm_counter_add(&queue->io->count->timeouts, 1);
	queue->flow->request.outcome = NM_TIMEOUT;
}

static enum nm_step count_answer(const struct queue *queue, const struct queued *one)
{
	/* Some of another answer may have come already. */
	const uint8_t class = queue->asking->parser.class;

	recall(queue, one);
	queue->asking->parser.class = one->end - ANSWERED;
	queue->asking->sent_ns = one->sent_ns;
	enum nm_step answer =
		nm_asking_end(queue->io, queue->flow, instr_of(queue, one), queue->asking);

	queue->asking->parser.class = class;
	return answer;
}

/* Ends the pass of the oldest request, which has ended. */
static enum nm_step end_oldest(const struct queue *queue)
{
	const struct queued *one = take_out(queue);

	if (one->end >= ANSWERED)
		return count_answer(queue, one);
	give_up(queue, one);
	return NM_STEP_NEXT;
}

const struct nm_instr *nm_queue_drop(const struct nm_io *io, struct nm_flow *flow,
				     const struct nm_instr *instr, size_t *ret_member)
{
	const struct queue queue = queue_of((struct nm_io *)(uintptr_t)io, flow, instr);

	if (!queue.pipe->outstanding)
		return NULL;
	const struct queued *one = take_out(&queue);

	*ret_member = one->end >= ANSWERED ? 0 : member_of(one);
	if (one->end >= ANSWERED)
		(void)count_answer(&queue, one);
	else
		give_up(&queue, one);
	if (queue.pipe->asking > queue.pipe->outstanding)
		queue.pipe->asking = queue.pipe->outstanding;
	return instr_of(&queue, one);
}

struct nm_queue_oldest nm_queue_oldest(const struct nm_io *io, struct nm_flow *flow,
				       const struct nm_instr *instr)
{
	const struct queue queue = queue_of((struct nm_io *)(uintptr_t)io, flow, instr);
	const struct queued *one = at(&queue, 0);

	return (struct nm_queue_oldest){
		.instr = queue.pipe->outstanding ? instr_of(&queue, one) : instr - 1,
		.sent = &one->sent,
		.received = &one->received,
	};
}

/* --- the end of a connection --- */

/* It has ended, by n as in nm_flow_failed. What is on its way is lost, or asked again where that is
 * allowed: of what has no byte of an answer, and may be asked twice. */
static enum nm_step lose(const struct queue *queue, ssize_t n, bool may_again)
{
	struct nm_pipe *pipe = queue->pipe;
	struct nm_flow *flow = queue->flow;
	uint32_t sent = pipe->outstanding - pipe->asking + (pipe->ask.left > 0);

	flow->ended = true;
	pipe->answer.progress = 0;
	pipe->ask.at = queue->instr->pipeline.n_instrs - 1;
	may_again &= (flow->conn->traits & NM_CONN_ANSWERED) != 0;
	for (uint32_t i = pipe->joined; i < sent; i++) {
		struct queued *one = at(queue, i);

		if (one->end)
			continue;
		recall(queue, one);
		one->received = 0;
		if (may_again && nm_asking_is_safe(&queue->asking->request) &&
		    !(i == pipe->joined && queue->asking->any)) {
			one->marks |= AGAIN;
			continue;
		}
		one->end = LOST;
		flow->ended = false;
		pipe->ask.at = one->instr;
	}
	pipe->ask.left = 0;
	pipe->asking = pipe->outstanding;
	pass_over_ended(queue);
	queue->asking->cut = false;
	flow->conn->traits &= ~(uint32_t)NM_CONN_ASIDE;
	begin_answer(queue);
	return nm_flow_failed(flow, n);
}

/* What comes is no answer, or has not come in time: what comes behind it would be taken for answers
 * to other requests. */
static enum nm_step end_badly(const struct queue *queue, struct queued *one, enum end end)
{
	one->end = (uint8_t)end;
	queue->pipe->ask.at = one->instr;
	enum nm_step answer = lose(queue, end == TIMED_OUT ? -ETIMEDOUT : -EPROTO, false);

	queue->flow->ended = false;
	queue->pipe->answer.progress = end == TIMED_OUT;
	return answer;
}

bool nm_queue_is_late(const struct nm_io *io, struct nm_flow *flow)
{
	return nm_pipe_of(io, flow)->answer.progress;
}

/* --- answers --- */

static void end_well(const struct queue *queue, struct queued *one)
{
	struct nm_pipe *pipe = queue->pipe;

	one->end = (uint8_t)(ANSWERED + queue->asking->parser.class);
	if (pipe->joined == pipe->outstanding - pipe->asking) { /* the rest of it is not sent */
		queue->asking->cut = true;
		pipe->ask.left = 0;
	}
	pass_over_ended(queue);
}

static enum nm_step refuse(const struct queue *queue, struct queued *one, const char *data,
			   size_t n)
{
	const struct nm_app *app = queue->instr->ask.app;
	struct nm_asking *asking = queue->asking;

	nm_app_note(asking->said, data, n);
	if (app->tell)
		(void)app->tell(&asking->parser, &asking->request, asking->said, NM_SAID_MAX);
	return end_badly(queue, one, MALFORMED);
}

/* NEXT: all answers that are whole in it are taken. */
static enum nm_step parse(const struct queue *queue, const char *data, size_t n)
{
	struct nm_asking *asking = queue->asking;
	struct queued *one;
	size_t taken;

	for (; n && !(asking->parser.last && !asking->any) && (one = answered_next(queue));
	     data += taken, n -= taken) {
		/* Others have been put together since a part of it came. */
		recall(queue, one);
		queue->flow->conn->traits &= ~(uint32_t)NM_CONN_ASIDE;
		enum nm_parsed parsed = queue->instr->ask.app->parse(
			&asking->parser, &asking->request, data, n, &taken);

		asking->any = true;
		if (parsed == NM_PARSED_BAD)
			return refuse(queue, one, data, n);
		if (parsed == NM_PARSED_MORE)
			taken = n;
		one->received += taken;
		if (parsed == NM_PARSED_MORE)
			return NM_STEP_NEXT;
		end_well(queue, one);
		bool last = asking->parser.last;

		begin_answer(queue);
		asking->parser.last = last; /* nothing that comes behind it counts */
	}
	if (!n || asking->parser.last ||
	    nm_asking_is_aside(queue->flow, queue->instr, asking, data, n))
		return NM_STEP_NEXT;
	queue->pipe->ask.at = (uint32_t)(queue->instr - 1 - queue->first);
	return nm_asking_give_up_connection(queue->io, queue->flow, asking, data, n);
}

/* Takes answers until one is whole. WAIT_IN: nothing more has come. */
static enum nm_step take(const struct queue *queue)
{
	struct nm_conn *conn = queue->flow->conn;
	struct queued *one;
	ssize_t n;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		enum nm_io_status status = nm_conn_recv(queue->io, conn, queue->io->chunk, &n);

		if (status == NM_IO_AGAIN)
			return NM_STEP_WAIT_IN;
		if (status == NM_IO_EOF && queue->asking->parser.to_end &&
		    (one = answered_next(queue))) {
			queue->asking->parser.last = true;
			end_well(queue, one);
			return NM_STEP_NEXT;
		}
		if (status >= NM_IO_EOF)
			return lose(queue, n, true);
		enum nm_step answer = parse(queue, queue->io->rx, (size_t)n);

		if (answer != NM_STEP_NEXT || queue->pipe->joined)
			return answer;
	}
	return NM_STEP_YIELD;
}

/* --- requests --- */

/* Whether nothing that was asked over the connection is without an answer. */
static bool is_idle(const struct nm_pipe *pipe)
{
	return pipe->asking == pipe->outstanding && !pipe->ask.left;
}

/* Draws the next request. */
static void draw(const struct queue *queue, uint64_t now_ns)
{
	struct nm_io *io = queue->io;
	struct nm_flow *flow = queue->flow;
	struct nm_pipe *pipe = queue->pipe;
	const struct nm_app_request *request = &queue->asking->request;
	const struct nm_request *next = io->asks.take_due ? &flow->request : &pipe->next;
	const struct nm_instr *instr = queue->first;

	/* By the pass of the request. */
	flow->iterations_left -= pipe->outstanding;
	if (nm_instr_mix(instr)) {
		(void)instr->step(io, flow, instr);
		instr = flow->at;
	}
	nm_asking_draw(io, flow, instr, queue->asking);
	flow->iterations_left += pipe->outstanding;
	*at(queue, pipe->outstanding) = (struct queued){.due_ns = next->due_ns,
							.sent_ns = now_ns,
							.arrival = next->arrival,
							.marks = next->marks,
							.key = request->key,
							.size = request->size,
							.number = request->number,
							.instr = (uint16_t)(instr - queue->first)};
	pipe->outstanding++;
	pipe->asking++;
	if (io->asks.pacer)
		pipe->next.due_ns = nm_pacer_next(io->asks.pacer, flow, pipe->next.due_ns);
}

/* Whether the i-th request may be sent: over a connection only so many may be. */
static bool may_send(const struct queue *queue, uint32_t i)
{
	return !queue->instr->ask.lives ||
	       nm_life_allows(queue->flow->conn, &queue->asking->life, i);
}

/* Puts together what is to be sent, as far as it fits, and draws what may be drawn: how many
 * bytes. */
static size_t put_together(const struct queue *queue)
{
	struct nm_io *io = queue->io;
	struct nm_pipe *pipe = queue->pipe;
	struct nm_app_request *request = &queue->asking->request;
	uint64_t may_draw = nm_pipe_may_ask(io, queue->flow, queue->instr, pipe);
	uint64_t gone = pipe->ask.left, ended_ns = queue->flow->request.sent_ns, now_ns = 0;
	size_t used = 0;

	for (uint32_t i = pipe->outstanding - pipe->asking;; i++) {
		if ((used && io->chunk - used < queue->instr->pipeline.head_bytes) ||
		    (!gone && !may_send(queue, i)) || (i == pipe->outstanding && !may_draw))
			break;
		if (i < pipe->outstanding) {
			recall(queue, at(queue, i));
		} else {
			if (!now_ns)
				now_ns = ended_ns && io->asks.timed ? ended_ns : nm_clock_ns();
			queue->flow->request.sent_ns = ended_ns;
			if (io->asks.take_due && !io->asks.take_due(io, queue->flow))
				break;
			draw(queue, io->asks.take_due ? queue->flow->request.sent_ns : now_ns);
			may_draw--;
		}
		struct queued *one = at(queue, i);

		if (one->end)
			continue;
		size_t n = nm_app_compose(queue->instr->ask.app, request, gone, io->tx + used,
					  io->chunk - used, &one->sent);

		one->check = request->check;
		used += n;
		if (gone + n < one->sent)
			break;
		gone = 0;
	}
	return used;
}

/* So many bytes of what was put together are gone. */
static void note_sent(const struct queue *queue, uint64_t n)
{
	struct nm_pipe *pipe = queue->pipe;

	pipe->ask.left += n;
	for (; pipe->asking && pipe->ask.left; pipe->asking--) {
		struct queued *one = at(queue, pipe->outstanding - pipe->asking);

		if (one->end)
			continue;
		if (pipe->ask.left < one->sent)
			break;
		pipe->ask.left -= one->sent;
		nm_counter_add(&queue->io->count->reissued, (one->marks & AGAIN) > 0);
		one->marks &= (uint8_t)~AGAIN;
	}
}

/* Sends as many requests as are allowed. NEXT: all of them, or no more can be sent. */
static enum nm_step ask(const struct queue *queue)
{
	struct nm_conn *conn = queue->flow->conn;
	ssize_t n;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (queue->asking->cut)
			return NM_STEP_NEXT;
		if (!(conn->flags & NM_CONN_OUT))
			return NM_STEP_WAIT_OUT;
		size_t want = put_together(queue);

		if (!want)
			return NM_STEP_NEXT;
		if (nm_conn_send(queue->io, conn, NULL, queue->io->tx, want, &n) == NM_IO_ERROR) {
			/* What the server has answered before it ended the connection is there. */
			queue->asking->cut = true;
			conn->flags |= NM_CONN_IN;
			return NM_STEP_NEXT;
		}
		note_sent(queue, (uint64_t)n);
	}
	return NM_STEP_YIELD;
}

/* --- the limit of a request --- */

/* When the time of the oldest request is over; 0: never. */
static uint64_t limit_ns(const struct queue *queue)
{
	const struct queued *one = at(queue, 0);
	uint64_t timeout_ns = queue->pipe->outstanding ? instr_of(queue, one)->timeout_ns : 0;

	return timeout_ns ? one->sent_ns + timeout_ns : 0;
}

static void limit_wait(const struct queue *queue)
{
	uint64_t at_ns = limit_ns(queue);
	struct nm_timer *timer = &queue->flow->timer;

	if (at_ns && (!timer->at_ns || at_ns < timer->at_ns))
		timer->at_ns = at_ns;
}

/* --- the step --- */

static void begin_alone(const struct queue *queue)
{
	queue->pipe->next = queue->flow->request;
	queue->pipe->ask_failed = true; /* if anything fails, what asks has */
	queue->asking->again = queue->asking->cut = queue->asking->unasked = false;
	if (!(queue->flow->conn->traits & NM_CONN_ASIDE))
		begin_answer(queue);
}

/* Takes answers and sends requests. No pass can be ended before. WAIT_IN: nor now. */
static enum nm_step go_on(const struct queue *queue)
{
	struct nm_conn *conn = queue->flow->conn;
	enum nm_step answer;

	if (queue->instr->ask.lives && is_idle(queue->pipe) &&
	    nm_life_ends(conn, &queue->asking->life))
		conn->traits |= NM_CONN_LAST;
	if (conn->traits & NM_CONN_LAST)
		return lose(queue, 0, true);
	if (limit_ns(queue) && nm_clock_ns() >= limit_ns(queue))
		return end_badly(queue, at(queue, 0), TIMED_OUT);
	do {
		answer = take(queue);
		if (answer == NM_STEP_WAIT_IN)
			answer = ask(queue);
	} while (answer == NM_STEP_NEXT && !queue->pipe->joined && queue->asking->cut &&
		 (conn->flags & NM_CONN_IN));
	return answer == NM_STEP_NEXT ? NM_STEP_WAIT_IN : answer;
}

static enum nm_step queue_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct queue queue = queue_of(io, flow, instr);
	enum nm_step answer = NM_STEP_WAIT_IN;

	flow->conn = nm_flow_conn(flow, instr->slot);
	flow->timer.at_ns = 0;
	if (!queue.pipe->outstanding)
		begin_alone(&queue);
	if (!queue.pipe->joined)
		answer = go_on(&queue);
	if (answer != NM_STEP_FAIL && queue.pipe->joined)
		return end_oldest(&queue);
	flow->request.sent_ns = 0; /* by the next pass it is too old */
	if (answer == NM_STEP_WAIT_IN || answer == NM_STEP_WAIT_OUT)
		limit_wait(&queue);
	return answer;
}

const struct nm_flowop nm_pseudo_queue = {
	.name = "(queue)",
	.help = "sends requests and takes answers, with several requests outstanding",
	.flags = NM_FLOWOP_ASKS,
	.step = queue_step,
};
