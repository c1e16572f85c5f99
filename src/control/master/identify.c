/* SPDX-License-Identifier: Apache-2.0 */
/* Asks servers what they are, over the connections by which they were found. */
#include "control/master/identify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/app.h"
#include "app/identity.h"
#include "base/ascii.h"
#include "base/diag.h"
#include "control/master/connect.h"
#include "flowop/open_opts.h"
#include "host/clock.h"
#include "transport/address.h"
#include "transport/transport.h"

#define LIMIT_NS 500000000u

static const char ended[] = "it has ended the connection";

static bool is_known(const struct nm_result *result, const struct nm_result_server *one)
{
	for (size_t i = 0; i < result->id.n_servers; i++) {
		const struct nm_result_server *other = &result->id.servers[i];

		if (strcmp(other->server, one->server) == 0 && other->port == one->port &&
		    strcmp(other->app, one->app) == 0)
			return true;
	}
	return false;
}

/* Why it is not asked; NULL: it is. */
static const char *why_not(const struct nm_asked *asked, const struct nm_instr *connect, int fd)
{
	const struct nm_opts_open *opts = connect->opts;

	if (!connect->ask.app->identity)
		return "the protocol has no request for it";
	if (connect->transport->caps & NM_TRANSPORT_TLS)
		return "it is not asked over TLS";
	if (opts->auth_file && *opts->auth_file)
		return "it is not asked where a login comes first";
	if (asked->any_silent)
		return "it is not asked, as others gave no answer";
	return fd < 0 ? "it is not asked over datagrams" : NULL;
}

/* As many whole characters as there is room for. */
static void note(char text[NM_IDENTITY_TEXT], const char *from, size_t n)
{
	size_t used = 0, some;

	for (size_t at = 0; at < n; at += some) {
		const size_t length = nm_utf8_length((const unsigned char *)from + at, n - at);

		some = length ? length : 1;
		if (used + some >= NM_IDENTITY_TEXT)
			break;
		memcpy(text + used, length ? from + at : "?", some);
		used += some;
	}
	text[used] = '\0';
	nm_make_plain(text);
}

/* Takes the answer. What it says is in one->version, or in one->why that it says nothing. 0,
 * -ETIMEDOUT, or -errno of a wait that has failed: -ECANCELED of one that was interrupted. */
static int read_answer(const struct nm_master *master, const struct nm_asked_one *asked,
		       uint64_t until_ns, struct nm_result_server *one)
{
	char data[NM_IDENTITY_BYTES];
	enum nm_parsed parsed = NM_PARSED_MORE;
	const char *version;
	size_t n = 0, length;

	while (parsed == NM_PARSED_MORE) {
		const int r = nm_master_wait_for(master, asked->fd, POLLIN, until_ns);

		if (r <= 0)
			return r < 0 ? r : -ETIMEDOUT;
		ssize_t some = recv(asked->fd, data + n, sizeof data - n, 0);

		if (some < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (some <= 0) {
			one->why = ended;
			return 0;
		}
		n += (size_t)some;
		parsed = asked->identity->read(data, n, &version, &length);
		if (parsed == NM_PARSED_MORE && n == sizeof data)
			parsed = NM_PARSED_BAD;
	}
	if (parsed != NM_PARSED_BAD)
		note(one->version, version, length);
	one->why = *one->version ? NULL : "its answer does not say";
	return 0;
}

int nm_master_hear(const struct nm_master *master, struct nm_asked *asked)
{
	const uint64_t until_ns = nm_clock_ns() + LIMIT_NS;
	bool interrupted = false;

	for (size_t i = 0; i < asked->n; i++) {
		const struct nm_asked_one *of = &asked->of[i];
		struct nm_result_server *one = &master->result->id.servers[of->row];
		const int r = nm_outcome_ends(&master->outcome)
				      ? -ECANCELED
				      : read_answer(master, of, until_ns, one);

		if (r < 0)
			one->why = r == -ETIMEDOUT ? "no answer within 500 ms"
						   : "it was not waited for";
		(void)close(of->fd);
		asked->any_silent |= r == -ETIMEDOUT;
		interrupted |= r == -ECANCELED;
	}
	asked->n = 0;
	return interrupted ? -ECANCELED : 0;
}

/* Why it has not been asked; NULL: it has, and its answer is awaited. */
static const char *ask(struct nm_asked *asked, const struct nm_instr *connect, int fd, size_t row)
{
	const char *why = why_not(asked, connect, fd);

	if (why)
		return why;
	const struct nm_app_identity *identity = connect->ask.app->identity;
	/* It has room in the buffer of a socket over which nothing was sent. */
	ssize_t sent = send(fd, identity->request, identity->request_bytes, MSG_NOSIGNAL);

	if (sent != (ssize_t)identity->request_bytes)
		return ended;
	asked->of[asked->n++] = (struct nm_asked_one){.fd = fd, .identity = identity, .row = row};
	return NULL;
}

int nm_master_identify(const struct nm_master *master, const struct nm_instr *connect,
		       const char *server, const struct nm_addr *at, int fd, struct nm_asked *asked)
{
	struct nm_result *result = master->result;
	struct nm_result_server one = {.app = connect->ask.app->name, .port = nm_addr_port(at)};
	const size_t row = result->id.n_servers;

	(void)snprintf(one.server, sizeof one.server, "%.*s", (int)strcspn(server, ","), server);
	struct nm_result_server *grown =
		is_known(result, &one) ? NULL
				       : realloc(result->id.servers, (row + 1) * sizeof *grown);

	if (grown) {
		one.why = ask(asked, connect, fd, row);
		result->id.servers = grown;
		grown[result->id.n_servers++] = one;
	}
	if (fd >= 0 && (!grown || one.why))
		(void)close(fd);
	return asked->n == NM_ASKED_MAX ? nm_master_hear(master, asked) : 0;
}
