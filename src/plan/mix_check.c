/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of mixes and sequences. Nobody tells the other end which member is drawn, or how many
 * rounds: it draws the same, for the pass of the same number. So both ends must agree about passes
 * at every moment, whatever is drawn. */
#include "base/diag.h"
#include "flowop/rounds.h"
#include "plan/diag.h"
#include "plan/mixes.h"
#include "plan/plan.h"

const struct nm_ir_step *nm_ir_next_member(const struct nm_ir_group *group,
					   const struct nm_ir_transaction *t,
					   const struct nm_ir_step *step)
{
	const struct nm_ir_step *end = &group->steps[t->first + t->n_steps], *next = step;

	while (next < end && next->in.member == step->in.member)
		next++;
	if (!step->in.member || next == end ||
	    nm_ir_mix_of(group, next->in.member) != nm_ir_mix_of(group, step->in.member))
		return NULL;
	return next;
}

static bool is_lossy(const struct nm_ir_step *step)
{
	return step->transport && (step->lossy || !(step->transport->caps & NM_TRANSPORT_RELIABLE));
}

static const char *name_of(const struct nm_ir_step *step)
{
	return step->in.member ? "mix" : "sequence";
}

/* Why the step cannot be in a mix or a sequence; NULL: it can. */
static const char *why_not_inside(const struct nm_ir_step *step)
{
	if (step->op->flags & (NM_FLOWOP_OPENS | NM_FLOWOP_CLOSES | NM_FLOWOP_HANDSHAKES))
		return "connections are opened and closed outside of it, as all that may be drawn "
		       "needs the same ones";
	if (step->stride)
		return "its connection is another in each pass";
	return NULL;
}

/* Why the step cannot be in a transaction that has one of them; NULL: it can. first: the first step
 * of the transaction that has a connection. */
static const char *why_not_beside(const struct nm_ir_step *step, const struct nm_ir_step *first)
{
	/* A server that is not netmodel draws nothing. */
	if (is_lossy(step) && !(step->opened && nm_ir_is_to_server(step->opened)))
		return "a message that is lost would set both ends apart";
	if (step->common->can_fail)
		return "canfail: after a failure the ends would be in different passes";
	if (nm_ir_has_conn(step) && step->common->count && step->host != first->host)
		return "it has another host than what is before it, and a host would not know of "
		       "passes that do without it";
	return NULL;
}

/* What the steps may not be, or not have beside them. True: nothing is wrong. */
static bool check_steps(struct nm_ir *ir, const struct nm_ir_group *group,
			const struct nm_ir_transaction *t, const struct nm_ir_step *mixed)
{
	const struct nm_ir_step *first = NULL;

	NM_EACH_STEP(step, group, t) {
		bool inside = step->in.member || step->in.sequence;
		const char *why = inside ? why_not_inside(step) : NULL;

		if (why) {
			nm_step_error(ir, step, " in a %s: %s", name_of(step), why);
			return false;
		}
		first = !first && nm_ir_has_conn(step) && step->common->count ? step : first;
		why = why_not_beside(step, first);
		if (why) {
			nm_step_error(ir, step, " in a transaction with a %s: %s", name_of(mixed),
				      why);
			return false;
		}
	}
	return true;
}

/* A flowop of a sequence is done so often in each round that it can still be counted. */
static bool check_counts(struct nm_ir *ir, const struct nm_ir_group *group,
			 const struct nm_ir_transaction *t)
{
	NM_EACH_STEP(step, group, t) {
		const struct nm_common_opts *common = step->common;

		if (!step->in.sequence ||
		    (common->count <= NM_ROUNDS_MAX &&
		     common->repeat <= NM_ROUNDS_MAX / common->batch &&
		     common->count * common->repeat * common->batch <= NM_ROUNDS_MAX))
			continue;
		nm_option_error(ir, step, "count",
				" count=\"%llu\" in a sequence: at most %u messages in each round",
				(unsigned long long)common->count, NM_ROUNDS_MAX);
		return false;
	}
	return true;
}

/* Each member must send or receive. */
static bool check_members(struct nm_ir *ir, const struct nm_ir_group *group,
			  const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *end = &group->steps[t->first + t->n_steps];

	for (const struct nm_ir_step *step = &group->steps[t->first], *next; step < end;
	     step = next) {
		bool any = !step->in.member;

		for (next = step; next < end && next->in.member == step->in.member; next++)
			any |= (next->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_ASKS)) &&
			       next->common->count;
		if (any)
			continue;
		nm_step_error(ir, step,
			      " in a mix: each member must send or receive, or the other end would "
			      "go on to the next pass by itself");
		return false;
	}
	return true;
}

/* Whether the master begins what the step does. */
static bool is_begun_here(const struct nm_ir_step *step)
{
	return !(step->op->flags & NM_FLOWOP_FOLLOWS);
}

/* One end begins all passes of a transaction, also those that begin with a mix. */
static void check_beginnings(struct nm_ir *ir, const struct nm_ir_group *group,
			     const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *end = &group->steps[t->first + t->n_steps];
	const struct nm_ir_step *first = &group->steps[t->first];

	while (first < end && !nm_ir_acts(first))
		first++;
	for (const struct nm_ir_step *member = first < end ? first : NULL; member;
	     member = nm_ir_next_member(group, t, member)) {
		const struct nm_ir_step *step = member;

		while (!nm_ir_acts(step)) /* each member moves something */
			step++;
		if (is_begun_here(step) != is_begun_here(first))
			nm_step_error(
				ir, step,
				" in a mix: it would begin the pass at another end than the "
				"<flowop %s> of line %u, and only one end can begin the passes",
				first->op->name, first->line);
	}
}

/* Messages that were given up half-way would be taken for the first of another member. */
static const struct nm_ir_step *gives_up(const struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_steps; i++)
		if (group->steps[i].common->can_fail && group->steps[i].common->timeout_ns)
			return &group->steps[i];
	return NULL;
}

void nm_ir_check_mixes(struct nm_ir *ir, const struct nm_ir_group *group,
		       const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *mixed = nm_ir_first_mixed(group, t), *abandons = gives_up(group);

	if (!check_steps(ir, group, t, mixed) || !check_counts(ir, group, t))
		return;
	if (abandons)
		nm_step_error(ir, abandons,
			      " with canfail and timeout: not in a group with a %s (line %u), "
			      "where a message must not be given up half-way",
			      name_of(mixed), mixed->line);
	if (check_members(ir, group, t))
		check_beginnings(ir, group, t);
}
