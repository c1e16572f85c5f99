/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of a queue (queue.h), and what becomes of each.
 *
 * The ring has, from the oldest on: requests that have ended and whose passes have not
 * (pipe->joined); those that are outstanding, of which some may have ended with a connection; and
 * those that are still to be sent (pipe->asking), of the first of which so many bytes are gone
 * (pipe->ask.left).
 *
 * How a request has ended is noted in it at once (`end`), by the functions below and by no others.
 * It is counted when its pass ends, by nm_queue_end_oldest alone. That its connection is of no more
 * use (pipe->verdict) is told behind these passes: they are those of the old connection, and do not
 * wait for a new one. */
#ifndef NM_FLOWOP_QUEUED_H
#define NM_FLOWOP_QUEUED_H

#include "flowop/asking.h"
#include "flowop/queue.h"

/* How a request has ended. */
enum nm_queued_end {
	NM_QUEUED_WAITS, /* it has not */
	NM_QUEUED_LATE,	 /* nor this one, whose time is over: its answer will be thrown away */
	NM_QUEUED_LOST,
	NM_QUEUED_TIMED_OUT,
	NM_QUEUED_TOO_LATE, /* timed out, and its answer has come after all */
	NM_QUEUED_MALFORMED,
	NM_QUEUED_ANSWERED, /* + enum nm_class */
};

#define NM_QUEUED_AGAIN 0x80u /* of `marks`: it is to be sent once more */

struct nm_queued {
	uint64_t due_ns, sent_ns; /* as of struct nm_request */
	uint64_t key, size;	  /* as of struct nm_app_request */
	uint64_t sent, received;  /* bytes of the request, and of its answer */
	uint32_t number;	  /* as of struct nm_app_request */
	union {
		uint32_t check; /* the same */
		/* Of one that is answered, as of struct nm_app_parser: its answer, and from the
		 * second byte on, of a batch, its check. */
		uint32_t answer;
	};
	uint32_t arrival; /* as of struct nm_request */
	uint16_t instr;	  /* which one of the queue's asks it */
	uint8_t end, marks;
};
_Static_assert(sizeof(struct nm_queued) == 2 * sizeof(struct nm_request),
	       "a ring has so many for each that may be outstanding");

struct nm_queue {
	struct nm_io *io;
	struct nm_flow *flow;
	const struct nm_instr *instr, *first; /* first: of those that ask, or the mix of them */
	struct nm_asking *asking;
	struct nm_pipe *pipe;
	uint64_t now_ns; /* the time of what the step does now; 0: not known */
	bool is_over;	 /* the life of the connection, in this whole step */
};

static inline struct nm_queue nm_queue_of(struct nm_io *io, struct nm_flow *flow,
					  const struct nm_instr *instr)
{
	return (struct nm_queue){.io = io,
				 .flow = flow,
				 .instr = instr,
				 .first = instr - instr->pipeline.n_instrs,
				 .asking = nm_app_state(io, flow),
				 .pipe = nm_pipe_of(io, flow)};
}

/* The clock is read where the time is needed, and once until the next call that may take long. */
static inline uint64_t nm_queue_now(struct nm_queue *queue)
{
	if (!queue->now_ns)
		queue->now_ns = nm_clock_ns();
	return queue->now_ns;
}

/* The i-th of the ring, from the oldest on. */
static inline struct nm_queued *nm_queued_at(const struct nm_queue *queue, uint32_t i)
{
	uint32_t place = queue->pipe->oldest + i;

	if (place >= queue->instr->count)
		place -= (uint32_t)queue->instr->count;
	return (struct nm_queued *)(void *)queue->pipe->ring + place;
}

static inline const struct nm_instr *nm_queued_instr(const struct nm_queue *queue,
						     const struct nm_queued *one)
{
	return queue->first + one->instr;
}

/* How many have been sent, at least in part, over the connection or one before it. */
static inline uint32_t nm_queue_sent(const struct nm_pipe *pipe)
{
	return pipe->outstanding - pipe->asking + (pipe->ask.left > 0);
}

/* The request whose answer is the next; NULL: none has been sent. */
static inline struct nm_queued *nm_queue_answered_next(const struct nm_queue *queue)
{
	const struct nm_pipe *pipe = queue->pipe;

	return pipe->joined < nm_queue_sent(pipe) ? nm_queued_at(queue, pipe->joined) : NULL;
}

/* When the time of the request is over; 0: never. */
static inline uint64_t nm_queued_due_ns(const struct nm_queue *queue, const struct nm_queued *one)
{
	uint64_t timeout_ns = nm_queued_instr(queue, one)->timeout_ns;

	return timeout_ns ? one->sent_ns + timeout_ns : 0;
}

static inline bool nm_queued_has_ended(const struct nm_queued *one)
{
	return one->end > NM_QUEUED_LATE;
}

/* Whether a pass can be ended, or the connection. */
static inline bool nm_queue_has_news(const struct nm_pipe *pipe)
{
	return pipe->joined || pipe->verdict;
}

/* The connection's present request is this one. */
void nm_queue_recall(const struct nm_queue *queue, const struct nm_queued *one);
void nm_queue_begin_answer(const struct nm_queue *queue);

/* Its answer is there. */
void nm_queue_end_well(const struct nm_queue *queue, struct nm_queued *one);
/* It has ended so, also where its answer had been taken for a good one. */
void nm_queue_end_badly(const struct nm_queue *queue, struct nm_queued *one,
			enum nm_queued_end end);
/* Notes whose time is over, of which each has its own. One that has been sent stays in the ring
 * until its answer comes, as others come behind that; the connection is given up when it is the
 * oldest, and for as long as its limit no answer has come. */
void nm_queue_expire(struct nm_queue *queue);
/* The connection is of no more use, by n as in nm_flow_failed: notes so, and what becomes of the
 * requests that are on their way. */
void nm_queue_settle(const struct nm_queue *queue, enum nm_queue_verdict verdict, ssize_t n);

/* Ends the pass of the oldest request, which has ended. */
enum nm_step nm_queue_end_oldest(const struct nm_queue *queue);
/* Tells, behind the passes that have ended with it, that the connection is of no more use. */
enum nm_step nm_queue_tell_verdict(const struct nm_queue *queue);

#endif
