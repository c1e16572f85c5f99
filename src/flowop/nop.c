/* SPDX-License-Identifier: Apache-2.0 */
/* nop: does nothing, to measure the cost of an operation by itself. */
#include "flowop/flowop.h"

struct nop_opts {
	bool unused;
};

static const struct nm_opt nop_opts[] = {NM_OPT_END};

static enum nm_step nop_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	(void)io;
	(void)flow;
	(void)instr;
	return NM_STEP_NEXT;
}

const struct nm_flowop nm_flowop_nop = {
	.name = "nop",
	.mirror_op = &nm_flowop_nop,
	.help = "does nothing",
	.opts = nop_opts,
	.opts_size = sizeof(struct nop_opts),
	.step = nop_step,
};
