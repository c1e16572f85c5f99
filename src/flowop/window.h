/* SPDX-License-Identifier: Apache-2.0 */
/* Several requests of a flow outstanding at a time where messages may be lost: answers come in any
 * order, and are known by their numbers. What is not answered within its limit is given up by
 * itself; the others go on.
 *
 * The leader's program of such a transaction is the one instruction that asks, and the window
 * behind it, with which its passes begin. A pass ends with an answer, or with a request that is
 * given up.
 * The state is a pipeline's (flowop/pipeline.h), whose ring is a table of what is outstanding. */
#ifndef NM_FLOWOP_WINDOW_H
#define NM_FLOWOP_WINDOW_H

#include "flowop/pipeline.h"

enum nm_step nm_window_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

/* Whether the instruction is a window; what asks is before it. */
static inline bool nm_instr_is_window(const struct nm_instr *instr)
{
	return instr->step == nm_window_step;
}

/* The places of the table for so many requests: twice as many, so that one that is not answered
 * seldom stands in the way of another, and a power of 2. */
uint32_t nm_window_places(uint32_t depth);

#endif
