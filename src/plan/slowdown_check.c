/* SPDX-License-Identifier: Apache-2.0 */
/* Measured flows: reads the attribute `slowdown` of a transaction, and finds the message that is
 * the flow of a pass. */
#include "plan/ir.h"

#include "plan/diag.h"
#include "plan/plan.h"

static bool moves_once(const struct nm_ir_step *step)
{
	const struct nm_common_opts *common = step->common;

	return common->count == 1 && common->repeat == 1 && common->batch == 1;
}

/* The largest message of the transaction, which is the flow; NULL: it has none. */
static const struct nm_ir_step *largest(const struct nm_ir_group *group,
					const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *found = NULL;

	for (size_t i = 0; i < t->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[t->first + i];

		if ((step->op->flags & NM_FLOWOP_MOVES) && (!found || step->size > found->size))
			found = step;
	}
	return found;
}

/* Whether the master receives the last message of a pass. */
static bool ends_here(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	bool ends = false;

	for (size_t i = 0; i < t->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[t->first + i];

		if (step->op->flags & NM_FLOWOP_MOVES)
			ends = step->op->flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH);
	}
	return ends;
}

static bool any_fails(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	for (size_t i = 0; i < t->n_steps; i++)
		if (group->steps[t->first + i].common->can_fail)
			return true;
	return false;
}

/* Why the flows of the transaction cannot be measured; NULL: they can. */
static const char *why_not(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			   const struct nm_ir_step *flow, uint32_t leader)
{
	if (nm_ir_first_mixed(group, t))
		return "not with a <mix> or a <sequence> in it: each pass must be one flow";
	if (t->attrs.pipeline > 1)
		return "not with pipeline: each connection must carry one flow at a time";
	if (any_fails(group, t))
		return "not with canfail: each pass must be a whole flow";
	if (!flow || !flow->size)
		return "the transaction must have a flowop whose message is the flow: write, read, "
		       "send, recv or exchange";
	if (flow->lossy || nm_ir_moves_messages(flow))
		return "only over a transport that loses no messages";
	if (!moves_once(flow))
		return "its largest message is the flow, and must be moved once in a pass";
	if (leader != NM_NO_HOST)
		return "the master must begin the passes: the first message must be a write or "
		       "send";
	if (!ends_here(group, t))
		return "a pass must end with what the master receives, as a read of 1 byte, which "
		       "tells that the flow has arrived";
	return NULL;
}

void nm_ir_set_slowdown(struct nm_ir *ir, const struct nm_ir_group *group,
			struct nm_ir_transaction *t, uint32_t leader)
{
	const char *text = t->attrs.slowdown, *why;
	char wrong[512];

	if (!text || !*text)
		return;
	t->flow = largest(group, t);
	why = nm_ideal_parse(text, (enum nm_reading)ir->attrs.units, &t->ideal, wrong,
			     sizeof wrong) == 0
		      ? why_not(group, t, t->flow, leader)
		      : wrong;
	if (why)
		nm_origin_of_attr(nm_node_error(ir, t->node, " slowdown=\"%s\": %s", text, why),
				  t->node, "slowdown");
}
