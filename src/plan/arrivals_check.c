/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals: what becomes of passes that wait for a free flow, the lanes of their schedule, and
 * the bytes of a pass, which a law may go by. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "plan/diag.h"
#include "plan/mixes.h"
#include "plan/plan.h"

/* --- the backlog --- */

/* Reads "send" or "drop(5ms)": the time, 0 for send. */
static int read_late(const char *text, uint64_t *ret_ns)
{
	char time[32];
	int end = 0;

	*ret_ns = 0;
	if (strcmp(text, "send") == 0)
		return 0;
	if (sscanf(text, "drop(%31[^()])%n", time, &end) != 1 || !end || text[end] ||
	    nm_parse_duration(time, NM_READING_NETMODEL, ret_ns) != 0 || !*ret_ns)
		return -EINVAL;
	return 0;
}

void nm_ir_read_backlog(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_transaction *t)
{
	static const char *const attrs[] = {"queue", "late", "drain"};

	for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
		if (nm_node_attr(node, attrs[i]) && !nm_node_attr(node, "arrivals"))
			nm_attr_error(ir, node, attrs[i],
				      " %s=\"%s\": only with arrivals, which become due whether or "
				      "not a flow is free",
				      attrs[i], nm_node_attr(node, attrs[i]));
	/* Centuries are as good as for ever, and can still be added to. */
	if (t->attrs.drain_ns > NM_PLAN_MAX_WAIT_NS)
		t->attrs.drain_ns = NM_PLAN_MAX_WAIT_NS;
	t->arrivals.backlog =
		(struct nm_backlog_rules){.limited = nm_node_attr(node, "queue") != NULL,
					  .queue = (uint32_t)t->attrs.queue,
					  .drain_ns = t->attrs.drain_ns};
	if (t->attrs.late && read_late(t->attrs.late, &t->arrivals.backlog.late_ns) != 0)
		nm_attr_error(ir, node, "late",
			      " late=\"%s\": must be send, or drop(TIME) with a time above 0, as "
			      "drop(5ms)",
			      t->attrs.late);
}

/* --- lanes --- */

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
	NM_EACH_STEP(step, group, t)
		if (!draws_alone(group, t, step))
			return false;
	return true;
}

static void set_lanes(struct nm_ir *ir, const struct nm_ir_group *group,
		      struct nm_ir_transaction *t)
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

/* --- bytes of a pass --- */

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

/* The bytes that a pass has on average, in the direction that has more of them, as a link carries
 * both at a time. *ret_unknown: a step of which that is not known before; NULL: there is none. */
static double pass_bytes(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			 const struct nm_ir_step **ret_unknown)
{
	const uint32_t moves = NM_FLOWOP_MOVES | NM_FLOWOP_FILES | NM_FLOWOP_ASKS;
	double sent = 0, received = 0;

	*ret_unknown = NULL;
	NM_EACH_STEP(step, group, t) {
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

/* Of a plan without mistakes, whose sizes are those that were meant. */
static void set_pass_bytes(struct nm_ir *ir, const struct nm_ir_group *group,
			   struct nm_ir_transaction *t)
{
	const struct nm_ir_step *unknown;
	char why[160];

	if (!t->arrivals.law->by_bytes || ir->diags->n_errors || ir->lacks_values)
		return;
	double bytes = pass_bytes(group, t, &unknown);

	if (unknown)
		(void)snprintf(why, sizeof why,
			       "how many bytes <flowop %s> of line %u moves is not known before; "
			       "use write, read, send, recv or exchange",
			       unknown->op->name, unknown->line);
	else if (bytes <= 0)
		(void)snprintf(why, sizeof why, "its passes move no bytes");
	else if (nm_arrivals_set_bytes(&t->arrivals, bytes, why, sizeof why) == 0)
		return;
	nm_diag_error(ir->diags, ir->file, t->line, "<transaction> arrivals=\"%s\": %s",
		      t->attrs.arrivals, why);
}

/* An open loop is the master's, who has the clock, and a free flow makes one pass at a time. */
void nm_ir_check_arrivals(struct nm_ir *ir, const struct nm_ir_group *group,
			  struct nm_ir_transaction *t)
{
	size_t first = t->first;
	bool begins = true;
	const char *wrong = NULL;

	if (!t->arrivals.law)
		return;
	while (first + 1 < t->first + t->n_steps && !group->steps[first].common->count)
		first++;
	for (const struct nm_ir_step *step = &group->steps[first]; step;
	     step = nm_ir_next_member(group, t, step))
		begins &= nm_ir_acts(step) && (step->op->flags & NM_FLOWOP_INITIATES);
	if (!t->has_duration)
		wrong = ": only with a duration, within which passes become due";
	else if (t->attrs.rate_per_s > 0)
		wrong = ", and rate, period or spacing: only one of them may be given";
	else if (t->attrs.total)
		wrong = ", and total: the duration alone ends an open loop";
	else if (t->attrs.pipeline > 1 && !nm_ir_is_queue(group, t))
		wrong = ", and pipeline: only where each pass is one request of an application "
			"over a stream; with more flows more can be outstanding, too";
	else if (!begins)
		wrong = ": the first flowop must be one with which the master begins a pass, as "
			"connect or write";
	if (wrong)
		nm_diag_error(ir->diags, ir->file, t->line, "<transaction> arrivals=\"%s\"%s",
			      t->attrs.arrivals, wrong);
	else
		set_pass_bytes(ir, group, t);
	set_lanes(ir, group, t);
}
