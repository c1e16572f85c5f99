/* SPDX-License-Identifier: Apache-2.0 */
/* What concerns more than one flowop: connections, repetition, who begins a pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/draft.h"
#include "plan/plan.h"

/* The connection of a flow at one point of its program. */
struct connection {
	const struct nm_draft_step *opened; /* NULL: none is open */
};

static uint32_t find_host(struct nm_draft *draft, const char *name, unsigned line)
{
	for (uint32_t h = 0; h < draft->n_hosts; h++)
		if (strcmp(draft->hosts[h], name) == 0)
			return h;
	if (draft->n_hosts == NM_PLAN_MAX_HOSTS) {
		if (!draft->too_many_hosts)
			nm_diag_error(draft->diags, draft->file, line,
				      "the profile names more than %d hosts", NM_PLAN_MAX_HOSTS);
		draft->too_many_hosts = true;
		return NM_NO_HOST;
	}
	char **hosts = realloc(draft->hosts, (draft->n_hosts + 1) * sizeof(*hosts));
	char *copy = hosts ? strdup(name) : NULL;

	if (hosts)
		draft->hosts = hosts;
	if (!copy) {
		nm_diag_error(draft->diags, draft->file, line, "out of memory");
		return NM_NO_HOST;
	}
	hosts[draft->n_hosts] = copy;
	return draft->n_hosts++;
}

static void open_connection(struct nm_draft *draft, struct nm_draft_group *group,
			    struct nm_draft_step *step, struct connection *conn)
{
	const struct nm_opts_opening *opts = step->opts;

	if (conn->opened)
		nm_diag_error(
			draft->diags, draft->file, step->line,
			"<flowop %s>: the connection of line %u is still open; disconnect it first",
			step->op->name, conn->opened->line);
	conn->opened = step;
	step->opening = group->n_openings++;
	if (!step->transport || !opts->remotehost)
		return;
	if ((step->transport->caps & NM_TRANSPORT_ONE_HOST) &&
	    strcmp(opts->remotehost, "local") != 0)
		nm_diag_error(draft->diags, draft->file, step->line,
			      "<flowop %s> remotehost=\"%s\": %s connections stay on one host; "
			      "remotehost must be local",
			      step->op->name, opts->remotehost, step->transport->name);
	if (!(step->transport->caps & NM_TRANSPORT_NO_PEER))
		step->host = find_host(draft, opts->remotehost, step->line);
}

static void use_connection(struct nm_draft *draft, struct nm_draft_step *step,
			   const struct connection *conn)
{
	if (!conn->opened) {
		nm_diag_error(
			draft->diags, draft->file, step->line,
			"<flowop %s>: no connection is open here; connect or accept one first",
			step->op->name);
		return;
	}
	step->transport = conn->opened->transport;
	step->host = conn->opened->host;
}

static bool is_skipped(const struct nm_draft_transaction *t)
{
	return !t->has_duration && t->attrs.iterations == 0;
}

static bool repeats(const struct nm_draft_transaction *t)
{
	return t->has_duration || t->attrs.iterations > 1;
}

/* Whether two openings lead to the same kind of connection: the steps of a program are bound to one of each. */
static bool same_way(const struct nm_draft_step *a, const struct nm_draft_step *b)
{
	if (!a || !b)
		return a == b;
	return a->transport == b->transport && a->host == b->host;
}

static void check_repetition(struct nm_draft *draft, const struct nm_draft_transaction *t,
			     const struct connection *before, const struct connection *after)
{
	if (!repeats(t))
		return;
	if (!before->opened && after->opened)
		nm_diag_error(draft->diags, draft->file, after->opened->line,
			      "<flowop %s>: the transaction of line %u repeats it, but does not "
			      "disconnect again",
			      after->opened->op->name, t->line);
	else if (before->opened && !after->opened)
		nm_diag_error(draft->diags, draft->file, t->line,
			      "<transaction>: it repeats a disconnect of the connection that was "
			      "opened before it, at line %u",
			      before->opened->line);
	else if (before->opened && !same_way(before->opened, after->opened))
		nm_diag_error(draft->diags, draft->file, after->opened->line,
			      "<flowop %s>: the transaction of line %u repeats it, but it replaces "
			      "the connection of line %u by one to another host or over another "
			      "protocol",
			      after->opened->op->name, t->line, before->opened->line);
}

uint64_t nm_draft_wait_ns(const struct nm_draft_step *step)
{
	const struct nm_opt *opt = nm_opt_find(step->op->opts, "duration");

	if (!opt || opt->type != NM_TYPE_DURATION)
		return 0;
	return *(const uint64_t *)(const void *)((const char *)step->opts + opt->offset);
}

/* On the master, whose clock ends the transaction. */
static bool takes_time(const struct nm_draft_step *step)
{
	if (step->op->flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_FOLLOWS))
		return true;
	return nm_draft_wait_ns(step) &&
	       (!step->op->runs_on || step->op->runs_on(step->opts, true));
}

static void check_duration(struct nm_draft *draft, const struct nm_draft_group *group,
			   const struct nm_draft_transaction *t)
{
	bool any = false;

	for (size_t i = 0; i < t->n_steps; i++)
		any |= takes_time(&group->steps[t->first + i]);
	if (t->has_duration && t->n_steps && !any)
		nm_diag_error(draft->diags, draft->file, t->line,
			      "<transaction> duration: nothing in it takes time, so that it would "
			      "only burn the CPU");
}

static bool acts(const struct nm_draft_step *step)
{
	return step->op->flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_FOLLOWS);
}

uint32_t nm_draft_leader(const struct nm_draft_group *group, const struct nm_draft_transaction *t)
{
	for (size_t i = 0; i < t->n_steps; i++) {
		const struct nm_draft_step *step = &group->steps[t->first + i];

		if (acts(step))
			return step->op->flags & NM_FLOWOP_FOLLOWS ? step->host : NM_NO_HOST;
	}
	return NM_NO_HOST;
}

/* Only one side may decide how many passes a timed transaction makes. */
static void check_leaders(struct nm_draft *draft, const struct nm_draft_group *group,
			  const struct nm_draft_transaction *t)
{
	uint32_t leader = nm_draft_leader(group, t);
	bool seen[NM_PLAN_MAX_HOSTS] = {false};

	for (size_t i = 0; t->has_duration && i < t->n_steps; i++) {
		const struct nm_draft_step *step = &group->steps[t->first + i];

		if (!acts(step) || step->host == NM_NO_HOST || seen[step->host])
			continue;
		seen[step->host] = true;
		if (step->host != leader && (step->op->flags & NM_FLOWOP_FOLLOWS))
			nm_diag_error(draft->diags, draft->file, step->line,
				      "<flowop %s>: host %s would begin each pass, but so would "
				      "%s: in a transaction with a "
				      "duration only one of them can",
				      step->op->name, draft->hosts[step->host],
				      leader == NM_NO_HOST ? "the master" : draft->hosts[leader]);
	}
}

static void follow_connections(struct nm_draft *draft, struct nm_draft_group *group)
{
	struct connection conn = {NULL};

	for (size_t k = 0; k < group->n_transactions; k++) {
		struct nm_draft_transaction *t = &group->transactions[k];
		const struct connection before = conn;

		if (is_skipped(t))
			continue;
		for (size_t i = 0; i < t->n_steps; i++) {
			struct nm_draft_step *step = &group->steps[t->first + i];

			if (step->op->flags & NM_FLOWOP_OPENS)
				open_connection(draft, group, step, &conn);
			if (step->op->flags & NM_FLOWOP_USES)
				use_connection(draft, step, &conn);
			if (step->op->flags & NM_FLOWOP_CLOSES)
				conn.opened = NULL;
		}
		check_repetition(draft, t, &before, &conn);
		check_duration(draft, group, t);
		check_leaders(draft, group, t);
	}
}

static bool any_transaction(const struct nm_draft *draft,
			    bool (*is)(const struct nm_draft_transaction *t))
{
	for (size_t g = 0; g < draft->n_groups; g++)
		for (size_t k = 0; k < draft->groups[g].n_transactions; k++)
			if (is(&draft->groups[g].transactions[k]))
				return true;
	return false;
}

static bool is_marked(const struct nm_draft_transaction *t)
{
	return t->attrs.measure == NM_MEASURE_YES;
}

static bool is_timed(const struct nm_draft_transaction *t)
{
	return t->has_duration && t->attrs.measure != NM_MEASURE_NO;
}

static bool is_run(const struct nm_draft_transaction *t)
{
	return !is_skipped(t) && t->attrs.measure != NM_MEASURE_NO;
}

static void choose_measured(struct nm_draft *draft)
{
	bool (*is)(const struct nm_draft_transaction *t) = is_run;

	if (any_transaction(draft, is_marked))
		is = is_marked;
	else if (any_transaction(draft, is_timed))
		is = is_timed;
	for (size_t g = 0; g < draft->n_groups; g++)
		for (size_t k = 0; k < draft->groups[g].n_transactions; k++)
			draft->groups[g].transactions[k].measured =
				is(&draft->groups[g].transactions[k]);
}

static void check_totals(struct nm_draft *draft)
{
	uint64_t workers = 0, flows = 0;

	for (size_t g = 0; g < draft->n_groups; g++) {
		workers += draft->groups[g].attrs.nthreads;
		flows += draft->groups[g].attrs.nflows;
	}
	if (workers > NM_PLAN_MAX_WORKERS)
		nm_diag_error(draft->diags, draft->file, 0,
			      "the groups have %llu workers together; at most %d are allowed",
			      (unsigned long long)workers, NM_PLAN_MAX_WORKERS);
	if (flows > NM_PLAN_MAX_FLOWS)
		nm_diag_error(draft->diags, draft->file, 0,
			      "the groups have %llu flows together; at most %d are allowed",
			      (unsigned long long)flows, NM_PLAN_MAX_FLOWS);
}

void nm_draft_check(struct nm_draft *draft)
{
	for (size_t g = 0; g < draft->n_groups; g++)
		follow_connections(draft, &draft->groups[g]);
	check_totals(draft);
	choose_measured(draft);
}
