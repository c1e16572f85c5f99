/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences: several flowops that are done one after the other, a number of times in each pass.
 * Both ends draw the same number. */
#ifndef NM_FLOWOP_ROUNDS_H
#define NM_FLOWOP_ROUNDS_H

#include "flowop/flowop.h"

/* The most rounds of a sequence in one pass, and the most times that a flowop is done in one round:
 * struct nm_flow counts both in one number. */
#define NM_ROUNDS_MAX ((1u << NM_ROUND_BITS) - 1)

/* Behind the flowops of a sequence: goes back by instr->count instructions until as many rounds are
 * done as the law says, which is instr->opts and draws at least 1. */
extern const struct nm_flowop nm_pseudo_rounds;

#endif
