/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are not netmodel: where they are, what their connections share, and what these begin
 * with. */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "flowop/greet.h"
#include "flowop/open_opts.h"
#include "host/file.h"
#include "transport/transport.h"

/* Has the transport make what connections to them share, by the names that the profile has for
 * them. */
static int start_to_servers(struct nm_engine *engine, struct nm_engine_group *group,
			    const struct nm_instr *instr, char *why, size_t why_size)
{
	static const struct nm_addr unknown;
	const struct nm_servers *of = &group->servers[instr->opening];
	const char *at = ((const struct nm_opts_open *)instr->opts)->server;
	struct nm_server *servers = calloc(of->count, sizeof *servers);
	const char **names = calloc(of->count, sizeof *names);
	struct nm_start how = {.peer = &of->addrs[0],
			       .local = &unknown,
			       .servers = names,
			       .n_servers = of->count,
			       .alpn = instr->ask.app->alpn};
	int r = servers && names ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < of->count; i++) {
		r = nm_server_read(&at, false, &servers[i], why, why_size);
		names[i] = servers[i].host;
	}
	if (r == -ENOMEM)
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	else if (r == 0)
		r = nm_engine_start_opening(engine, group, instr, &how, why, why_size);
	free(names);
	free(servers);
	return r;
}

/* Reads the only line of the file, which may end with LF or CR LF, and is wiped with the file. */
static int read_password(const struct nm_engine *engine, const char *path, struct nm_file *ret_file,
			 char *why, size_t why_size)
{
	char phrase[192];
	int r = nm_file_read(engine->files, path, ret_file, phrase, sizeof phrase);

	if (r < 0) {
		snprintf(why, why_size, "auth_file=\"%.128s\": %s", path, phrase);
		return r;
	}
	char *text = ret_file->data;
	size_t n = strcspn(text, "\r\n"), end = n;

	end += text[end] == '\r';
	end += text[end] == '\n';
	if (n && n <= NM_PASSWORD_MAX && end == ret_file->size) {
		text[n] = '\0';
		return 0;
	}
	nm_file_fini(ret_file);
	snprintf(why, why_size, "auth_file=\"%.128s\": must be one line of 1 to %u bytes", path,
		 NM_PASSWORD_MAX);
	return -EINVAL;
}

static int make_greetings(const struct nm_engine *engine, struct nm_servers *of,
			  const struct nm_instr *connect, char *why, size_t why_size)
{
	const struct nm_opts_open *opts = connect->opts;
	const bool logs_in = opts->auth_file && *opts->auth_file;
	struct nm_file file = {.data = NULL};
	int r = logs_in ? read_password(engine, opts->auth_file, &file, why, why_size) : 0;

	if (r < 0)
		return r;
	of->greetings = calloc(1, sizeof *of->greetings);
	if (of->greetings)
		connect->ask.app->session->greet(
			&(struct nm_app_login){.user = opts->user ? opts->user : "",
					       .password = logs_in ? file.data : "",
					       .db = opts->db,
					       .version = opts->resp},
			of->greetings);
	if (logs_in)
		nm_file_fini(&file);
	if (!of->greetings)
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	return of->greetings ? 0 : -ENOMEM;
}

int nm_engine_set_servers(struct nm_engine *engine, uint32_t group, const struct nm_instr *connect,
			  const struct nm_addr *servers, uint32_t n, char *why, size_t why_size)
{
	struct nm_engine_group *in = &engine->groups[group];
	struct nm_servers *of = &in->servers[connect->opening];

	of->addrs = calloc(n, sizeof *of->addrs);
	if (!of->addrs) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	memcpy(of->addrs, servers, n * sizeof *of->addrs);
	of->count = n;
	int r = connect->transport->shared ? start_to_servers(engine, in, connect, why, why_size)
					   : 0;

	return r == 0 && nm_greets(connect->opts)
		       ? make_greetings(engine, of, connect, why, why_size)
		       : r;
}
