/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers the mixes and sequences of a transaction. */
#include "plan/lower_priv.h"

#include "flowop/mix.h"
#include "flowop/rounds.h"
#include "plan/mixes.h"
#include "plan/plan.h"

static struct nm_instr *emit(struct nm_group *group, const struct nm_flowop *op, unsigned line)
{
	struct nm_instr *instr = &group->instrs[group->n_instrs++];

	*instr = (struct nm_instr){.step = op->step, .op = op, .line = line};
	return instr;
}

/* All jumps of the mix lead behind it. */
static void end_mix(const struct nm_mix_lowering *at, const struct nm_ir_mix *mix,
		    struct nm_group *group)
{
	mix->table->length = group->n_instrs - at->draws;
	for (uint32_t i = at->draws; i < group->n_instrs; i++)
		if (group->instrs[i].op == &nm_pseudo_jump)
			group->instrs[i].count = group->n_instrs - i;
}

static void end_sequence(const struct nm_mix_lowering *at, const struct nm_ir_sequence *sequence,
			 struct nm_group *group)
{
	uint32_t length = group->n_instrs - at->begins;

	/* This side may have no part in it, and once is what it does anyhow. */
	if (!length || sequence->count->max == 1)
		return;
	struct nm_instr *rounds = emit(group, &nm_pseudo_rounds, sequence->line);

	rounds->opts = sequence->count;
	rounds->site = sequence->site.site;
	rounds->pass.site = sequence->site.own_site;
	rounds->count = length;
}

static void begin_mix(struct nm_mix_lowering *at, const struct nm_ir_mix *mix,
		      struct nm_group *group)
{
	at->draws = group->n_instrs;
	struct nm_instr *draws = emit(group, &nm_pseudo_mix, mix->node->line);

	draws->opts = mix->table;
	draws->site = mix->site.site;
	draws->pass.site = mix->site.own_site;
}

/* The same as nm_mix_lower, of mixes alone. */
static bool lower_member(struct nm_mix_lowering *at, const struct nm_ir_group *from,
			 uint32_t member, struct nm_group *group)
{
	const struct nm_ir_mix *last = nm_ir_mix_of(from, at->member),
			       *next = nm_ir_mix_of(from, member);

	if (member == at->member)
		return false;
	if (last && last == next)
		emit(group, &nm_pseudo_jump, last->node->line);
	else if (last)
		end_mix(at, last, group);
	if (next && next != last)
		begin_mix(at, next, group);
	if (next)
		next->table->members[member - 1 - next->first].at = group->n_instrs - at->draws;
	at->member = member;
	return true;
}

bool nm_mix_lower(struct nm_mix_lowering *at, const struct nm_ir_group *from,
		  const struct nm_ir_step *step, struct nm_group *group)
{
	uint32_t sequence = step ? step->in.sequence : 0;
	bool changes = sequence != at->sequence;

	if (changes && at->sequence)
		end_sequence(at, &from->sequences[at->sequence - 1], group);
	bool draws = lower_member(at, from, step ? step->in.member : 0, group);

	if (changes && sequence)
		at->begins = group->n_instrs;
	at->sequence = sequence;
	return changes || draws;
}
