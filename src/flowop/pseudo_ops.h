/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that the compiler puts between the flowops of a profile. They are in no registry:
 * profiles cannot name them, and no count of operations includes them. */
#ifndef NM_FLOWOP_PSEUDO_OPS_H
#define NM_FLOWOP_PSEUDO_OPS_H

#include "flowop/flowop.h"

/* Makes instr->slot, moved by instr->stride with each pass, the connection of the steps that
 * follow. instr->count: the passes of the transaction, 0 when it runs for a time. */
extern const struct nm_flowop nm_pseudo_select;
/* Goes back until the flowop before it has been done instr->count times. */
extern const struct nm_flowop nm_pseudo_repeat;
/* The same in a sequence, whose rounds are counted beside it. */
extern const struct nm_flowop nm_pseudo_repeat_in_round;

#endif
