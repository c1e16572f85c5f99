/* SPDX-License-Identifier: Apache-2.0 */
/* The ports of a listener: one that the kernel or the profile chooses, or a row of ports. */
#include "engine/accept/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ascii.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

/* The kernel cuts the queue to net.core.somaxconn, 4096 by default. */
#define BACKLOG 4096

/* How often the kernel may choose the first of a row of ports. */
#define TRIES 64

uint32_t nm_ports_count(const struct nm_instr *instr)
{
	return nm_transport_ports(instr->transport, instr->open.transport_opts);
}

const char *nm_ports_path(const struct nm_instr *instr)
{
	const char *path = ((const struct nm_opts_open *)instr->opts)->path;

	return nm_is_given(path) ? path : NULL;
}

bool nm_ports_is_fixed(const struct nm_instr *instr)
{
	return instr->open.port || nm_ports_path(instr);
}

static void close_all(int *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		(void)close(fds[i]);
}

static int listen_one(const struct nm_instr *instr, const struct nm_addr *local, enum nm_listen how,
		      char *text, int *ret_fd)
{
	return instr->transport->listen(instr->open.transport_opts, local, how, BACKLOG, text,
					ret_fd);
}

/* Opens sockets that share one port; where the profile names it, or a file, one does. */
static int share_port(const struct nm_instr *instr, const struct nm_addr *local, uint32_t wanted,
		      bool with_others, char *text, int *fds)
{
	const bool fixed = nm_ports_is_fixed(instr);
	const uint32_t count = fixed ? 1 : wanted;

	for (uint32_t i = 0; i < count; i++) {
		enum nm_listen how = with_others ? NM_LISTEN_SHARED
				     : fixed	 ? NM_LISTEN_FIXED
				     : i	 ? NM_LISTEN_SHARED
						 : NM_LISTEN_FIRST;
		int r = listen_one(instr, local, how, text, &fds[i]);

		if (r == -EOPNOTSUPP && i > 0)
			return (int)i;
		if (r < 0) {
			close_all(fds, i);
			return r;
		}
	}
	return (int)count;
}

/* Opens a socket for each of `count` ports in a row, from `first` on, as `how` says; first 0: the
 * kernel chooses it. text: the first port; or the one that failed. */
static int open_row(const struct nm_instr *instr, const struct nm_addr *local, unsigned long first,
		    uint32_t count, enum nm_listen how, char *text, int *fds)
{
	char next[NM_ENDPOINT_TEXT];

	snprintf(text, NM_ENDPOINT_TEXT, "%lu", first);
	int r = listen_one(instr, local, first ? how : NM_LISTEN_FIRST, text, &fds[0]);

	if (r < 0)
		return r;
	first = strtoul(text, NULL, 10);

	for (uint32_t i = 1; i < count; i++) {
		snprintf(next, sizeof next, "%lu", first + i);
		r = first + i > 65535 ? -EADDRINUSE : listen_one(instr, local, how, next, &fds[i]);
		if (r < 0) {
			snprintf(text, NM_ENDPOINT_TEXT, "%s", next);
			close_all(fds, i);
			return r;
		}
	}
	return (int)count;
}

/* A row below the kernel's default range, for when every row that the kernel chooses is taken: it
 * gives each second port of its range to connections that are opened, and such a port stays taken
 * for a minute after their end. */
#define LOW_PORT  20000u
#define HIGH_PORT 32768u

static int find_row(const struct nm_instr *instr, const struct nm_addr *local, uint32_t count,
		    char *text, int *fds)
{
	int r = -EADDRINUSE;

	for (unsigned tries = 0; r == -EADDRINUSE && tries < TRIES; tries++)
		r = open_row(instr, local, 0, count, NM_LISTEN_FIXED, text, fds);
	for (unsigned long first = LOW_PORT; r == -EADDRINUSE && first + count <= HIGH_PORT;
	     first += count)
		r = open_row(instr, local, first, count, NM_LISTEN_FIXED, text, fds);
	return r;
}

int nm_ports_open(const struct nm_instr *instr, const struct nm_addr *local, uint32_t sockets,
		  bool with_others, char *text, int *fds)
{
	uint32_t ports = nm_ports_count(instr);

	if (nm_ports_path(instr))
		snprintf(text, NM_ENDPOINT_TEXT, "%s", nm_ports_path(instr));
	else if (ports == 1 && instr->open.port)
		snprintf(text, NM_ENDPOINT_TEXT, "%u", instr->open.port);
	if (ports == 1)
		return share_port(instr, local, sockets, with_others, text, fds);
	if (instr->open.port)
		return open_row(instr, local, instr->open.port, ports,
				with_others ? NM_LISTEN_SHARED : NM_LISTEN_FIXED, text, fds);
	return find_row(instr, local, ports, text, fds);
}
