/* SPDX-License-Identifier: Apache-2.0 */
/* Several requests of a flow outstanding at a time on a stream, over which a server answers them in
 * their order: they stand in a queue from when they are drawn until their passes end. As many as
 * fit are sent with one call, and all answers that one call brings are taken together.
 *
 * The leader's program of such a transaction is what asks, one flowop or a mix of them, and the
 * queue behind it, with which its passes begin. A pass ends with the oldest request, however that
 * has ended. When the connection ends, requests without an answer are lost, or stay in the queue
 * and are sent once more. The step answers FAIL when the passes have ended that have ended with the
 * connection. The state is a pipeline's (flowop/pipeline.h), whose ring has the queue. */
#ifndef NM_FLOWOP_QUEUE_H
#define NM_FLOWOP_QUEUE_H

#include "flowop/pipeline.h"

/* instr->pipeline: as of a pipeline, all of whose instructions ask; the rest as of one of these. */
extern const struct nm_flowop nm_pseudo_queue;

static inline bool nm_instr_is_queue(const struct nm_instr *instr)
{
	return instr->op == &nm_pseudo_queue;
}

/* Places of a ring in which so many requests stand. */
uint32_t nm_queue_places(uint32_t depth);

/* The oldest request, whose pass ends next. */
struct nm_queue_oldest {
	const struct nm_instr *instr; /* that asks it; any of them where no pass ends next */
	/* so many bytes, once its pass has ended with an answer */
	const uint64_t *sent, *received;
};
struct nm_queue_oldest nm_queue_oldest(struct nm_io *io, struct nm_flow *flow,
				       const struct nm_instr *queue);

/* Whether the flow has failed since a request was not answered within its limit. */
bool nm_queue_is_late(const struct nm_io *io, struct nm_flow *flow);

/* Nothing is asked any more: what is in the queue is lost, and the passes end in the next steps. */
void nm_queue_abandon(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *queue);

#endif
