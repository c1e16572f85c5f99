/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of each request of a queue. */
#include "flowop/queued.h"

#include <errno.h>

#include "flowop/message.h"

static void pass_over_ended(const struct nm_queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;

	while (pipe->joined < pipe->outstanding &&
	       nm_queued_has_ended(nm_queued_at(queue, pipe->joined)))
		pipe->joined++;
	if (pipe->asking > pipe->outstanding - pipe->joined)
		pipe->asking = pipe->outstanding - pipe->joined;
}

void nm_queue_begin_answer(const struct nm_queue *queue)
{
	queue->asking->any = false;
	nm_app_parser_begin(&queue->asking->parser);
}

void nm_queue_recall(const struct nm_queue *queue, const struct nm_queued *one)
{
	struct nm_app_request *request = &queue->asking->request;

	if (queue->asking->drawn_by != nm_queued_instr(queue, one))
		nm_asking_take_options(queue->io, nm_queued_instr(queue, one), queue->asking);
	request->key = one->key;
	nm_asking_find_payload(queue->flow, request);
	request->size = one->size;
	request->number = one->number;
	request->check = one->check;
}

void nm_queue_end_well(const struct nm_queue *queue, struct nm_queued *one)
{
	struct nm_pipe *pipe = queue->pipe;
	const struct nm_app_parser parser = queue->asking->parser;

	one->end = (uint8_t)(one->end == NM_QUEUED_LATE ? NM_QUEUED_TOO_LATE
							: NM_QUEUED_ANSWERED + parser.class);
	one->answer = parser.answer | parser.check << 8;
	pipe->has_heard = true;
	if (pipe->joined == pipe->outstanding - pipe->asking) { /* the rest of it is not sent */
		queue->asking->cut = true;
		pipe->ask.left = 0;
	}
	pass_over_ended(queue);
	if (pipe->joined < pipe->outstanding &&
	    nm_queued_at(queue, pipe->joined)->end == NM_QUEUED_LATE)
		pipe->due_ns = 1; /* its wait begins: nm_queue_expire */
	nm_queue_begin_answer(queue);
	queue->asking->parser.last = parser.last; /* nothing that comes behind it counts */
	queue->asking->parser.refuses = parser.refuses;
}

/* --- the end of a pass --- */

/* Takes out the oldest, which is the flow's own then. */
static const struct nm_queued *take_out(const struct nm_queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;
	const struct nm_queued *one = nm_queued_at(queue, 0);

	queue->flow->request = (struct nm_request){
		.due_ns = one->due_ns,
		.sent_ns = one->sent_ns,
		.marks = one->marks & (uint8_t)~NM_QUEUED_AGAIN,
		.arrival = one->arrival,
	};
	pipe->oldest = pipe->oldest + 1 == queue->instr->count ? 0 : pipe->oldest + 1;
	pipe->outstanding--;
	pipe->joined -= pipe->joined > 0;
	return one;
}

static bool is_timed_out(const struct nm_queued *one)
{
	return one->end == NM_QUEUED_TIMED_OUT || one->end == NM_QUEUED_TOO_LATE;
}

/* Where it is counted that a request has ended without a good answer. */
static _Atomic uint64_t *class_of(const struct nm_queued *one, struct nm_outcome_counters *outcomes)
{
	if (is_timed_out(one))
		return &outcomes->timed_out;
	return one->end == NM_QUEUED_MALFORMED ? &outcomes->malformed : &outcomes->lost;
}

static void give_up(const struct nm_queue *queue, const struct nm_queued *one)
{
	const struct nm_instr *instr = nm_queued_instr(queue, one);

	nm_asking_give_up(queue->flow, instr,
			  class_of(one, nm_app_outcomes(queue->io, queue->flow, instr)));
	if (!is_timed_out(one))
		return;
	nm_counter_add(&queue->io->count->timeouts, 1);
	queue->flow->request.outcome = NM_TIMEOUT;
}

/* Some of another answer may have come already. */
static enum nm_step count_answer(const struct nm_queue *queue, const struct nm_queued *one)
{
	const uint32_t check = queue->asking->parser.check;

	queue->asking->sent_ns = one->sent_ns;
	queue->asking->parser.check = one->answer >> 8;
	const enum nm_step step =
		nm_asking_end_as(queue->io, queue->flow, nm_queued_instr(queue, one), queue->asking,
				 (enum nm_class)(one->end - NM_QUEUED_ANSWERED),
				 (enum nm_answer)(uint8_t)one->answer);

	queue->asking->parser.check = check;
	return step;
}

enum nm_step nm_queue_end_oldest(const struct nm_queue *queue)
{
	const struct nm_queued *one = take_out(queue);

	if (one->end >= NM_QUEUED_ANSWERED)
		return count_answer(queue, one);
	if (one->end == NM_QUEUED_TOO_LATE)
		nm_asking_note_answer(queue->flow, nm_queued_instr(queue, one), queue->asking);
	give_up(queue, one);
	return NM_STEP_NEXT;
}

struct nm_queue_oldest nm_queue_oldest(struct nm_io *io, struct nm_flow *flow,
				       const struct nm_instr *instr)
{
	const struct nm_queue queue = nm_queue_of(io, flow, instr);
	const struct nm_queued *one = nm_queued_at(&queue, 0);

	return (struct nm_queue_oldest){
		.instr = queue.pipe->outstanding ? nm_queued_instr(&queue, one) : instr - 1,
		.sent = &one->sent,
		.received = &one->received,
	};
}

/* --- the end of a connection, of a request, or of all --- */

/* Whether a request that is on its way is asked again over another connection: where it may be
 * asked twice, and no byte of its answer has come; or as the server has said so. */
static bool may_again(const struct nm_queue *queue, uint32_t i)
{
	const struct nm_asking *asking = queue->asking;

	if (asking->parser.refuses)
		return true;
	return (queue->flow->conn->traits & NM_CONN_ANSWERED) &&
	       nm_asking_is_safe(&asking->request) && !(i == queue->pipe->joined && asking->any);
}

/* It ends so, if it has not ended and its time is not over. */
static void give_up_waiting(struct nm_queued *one, enum nm_queued_end end)
{
	if (!nm_queued_has_ended(one))
		one->end = (uint8_t)(one->end == NM_QUEUED_LATE ? NM_QUEUED_TIMED_OUT : end);
}

void nm_queue_end_badly(const struct nm_queue *queue, struct nm_queued *one, enum nm_queued_end end)
{
	give_up_waiting(one, end);
	if (one->end >= NM_QUEUED_ANSWERED)
		one->end = (uint8_t)end;
	queue->pipe->ask.at = one->instr;
}

void nm_queue_settle(const struct nm_queue *queue, enum nm_queue_verdict verdict, ssize_t n)
{
	struct nm_pipe *pipe = queue->pipe;
	const uint32_t sent = nm_queue_sent(pipe);
	const bool has_ended = verdict == NM_QUEUE_ENDED;

	if (has_ended)
		pipe->ask.at = queue->instr->pipeline.n_instrs - 1;
	for (uint32_t i = pipe->joined; i < sent; i++) {
		struct nm_queued *one = nm_queued_at(queue, i);

		if (one->end) {
			give_up_waiting(one, NM_QUEUED_TIMED_OUT);
			continue;
		}
		nm_queue_recall(queue, one);
		one->received = 0;
		if (has_ended && may_again(queue, i)) {
			one->marks |= NM_QUEUED_AGAIN;
			continue;
		}
		one->end = NM_QUEUED_LOST;
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
	nm_queue_begin_answer(queue);
	pipe->verdict = (uint8_t)verdict;
	pipe->error = n ? (int32_t)-n : ECONNRESET;
}

/* When the connection is given up for the oldest, whose time was over then; 0: for another. */
static uint64_t give_up_ns(const struct nm_queue *queue, const struct nm_queued *one,
			   uint64_t due_ns)
{
	const uint64_t heard_ns = queue->pipe->heard_ns;

	if (one != nm_queued_at(queue, queue->pipe->joined))
		return 0;
	return heard_ns > one->sent_ns ? due_ns + (heard_ns - one->sent_ns) : due_ns;
}

void nm_queue_expire(struct nm_queue *queue)
{
	struct nm_pipe *pipe = queue->pipe;
	const uint64_t now_ns = pipe->due_ns ? nm_queue_now(queue) : 0;
	const uint32_t sent = nm_queue_sent(pipe);
	bool is_late = false;

	if (now_ns && pipe->has_heard)
		pipe->heard_ns = now_ns;
	pipe->has_heard = false;
	if (now_ns < pipe->due_ns || !pipe->due_ns)
		return;
	pipe->due_ns = 0;
	for (uint32_t i = pipe->joined; i < pipe->outstanding; i++) {
		struct nm_queued *one = nm_queued_at(queue, i);
		uint64_t due_ns = nm_queued_has_ended(one) ? 0 : nm_queued_due_ns(queue, one);

		if (due_ns && now_ns >= due_ns && i >= sent) {
			nm_queue_end_badly(queue, one, NM_QUEUED_TIMED_OUT);
			continue;
		}
		if (due_ns && now_ns >= due_ns) {
			one->end = NM_QUEUED_LATE;
			due_ns = give_up_ns(queue, one, due_ns);
		}
		if (due_ns && now_ns >= due_ns) {
			is_late = true;
			pipe->ask.at = one->instr;
		} else if (due_ns && (!pipe->due_ns || due_ns < pipe->due_ns)) {
			pipe->due_ns = due_ns;
		}
	}
	if (is_late)
		nm_queue_settle(queue, NM_QUEUE_LATE, -ETIMEDOUT);
	else
		pass_over_ended(queue);
}

void nm_queue_abandon(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_queue queue = nm_queue_of(io, flow, instr);

	for (uint32_t i = queue.pipe->joined; i < queue.pipe->outstanding; i++)
		give_up_waiting(nm_queued_at(&queue, i), NM_QUEUED_LOST);
	pass_over_ended(&queue);
	queue.pipe->verdict = NM_QUEUE_GOES_ON;
}

enum nm_step nm_queue_tell_verdict(const struct nm_queue *queue)
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
