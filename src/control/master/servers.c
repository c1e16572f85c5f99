/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the texts of servers, and finds where they answer. */
#include "control/master/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/app.h"
#include "base/host_port.h"
#include "control/master/connect.h"
#include "control/master/event_loop.h"
#include "control/resolve.h"
#include "engine/engine.h"
#include "flowop/flowop.h"
#include "plan/shape.h"
#include "transport/address.h"

#define UNIX_PREFIX "unix:"
#define MAX_TEXT    (NM_HOST_MAX + 16)
#define MAX_SERVERS 1024

/* The address of a socket that is connected. */
static int address_of(int fd, struct nm_addr *ret)
{
	*ret = (struct nm_addr){.len = sizeof ret->sa};
	return getpeername(fd, (struct sockaddr *)&ret->sa, &ret->len) < 0 ? -errno : 0;
}

static int find_path(struct nm_master *master, const char *path, struct nm_addr *ret, char *why,
		     size_t why_size)
{
	struct sockaddr_un *to = (struct sockaddr_un *)(void *)&ret->sa;
	const struct addrinfo at = {
		.ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)to, .ai_addrlen = sizeof *to};
	int fd;

	if (!*path || strlen(path) >= sizeof to->sun_path) {
		snprintf(why, why_size, "a path has 1 to %zu bytes", sizeof to->sun_path - 1);
		return -EINVAL;
	}
	*ret = (struct nm_addr){.len = sizeof *to};
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path, path, strlen(path));
	int r = nm_master_try_all(master, &at, nm_master_timeout_ns(master), &fd);

	if (r == 0)
		(void)close(fd);
	return r;
}

static int find_host(struct nm_master *master, const char *text, uint16_t port, struct nm_addr *ret,
		     char *why, size_t why_size)
{
	char host[NM_HOST_MAX + 1];
	struct nm_resolved resolved;
	uint16_t named;
	int fd;

	if (nm_host_port_split(text, host, &named) < 0) {
		snprintf(why, why_size, "must be HOST:PORT, [ADDRESS]:PORT or unix:PATH");
		return -EINVAL;
	}
	int r = nm_resolve(host, named ? named : port, master->options->interrupt_fd,
			   nm_master_timeout_ns(master), &resolved, why, why_size);

	if (r < 0)
		return r;
	r = nm_master_try_all(master, resolved.list, nm_master_timeout_ns(master), &fd);
	if (r == -ECONNREFUSED)
		snprintf(why, why_size, "nothing listens on port %u there", named ? named : port);
	if (r < 0)
		return r;
	r = address_of(fd, ret);
	(void)close(fd);
	return r;
}

/* Finds one of the servers of a connect. */
static int find_server(struct nm_master *master, const struct nm_instr *connect, const char *text,
		       struct nm_addr *ret, char *why, size_t why_size)
{
	const struct nm_opts_open *opts = connect->opts;
	const bool is_unix = connect->transport->caps & NM_TRANSPORT_ONE_HOST;
	const bool is_path = strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0;

	if (is_unix != is_path) {
		snprintf(why, why_size,
			 is_path ? "unix:PATH goes with protocol=unix" : "must be unix:PATH");
		return -EINVAL;
	}
	if (is_path)
		return find_path(master, text + strlen(UNIX_PREFIX), ret, why, why_size);
	return find_host(master, text, opts->port ? (uint16_t)opts->port : connect->app->port, ret,
			 why, why_size);
}

static bool find_servers(struct nm_master *master, uint32_t group, const struct nm_instr *connect)
{
	const char *at = ((const struct nm_opts_open *)connect->opts)->server;
	struct nm_addr *found = calloc(MAX_SERVERS, sizeof *found);
	uint32_t count = 0;
	int r = found ? 0 : -ENOMEM;

	while (r == 0 && *at) {
		char text[MAX_TEXT] = "", why[256] = "";
		size_t n = strcspn(at, ",");

		if (n < sizeof text)
			memcpy(text, at, n);
		r = count == MAX_SERVERS
			    ? -E2BIG
			    : find_server(master, connect, text, &found[count], why, sizeof why);
		if (r == -ECANCELED)
			(void)nm_master_await(master, NM_SESSION_PREPARE,
					      nm_master_timeout_ns(master));
		else if (r < 0)
			nm_master_fail(master, NULL, NM_FAILURE_LOSS,
				       "%s:%u: <flowop connect> server=\"%.*s\": %s", master->file,
				       connect->line, (int)n, at, *why ? why : strerror(-r));
		count++;
		at += n + (at[n] == ',');
	}
	if (r == 0)
		r = nm_engine_set_servers(master->local.engine, group, connect->opening, found,
					  count);
	free(found);
	return r == 0;
}

bool nm_master_find_servers(struct nm_master *master)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];

		for (uint32_t i = 0; i < group->n_instrs; i++)
			if (nm_instr_is_to_server(&group->instrs[i]) &&
			    !find_servers(master, g, &group->instrs[i]))
				return false;
	}
	return true;
}
