/* SPDX-License-Identifier: Apache-2.0 */
/* Mixes: of several members one is drawn for each pass, by weight. Both ends draw alike. Or a file
 * of recorded requests says which one is next, where all ask, and the other end serves any.
 *
 * The program of a mix begins with the instruction that draws and goes on with that member; a jump
 * behind each member but the last leads to the end of the mix. */
#ifndef NM_FLOWOP_MIX_H
#define NM_FLOWOP_MIX_H

#include <stdint.h>

#include "app/recording.h"
#include "flowop/flowop.h"

/* One member, and one column of the table by which is drawn (Walker's alias method): a draw takes
 * the member of the column below the cut, and the alias from there on. */
struct nm_mix_member {
	uint64_t weight;
	uint64_t cut; /* 0 to the weight of all */
	uint32_t alias;
	uint32_t at; /* its first instruction, counted from the one that draws */
};

struct nm_mix {
	uint64_t weight; /* of all members; not 0 */
	uint32_t n_members;
	uint32_t length; /* of the mix: to the instruction behind it */
	/* its records say which member is next (replay.h); NULL: it is drawn */
	const struct nm_recording *replays;
	struct nm_mix_member members[];
};

/* The most that a member may weigh: the weight of all members, times their number, is far below
 * 2^64. */
#define NM_MIX_WEIGHT_MAX 1000000000u

/* Makes the table of a mix; `at` and `length` are the caller's to set. n is 1 to 10000, each weight
 * at most NM_MIX_WEIGHT_MAX, and not all of them are 0. Owned by the caller, who frees it; NULL
 * when out of memory. */
struct nm_mix *nm_mix_new(const uint64_t *weights, uint32_t n);

/* Which member is drawn by the first number of the key (base/rng.h), on any thread. */
uint32_t nm_mix_draw(const struct nm_mix *mix, uint64_t key);

/* The instruction that draws; instr->opts is its struct nm_mix. */
extern const struct nm_flowop nm_pseudo_mix;
/* Goes on instr->count instructions further on. */
extern const struct nm_flowop nm_pseudo_jump;

/* The mix of an instruction; NULL: it does not begin one. */
static inline const struct nm_mix *nm_instr_mix(const struct nm_instr *instr)
{
	return instr->op == &nm_pseudo_mix ? (const struct nm_mix *)instr->opts : NULL;
}

#endif
