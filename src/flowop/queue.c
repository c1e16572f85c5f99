/* SPDX-License-Identifier: Apache-2.0 */
/* The ring has, from the oldest on: requests that have ended and whose passes have not
 * (pipe->joined); those that are outstanding, of which some may have ended with a connection; and
 * those that are still to be sent (pipe->asking), of the first of which so many bytes are gone
 * (pipe->ask.left).
 *
 * What becomes of a request is noted in it at once (`end`), by end_well for an answer, and by
 * expire, settle and nm_queue_abandon for all else. It is counted when its pass ends, by end_oldest
 * alone. That its connection is of no more use (pipe->verdict) is told behind these passes: they
 * are those of the old connection, and do not wait for a new one. */
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
	bool is_over; /* the life of the connection, in this whole step */
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

/* How many have been sent, at least in part, over the connection or one before it. */
static uint32_t n_sent(const struct nm_pipe *pipe)
{
	return pipe->outstanding - pipe->asking + (pipe->ask.left > 0);
}

/* The request whose answer is the next; NULL: none has been sent. */
static struct queued *answered_next(const struct queue *queue)
{
	const struct nm_pipe *pipe = queue->pipe;

	return pipe->joined < n_sent(pipe) ? at(queue, pipe->joined) : NULL;
}

/* When the time of the request is over; 0: never. */
static uint64_t due_of(const struct queue *queue, const struct queued *one)
{
	uint64_t timeout_ns = instr_of(queue, one)->timeout_ns;

	return timeout_ns ? one->sent_ns + timeout_ns : 0;
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

/* --- the end of a connection, of a request, or of all --- */

/* Whether a request that is on its way is asked again over another connection: where it may be
 * asked twice, and no byte of its answer has come; or as the server has said so. */
static bool may_again(const struct queue *queue, uint32_t i)
{
	const struct nm_asking *asking = queue->asking;

	if (asking->parser.refuses)
		return true;
	return (queue->flow->conn->traits & NM_CONN_ANSWERED) &&
	       nm_asking_is_safe(&asking->request) && !(i == queue->pipe->joined && asking->any);
}

static void end_one(const struct queue *queue, struct queued *one, enum end end)
{
	one->end = (uint8_t)end;
	queue->pipe->ask.at = one->instr;
}

/* The connection is of no more use: notes so, and what becomes of the requests that are on their
 * way. */
static void settle(const struct queue *queue, enum nm_queue_verdict verdict, ssize_t n)
{
	struct nm_pipe *pipe = queue->pipe;
	const uint32_t sent = n_sent(pipe);
	const bool has_ended = verdict == NM_QUEUE_ENDED;

	if (has_ended)
		pipe->ask.at = queue->instr->pipeline.n_instrs - 1;
	for (uint32_t i = pipe->joined; i < sent; i++) {
		struct queued *one = at(queue, i);

		if (one->end)
			continue;
		recall(queue, one);
		one->received = 0;
		if (has_ended && may_again(queue, i)) {
			one->marks |= AGAIN;
			continue;
		}
		one->end = LOST;
		if (!has_ended)
			continue;
		verdict = NM_QUEUE_FAILED;
		pipe->ask.at = one->instr;
	}
	pipe->ask.left = 0;
	pipe->asking = pipe->outstanding;
	pass_over_ended(queue);
	queue->asking->cut = false;
	queue->flow->conn->traits &= ~(uint32_t)NM_CONN_ASIDE;
	begin_answer(queue);
	pipe->verdict = (uint8_t)verdict;
	pipe->error = n ? (int32_t)-n : ECONNRESET;
}

/* Ends the requests whose time is over, of which each has its own. Nobody could tell from the
 * answer to one that has been sent what comes behind it. */
static void expire(const struct queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;
	const uint64_t now_ns = pipe->due_ns ? nm_clock_ns() : 0;
	const uint32_t sent = n_sent(pipe);
	bool was_sent = false;

	if (now_ns < pipe->due_ns || !pipe->due_ns)
		return;
	pipe->due_ns = 0;
	for (uint32_t i = pipe->joined; i < pipe->outstanding; i++) {
		struct queued *one = at(queue, i);
		uint64_t due_ns = due_of(queue, one);

		if (one->end || !due_ns)
			continue;
		if (now_ns >= due_ns) {
			end_one(queue, one, TIMED_OUT);
			was_sent |= i < sent;
		} else if (!pipe->due_ns || due_ns < pipe->due_ns) {
			pipe->due_ns = due_ns;
		}
	}
	if (was_sent)
		settle(queue, NM_QUEUE_LATE, -ETIMEDOUT);
	else
		pass_over_ended(queue);
}

void nm_queue_abandon(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct queue queue = queue_of((struct nm_io *)(uintptr_t)io, flow, instr);

	for (uint32_t i = queue.pipe->joined; i < queue.pipe->outstanding; i++)
		if (!at(&queue, i)->end)
			at(&queue, i)->end = LOST;
	pass_over_ended(&queue);
	queue.pipe->verdict = NM_QUEUE_GOES_ON;
}

/* Tells, behind the passes that have ended with it, that the connection is of no more use. */
static enum nm_step tell_verdict(const struct queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;

	queue->flow->ended = pipe->verdict == NM_QUEUE_ENDED;
	pipe->is_late = pipe->verdict == NM_QUEUE_LATE;
	pipe->verdict = NM_QUEUE_GOES_ON;
	return nm_flow_failed(queue->flow, -pipe->error);
}

bool nm_queue_is_late(const struct nm_io *io, struct nm_flow *flow)
{
	return nm_pipe_of(io, flow)->is_late;
}

/* --- answers --- */

/* Whether a pass can be ended, or the connection. */
static bool has_news(const struct nm_pipe *pipe)
{
	return pipe->joined || pipe->verdict;
}

static void end_well(const struct queue *queue, struct queued *one)
{
	struct nm_pipe *pipe = queue->pipe;
	const struct nm_app_parser parser = queue->asking->parser;

	one->end = (uint8_t)(ANSWERED + parser.class);
	if (pipe->joined == pipe->outstanding - pipe->asking) { /* the rest of it is not sent */
		queue->asking->cut = true;
		pipe->ask.left = 0;
	}
	pass_over_ended(queue);
	begin_answer(queue);
	queue->asking->parser.last = parser.last; /* nothing that comes behind it counts */
	queue->asking->parser.refuses = parser.refuses;
}

static void refuse(const struct queue *queue, struct queued *one, const char *data, size_t n)
{
	const struct nm_app *app = queue->instr->ask.app;
	struct nm_asking *asking = queue->asking;

	asking->unasked = false;
	nm_app_note(asking->said, data, n);
	if (app->tell)
		(void)app->tell(&asking->parser, &asking->request, asking->said, NM_SAID_MAX);
	/* What comes behind it would be taken for answers to other requests. */
	end_one(queue, one, MALFORMED);
	settle(queue, NM_QUEUE_FAILED, -EPROTO);
}

/* Nobody has asked for what has come. None is lost by that, if it is not behind answers. */
static void give_up_connection(const struct queue *queue, const char *data, size_t n)
{
	(void)nm_asking_give_up_connection(queue->io, queue->flow, queue->asking, data, n);
	queue->flow->error = 0; /* until it is told */
	settle(queue, queue->pipe->joined ? NM_QUEUE_FAILED : NM_QUEUE_ENDED, -EPROTO);
}

/* Takes all answers that are whole in it. */
static void parse(const struct queue *queue, const char *data, size_t n)
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
		if (parsed == NM_PARSED_BAD) {
			refuse(queue, one, data, n);
			return;
		}
		if (parsed == NM_PARSED_MORE)
			taken = n;
		one->received += taken;
		if (parsed == NM_PARSED_MORE)
			return;
		end_well(queue, one);
	}
	if (n && !asking->parser.last &&
	    !nm_asking_is_aside(queue->flow, queue->instr, asking, data, n))
		give_up_connection(queue, data, n);
}

/* Takes answers until one is whole, or the connection is of no more use: NEXT. WAIT_IN: nothing
 * more has come. */
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
		    (one = answered_next(queue)))
			end_well(queue, one);
		else if (status >= NM_IO_EOF)
			settle(queue, NM_QUEUE_ENDED, n);
		else
			parse(queue, queue->io->rx, (size_t)n);
		if (has_news(queue->pipe))
			return NM_STEP_NEXT;
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
	const uint64_t due_ns = due_of(queue, at(queue, pipe->outstanding));

	if (due_ns && (!pipe->due_ns || due_ns < pipe->due_ns))
		pipe->due_ns = due_ns;
	pipe->outstanding++;
	pipe->asking++;
	if (io->asks.pacer)
		pipe->next.due_ns = nm_pacer_next(io->asks.pacer, flow, pipe->next.due_ns);
}

/* Whether the i-th request may be sent: over a connection only so many may be. */
static bool may_send(const struct queue *queue, uint32_t i)
{
	return !queue->instr->ask.lives ||
	       (!queue->is_over && nm_life_allows(&queue->asking->life, i));
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

/* --- the step --- */

static void begin_alone(const struct queue *queue)
{
	queue->pipe->next = queue->flow->request;
	queue->pipe->ask_failed = true; /* if anything fails, what asks has */
	queue->pipe->due_ns = 0;
	queue->asking->again = queue->asking->cut = queue->asking->unasked = false;
	if (!(queue->flow->conn->traits & NM_CONN_ASIDE))
		begin_answer(queue);
}

/* Whether the connection is not to be used any more, of which nothing is on the way. */
static bool is_used_up(struct queue *queue)
{
	struct nm_conn *conn = queue->flow->conn;
	struct nm_life *life = &queue->asking->life;

	/* The clock is read once: what is not over now may be used in this step. */
	queue->is_over = queue->instr->ask.lives && nm_life_is_over(conn, life);
	if (queue->is_over && is_idle(queue->pipe)) {
		nm_life_end(life);
		conn->traits |= NM_CONN_LAST;
	}
	return conn->traits & NM_CONN_LAST;
}

/* Takes answers and sends requests, where there is no news before. NEXT: now there is. */
static enum nm_step go_on(struct queue *queue)
{
	const struct nm_pipe *pipe = queue->pipe;
	struct nm_conn *conn = queue->flow->conn;
	enum nm_step answer;

	expire(queue);
	if (!has_news(pipe) && is_used_up(queue))
		settle(queue, NM_QUEUE_ENDED, 0);
	if (has_news(pipe))
		return NM_STEP_NEXT;
	do {
		answer = take(queue);
		if (answer == NM_STEP_WAIT_IN)
			answer = ask(queue);
	} while (answer == NM_STEP_NEXT && !has_news(pipe) && queue->asking->cut &&
		 (conn->flags & NM_CONN_IN));
	return answer == NM_STEP_NEXT && !has_news(pipe) ? NM_STEP_WAIT_IN : answer;
}

static void limit_wait(const struct queue *queue)
{
	const uint64_t due_ns = queue->pipe->outstanding ? queue->pipe->due_ns : 0;
	struct nm_timer *timer = &queue->flow->timer;

	if (due_ns && (!timer->at_ns || due_ns < timer->at_ns))
		timer->at_ns = due_ns;
}

static enum nm_step queue_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct queue queue = queue_of(io, flow, instr);
	struct nm_pipe *pipe = queue.pipe;
	const bool was_empty = !pipe->outstanding;
	enum nm_step answer = NM_STEP_NEXT;

	flow->conn = nm_flow_conn(flow, instr->slot);
	flow->timer.at_ns = 0;
	if (!nm_pipe_is_busy(pipe))
		begin_alone(&queue);
	if (!has_news(pipe))
		answer = go_on(&queue);
	/* What ends in a step has been there before it: nm_queue_oldest. */
	if (answer == NM_STEP_NEXT && pipe->joined)
		return was_empty ? NM_STEP_YIELD : end_oldest(&queue);
	if (answer == NM_STEP_NEXT)
		return tell_verdict(&queue);
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
