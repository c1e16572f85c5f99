/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that concern more than one flowop: of time, of the host that begins a pass, of
 * measurement. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/diag.h"
#include "plan/mixes.h"
#include "plan/plan.h"
#include "plan/replays.h"

uint64_t nm_ir_wait_ns(const struct nm_ir_step *step)
{
	const struct nm_opt *opt = nm_opt_find(step->op->opts, "duration");

	if (!opt || opt->type != NM_TYPE_DURATIONS)
		return 0;
	return ((const struct nm_law *)(const void *)((const char *)step->opts + opt->offset))->max;
}

/* On the master, whose clock ends the transaction. */
static bool takes_time(const struct nm_ir_step *step)
{
	if (step->op->flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_FOLLOWS))
		return true;
	return nm_ir_wait_ns(step) && (!step->op->runs_on || step->op->runs_on(step->opts, true));
}

static void check_duration(struct nm_ir *ir, const struct nm_ir_group *group,
			   const struct nm_ir_transaction *t)
{
	bool any = false;

	NM_EACH_STEP(step, group, t)
		any |= takes_time(step);
	if (t->has_duration && t->n_steps && !any)
		nm_diag_error(ir->diags, ir->file, t->line,
			      "<transaction> duration: nothing in it takes time, so that it would "
			      "only burn the CPU");
}

uint32_t nm_ir_leader(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	NM_EACH_STEP(step, group, t)
		if (nm_ir_acts(step))
			return step->op->flags & NM_FLOWOP_FOLLOWS ? step->host : NM_NO_HOST;
	return NM_NO_HOST;
}

bool nm_ir_is_open_sender(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
			  uint32_t host)
{
	bool any = false;

	if (host == NM_NO_HOST || nm_ir_leader(group, t) == host)
		return false;
	NM_EACH_STEP(step, group, t) {
		if (!nm_ir_acts(step) || step->host != host)
			continue;
		/* Bytes beyond the passes can be told only when all passes are alike. */
		if (!nm_flowop_awaits_bytes(step->op) || step->law)
			return false;
		any = true;
	}
	return any;
}

/* Only one side may decide how many passes a timed transaction makes; but a host that does nothing
 * but send can send as it likes: the bytes beyond the passes are drained. */
static void check_leaders(struct nm_ir *ir, const struct nm_ir_group *group,
			  const struct nm_ir_transaction *t)
{
	uint32_t leader = nm_ir_leader(group, t);
	bool seen[NM_PLAN_MAX_HOSTS] = {false};

	for (size_t i = 0; t->has_duration && i < t->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[t->first + i];

		if (!nm_ir_acts(step) || step->host == NM_NO_HOST || seen[step->host])
			continue;
		seen[step->host] = true;
		if (step->host != leader && (step->op->flags & NM_FLOWOP_FOLLOWS) &&
		    !nm_ir_is_open_sender(group, t, step->host))
			nm_step_error(ir, step,
				      ": host %s would begin each pass, but so would %s: in a "
				      "transaction with a duration only one of them can",
				      ir->hosts[step->host],
				      leader == NM_NO_HOST ? "the master" : ir->hosts[leader]);
	}
}

/* The port of a socket that the step's connections share, where the profile names one; otherwise
 * 0. */
static uint64_t shared_port(const struct nm_ir_step *step)
{
	if (!(step->op->flags & NM_FLOWOP_OPENS) || !step->transport_opts ||
	    nm_transport_accepting(step->transport, step->transport_opts) == step->transport)
		return 0;
	return ((const struct nm_opts_open *)step->opts)->port;
}

/* Each such step has a socket of its own at the end that accepts: the master's, or one for each
 * host. */
static bool shares_port(const struct nm_ir_step *step, const struct nm_ir_step *other)
{
	return shared_port(other) == shared_port(step) && other->op == step->op &&
	       ((step->op->flags & NM_FLOWOP_FOLLOWS) || other->host == step->host);
}

static void check_shared_port(struct nm_ir *ir, const struct nm_ir_step *step)
{
	for (const struct nm_ir_group *group = ir->groups;; group++) {
		for (size_t i = 0; i < group->n_steps; i++) {
			const struct nm_ir_step *other = &group->steps[i];

			if (other == step)
				return;
			if (!shares_port(step, other))
				continue;
			nm_step_error(
				ir, step,
				" shared_socket with port=%llu: so has the <flowop %s> at line %u, "
				"and each needs a port of its own; without port the kernel chooses",
				(unsigned long long)shared_port(step), other->op->name,
				other->line);
			return;
		}
	}
}

/* Checks that the options of connections fit their group. */
static void check_openings(struct nm_ir *ir, const struct nm_ir_group *group)
{
	struct nm_why why = {.option = NULL};

	for (size_t i = 0; i < group->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[i];

		if (!(step->op->flags & NM_FLOWOP_OPENS) || !step->transport_opts)
			continue;
		const struct nm_opts_open *opening = step->opts;

		if (shared_port(step))
			check_shared_port(ir, step);
		if (shared_port(step) && group->attrs.workers > 1)
			nm_step_error(ir, step,
				      " shared_socket with port=%llu: each of the %llu workers "
				      "needs a port of its own; without port the kernel chooses",
				      (unsigned long long)opening->port,
				      (unsigned long long)group->attrs.workers);
		if (nm_transport_check_group(step->transport, step->transport_opts,
					     (uint32_t)group->attrs.nflows, (uint32_t)opening->port,
					     &why) < 0)
			nm_option_error(ir, step, why.option, " %s", why.text);
	}
}

static bool wants_fastopen(const struct nm_ir_step *step)
{
	if (!(step->op->flags & NM_FLOWOP_OPENS) || !step->transport_opts)
		return false;
	const struct nm_opt *opt = nm_opt_find(step->transport->opts, "tcp_fastopen");

	return opt &&
	       *(const bool *)(const void *)((const char *)step->transport_opts + opt->offset);
}

/* The first packet carries the data that the connecting end sends next: the connection waits for
 * them, so they must come at once. A transport with bytes of its own sends those. */
static void check_fastopen(struct nm_ir *ir, struct nm_ir_group *group,
			   const struct nm_ir_transaction *t, size_t at)
{
	const struct nm_ir_step *opens = &group->steps[t->first + at], *next = NULL;
	bool closes = false;
	bool master = opens->op->flags & NM_FLOWOP_INITIATES;
	uint32_t sends = NM_FLOWOP_MOVES | (master ? NM_FLOWOP_INITIATES : NM_FLOWOP_FOLLOWS);

	if (!wants_fastopen(opens))
		return;
	for (size_t i = at + 1; i < t->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[t->first + i];

		if (!next && (!step->op->runs_on || step->op->runs_on(step->opts, master)))
			next = step;
		closes |= (step->op->flags & NM_FLOWOP_CLOSES) && step->slot == opens->slot;
	}
	bool sent = next;

	for (; next; next = nm_ir_next_member(group, t, next))
		sent &= (next->op->flags & sends) == sends && next->slot == opens->slot;

	if (sent || opens->transport->send)
		group->opens_fast |= closes; /* which is when it is counted */
	else
		nm_option_warn(ir, opens, "tcp_fastopen",
			       ": tcp_fastopen has no effect: nothing is sent right after it, in "
			       "the same transaction, by the end that connects");
}

/* The flowop of the handshake stands right behind the one that opens the connection, so that no
 * data go out before. */
static void check_securing(struct nm_ir *ir, const struct nm_ir_group *group,
			   const struct nm_ir_transaction *t)
{
	for (size_t i = 0; i < t->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[t->first + i];

		if (!(step->op->flags & NM_FLOWOP_HANDSHAKES) || !step->opened || !step->transport)
			continue;
		if (!(step->transport->caps & NM_TRANSPORT_DEFERS_HANDSHAKE))
			nm_step_error(ir, step,
				      ": the connection of line %u is over %s, which exchanges no "
				      "keys; protocol=psp does",
				      step->opened->line, step->transport->name);
		else if (i == 0 || step - 1 != step->opened || step->common->count != 1 ||
			 step->opened->common->count != 1)
			nm_step_error(ir, step, ": must stand right behind the %s of line %u, once",
				      step->opened->op->name, step->opened->line);
	}
}

static void check_setting(struct nm_ir *ir, const struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[i];

		if ((step->op->flags & NM_FLOWOP_SETS) && step->transport &&
		    !(step->transport->caps & NM_TRANSPORT_TCP))
			nm_step_error(ir, step,
				      ": the connection of line %u is over %s; options of TCP are "
				      "set over tcp and psp",
				      step->opened ? step->opened->line : step->line,
				      step->transport->name);
	}
}

static void check_group(struct nm_ir *ir, struct nm_ir_group *group)
{
	nm_ir_connect(ir, group);
	nm_ir_check_apps(ir, group);
	nm_ir_check_replays(ir, group);
	nm_ir_check_messages(ir, group);
	check_setting(ir, group);
	check_openings(ir, group);
	for (size_t k = 0; k < group->n_transactions; k++) {
		if (nm_ir_is_skipped(&group->transactions[k]))
			continue;
		check_duration(ir, group, &group->transactions[k]);
		nm_ir_check_arrivals(ir, group, &group->transactions[k]);
		check_leaders(ir, group, &group->transactions[k]);
		for (size_t i = 0; i < group->transactions[k].n_steps; i++)
			check_fastopen(ir, group, &group->transactions[k], i);
		if (nm_ir_first_mixed(group, &group->transactions[k]))
			nm_ir_check_mixes(ir, group, &group->transactions[k]);
		if (group->transactions[k].attrs.pipeline > 1)
			nm_ir_check_pipeline(ir, group, &group->transactions[k],
					     nm_ir_leader(group, &group->transactions[k]));
		check_securing(ir, group, &group->transactions[k]);
	}
}

static bool any_transaction(const struct nm_ir *ir, bool (*is)(const struct nm_ir_transaction *t))
{
	for (size_t g = 0; g < ir->n_groups; g++)
		for (size_t k = 0; k < ir->groups[g].n_transactions; k++)
			if (is(&ir->groups[g].transactions[k]))
				return true;
	return false;
}

static bool is_marked(const struct nm_ir_transaction *t)
{
	return t->attrs.measure == NM_MEASURE_YES && !t->left_out;
}

static bool is_timed(const struct nm_ir_transaction *t)
{
	return t->has_duration && t->attrs.measure != NM_MEASURE_NO && !t->left_out;
}

static bool is_run(const struct nm_ir_transaction *t)
{
	return !nm_ir_is_skipped(t) && t->attrs.measure != NM_MEASURE_NO && !t->left_out;
}

/* Whether a transaction is left out that would have been measured. */
static bool is_lost(const struct nm_ir_transaction *t)
{
	return t->left_out && t->has_duration && t->attrs.measure != NM_MEASURE_NO;
}

static void choose_measured(struct nm_ir *ir)
{
	bool (*is)(const struct nm_ir_transaction *t) = is_run;

	if (any_transaction(ir, is_marked))
		is = is_marked;
	else if (any_transaction(ir, is_timed))
		is = is_timed;
	else if (any_transaction(ir, is_lost))
		nm_diag_error(ir->diags, ir->file, 0,
			      "when and unless leave nothing of any transaction with a duration: "
			      "there is nothing to measure");
	for (size_t g = 0; g < ir->n_groups; g++)
		for (size_t k = 0; k < ir->groups[g].n_transactions; k++)
			ir->groups[g].transactions[k].measured = is(&ir->groups[g].transactions[k]);
}

static void set_slowdowns(struct nm_ir *ir)
{
	for (size_t g = 0; g < ir->n_groups; g++)
		for (size_t k = 0; k < ir->groups[g].n_transactions; k++) {
			struct nm_ir_transaction *t = &ir->groups[g].transactions[k];

			if (!nm_ir_is_skipped(t))
				nm_ir_set_slowdown(ir, &ir->groups[g], t,
						   nm_ir_leader(&ir->groups[g], t));
		}
}

static void check_totals(struct nm_ir *ir)
{
	uint64_t workers = 0, flows = 0;

	for (size_t g = 0; g < ir->n_groups; g++) {
		workers += ir->groups[g].attrs.workers;
		flows += ir->groups[g].attrs.nflows;
	}
	if (workers > NM_PLAN_MAX_WORKERS)
		nm_diag_error(ir->diags, ir->file, 0,
			      "the groups have %llu workers together; at most %d are allowed",
			      (unsigned long long)workers, NM_PLAN_MAX_WORKERS);
	if (flows > NM_PLAN_MAX_FLOWS)
		nm_diag_error(ir->diags, ir->file, 0,
			      "the groups have %llu flows together; at most %d are allowed",
			      (unsigned long long)flows, NM_PLAN_MAX_FLOWS);
}

void nm_ir_check(struct nm_ir *ir)
{
	for (size_t g = 0; g < ir->n_groups; g++)
		check_group(ir, &ir->groups[g]);
	check_totals(ir);
	choose_measured(ir);
	set_slowdowns(ir);
}
