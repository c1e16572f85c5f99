/* SPDX-License-Identifier: Apache-2.0 */
/* The step of a queue: sends requests, and takes answers. */
#include "flowop/queue.h"

#include <errno.h>

#include "flowop/mix.h"
#include "flowop/pacer.h"
#include "flowop/queued.h"
#include "transport/io.h"

uint32_t nm_queue_places(uint32_t depth)
{
	return 2 * depth;
}

/* --- answers --- */

static void refuse(const struct nm_queue *queue, struct nm_queued *one, const char *data, size_t n)
{
	const struct nm_app *app = queue->instr->ask.app;
	struct nm_asking *asking = queue->asking;

	asking->unasked = false;
	nm_app_note(asking->said, data, n);
	if (app->tell)
		(void)app->tell(&asking->parser, &asking->request, asking->said, NM_SAID_MAX);
	/* What comes behind it would be taken for answers to other requests. */
	nm_queue_end_badly(queue, one, NM_QUEUED_MALFORMED);
	nm_queue_settle(queue, NM_QUEUE_FAILED, -EPROTO);
}

/* Nobody has asked for what has come. None is lost by that, if it has not come with answers: then
 * the last of these is longer than it should be. */
static void give_up_connection(const struct nm_queue *queue, struct nm_queued *last,
			       const char *data, size_t n)
{
	if (last)
		nm_queue_end_badly(queue, last, NM_QUEUED_MALFORMED);
	(void)nm_asking_give_up_connection(queue->io, queue->flow, queue->asking, data, n);
	queue->flow->error = 0; /* until it is told */
	nm_queue_settle(queue, queue->pipe->joined ? NM_QUEUE_FAILED : NM_QUEUE_ENDED, -EPROTO);
}

/* Takes all answers that are whole in it. */
static void parse(const struct nm_queue *queue, const char *data, size_t n)
{
	struct nm_asking *asking = queue->asking;
	struct nm_queued *one, *last = NULL;
	size_t taken;

	for (; n && !(asking->parser.last && !asking->any) && (one = nm_queue_answered_next(queue));
	     data += taken, n -= taken) {
		/* Others have been put together since a part of it came. */
		nm_queue_recall(queue, one);
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
		nm_queue_end_well(queue, one);
		last = one;
	}
	if (n && !asking->parser.last &&
	    !nm_asking_is_aside(queue->flow, queue->instr, asking, data, n))
		give_up_connection(queue, last, data, n);
}

/* Takes answers until one is whole, or the connection is of no more use: NEXT. WAIT_IN: nothing
 * more has come. */
static enum nm_step take(const struct nm_queue *queue)
{
	struct nm_conn *conn = queue->flow->conn;
	struct nm_queued *one;
	ssize_t n;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		enum nm_io_status status = nm_conn_recv(queue->io, conn, queue->io->chunk, &n);

		if (status == NM_IO_AGAIN)
			return NM_STEP_WAIT_IN;
		if (status == NM_IO_EOF && queue->asking->parser.to_end &&
		    (one = nm_queue_answered_next(queue)))
			nm_queue_end_well(queue, one);
		else if (status >= NM_IO_EOF)
			nm_queue_settle(queue, NM_QUEUE_ENDED, n);
		else
			parse(queue, queue->io->rx, (size_t)n);
		if (nm_queue_has_news(queue->pipe))
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

/* When the request begins; 0: nobody needs to know. */
static uint64_t begin_ns(struct nm_queue *queue, const struct nm_instr *instr)
{
	const struct nm_io *io = queue->io;

	if (io->asks.take_due)
		return queue->flow->request.sent_ns;
	return io->asks.timed || instr->timeout_ns ? nm_queue_now(queue) : 0;
}

/* Draws the next request. */
static void draw(struct nm_queue *queue)
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
	*nm_queued_at(queue, pipe->outstanding) =
		(struct nm_queued){.due_ns = next->due_ns,
				   .sent_ns = begin_ns(queue, instr),
				   .arrival = next->arrival,
				   .marks = next->marks,
				   .key = request->key,
				   .size = request->size,
				   .number = request->number,
				   .instr = (uint16_t)(instr - queue->first)};
	const uint64_t due_ns = nm_queued_due_ns(queue, nm_queued_at(queue, pipe->outstanding));

	if (due_ns && (!pipe->due_ns || due_ns < pipe->due_ns))
		pipe->due_ns = due_ns;
	pipe->outstanding++;
	pipe->asking++;
	if (io->asks.pacer)
		pipe->next.due_ns = nm_pacer_next(io->asks.pacer, flow, pipe->next.due_ns);
}

/* Whether the i-th request may be sent: over a connection only so many may be. */
static bool may_send(const struct nm_queue *queue, uint32_t i)
{
	return !queue->instr->ask.lives ||
	       (!queue->is_over && nm_life_allows(&queue->asking->life, i));
}

/* Puts together what is to be sent, as far as it fits, and draws what may be drawn: how many
 * bytes. */
static size_t put_together(struct nm_queue *queue)
{
	struct nm_io *io = queue->io;
	struct nm_pipe *pipe = queue->pipe;
	struct nm_app_request *request = &queue->asking->request;
	uint64_t may_draw = nm_pipe_may_ask(io, queue->flow, queue->instr, pipe);
	uint64_t gone = pipe->ask.left;
	size_t used = 0;

	for (uint32_t i = pipe->outstanding - pipe->asking;; i++) {
		if ((used && io->chunk - used < queue->instr->pipeline.head_bytes) ||
		    (!gone && !may_send(queue, i)) || (i == pipe->outstanding && !may_draw))
			break;
		if (i < pipe->outstanding) {
			nm_queue_recall(queue, nm_queued_at(queue, i));
		} else {
			if (io->asks.take_due &&
			    !io->asks.take_due(io, queue->flow, nm_queue_now(queue)))
				break;
			draw(queue);
			may_draw--;
		}
		struct nm_queued *one = nm_queued_at(queue, i);

		if (nm_queued_has_ended(one))
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
static void note_sent(const struct nm_queue *queue, uint64_t n)
{
	struct nm_pipe *pipe = queue->pipe;

	pipe->ask.left += n;
	for (; pipe->asking && pipe->ask.left; pipe->asking--) {
		struct nm_queued *one = nm_queued_at(queue, pipe->outstanding - pipe->asking);

		if (nm_queued_has_ended(one))
			continue;
		if (pipe->ask.left < one->sent)
			break;
		pipe->ask.left -= one->sent;
		nm_counter_add(&queue->io->count->reissued, (one->marks & NM_QUEUED_AGAIN) > 0);
		one->marks &= (uint8_t)~NM_QUEUED_AGAIN;
	}
}

/* Sends as many requests as are allowed. NEXT: all of them, or no more can be sent. */
static enum nm_step ask(struct nm_queue *queue)
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
		queue->now_ns = 0;
	}
	return NM_STEP_YIELD;
}

/* --- the step --- */

static void begin_alone(const struct nm_queue *queue)
{
	queue->pipe->next = queue->flow->request;
	queue->pipe->ask_failed = true; /* if anything fails, what asks has */
	queue->pipe->due_ns = 0;
	queue->asking->again = queue->asking->cut = queue->asking->unasked = false;
	if (!(queue->flow->conn->traits & NM_CONN_ASIDE))
		nm_queue_begin_answer(queue);
}

/* Whether the connection is not to be used any more, of which nothing is on the way. */
static bool is_used_up(struct nm_queue *queue)
{
	struct nm_conn *conn = queue->flow->conn;
	struct nm_life *life = &queue->asking->life;

	/* What is not over now may be used in this step. */
	queue->is_over = queue->instr->ask.lives && nm_life_may_be_over(conn, life) &&
			 nm_queue_now(queue) >= life->end_ns;
	if (queue->is_over && is_idle(queue->pipe)) {
		nm_life_end(life);
		conn->traits |= NM_CONN_LAST;
	}
	return conn->traits & NM_CONN_LAST;
}

/* Takes answers and sends requests, where there is no news before. NEXT: now there is. */
static enum nm_step go_on(struct nm_queue *queue)
{
	const struct nm_pipe *pipe = queue->pipe;
	struct nm_conn *conn = queue->flow->conn;
	enum nm_step answer;

	nm_queue_expire(queue);
	if (!nm_queue_has_news(pipe) && is_used_up(queue))
		nm_queue_settle(queue, NM_QUEUE_ENDED, 0);
	if (nm_queue_has_news(pipe))
		return NM_STEP_NEXT;
	do {
		answer = take(queue);
		if (answer == NM_STEP_WAIT_IN)
			answer = ask(queue);
	} while (answer == NM_STEP_NEXT && !nm_queue_has_news(pipe) && queue->asking->cut &&
		 (conn->flags & NM_CONN_IN));
	return answer == NM_STEP_NEXT && !nm_queue_has_news(pipe) ? NM_STEP_WAIT_IN : answer;
}

static enum nm_step queue_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_queue queue = nm_queue_of(io, flow, instr);
	struct nm_pipe *pipe = queue.pipe;
	const bool was_empty = !pipe->outstanding;
	enum nm_step answer = NM_STEP_NEXT;

	flow->conn = nm_flow_conn(flow, instr->slot);
	flow->timer.at_ns = 0;
	/* When a pass that is timed has just ended the time is known. */
	queue.now_ns = io->asks.timed ? flow->request.sent_ns : 0;
	if (!nm_pipe_is_busy(pipe))
		begin_alone(&queue);
	if (!nm_queue_has_news(pipe))
		answer = go_on(&queue);
	/* What ends in a step has been there before it: nm_queue_oldest. */
	if (answer == NM_STEP_NEXT && pipe->joined)
		return was_empty ? NM_STEP_YIELD : nm_queue_end_oldest(&queue);
	if (answer == NM_STEP_NEXT)
		return nm_queue_tell_verdict(&queue);
	flow->request.sent_ns = 0; /* by the next pass it is too old */
	if ((answer == NM_STEP_WAIT_IN || answer == NM_STEP_WAIT_OUT) && pipe->outstanding)
		nm_pipe_limit_wait(flow, pipe->due_ns);
	return answer;
}

const struct nm_flowop nm_pseudo_queue = {
	.name = "(queue)",
	.help = "sends requests and takes answers, with several requests outstanding",
	.flags = NM_FLOWOP_ASKS,
	.step = queue_step,
};
