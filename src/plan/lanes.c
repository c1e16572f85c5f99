/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of open arrivals: how many there are, and whether passes draw from them. */
#include <inttypes.h>

#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/plan.h"

/* Whether the end that serves need not draw which member of a mix it is: any of them takes one
 * request over the same connection. */
static bool is_like_the_others(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			       const struct nm_ir_step *step)
{
	for (const struct nm_ir_step *other = &group->steps[t->first];
	     other < &group->steps[t->first + t->n_steps]; other++)
		if (other->in.member &&
		    (other->opened != step->opened || other->common->count != 1 ||
		     !(other->op->flags & NM_FLOWOP_ASKS)))
			return false;
	return true;
}

/* Whether the other end need not draw what this one draws: there is none of netmodel's, or it finds
 * in the request what it has to know. */
static bool draws_alone(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			const struct nm_ir_step *step)
{
	if (!step->opened || nm_ir_is_to_server(step->opened))
		return true;
	if (step->op->flags & NM_FLOWOP_ASKS)
		return !step->in.sequence &&
		       (!step->in.member || is_like_the_others(group, t, step));
	return !step->in.member && !step->in.sequence && !step->law;
}

/* Whether nothing that passes draw concerns the other end, which does not know of arrivals. */
static bool draws(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	for (size_t i = t->first; i < t->first + t->n_steps; i++)
		if (!draws_alone(group, t, &group->steps[i]))
			return false;
	return true;
}

void nm_ir_set_lanes(struct nm_ir *ir, const struct nm_ir_group *group, struct nm_ir_transaction *t)
{
	t->arrivals.n_lanes = (uint32_t)t->attrs.lanes;
	t->arrivals.draws = draws(group, t);
	if (group->attrs.workers > t->attrs.lanes)
		nm_diag_error(ir->diags, ir->file, t->line,
			      "<transaction> arrivals=\"%s\": %" PRIu64
			      " workers cannot share its %" PRIu64
			      " lanes: at most one worker for each",
			      t->attrs.arrivals, group->attrs.workers, t->attrs.lanes);
}
