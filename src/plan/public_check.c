/* SPDX-License-Identifier: Apache-2.0 */
/* Servers for whoever connects: an accept with from=any, and what answers over its connections. */
#include "plan/public_check.h"

#include <string.h>

#include "base/ascii.h"
#include "flowop/ask.h"
#include "flowop/open_opts.h"
#include "plan/diag.h"
#include "transport/transport.h"

bool nm_ir_is_public(const struct nm_ir_step *step)
{
	return nm_flowop_is_public(step->op, step->opts);
}

uint16_t nm_ir_port(const struct nm_ir_step *step)
{
	const uint16_t port = (uint16_t)((const struct nm_opts_open *)step->opts)->port;

	return nm_ir_is_public(step) && !port ? nm_server_port(step->ask.app, step->transport)
					      : port;
}

static bool is_unix(const struct nm_ir_step *step)
{
	return step->transport->caps & NM_TRANSPORT_ONE_HOST;
}

static bool is_udp(const struct nm_ir_step *step)
{
	return step->transport->caps & NM_TRANSPORT_UDP;
}

/* Over UDP there are no connections that could be served late, or ended. */
static void check_serve(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_serve *opts = step->opts;
	const char *option = opts->service.max		? "service"
			     : nm_is_given(opts->fault) ? "fault"
							: NULL;

	if (option && is_udp(step->opened))
		nm_option_error(ir, step, option, " %s: not over udp", option);
}

static void check_path(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;
	const char *why = NULL;

	if (nm_is_given(opts->path) && !(nm_ir_is_public(step) && is_unix(step)))
		why = "only of accept with from=any, over unix";
	else if (nm_is_given(opts->path) && strlen(opts->path) >= NM_ENDPOINT_TEXT)
		why = "must have 1 to 107 bytes";
	if (why)
		nm_option_error(ir, step, "path", " path=\"%s\": %s", opts->path, why);
}

void nm_ir_check_public(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;
	const unsigned streams = NM_TRANSPORT_SERVERS | NM_TRANSPORT_RELIABLE;
	const char *why = NULL;

	check_path(ir, step);
	if (!nm_ir_is_public(step))
		return;
	if (!(step->op->flags & NM_FLOWOP_FOLLOWS))
		why = "only of accept: a connect names whom it connects to";
	else if (strcmp(opts->from, "any") != 0)
		why = "must be any, or empty";
	else if (!nm_is_given(opts->app))
		why = "needs app=..., which says what is served";
	else if ((step->transport->caps & streams) != streams && !is_udp(step))
		why = "only over tcp, mptcp, ssl and unix, and dns over udp";
	else if (is_unix(step) && !nm_is_given(opts->path))
		why = "over unix it needs path=..., the file of the socket at which it listens";
	if (why)
		nm_option_error(ir, step, "from", " from=\"%s\": %s", opts->from, why);
}

/* What uses the connection of `opened`, which is accepted from any in the same transaction, or in
 * another. */
static void check_user(struct nm_ir *ir, const struct nm_ir_step *step, bool same)
{
	const unsigned line = step->opened->line;

	if (step->op != &nm_flowop_serve && !(step->op->flags & NM_FLOWOP_CLOSES))
		nm_step_error(ir, step,
			      ": over the connection of line %u, which is accepted from any, only "
			      "serve and disconnect are possible",
			      line);
	else if (!same)
		nm_step_error(ir, step,
			      ": the connection of line %u, which is accepted from any, is of use "
			      "in its own transaction alone",
			      line);
}

/* A step of a transaction with an accept with from=any, or NULL: without. */
static void check_step(struct nm_ir *ir, const struct nm_ir_step *step,
		       const struct nm_ir_step *accept, bool same)
{
	const bool is_public = nm_ir_is_public(step);

	if (step->opened && nm_ir_is_public(step->opened))
		check_user(ir, step, same);
	else if (step->op == &nm_flowop_serve && step->opened)
		nm_step_error(ir, step,
			      ": the connection of line %u is none of an accept with from=any",
			      step->opened->line);
	else if (accept && step->transport && !is_public)
		nm_step_error(ir, step,
			      ": the transaction has the accept of line %u with from=any, and so "
			      "no connections but those",
			      accept->line);
	if (step->op == &nm_flowop_serve && step->opened && nm_ir_is_public(step->opened))
		check_serve(ir, step);
	if ((is_public || step->op == &nm_flowop_serve) &&
	    (step->common->timeout_ns || step->common->can_fail))
		nm_step_error(ir, step,
			      ": neither timeout nor canfail: who serves whoever connects waits "
			      "until the transaction is over, and no failure of theirs is its own");
}

void nm_ir_check_servers(struct nm_ir *ir, const struct nm_ir_group *group)
{
	for (size_t k = 0; k < group->n_transactions; k++) {
		const struct nm_ir_step *first = &group->steps[group->transactions[k].first],
					*end = first + group->transactions[k].n_steps,
					*accept = NULL;

		for (const struct nm_ir_step *step = first; !accept && step < end; step++)
			accept = nm_ir_is_public(step) ? step : NULL;
		if (accept && (is_unix(accept) || is_udp(accept)) && group->attrs.workers > 1)
			nm_step_error(ir, accept,
				      ": over %s one worker serves all; nthreads must be 1",
				      accept->transport->name);
		for (const struct nm_ir_step *step = first; step < end; step++)
			check_step(ir, step, accept,
				   step->opened && step->opened >= first && step->opened < end);
	}
}
