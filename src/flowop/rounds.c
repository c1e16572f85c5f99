/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences: the instruction that begins their next round. */
#include "flowop/rounds.h"

#include "base/law.h"
#include "flowop/message.h"

/* How many rounds there may be before other flows have their turn. */
#define TURN 128

static enum nm_step rounds_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	/* When the step is called after a YIELD the others have had their turn. */
	if (!flow->progress) {
		uint32_t done = (flow->repeated >> NM_ROUND_BITS) + 1;

		if (done >= nm_law_draw(instr->opts, nm_step_key(io, flow, instr), 0)) {
			flow->repeated = 0;
			return NM_STEP_NEXT;
		}
		flow->repeated = done << NM_ROUND_BITS;
		if (done % TURN == 0) {
			flow->progress = 1;
			return NM_STEP_YIELD;
		}
	}
	flow->progress = 0;
	flow->at = instr - instr->count;
	return NM_STEP_JUMP;
}

const struct nm_flowop nm_pseudo_rounds = {
	.name = "(rounds)",
	.help = "begins the next round of a sequence",
	.step = rounds_step,
};
