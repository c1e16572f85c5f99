/* SPDX-License-Identifier: Apache-2.0 */
/* What flowops that move a message share. */
#ifndef NM_FLOWOP_MOVING_H
#define NM_FLOWOP_MOVING_H

#include "base/draw.h"
#include "base/opt.h"
#include "flowop/flow.h"

struct nm_flowop;

extern const struct nm_opt nm_moving_opts[];

/* Of what is random in the present pass of a step: the same at both ends, and of no other step,
 * pass or flow. */
static inline uint64_t nm_step_key(const struct nm_io *io, const struct nm_flow *flow,
				   const struct nm_instr *instr)
{
	/* Both ends count their passes down from the same number. */
	return nm_draw(nm_draw(nm_draw(io->seed, flow->index), instr->position),
		       flow->iterations_left);
}

/* Bytes of the message that the step moves now; it may be asked again while the step goes on. */
static inline uint64_t nm_message_bytes(const struct nm_io *io, const struct nm_flow *flow,
					const struct nm_instr *instr)
{
	if (!instr->law)
		return instr->size;
	return nm_law_draw(instr->law, nm_step_key(io, flow, instr), flow->repeated);
}

/* Bytes that a step on a stream has still to move, when it is called. */
static inline uint64_t nm_message_left(const struct nm_io *io, const struct nm_flow *flow,
				       const struct nm_instr *instr)
{
	return flow->left ? flow->left : nm_message_bytes(io, flow, instr);
}

/* The other end of exchange. */
extern const struct nm_flowop nm_flowop_exchanged;

/* read and recv, write and send. */
enum nm_step nm_read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
enum nm_step nm_write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

#endif
