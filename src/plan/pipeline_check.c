/* SPDX-License-Identifier: Apache-2.0 */
/* Passes of which several may be under way at a time: what asks and what answers, or requests. */
#include "app/http.h"
#include "base/diag.h"
#include "plan/diag.h"
#include "plan/mixes.h"
#include "plan/plan.h"

#define ONE_QUERY "there must be one query in each pass, without a count or a stride"

/* Whether each pass asks once, over a connection that lasts. */
static bool asks_once(const struct nm_ir_step *step)
{
	return (step->op->flags & NM_FLOWOP_ASKS) && step->opened && step->ask.app &&
	       step->common->count == 1 && !step->stride;
}

/* Why the step is not a query of which several may be outstanding on a socket, as answers are known
 * by their numbers; NULL: it is. */
static const char *why_no_window(const struct nm_ir_step *step)
{
	if (!step->ask.app || !step->ask.app->datagram)
		return "there must be one request in each pass, without a count, or a <mix> of "
		       "such requests";
	if (!step->opened || !nm_ir_is_to_server(step->opened))
		return "several queries can be outstanding where connect has server=... alone";
	if (!(step->transport->caps & NM_TRANSPORT_UDP))
		return "several queries can be outstanding over protocol=udp alone";
	if (step->ask.fallback.transport)
		return "several queries can be outstanding without tcp_fallback alone";
	return asks_once(step) ? NULL : ONE_QUERY;
}

/* Why the step cannot be where several requests are outstanding; NULL: it can. */
static const char *why_not_pipelined(const struct nm_ir_step *step)
{
	if (step->op->flags & NM_FLOWOP_ASKS) {
		const char *why = why_no_window(step);

		return why ? why : ONE_QUERY;
	}
	if (!nm_flowop_moves_message(step->op))
		return "only what sends or receives messages can be there, and think of the end "
		       "that answers";
	if (step->lossy || !(step->transport->caps & NM_TRANSPORT_RELIABLE))
		return "its messages may be lost";
	if (!step->op->mirror_op || (step->transport->caps & NM_TRANSPORT_NO_PEER))
		return "no other end answers";
	if (step->common->can_fail)
		return "canfail: what was asked before would be answered to something else";
	if (step->common->timeout_ns)
		return "timeout: it would be one of several requests";
	if (step->stride)
		return "its connection is another in each pass";
	return NULL;
}

bool nm_ir_is_window(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *only = NULL;

	NM_EACH_STEP(step, group, t) {
		if (!step->common->count)
			continue;
		if (only || step->in.member || step->in.sequence || why_no_window(step))
			return false;
		only = step;
	}
	return only;
}

bool nm_ir_is_queue(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	const struct nm_ir_step *last = NULL;

	NM_EACH_STEP(step, group, t) {
		if (!step->common->count)
			continue;
		if (!asks_once(step) || step->ask.app->datagram || step->in.sequence ||
		    nm_ir_replay_of(group, step))
			return false;
		/* Each is another member of the same mix. */
		if (last && (last->slot != step->slot || !last->in.member ||
			     nm_ir_next_member(group, t, last) != step))
			return false;
		last = step;
	}
	return last;
}

static void refuse(struct nm_ir *ir, const struct nm_ir_transaction *t, const char *why)
{
	nm_attr_error(ir, t->node, "pipeline", " pipeline=\"%llu\": %s",
		      (unsigned long long)t->attrs.pipeline, why);
}

/* Behind a request that has the server close the connection none is answered. */
static void check_kept(struct nm_ir *ir, const struct nm_ir_group *group,
		       const struct nm_ir_transaction *t)
{
	NM_EACH_STEP(step, group, t)
		if (step->common->count && step->op->verb == NM_VERB_HTTP && step->ask.http &&
		    step->ask.http->close)
			nm_option_error(ir, step, "keep",
					" keep=no in a transaction with pipeline=\"%llu\": the "
					"server takes no request behind this one",
					(unsigned long long)t->attrs.pipeline);
}

/* First come the flowops that ask, then those that take the answers, all over one connection. */
void nm_ir_check_pipeline(struct nm_ir *ir, const struct nm_ir_group *group,
			  const struct nm_ir_transaction *t, uint32_t leader)
{
	uint32_t asks = leader == NM_NO_HOST ? NM_FLOWOP_INITIATES : NM_FLOWOP_FOLLOWS;
	const struct nm_ir_step *first = NULL;
	bool answered = false;

	if (nm_ir_is_window(group, t))
		return;
	if (nm_ir_is_queue(group, t)) {
		check_kept(ir, group, t);
		return;
	}
	if (nm_ir_first_mixed(group, t)) {
		refuse(ir, t,
		       "not with a <sequence> or a <mix replay=...>, nor with a <mix> but of "
		       "requests over one stream, none of them of DNS, one in each member");
		return;
	}
	NM_EACH_STEP(step, group, t) {
		const char *why = NULL;

		if (step->common->count == 0 ||
		    (step->op->runs_on && !step->op->runs_on(step->opts, leader == NM_NO_HOST)))
			continue;
		if (nm_ir_acts(step) && !step->transport)
			return; /* it has no connection, which is reported elsewhere */
		why = why_not_pipelined(step);
		if (!why && first && (step->slot != first->slot || step->host != first->host))
			why = "it has another connection than what is before it";
		if (!why && answered && (step->op->flags & asks))
			why = "what asks must come before what takes the answer";
		if (why) {
			nm_step_error(ir, step, " in a transaction with pipeline=\"%llu\": %s",
				      (unsigned long long)t->attrs.pipeline, why);
			return;
		}
		first = first ? first : step;
		answered |= !(step->op->flags & asks);
	}
	if (!answered)
		refuse(ir, t,
		       "nothing in it takes an answer, so that nothing would be outstanding");
}
