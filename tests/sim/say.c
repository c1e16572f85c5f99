/* SPDX-License-Identifier: Apache-2.0 */
/* The words of what a call says. */
#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/rng.h"
#include "script.h"

#define MOST_PORTS (4 * SIM_STEPS)

static struct {
	uint16_t seen[MOST_PORTS]; /* in the order in which they were seen */
	unsigned n;
} ports;

void sim_say_begin(void)
{
	ports.n = 0;
}

void sim_say(char *say, const char *format, ...)
{
	size_t used = strlen(say);
	va_list more;

	va_start(more, format);
	(void)vsnprintf(say + used, SIM_SAY_BYTES - used, format, more);
	va_end(more);
}

void sim_say_error(char *say, int error)
{
	const char *name = strerrorname_np(error);

	sim_say(say, "%s", name ? name : strerror(error));
}

bool sim_say_result(char *say, int64_t result)
{
	if (result < 0)
		sim_say_error(say, errno);
	else
		sim_say(say, "%" PRId64, result);
	return result >= 0;
}

bool sim_say_whether(char *say, int64_t result)
{
	return sim_say_result(say, result > 0 ? 0 : result);
}

void sim_say_bytes(char *say, const char *data, size_t size)
{
	uint64_t hash = size;

	for (size_t i = 0; i < size; i++)
		hash = nm_rng(hash, (unsigned char)data[i]);
	sim_say(say, " bytes %08" PRIx32, (uint32_t)hash);
}

void sim_say_mask(char *say, uint32_t mask)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} bits[] = {
		{EPOLLIN, "in"},   {EPOLLOUT, "out"},	  {EPOLLERR, "err"},
		{EPOLLHUP, "hup"}, {EPOLLRDHUP, "rdhup"},
	};

	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
		if (mask & bits[i].bit)
			sim_say(say, " %s", bits[i].name);
}

void sim_say_address(char *say, const struct sockaddr_storage *addr, socklen_t size)
{
	struct sockaddr_in in;
	unsigned i = 0;

	memcpy(&in, addr, sizeof in);
	if (size < sizeof in || in.sin_family != AF_INET) {
		sim_say(say, " family %u, %u bytes", in.sin_family, size);
		return;
	}
	uint16_t port = ntohs(in.sin_port);

	while (port > SIM_NOBODY && i < ports.n && ports.seen[i] != port)
		i++;
	if (port > SIM_NOBODY && i == ports.n && i < MOST_PORTS)
		ports.seen[ports.n++] = port;
	sim_say(say, " %08x port %s%u", ntohl(in.sin_addr.s_addr), port > SIM_NOBODY ? "#" : "",
		port > SIM_NOBODY ? i : port);
}
