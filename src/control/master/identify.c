/* SPDX-License-Identifier: Apache-2.0 */
/* Asks servers what they are, over the connections by which they were found. */
#include "control/master/identify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "app/app.h"
#include "app/identity.h"
#include "base/ascii.h"
#include "base/diag.h"
#include "control/master/connect.h"
#include "flowop/open_opts.h"
#include "host/clock.h"
#include "transport/address.h"
#include "transport/transport.h"

/* How long one may take, and how many may take that long: others are not asked any more. */
#define LIMIT_NS   500000000u
#define SILENT_MAX 4u

static const char silent[] = "no answer within 500 ms";

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
static const char *why_not(const struct nm_result *result, const struct nm_instr *connect, int fd)
{
	const struct nm_opts_open *opts = connect->opts;
	size_t n_silent = 0;

	if (!connect->ask.app->identity)
		return "the protocol has no request for it";
	if (connect->transport->caps & NM_TRANSPORT_TLS)
		return "it is not asked over TLS";
	if (opts->auth_file && *opts->auth_file)
		return "it is not asked where a login comes first";
	for (size_t i = 0; i < result->id.n_servers; i++)
		n_silent += result->id.servers[i].why && result->id.servers[i].why == silent;
	if (n_silent >= SILENT_MAX)
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

/* Takes the answer. What it says is in ret->version, or why it says nothing. */
static const char *read_answer(struct nm_master *master, const struct nm_app_identity *identity,
			       int fd, char text[NM_IDENTITY_TEXT])
{
	const uint64_t until_ns = nm_clock_ns() + LIMIT_NS;
	char data[NM_IDENTITY_BYTES];
	enum nm_parsed parsed = NM_PARSED_MORE;
	const char *version;
	size_t n = 0, length;

	while (parsed == NM_PARSED_MORE) {
		const int r = nm_master_wait_for(master, fd, POLLIN, until_ns);

		if (r <= 0)
			return r < 0 ? "it was not waited for" : silent;
		ssize_t some = recv(fd, data + n, sizeof data - n, 0);

		if (some < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (some <= 0)
			return "it has ended the connection";
		n += (size_t)some;
		parsed = identity->read(data, n, &version, &length);
		if (parsed == NM_PARSED_MORE && n == sizeof data)
			parsed = NM_PARSED_BAD;
	}
	if (parsed == NM_PARSED_BAD)
		return "its answer does not say";
	note(text, version, length);
	return *text ? NULL : "its answer does not say";
}

void nm_master_identify(struct nm_master *master, const struct nm_instr *connect,
			const char *server, size_t length, const struct nm_addr *at, int fd)
{
	struct nm_result *result = master->result;
	const struct nm_app *app = connect->ask.app;
	struct nm_result_server one = {.app = app->name, .port = nm_addr_port(at)};

	(void)snprintf(one.server, sizeof one.server, "%.*s", (int)length, server);
	if (is_known(result, &one))
		return;
	one.why = why_not(result, connect, fd);
	if (!one.why) {
		const struct nm_app_identity *identity = app->identity;
		/* It has room in the buffer of a socket over which nothing was sent. */
		ssize_t sent = send(fd, identity->request, identity->request_bytes, MSG_NOSIGNAL);

		one.why = sent == (ssize_t)identity->request_bytes
				  ? read_answer(master, identity, fd, one.version)
				  : "it has ended the connection";
	}
	struct nm_result_server *grown =
		realloc(result->id.servers, (result->id.n_servers + 1) * sizeof *grown);

	if (!grown)
		return;
	result->id.servers = grown;
	grown[result->id.n_servers++] = one;
}
