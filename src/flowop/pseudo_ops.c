/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that are no flowops: choosing the connection, and repeating a flowop. */
#include "flowop/pseudo_ops.h"

/* How often a flowop may be repeated before other flows have their turn. */
#define TURN 128

static enum nm_step select_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	int64_t slot = instr->slot;

	(void)io;
	if (instr->stride)
		slot += instr->stride * (int64_t)(instr->count - flow->iterations_left);
	flow->conn = nm_flow_conn(flow, slot);
	return NM_STEP_NEXT;
}

static enum nm_step repeat_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	(void)io;
	/* When the step is called after a YIELD the others have had their turn. */
	if (flow->progress) {
		flow->progress = 0;
	} else {
		if (++flow->repeated >= instr->count) {
			flow->repeated = 0;
			return NM_STEP_NEXT;
		}
		if (flow->repeated % TURN == 0) {
			flow->progress = 1;
			return NM_STEP_YIELD;
		}
	}
	flow->at = instr - 1;
	return NM_STEP_JUMP;
}

const struct nm_flowop nm_pseudo_select = {
	.name = "(select)",
	.help = "chooses the connection",
	.step = select_step,
};

const struct nm_flowop nm_pseudo_repeat = {
	.name = "(repeat)",
	.help = "repeats the flowop before it",
	.step = repeat_step,
};
