/* SPDX-License-Identifier: Apache-2.0 */
/* Measured flows: reads the attribute `slowdown` of a transaction, and finds the message that is
 * the flow of a pass. */
#include "plan/ir.h"

#include <math.h>
#include <stdio.h>

#include "flowop/solitary.h"
#include "plan/diag.h"
#include "plan/mixes.h"
#include "plan/plan.h"

/* How many bytes the other messages of a pass may have together: no more than the packet of a ping,
 * which the base has in it, or a tenth of the smallest flow, which changes its slowdown as little.
 */
#define OTHERS_BYTES 64
#define OTHERS_SHARE 0.1

static bool moves(const struct nm_ir_step *step)
{
	return (step->op->flags & NM_FLOWOP_MOVES) && step->common->count;
}

static double times_of(const struct nm_ir_step *step)
{
	const struct nm_common_opts *common = step->common;

	return (double)common->count * (double)common->repeat * (double)common->batch;
}

/* The message of the transaction that may be largest, which is the flow; NULL: it has none. */
static const struct nm_ir_step *largest(const struct nm_ir_group *group,
					const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *found = NULL;

	NM_EACH_STEP(step, group, t)
		if (moves(step) && (!found || step->size > found->size))
			found = step;
	return found;
}

/* The most bytes that the messages of a pass have without the flow. */
static double others_bytes(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	double bytes = 0;

	NM_EACH_STEP(step, group, t)
		if (moves(step) && step != t->flow)
			bytes += (double)step->size * times_of(step);
	return bytes;
}

static double others_limit(const struct nm_ir_step *flow)
{
	double share = OTHERS_SHARE * (double)(flow->law ? flow->law->min : flow->size);

	return share > OTHERS_BYTES ? share : OTHERS_BYTES;
}

/* Whether the master receives the last message of a pass. */
static bool ends_here(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	bool ends = false;

	NM_EACH_STEP(step, group, t)
		if (moves(step))
			ends = step->op->flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH);
	return ends;
}

/* Why no flow can be measured where a pass has the step; NULL: it can. */
static const char *why_not_with(const struct nm_ir_step *step, const struct nm_ir_step *flow)
{
	if (step->common->can_fail)
		return "not with canfail: each pass must be a whole flow";
	if (step->common->count == 0)
		return NULL;
	if (step->op->flags & (NM_FLOWOP_FILES | NM_FLOWOP_ASKS))
		return "not with files and requests of applications, whose bytes are not known "
		       "before";
	if (step->op->flags & NM_FLOWOP_THINKS)
		return "not with think, whose time is none of the flow's";
	if (moves(step) && (step->slot != flow->slot || step->stride != flow->stride))
		return "all messages of a pass must go over the connection of the flow";
	return NULL;
}

/* Why the flows of the transaction cannot be measured; NULL: they can. */
static const char *why_not(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			   uint32_t leader)
{
	const struct nm_ir_step *flow = t->flow;
	const char *why = NULL;

	if (t->ideal.kind == NM_IDEAL_PROBE && (t->measured || !t->has_duration || t->arrivals.law))
		return "only with a duration, with measure=\"no\" and without arrivals";
	if (!t->measured && t->ideal.kind != NM_IDEAL_PROBE)
		return "only in a transaction that is measured, as with measure=\"yes\"";
	if (nm_ir_first_mixed(group, t))
		return "not with a <mix> or a <sequence> in it: each pass must be one flow";
	if (t->attrs.pipeline > 1)
		return "not with pipeline: each connection must carry one flow at a time";
	for (size_t i = 0; flow && !why && i < t->n_steps; i++)
		why = why_not_with(&group->steps[t->first + i], flow);
	if (why)
		return why;
	if (!flow || !flow->size)
		return "the transaction must have a flowop whose message is the flow: write, read, "
		       "send, recv or exchange";
	if (flow->lossy || nm_ir_moves_messages(flow))
		return "only over a stream, as tcp";
	if (times_of(flow) > 1)
		return "its largest message is the flow, and must be moved once in a pass";
	if (leader != NM_NO_HOST)
		return "the master must begin the passes: the first message must be a write or "
		       "send";
	if (!ends_here(group, t))
		return "a pass must end with what the master receives, as a read of 1 byte, which "
		       "tells that the flow has arrived";
	return NULL;
}

/* The flow has the sizes of solitary ones. 0, or -EINVAL or -ENOMEM with a phrase in why. */
static int set_sizes(struct nm_ir_transaction *t, char *why, size_t why_size)
{
	struct nm_ir_step *flow = (struct nm_ir_step *)(uintptr_t)t->flow;
	struct nm_opts_message *opts = (struct nm_opts_message *)(uintptr_t)flow->opts;
	char text[NM_SOLITARY_TEXT];
	struct nm_law law;

	t->attrs.total = nm_solitary_law(opts->size.min, opts->size.max, text);
	int r = nm_law_parse(text, NM_LAW_OF_BYTES, NM_READING_NETMODEL, 1, &law, why, why_size);

	if (r != 0)
		return r;
	nm_law_fini(&opts->size);
	opts->size = law;
	flow->size = law.max;
	flow->law = &opts->size;
	return 0;
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
		      ? why_not(group, t, leader)
		      : wrong;
	if (!why && others_bytes(group, t) > others_limit(t->flow)) {
		(void)snprintf(wrong, sizeof wrong,
			       "the largest message is the flow, and the others of a pass have up "
			       "to %.0f bytes; at most %.0f are allowed: a tenth of the smallest "
			       "flow, and %d in any case",
			       others_bytes(group, t), floor(others_limit(t->flow)), OTHERS_BYTES);
		why = wrong;
	}
	if (!why && t->ideal.kind == NM_IDEAL_PROBE && set_sizes(t, wrong, sizeof wrong) != 0)
		why = wrong;
	if (why)
		nm_attr_error(ir, t->node, "slowdown", " slowdown=\"%s\": %s", text, why);
}
