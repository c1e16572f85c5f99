/* SPDX-License-Identifier: Apache-2.0 */
/* Servers for whoever connects: an accept with from=any, and what answers over its connections. */
#include <string.h>

#include "flowop/ask.h"
#include "flowop/open_opts.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "transport/address.h"

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

void nm_ir_check_public(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_open *opts = step->opts;
	const char *why = NULL;

	if (!nm_ir_is_public(step))
		return;
	if (!(step->op->flags & NM_FLOWOP_FOLLOWS))
		why = "only of accept: a connect names whom it connects to";
	else if (strcmp(opts->from, "any") != 0)
		why = "must be any, or empty";
	else if (!opts->app || !*opts->app)
		why = "needs app=..., which says what is served";
	else if ((step->transport->caps & (NM_TRANSPORT_SERVERS | NM_TRANSPORT_TLS)) !=
			 NM_TRANSPORT_SERVERS ||
		 step->transport->endpoint != nm_addr_endpoint)
		why = "only over tcp and mptcp";
	if (why)
		nm_origin_option(nm_step_error(ir, step, " from=\"%s\": %s", opts->from, why), step,
				 "from");
}

void nm_ir_check_serve(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const bool serves = step->op == &nm_flowop_serve;

	if (serves && !nm_ir_is_public(step->opened))
		nm_step_error(ir, step,
			      ": the connection of line %u is none of an accept with from=any",
			      step->opened->line);
	else if (!serves && !(step->op->flags & NM_FLOWOP_CLOSES) && nm_ir_is_public(step->opened))
		nm_step_error(ir, step,
			      ": over the connection of line %u, which is accepted from any, only "
			      "serve and disconnect are possible",
			      step->opened->line);
}
