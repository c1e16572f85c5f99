/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the phases whose messages io_uring can move, and says what keeps a group from it. */
#include "plan/posts.h"

#include <stdio.h>

#include "flowop/mix.h"
#include "flowop/pipeline.h"
#include "flowop/pseudo_ops.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/shape.h"
#include "transport/transport.h"

/* The most that a flow sends without waiting until the kernel has it: there is room for that, most
 * of the time. */
#define NO_WAIT_MAX 16384u

static bool can_post(const struct nm_instr *instr)
{
	bool follows = instr->op->flags & NM_FLOWOP_FOLLOWS;

	if (instr->step == nm_pseudo_select.step || instr->step == nm_pseudo_repeat.step)
		return true;
	return nm_instr_is_plain(instr) && !(instr->transport->caps & NM_TRANSPORT_RECONNECTS) &&
	       !instr->message.law && !instr->lossy && !instr->message.cork &&
	       !instr->pass.drains && (!follows || instr->ahead);
}

void nm_phase_note_posts(struct nm_group *group, struct nm_phase *phase)
{
	struct nm_instr *first = &group->instrs[phase->first];
	struct nm_instr *end = &group->instrs[group->n_instrs];

	phase->posts = group->posts && first < end && !phase->pipeline && !phase->open_sender &&
		       !phase->drains && !phase->counts.may_lose && !group->messages.gives_up;
	for (const struct nm_instr *i = first; i < end; i++)
		phase->posts &= can_post(i);
	for (struct nm_instr *i = first; phase->posts && i < end; i++) {
		const struct nm_instr *next = i + 1 < end || phase->leads ? i + 1 : first;

		if (!(i->op->flags & NM_FLOWOP_INITIATES))
			continue;
		i->single_call = false;
		i->message.no_wait = i->size <= NO_WAIT_MAX &&
				     i->size <= group->messages.chunk_bytes && next < end &&
				     (next->op->flags & NM_FLOWOP_FOLLOWS) &&
				     next->slot == i->slot && !i->stride && !next->stride;
	}
}

static bool moves(const struct nm_instr *instr, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (instr[i].op->flags & NM_FLOWOP_MOVES)
			return true;
	return false;
}

/* The first flowop that keeps a transaction from it; NULL: none does by itself. */
static const struct nm_instr *hindrance(const struct nm_group *group)
{
	for (uint32_t p = 0; p < group->n_phases; p++) {
		const struct nm_phase *phase = &group->phases[p];
		const struct nm_instr *first = &group->instrs[phase->first];

		for (uint32_t i = 0; moves(first, phase->n_instrs) && i < phase->n_instrs; i++)
			if (!can_post(&first[i]) && first[i].op != &nm_pseudo_pipeline)
				return &first[i];
	}
	return NULL;
}

void nm_plan_check_posts(const struct nm_plan *plan, const struct nm_ir *ir)
{
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		char which[96] = "";

		if (!group->posts || nm_group_posts(group))
			continue;
		const struct nm_instr *hinders = hindrance(group);

		if (hinders && !nm_flowop_is_named(hinders->op))
			snprintf(which, sizeof which, "; the <%s> of line %u is none of these",
				 nm_instr_mix(hinders) ? "mix" : "sequence", hinders->line);
		else if (hinders)
			snprintf(which, sizeof which, "; <flowop %s> of line %u is none of these",
				 hinders->op->name, hinders->line);
		const struct nm_node *node = ir->groups[g].node;

		nm_attr_error(ir, node, "engine",
			      " engine=\"io_uring\": none of its transactions can use it: that "
			      "takes reads and writes of a fixed size over tcp or unix, without "
			      "pipeline, timeout, canfail, zerocopy and the like, and one host "
			      "that begins each pass%s",
			      which);
	}
}
