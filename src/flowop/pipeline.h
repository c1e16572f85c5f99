/* SPDX-License-Identifier: Apache-2.0 */
/* Several passes of a flow at a time: each is a request and its answer, and further requests are
 * sent before the answer to the first has come. Answers come in the order of the requests, as a
 * stream keeps them.
 *
 * The leader's program of such a transaction has instructions that ask, then instructions that take
 * the answer, and then the one instruction with which its passes begin: the pipeline, which runs
 * these two halves as far as each gets, and is done when an answer is complete. So neither end ever
 * waits for the other to read before it reads itself. The program of the end that answers is the
 * usual one. */
#ifndef NM_FLOWOP_PIPELINE_H
#define NM_FLOWOP_PIPELINE_H

#include "flowop/flowop.h"

/* The most requests that a flow may have outstanding. */
#define NM_PIPELINE_MAX 4096

/* instr->count: how many requests may be outstanding; instr->pipeline.n_instrs: how many
 * instructions before the pipeline belong to it; instr->pipeline.n_asks: how many of these ask, and
 * come first; instr->slot: their connection. */
extern const struct nm_flowop nm_pseudo_pipeline;

#define NM_PIPE_FULL UINT64_MAX

/* How far one half of the program is. */
struct nm_pipe_half {
	uint64_t left;	       /* as in struct nm_flow */
	uint32_t at, repeated; /* instructions of the half that are done in this pass */
	uint8_t progress;      /* as in struct nm_flow */
};

/* Of a queue (queue.h): what is to be told of the connection, by a FAIL. */
enum nm_queue_verdict {
	NM_QUEUE_GOES_ON, /* nothing */
	NM_QUEUE_ENDED,	  /* it is of no more use, and no request is lost by that: flow->ended */
	NM_QUEUE_FAILED,
	NM_QUEUE_LATE, /* a request was not answered within its limit */
};

/* The state of a flow's pipeline, behind the flow and its connections in memory. Between two steps
 * the flow's own request is the oldest: that of the pass that ends. */
struct nm_pipe {
	struct nm_pipe_half ask;
	union {
		struct nm_pipe_half answer;
		struct {
			/* Of a queue: until then the time of no request is over; 0: never. */
			uint64_t due_ns;
			uint64_t heard_ns; /* the last answer had come, where any has a limit */
		};
	};
	struct nm_request next; /* the one that is sent next, or is being sent */
	uint32_t joined;	/* requests that are sent together, or were last */
	uint32_t asking;	/* how many of these are not gone yet */
	uint32_t outstanding;
	uint32_t oldest; /* in the ring */
	bool ask_failed;
	/* Of a queue: enum nm_queue_verdict, and the error; whether the last FAIL was a LATE. */
	uint8_t verdict;
	bool is_late;
	bool has_heard; /* an answer, since that was looked at */
	int32_t error;
	/* In a phase with open arrivals: on the list of flows with room, and the next one of it. */
	bool has_room;
	bool refused;	  /* it had no room, at last, as the kernel took no more */
	uint32_t room;	  /* as the list counts it */
	uint64_t free_ns; /* since then it has room, or another flow has; NM_PIPE_FULL: none */
	struct nm_flow *next_with_room;
	struct nm_request ring[]; /* as many as may be outstanding */
};

static inline struct nm_pipe *nm_pipe_of(const struct nm_io *io, struct nm_flow *flow)
{
	return (struct nm_pipe *)(void *)((char *)flow + io->behind.pipe_offset);
}

/* Whether a request has been begun whose answer is not complete, or something is to be told. */
static inline bool nm_pipe_is_busy(const struct nm_pipe *pipe)
{
	return pipe->outstanding || pipe->asking || pipe->verdict;
}

/* Bytes of a pipeline for `depth` requests. */
static inline size_t nm_pipe_bytes(uint32_t depth)
{
	return sizeof(struct nm_pipe) + depth * sizeof(struct nm_request);
}

/* The flow's wait that begins is to end at due_ns at the latest; 0: there is no such limit. */
static inline void nm_pipe_limit_wait(struct nm_flow *flow, uint64_t due_ns)
{
	if (due_ns && (!flow->timer.at_ns || due_ns < flow->timer.at_ns))
		flow->timer.at_ns = due_ns;
}

/* Empties the pipeline: at the beginning of a phase nothing is asked or outstanding. */
void nm_pipe_reset(struct nm_pipe *pipe);
/* How many requests may be begun now; 0: flow->timer.at_ns is when the next is due, if any is. */
uint64_t nm_pipe_may_ask(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 const struct nm_pipe *pipe);
/* Which flowop of the pipeline has failed. */
const struct nm_instr *nm_pipe_culprit(const struct nm_pipe *pipe, const struct nm_instr *pipeline);

#endif
