/* SPDX-License-Identifier: Apache-2.0 */
/* Several requests of a flow outstanding at a time: runs the half that asks and the half that takes
 * answers, each as far as it gets. */
#include "flowop/pipeline.h"

#include "flowop/pacer.h"
#include "host/clock.h"

static const struct nm_instr *asks_of(const struct nm_instr *pipeline)
{
	return pipeline - pipeline->pipeline.n_instrs;
}

static const struct nm_instr *answers_of(const struct nm_instr *pipeline)
{
	return asks_of(pipeline) + pipeline->pipeline.n_asks;
}

void nm_pipe_reset(struct nm_pipe *pipe)
{
	pipe->ask = pipe->answer = (struct nm_pipe_half){.at = 0};
	pipe->has_room = false;
	pipe->room = 0;
	pipe->free_ns = 0;
	pipe->refused = false;
	pipe->verdict = NM_QUEUE_GOES_ON;
	pipe->asking = pipe->joined = pipe->outstanding = pipe->oldest = 0;
}

const struct nm_instr *nm_pipe_culprit(const struct nm_pipe *pipe, const struct nm_instr *pipeline)
{
	if (pipe->ask_failed)
		return asks_of(pipeline) + pipe->ask.at;
	return answers_of(pipeline) + pipe->answer.at;
}

/* Runs one half as far as it gets. NEXT: to its end. */
static enum nm_step run_half(struct nm_io *io, struct nm_flow *flow, struct nm_pipe_half *half,
			     const struct nm_instr *first, uint32_t count)
{
	enum nm_step answer;

	flow->left = half->left;
	flow->progress = half->progress;
	flow->repeated = half->repeated;
	do {
		answer = first[half->at].step(io, flow, &first[half->at]);
		if (answer == NM_STEP_NEXT)
			half->at++;
		else if (answer == NM_STEP_JUMP)
			half->at = (uint32_t)(flow->at - first);
	} while ((answer == NM_STEP_NEXT || answer == NM_STEP_JUMP) && half->at < count);
	half->left = flow->left;
	half->progress = flow->progress;
	half->repeated = flow->repeated;
	flow->left = 0;
	flow->progress = 0;
	flow->repeated = 0;
	if (answer == NM_STEP_NEXT)
		half->at = 0;
	return answer;
}

/* Takes the bytes of the oldest answer that have come. */
static enum nm_step take_answer(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr, struct nm_pipe *pipe)
{
	flow->request = pipe->ring[pipe->oldest];
	enum nm_step answer = run_half(io, flow, &pipe->answer, answers_of(instr),
				       instr->pipeline.n_instrs - instr->pipeline.n_asks);

	if (answer != NM_STEP_NEXT) {
		flow->request.sent_ns = 0;
		pipe->ask_failed = false;
		return answer;
	}
	pipe->outstanding--;
	pipe->oldest = pipe->oldest + 1 == instr->count ? 0 : pipe->oldest + 1;
	return NM_STEP_NEXT;
}

/* How many of `most` requests are due by now; 0: flow->timer.at_ns is when the next one is due, and
 * 0 if none ever is. */
static uint64_t due_of(const struct nm_io *io, struct nm_flow *flow, const struct nm_pipe *pipe,
		       uint64_t most)
{
	uint64_t now_ns = nm_clock_ns();
	uint64_t at_ns = pipe->next.due_ns, due = 0;

	if (at_ns >= io->asks.pacer->last_ns)
		return 0;
	if (at_ns > now_ns)
		flow->timer.at_ns = at_ns;
	for (; due < most && at_ns <= now_ns && at_ns < io->asks.pacer->last_ns; due++)
		at_ns = nm_pacer_next(io->asks.pacer, flow, at_ns);
	return due;
}

/* A pass that has begun is made, even if the control thread stops the phase meanwhile. */
uint64_t nm_pipe_may_ask(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 const struct nm_pipe *pipe)
{
	uint64_t most = instr->count - pipe->outstanding;

	if (io->asks.take_due)
		return most;
	if (!pipe->outstanding && io->asks.pacer)
		return 1;
	if (flow->iterations_left - pipe->outstanding < most)
		most = flow->iterations_left - pipe->outstanding;
	if (atomic_load_explicit(io->asks.stop, memory_order_relaxed))
		return !pipe->outstanding;
	return most && io->asks.pacer ? due_of(io, flow, pipe, most) : most;
}

/* Begins requests. False: none may be. */
static bool begin_asking(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 struct nm_pipe *pipe)
{
	const struct nm_instr *ask = asks_of(instr);
	uint64_t n = nm_pipe_may_ask(io, flow, instr, pipe);
	uint64_t fit = io->chunk / (ask->size + !ask->size);

	if (!n)
		return false;
	if (ask->message.joins)
		n = n < fit ? n : fit;
	else
		n = 1;
	/* When a pass has just ended the time is known. */
	pipe->next.sent_ns =
		flow->request.sent_ns || !io->asks.timed ? flow->request.sent_ns : nm_clock_ns();
	pipe->asking = pipe->joined = (uint32_t)n;
	if (n > 1)
		pipe->ask.left = n * ask->size;
	return true;
}

/* How many of the requests that are being sent are not gone. The others may have answers before the
 * rest is gone: the other end may read no further before this end takes its answers. */
static uint64_t still_asking(const struct nm_instr *instr, const struct nm_pipe *pipe)
{
	uint64_t size = asks_of(instr)->size;

	return pipe->asking > 1 ? pipe->ask.left / size + (pipe->ask.left % size != 0) : 1;
}

/* All but `left` of the requests that are being sent are gone: notes the others as outstanding. */
static void note_asked(const struct nm_io *io, const struct nm_flow *flow,
		       const struct nm_instr *instr, struct nm_pipe *pipe, uint64_t left)
{
	for (; pipe->asking > left; pipe->asking--) {
		uint64_t at = (pipe->oldest + (uint64_t)pipe->outstanding++) % instr->count;

		pipe->ring[at] = pipe->next;
		if (io->asks.pacer)
			pipe->next.due_ns = nm_pacer_next(io->asks.pacer, flow, pipe->next.due_ns);
	}
}

/* Sends as many requests as are allowed and fit. NEXT: all that are allowed. */
static enum nm_step ask(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			struct nm_pipe *pipe)
{
	enum nm_step answer = NM_STEP_NEXT;

	for (unsigned calls = 0; answer == NM_STEP_NEXT; calls++) {
		if (!pipe->asking && calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		if (!pipe->asking && !begin_asking(io, flow, instr, pipe))
			break;
		/* Sizes are drawn by the pass of the request. */
		flow->iterations_left -= pipe->outstanding;
		answer = run_half(io, flow, &pipe->ask, asks_of(instr), instr->pipeline.n_asks);
		flow->iterations_left += pipe->outstanding;
		flow->request.sent_ns = 0;
		note_asked(io, flow, instr, pipe,
			   answer == NM_STEP_NEXT ? 0 : still_asking(instr, pipe));
	}
	pipe->ask_failed = answer == NM_STEP_FAIL;
	return answer;
}

static bool is_readable(const struct nm_conn *conn)
{
	return (conn->flags & (NM_CONN_IN | NM_CONN_HUP)) || conn->ahead;
}

/* Takes answers that have come before it asks: then all requests that are allowed go out
 * together. */
static enum nm_step pipeline_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	struct nm_pipe *pipe = nm_pipe_of(io, flow);
	enum nm_step taken = NM_STEP_WAIT_IN;

	flow->conn = nm_flow_conn(flow, instr->slot);
	flow->timer.at_ns = 0;
	if (!nm_pipe_is_busy(pipe))
		pipe->next = flow->request;
	if (pipe->outstanding && is_readable(flow->conn))
		taken = take_answer(io, flow, instr, pipe);
	if (taken == NM_STEP_NEXT || taken == NM_STEP_FAIL)
		return taken;
	enum nm_step asked = ask(io, flow, instr, pipe);

	if (asked == NM_STEP_FAIL)
		return asked;
	if (taken != NM_STEP_YIELD && pipe->outstanding && is_readable(flow->conn))
		taken = take_answer(io, flow, instr, pipe);
	if (taken != NM_STEP_WAIT_IN)
		return taken;
	if (asked != NM_STEP_NEXT)
		return asked;
	return NM_STEP_WAIT_IN;
}

const struct nm_flowop nm_pseudo_pipeline = {
	.name = "(pipeline)",
	.help = "runs what asks and what takes answers, with several requests outstanding",
	.step = pipeline_step,
};
