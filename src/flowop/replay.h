/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that were recorded: each of them is made by one pass, whichever flow of whichever worker
 * makes it. */
#ifndef NM_FLOWOP_REPLAY_H
#define NM_FLOWOP_REPLAY_H

#include "flowop/flow.h"

/* Takes the next request of those that the mix of the instruction replays: the member that makes
 * it, which is told. */
uint32_t nm_replay_next(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

/* The number of the next request, from 0; behind the last one come those of another round. */
uint64_t nm_turns_next(struct nm_turns *turns, uint32_t n_flows);

#endif
