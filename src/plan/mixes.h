/* SPDX-License-Identifier: Apache-2.0 */
/* Mixes and sequences of a profile: what stands in which, and what they cannot be with. */
#ifndef NM_PLAN_MIXES_H
#define NM_PLAN_MIXES_H

#include "plan/ir.h"

/* The first step of a transaction that is in a mix or a sequence; NULL: none is. */
static inline const struct nm_ir_step *
nm_ir_first_mixed(const struct nm_ir_group *group, const struct nm_ir_transaction *transaction)
{
	for (size_t i = 0; i < transaction->n_steps; i++)
		if (group->steps[transaction->first + i].in.member ||
		    group->steps[transaction->first + i].in.sequence)
			return &group->steps[transaction->first + i];
	return NULL;
}
/* The mix that the member is of; NULL: it is 0, as of a step that is in none. */
static inline struct nm_ir_mix *nm_ir_mix_of(const struct nm_ir_group *group, uint32_t member)
{
	return member ? &group->mixes[group->members[member - 1].mix] : NULL;
}
/* The one that the step is in, if it replays something; NULL: there is none. */
static inline struct nm_ir_mix *nm_ir_replay_of(const struct nm_ir_group *group,
						const struct nm_ir_step *step)
{
	struct nm_ir_mix *mix = nm_ir_mix_of(group, step->in.member);

	return mix && mix->replay ? mix : NULL;
}
/* The step with which the next member of the same mix begins; NULL: the step is in no mix, or in
 * its last member. */
const struct nm_ir_step *nm_ir_next_member(const struct nm_ir_group *group,
					   const struct nm_ir_transaction *transaction,
					   const struct nm_ir_step *step);
/* Refuses what cannot go with a mix or a sequence, in a transaction that has one. After
 * nm_ir_connect. */
void nm_ir_check_mixes(struct nm_ir *ir, const struct nm_ir_group *group,
		       const struct nm_ir_transaction *transaction);

#endif
