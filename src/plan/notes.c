/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/notes.h"

#include <stdio.h>

#include "base/diag.h"
#include "flowop/glue.h"
#include "flowop/pipeline.h"
#include "plan/draft.h"
#include "plan/plan.h"

/* The answers that are read one after the other end with the last of them. */
static void note_last_answers(struct nm_group *group, const struct nm_phase *phase)
{
	uint32_t end = group->n_instrs;

	for (uint32_t i = phase->first; i < end; i++) {
		struct nm_instr *read = &group->instrs[i];
		uint32_t at = i;

		if (!read->answers)
			continue;
		/* With the next pass it begins anew. */
		do
			at = at + 1 == end ? phase->first : at + 1;
		while (!(group->instrs[at].op->flags & NM_FLOWOP_MOVES) ||
		       group->instrs[at].slot != read->slot);
		read->answers_last =
			group->instrs[at].op->flags & NM_FLOWOP_INITIATES &&
			(i + 1 == end || group->instrs[i + 1].step != nm_glue_repeat.step);
	}
}

/* A write that is followed at once by a read of what it will be answered. */
static void note_reads(struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = phase->first; i + 1 < group->n_instrs; i++) {
		struct nm_instr *write = &group->instrs[i], *read = write + 1;
		const uint32_t moves = NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS;

		write->then_reads = write->plain && read->plain && read->op->step == read->step &&
				    write->op->step == write->step && write->slot == read->slot &&
				    write->stride == read->stride &&
				    (write->op->flags & NM_FLOWOP_INITIATES) &&
				    (read->op->flags & moves) == moves;
	}
}

static bool wants_more(const struct nm_instr *instr)
{
	const uint32_t sends = NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES;
	const struct nm_opts_moving *opts = instr->opts;

	return (instr->op->flags & (sends | NM_FLOWOP_FILES | NM_FLOWOP_BOTH)) == sends &&
	       opts->more && instr->transport && (instr->transport->caps & NM_TRANSPORT_TCP);
}

/* Writes after which more is sent: the next that concerns the connection, also in the next pass, is
 * one as well. */
static void note_holds(struct nm_group *group, struct nm_phase *phase)
{
	const uint32_t concerns = NM_FLOWOP_MOVES | NM_FLOWOP_CLOSES;

	for (uint32_t i = phase->first; i < group->n_instrs; i++) {
		struct nm_instr *write = &group->instrs[i], *next = write;

		if (!wants_more(write))
			continue;
		do
			next = next + 1 == &group->instrs[group->n_instrs]
				       ? &group->instrs[phase->first]
				       : next + 1;
		while (!(next->op->flags & concerns) || next->slot != write->slot);
		write->holds = (next->op->flags & NM_FLOWOP_MOVES) &&
			       (next->op->flags & NM_FLOWOP_INITIATES) && !write->stride;
		phase->holds |= write->holds;
	}
}

/* The answers of several requests may be taken with one call, where each has one. */
static void note_pipelined_answer(const struct nm_group *group, const struct nm_phase *phase)
{
	const struct nm_instr *pipeline = &group->instrs[phase->first + phase->entry];
	struct nm_instr *read = &group->instrs[phase->first + pipeline->batch];

	if (pipeline->ahead - pipeline->batch != 1)
		return;
	uint64_t more = read->size * (phase->pipeline - 1);

	if (!read->plain || !(read->op->flags & NM_FLOWOP_FOLLOWS))
		return;
	if (more > group->chunk_bytes - read->size)
		more = group->chunk_bytes - read->size;
	read->ahead = more ? (uint32_t)more : 1;
	read->plain = read->ahead == 1;
}

/* Openings whose handshake is a flowop of its own. */
static void note_later(struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = phase->first; i + 1 < group->n_instrs; i++)
		group->instrs[i].later = (group->instrs[i].op->flags & NM_FLOWOP_OPENS) &&
					 (group->instrs[i + 1].op->flags & NM_FLOWOP_SECURES);
}

/* How often something opens the connection of an instruction. */
static unsigned openings_of(const struct nm_group *group, const struct nm_instr *instr)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < group->n_instrs; i++)
		count += group->instrs[i].op && (group->instrs[i].op->flags & NM_FLOWOP_OPENS) &&
			 group->instrs[i].slot == instr->slot && !group->instrs[i].stride;
	return count;
}

/* Whether all that a pass does with a connection begins with a message of who leads, and is
 * messages. */
static bool can_renew(const struct nm_group *group, const struct nm_phase *phase,
		      struct nm_instr *instr)
{
	const uint32_t others = NM_FLOWOP_FILES | NM_FLOWOP_BOTH;
	const struct nm_opts_moving *opts = instr->opts;
	bool first = true;

	if ((instr->op->flags & (NM_FLOWOP_MOVES | others)) != NM_FLOWOP_MOVES || opts->discard ||
	    opts->rx_zerocopy)
		return false;

	for (const struct nm_instr *i = &group->instrs[phase->first]; i < instr; i++)
		first &= !i->transport || i->slot != instr->slot;
	instr->begins = first && !instr->law && (instr->op->flags & NM_FLOWOP_FOLLOWS) &&
			(instr->transport->caps & NM_TRANSPORT_RECONNECTS);
	return (instr->transport->caps & NM_TRANSPORT_RECONNECTS) && !instr->stride &&
	       !instr->law && !instr->can_fail && (!first || phase->leads != instr->begins) &&
	       openings_of(group, instr) == 1;
}

/* Connections can be replaced between two passes when there is one other end, and both know where a
 * pass begins. */
static void note_renewals(struct nm_group *group, const struct nm_draft_group *from,
			  struct nm_phase *phase)
{
	uint32_t host = NM_NO_HOST;

	phase->reconnects = phase->n_instrs > 0 && !phase->open_sender && !phase->drains;
	for (size_t i = 0; i < from->n_steps; i++) {
		if (!nm_draft_has_conn(&from->steps[i]))
			continue;
		phase->reconnects &= host == NM_NO_HOST || host == from->steps[i].host;
		host = from->steps[i].host;
	}
	for (uint32_t i = phase->first; i < group->n_instrs; i++)
		if (group->instrs[i].transport && !can_renew(group, phase, &group->instrs[i]))
			phase->reconnects = false;
}

/* What a flow sends at most without waiting until the kernel has it: there is room for that, most
 * of the time. */
#define LETS_GO_MAX 16384u

static bool can_post(const struct nm_instr *instr)
{
	const uint32_t others = NM_FLOWOP_FILES | NM_FLOWOP_BOTH;
	bool follows = instr->op->flags & NM_FLOWOP_FOLLOWS;

	if (instr->step == nm_glue_select.step || instr->step == nm_glue_repeat.step)
		return true;
	return (instr->op->flags & (NM_FLOWOP_MOVES | others)) == NM_FLOWOP_MOVES &&
	       instr->step == instr->op->step && !instr->transport->send &&
	       !instr->transport->recv &&
	       !(instr->transport->caps & (NM_TRANSPORT_MESSAGES | NM_TRANSPORT_RECONNECTS)) &&
	       !instr->law && !instr->can_fail && !instr->lossy && !instr->holds &&
	       !instr->drains && (!follows || instr->ahead);
}

/* Phases whose messages can be moved by io_uring: the other end sends nothing beyond the passes, as
 * what is posted takes it. */
static void note_posts(struct nm_group *group, struct nm_phase *phase)
{
	struct nm_instr *first = &group->instrs[phase->first];
	struct nm_instr *end = &group->instrs[group->n_instrs];

	phase->posts = group->posts && first < end && !phase->pipeline && !phase->open_sender &&
		       !phase->drains && !phase->may_lose && !group->gives_up;
	for (const struct nm_instr *i = first; i < end; i++)
		phase->posts &= can_post(i);
	for (struct nm_instr *i = first; phase->posts && i < end; i++) {
		const struct nm_instr *next = i + 1 < end || phase->leads ? i + 1 : first;

		if (!(i->op->flags & NM_FLOWOP_INITIATES))
			continue;
		i->plain = false;
		i->lets_go = i->size <= LETS_GO_MAX && i->size <= group->chunk_bytes &&
			     next < end && (next->op->flags & NM_FLOWOP_FOLLOWS) &&
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
			if (!can_post(&first[i]) && first[i].op != &nm_glue_pipeline)
				return &first[i];
	}
	return NULL;
}

bool nm_group_posts(const struct nm_group *group)
{
	for (uint32_t i = 0; i < group->n_phases; i++)
		if (group->phases[i].posts)
			return true;
	return false;
}

void nm_plan_check_posts(const struct nm_plan *plan, const char *file, struct nm_diags *diags)
{
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		char which[96] = "";

		if (!group->posts || nm_group_posts(group))
			continue;
		const struct nm_instr *hinders = hindrance(group);

		if (hinders)
			snprintf(which, sizeof which, "; <flowop %s> of line %u is none of these",
				 hinders->op->name, hinders->line);
		nm_diag_error(
			diags, file, group->line,
			"<group> engine=\"io_uring\": none of its transactions can use it: that "
			"takes reads and writes of a fixed size over tcp or unix, without "
			"pipeline, timeout, canfail, zerocopy and the like, and one host that "
			"begins each pass%s",
			which);
	}
}

void nm_phase_note(struct nm_group *group, const struct nm_draft_group *from,
		   struct nm_phase *phase)
{
	if (phase->pipeline)
		note_pipelined_answer(group, phase);
	else
		note_reads(group, phase);
	note_last_answers(group, phase);
	note_holds(group, phase);
	note_later(group, phase);
	note_renewals(group, from, phase);
	note_posts(group, phase);
}
