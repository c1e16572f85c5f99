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
#include "control/address.h"
#include "control/master/connect.h"
#include "control/master/event_loop.h"
#include "control/master/identify.h"
#include "control/master/spent.h"
#include "control/resolve.h"
#include "engine/engine.h"
#include "flowop/flowop.h"
#include "flowop/open_opts.h"
#include "plan/shape.h"

/* The address of a socket that is connected. */
static int address_of(int fd, struct nm_addr *ret)
{
	*ret = (struct nm_addr){.len = sizeof ret->sa};
	return getpeername(fd, (struct sockaddr *)&ret->sa, &ret->len) < 0 ? -errno : 0;
}

static int find_path(struct nm_master *master, const char *path, struct nm_addr *ret, int *ret_fd)
{
	struct sockaddr_un *to = (struct sockaddr_un *)(void *)&ret->sa;
	const struct addrinfo at = {
		.ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)to, .ai_addrlen = sizeof *to};

	*ret = (struct nm_addr){.len = sizeof *to};
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path, path, strlen(path));
	return nm_master_try_all(master, &at, nm_master_timeout_ns(master), ret_fd);
}

/* Whether there is a server shows when it answers: the first address to which there is a route. */
static int find_route(const struct nm_resolved *resolved, struct nm_addr *ret)
{
	int r = -EHOSTUNREACH;

	for (const struct addrinfo *at = resolved->list; at; at = at->ai_next) {
		int fd = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		r = connect(fd, at->ai_addr, at->ai_addrlen) < 0 ? -errno : address_of(fd, ret);
		(void)close(fd);
		if (r == 0)
			break;
	}
	return r;
}

static int find_host(struct nm_master *master, const char *host, uint16_t port, bool datagrams,
		     struct nm_addr *ret, int *ret_fd, char *why, size_t why_size)
{
	struct nm_resolved resolved;
	int r = nm_resolve(host, port, master->options->interrupt_fd, nm_master_timeout_ns(master),
			   &resolved, why, why_size);

	if (r < 0)
		return r;
	struct nm_addr first = {.len = resolved.list[0].ai_addrlen};

	memcpy(&first.sa, resolved.list[0].ai_addr, first.len);
	const char *flaw = nm_address_flaw(&first, nm_addr_is_loopback(&first));

	if (flaw) {
		snprintf(why, why_size, "%s", flaw);
		return -EADDRNOTAVAIL;
	}
	if (datagrams)
		return find_route(&resolved, ret);
	r = nm_master_try_all(master, resolved.list, nm_master_timeout_ns(master), ret_fd);
	if (r == -ECONNREFUSED)
		snprintf(why, why_size, "nothing listens on port %u there", port);
	return r < 0 ? r : address_of(*ret_fd, ret);
}

/* Finds one of the servers of a connect, which the plan has read before. *ret_fd: a connection to
 * it, owned; or it stays as it is, over datagrams. */
static int find_server(struct nm_master *master, const struct nm_instr *connect, const char **at,
		       struct nm_addr *ret, int *ret_fd, char *why, size_t why_size)
{
	const bool is_unix = connect->transport->caps & NM_TRANSPORT_ONE_HOST;
	const uint16_t port = connect->open.port
				      ? connect->open.port
				      : nm_server_port(connect->ask.app, connect->transport);
	struct nm_server server;
	int r = nm_server_read(at, is_unix, &server, why, why_size);

	if (r < 0)
		return r;
	if (is_unix)
		return find_path(master, server.path, ret, ret_fd);
	return find_host(master, server.host, server.port ? server.port : port,
			 connect->transport->datagram, ret, ret_fd, why, why_size);
}

/* False: the run has failed, or been interrupted. */
static bool find_servers(struct nm_master *master, uint32_t group, const struct nm_instr *connect,
			 struct nm_addr found[NM_SERVERS_MAX], struct nm_asked *asked)
{
	const char *at = ((const struct nm_opts_open *)connect->opts)->server;
	uint32_t count = 0;

	while (*at) {
		const char *text = at;
		char why[256] = "";
		int fd = -1;
		struct nm_addr *to = &found[count++];
		int r = find_server(master, connect, &at, to, &fd, why, sizeof why);

		if (r == 0)
			r = nm_master_identify(master, connect, text, to, fd, asked);
		if (r == -ECANCELED) {
			nm_master_take_interrupt(master);
			return false;
		}
		if (r == 0)
			continue;
		nm_master_fail(master, NULL, NM_FAILURE_LOSS,
			       "%s:%u: <flowop connect> server=\"%.*s\": %s", master->file,
			       connect->line, (int)strcspn(text, ","), text,
			       *why ? why : strerror(-r));
		return false;
	}
	nm_warn_of_spent_ports(master->result, &master->plan->groups[group], connect, found, count);

	char why[512];
	int r = nm_engine_set_servers(master->local.engine, group, connect, found, count, why,
				      sizeof why);

	if (r < 0)
		nm_master_fail(master, NULL, NM_FAILURE_LOSS, "%s:%u: <flowop connect> %s",
			       master->file, connect->line, why);
	return r == 0;
}

bool nm_master_find_servers(struct nm_master *master)
{
	struct nm_addr *found = calloc(NM_SERVERS_MAX, sizeof *found);
	struct nm_asked asked = {.n = 0};
	bool all = found;

	if (!found)
		nm_master_fail(master, NULL, NM_FAILURE_LOSS, "%s", strerror(ENOMEM));
	for (uint32_t g = 0; all && g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];

		for (uint32_t i = 0; all && i < group->n_instrs; i++)
			if (nm_instr_is_to_server(&group->instrs[i]))
				all = find_servers(master, g, &group->instrs[i], found, &asked);
	}
	if (nm_master_hear(master, &asked) == -ECANCELED) {
		nm_master_take_interrupt(master);
		all = false;
	}
	free(found);
	return all;
}
