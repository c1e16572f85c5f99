/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes a pass has, on average. */
#include "plan/mixes.h"
#include "transport/transport.h"

bool nm_ir_moves_messages(const struct nm_ir_step *step)
{
	return step->transport && (step->transport->caps & NM_TRANSPORT_MESSAGES) &&
	       (step->op->flags & NM_FLOWOP_MOVES);
}

/* How often a step is done in a pass, on average. */
static double times_of(const struct nm_ir_group *group, const struct nm_ir_step *step)
{
	const struct nm_common_opts *common = step->common;
	double times = (double)common->count, sum = 0;

	if (nm_ir_moves_messages(step))
		times *= (double)common->repeat * (double)common->batch;
	if (step->in.sequence)
		times *= nm_law_mean(group->sequences[step->in.sequence - 1].count);
	const struct nm_ir_mix *mix = nm_ir_mix_of(group, step->in.member);

	if (!mix)
		return times;
	for (size_t i = 0; i < mix->n_members; i++)
		sum += (double)group->members[mix->first + i].weight;
	return times * (double)group->members[step->in.member - 1].weight / sum;
}

double nm_ir_pass_bytes(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			const struct nm_ir_step **ret_unknown)
{
	const uint32_t moves = NM_FLOWOP_MOVES | NM_FLOWOP_FILES | NM_FLOWOP_ASKS;
	double sent = 0, received = 0;

	*ret_unknown = NULL;
	for (size_t i = 0; i < t->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[t->first + i];
		double bytes = step->op->flags & moves ? times_of(group, step) : 0;

		if (bytes <= 0)
			continue;
		/* How long an answer is, and a file, is not known. */
		if (!step->size || (step->op->flags & NM_FLOWOP_ASKS)) {
			*ret_unknown = step;
			return 0;
		}
		bytes *= step->law ? nm_law_mean(step->law) : (double)step->size;
		if (step->op->flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_BOTH))
			sent += bytes;
		if (step->op->flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH))
			received += bytes;
	}
	return sent > received ? sent : received;
}
