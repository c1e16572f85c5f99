/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP: what of them is known before the run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/http.h"
#include "base/ascii.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "flowop/open_opts.h"
#include "plan/diag.h"
#include "plan/http_check.h"
#include "plan/ir.h"

/* The field Host where the profile has none: the first server as it is written, or the host on
 * which netmodel plays it. */
static void name_host(const struct nm_ir_step *opened, char *buf, size_t size)
{
	const struct nm_opts_open *opts = opened->opts;
	const bool is_unix = opened->transport->caps & NM_TRANSPORT_ONE_HOST;
	const bool is_server = nm_ir_is_to_server(opened);
	const char *text = is_server ? opts->server : opts->remotehost;
	const char *name = is_unix || !text ? "localhost" : text, *at = name;
	const int length = (int)strcspn(name, ",");
	struct nm_server server;
	char why[256];

	if (is_server && !is_unix && nm_server_read(&at, false, &server, why, sizeof why) == 0 &&
	    !server.port && opts->port &&
	    opts->port != nm_server_port(opened->ask.app, opened->transport))
		snprintf(buf, size, "%.*s:%u", length, name, (unsigned)opts->port);
	else
		snprintf(buf, size, "%.*s", length, name);
}

/* Whether the pass closes the connection next, as the request asks the server to. */
static bool is_closed_next(const struct nm_ir_group *group, const struct nm_ir_step *step)
{
	const size_t next = (size_t)(step - group->steps) + 1;

	if (step->common->count != 1 || step->in.member || next == group->n_steps)
		return false;
	for (size_t i = 0; i < group->n_transactions; i++)
		if (group->transactions[i].first == next)
			return false;
	return group->steps[next].opened == step->opened &&
	       group->steps[next].in.sequence == step->in.sequence &&
	       (group->steps[next].op->flags & NM_FLOWOP_CLOSES);
}

/* The elements of the flowop, which have been read for their form. */
static void add_fields(struct nm_ir *ir, const struct nm_ir_step *step, struct nm_http_lines *lines)
{
	const struct nm_node *node = step->written.node;

	for (size_t i = 0; i < node->n_children; i++) {
		const struct nm_node *child = node->children[i];
		const char *name = nm_node_attr(child, "name");
		const char *value = nm_node_attr(child, "value");
		const bool is = nm_ascii_equals(child->name, "header") && name && value;
		const char *why = is ? nm_http_lines_add(lines, name, value) : NULL;

		if (why)
			nm_attr_error(ir, child, "name", " name=\"%.64s\": %s", name, why);
	}
}

void nm_ir_check_http_head(struct nm_ir *ir, const struct nm_ir_step *step, uint32_t bytes)
{
	const uint32_t most = NM_APP_KEPT_BYTES - NM_HTTP_LENGTH_MAX;

	if (!nm_ir_is_to_server(step->opened) && bytes > most)
		nm_step_error(ir, step,
			      ": netmodel's own server takes %u bytes of a request's line and "
			      "fields at most, and these have %u",
			      most, bytes);
}

void nm_ir_check_http(struct nm_ir *ir, const struct nm_ir_group *group, struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	char host[NM_HTTP_HOST_MAX + 2], why[128];
	const char *path = nm_is_given(opts->paths) ? NULL : opts->path, *culprit;

	if (opts->host && *opts->host)
		snprintf(host, sizeof host, "%s", opts->host);
	else
		name_host(step->opened, host, sizeof host);
	struct nm_http_lines *lines =
		nm_http_lines_new((enum nm_http_method)opts->method, path, host, !opts->keep,
				  &culprit, why, sizeof why);

	if (!lines && *culprit)
		nm_option_error(ir, step, culprit, " %s=\"%s\": %s", culprit,
				strcmp(culprit, "path") == 0 ? opts->path : host, why);
	else if (!lines || nm_arena_keep(ir->arena, lines) < 0)
		nm_step_error(ir, step, ": out of memory");
	else if (opts->expect && !nm_http_lines_expect(lines, opts->expect))
		nm_option_error(ir, step, "expect",
				" expect=\"%s\": must be statuses of 200 to 599, or classes of "
				"them (2xx), with commas between",
				opts->expect);
	else
		step->ask.http = lines;
	if (step->ask.http) {
		add_fields(ir, step, lines);
		nm_ir_check_http_head(ir, step, lines->length);
	}
	if (!opts->keep && !nm_ir_is_to_server(step->opened) && !is_closed_next(group, step))
		nm_option_error(ir, step, "keep",
				" keep=no: the connection to netmodel's own server must be closed "
				"by a disconnect right behind the request");
}
