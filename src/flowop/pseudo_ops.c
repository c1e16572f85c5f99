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

/* bits: those of flow->repeated that count here. */
static inline enum nm_step repeat(struct nm_flow *flow, const struct nm_instr *instr, uint32_t bits)
{
	/* When the step is called after a YIELD the others have had their turn. */
	if (flow->progress) {
		flow->progress = 0;
	} else {
		uint64_t done = ++flow->repeated & bits;

		if (done >= instr->count) {
			flow->repeated &= ~bits;
			return NM_STEP_NEXT;
		}
		if (done % TURN == 0) {
			flow->progress = 1;
			return NM_STEP_YIELD;
		}
	}
	flow->at = instr - 1;
	return NM_STEP_JUMP;
}

static enum nm_step repeat_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	(void)io;
	return repeat(flow, instr, UINT32_MAX);
}

static enum nm_step repeat_in_round_step(struct nm_io *io, struct nm_flow *flow,
					 const struct nm_instr *instr)
{
	(void)io;
	return repeat(flow, instr, (1u << NM_ROUND_BITS) - 1);
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

const struct nm_flowop nm_pseudo_repeat_in_round = {
	.name = "(repeat)",
	.help = "repeats the flowop before it, in a round of a sequence",
	.step = repeat_in_round_step,
};
