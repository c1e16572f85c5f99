/* SPDX-License-Identifier: Apache-2.0 */
/* Mixes: the table by which a member is drawn, the draw, and its instructions. */
#include "flowop/mix.h"

#include <stdlib.h>

#include "base/rng.h"
#include "flowop/message.h"
#include "flowop/replay.h"

/* Fills the columns: each is as high as the weight of all, and a member that weighs less than a
 * column leaves the rest of its own to one that weighs more. `left` has what each member has still
 * to be given, in units of which a column has mix->weight. */
static void fill_columns(struct nm_mix *mix, uint64_t *left, uint32_t *small, uint32_t *large)
{
	uint32_t n_small = 0, n_large = 0;

	for (uint32_t i = 0; i < mix->n_members; i++) {
		left[i] = mix->members[i].weight * mix->n_members;
		mix->members[i].cut = mix->weight;
		mix->members[i].alias = i;
		if (left[i] < mix->weight)
			small[n_small++] = i;
		else
			large[n_large++] = i;
	}
	while (n_small && n_large) {
		uint32_t less = small[--n_small], more = large[n_large - 1];

		mix->members[less].cut = left[less];
		mix->members[less].alias = more;
		left[more] -= mix->weight - left[less];
		if (left[more] < mix->weight) {
			n_large--;
			small[n_small++] = more;
		}
	}
}

struct nm_mix *nm_mix_new(const uint64_t *weights, uint32_t n)
{
	struct nm_mix *mix = calloc(1, sizeof *mix + n * sizeof *mix->members);
	uint64_t *left = calloc(n, sizeof *left);
	uint32_t *small = calloc(n, sizeof *small), *large = calloc(n, sizeof *large);

	if (mix && left && small && large) {
		mix->n_members = n;
		for (uint32_t i = 0; i < n; i++) {
			mix->members[i].weight = weights[i];
			mix->weight += weights[i];
		}
		fill_columns(mix, left, small, large);
	} else {
		free(mix);
		mix = NULL;
	}
	free(left);
	free(small);
	free(large);
	return mix;
}

uint32_t nm_mix_draw(const struct nm_mix *mix, uint64_t key)
{
	uint64_t drawn = nm_rng_below(key, 0, mix->weight * mix->n_members);
	uint32_t column = (uint32_t)(drawn / mix->weight);
	const struct nm_mix_member *member = &mix->members[column];

	return drawn % mix->weight < member->cut ? column : member->alias;
}

static enum nm_step mix_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_mix *mix = nm_instr_mix(instr);
	uint32_t drawn = mix->replays ? nm_replay_next(io, flow, instr)
				      : nm_mix_draw(mix, nm_step_key(io, flow, instr));

	flow->at = instr + mix->members[drawn].at;
	return NM_STEP_JUMP;
}

static enum nm_step jump_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	(void)io;
	flow->at = instr + instr->count;
	return NM_STEP_JUMP;
}

const struct nm_flowop nm_pseudo_mix = {
	.name = "(mix)",
	.help = "draws the member with which the pass goes on",
	.step = mix_step,
};

const struct nm_flowop nm_pseudo_jump = {
	.name = "(jump)",
	.help = "goes on behind the mix",
	.step = jump_step,
};
