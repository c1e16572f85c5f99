/* SPDX-License-Identifier: Apache-2.0 */
/* Sends what a connection begins with at once, and takes an answer to each. */
#include "flowop/greet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flowop/ask.h"
#include "flowop/message.h"

/* How far the step is: flow->progress. From AWAITING on, by how many answers have come. */
enum { OPENING, SENDING, AWAITING };

bool nm_greets(const struct nm_opts_open *connect)
{
	return (connect->auth_file && *connect->auth_file) || connect->db || connect->resp > 2;
}

static const struct nm_greetings *greetings_of(const struct nm_io *io,
					       const struct nm_instr *connect)
{
	return io->apps.servers[connect->opening].greetings;
}

static enum nm_step send_all(struct nm_io *io, struct nm_flow *flow,
			     const struct nm_greetings *greetings)
{
	struct nm_conn *conn = flow->conn;
	char copy[sizeof greetings->bytes];
	ssize_t n;

	while (flow->left) {
		if (!(conn->flags & NM_CONN_OUT))
			return NM_STEP_WAIT_OUT;
		size_t left = (size_t)flow->left;

		/* Some transports change what they are given. Not io->tx: what is in there goes
		 * out as payload over other connections. */
		memcpy(copy, greetings->bytes + greetings->size - left, left);
		enum nm_io_status status = nm_conn_send(io, conn, NULL, copy, left, &n);

		explicit_bzero(copy, left);
		if (status == NM_IO_ERROR)
			return nm_flow_failed(flow, n);
		flow->left -= (uint64_t)n;
	}
	nm_app_parser_begin(nm_ask_parser(io, flow));
	flow->progress = AWAITING;
	return NM_STEP_NEXT;
}

static void cut_kind(char *said)
{
	const size_t sign = *said == '-';

	said[sign + strspn(said + sign, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] = '\0';
}

/* Of an answer to a request that has a password no more is noted than the kind of the error, as
 * servers repeat what they do not understand. */
static enum nm_step refuse(const struct nm_io *io, struct nm_flow *flow,
			   const struct nm_greeting *greeting, const char *data, size_t n,
			   int error)
{
	char *said = nm_ask_said(io, flow);

	nm_app_note(said, data, n);
	if (greeting->has_password)
		cut_kind(said);
	flow->error = error;
	return NM_STEP_FAIL;
}

/* Takes the answers among n bytes. NEXT: that was the last one; WAIT_IN: there are more to come. */
static enum nm_step take(struct nm_io *io, struct nm_flow *flow,
			 const struct nm_greetings *greetings, const struct nm_app_session *session,
			 size_t n)
{
	struct nm_app_parser *parser = nm_ask_parser(io, flow);

	for (size_t at = 0, taken; at < n; at += taken) {
		uint32_t answered = flow->progress - AWAITING;

		/* Nothing has asked for what comes behind the last answer. */
		if (answered == greetings->count)
			return refuse(io, flow, &greetings->of[answered - 1], io->rx + at, n - at,
				      EPROTO);
		const struct nm_greeting *greeting = &greetings->of[answered];
		const bool torn = parser->line.length > 0;
		enum nm_parsed parsed = session->parse(parser, io->rx + at, n - at, &taken);
		const char *line = torn ? parser->line.kept : io->rx + at;

		if (parsed == NM_PARSED_MORE)
			return NM_STEP_WAIT_IN;
		if (parsed == NM_PARSED_BAD || parser->class == NM_CLASS_REFUSED)
			return refuse(io, flow, greeting, line, torn ? NM_LINE_KEPT : n - at,
				      parsed == NM_PARSED_BAD ? EPROTO : EACCES);
		nm_app_parser_begin(parser);
		flow->progress++;
	}
	return flow->progress - AWAITING == (int)greetings->count ? NM_STEP_NEXT : NM_STEP_WAIT_IN;
}

static enum nm_step await_all(struct nm_io *io, struct nm_flow *flow,
			      const struct nm_instr *connect)
{
	struct nm_conn *conn = flow->conn;
	enum nm_step answer = NM_STEP_WAIT_IN;

	while (answer == NM_STEP_WAIT_IN) {
		ssize_t n;

		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		enum nm_io_status status = nm_conn_recv(io, conn, io->chunk, &n);

		if (status == NM_IO_AGAIN)
			return NM_STEP_WAIT_IN;
		if (status >= NM_IO_EOF)
			return nm_flow_failed(flow, n);
		answer = take(io, flow, greetings_of(io, connect), connect->ask.app->session,
			      (size_t)n);
	}
	if (answer == NM_STEP_NEXT)
		flow->progress = OPENING;
	return answer;
}

enum nm_step nm_greet_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *connect)
{
	enum nm_step answer = NM_STEP_NEXT;

	if (flow->progress == OPENING) {
		answer = nm_flowop_connect.step(io, flow, connect);
		if (answer != NM_STEP_NEXT)
			return answer;
		flow->left = greetings_of(io, connect)->size;
		flow->progress = SENDING;
	}
	if (flow->progress == SENDING)
		answer = send_all(io, flow, greetings_of(io, connect));
	return answer == NM_STEP_NEXT ? await_all(io, flow, connect) : answer;
}

bool nm_greet_why(const struct nm_io *io, const struct nm_flow *flow,
		  const struct nm_instr *connect, char *buf, size_t size)
{
	const struct nm_greetings *greetings = greetings_of(io, connect);
	const char *said = greetings ? nm_ask_said(io, flow) : "";

	if (!greetings || flow->progress < AWAITING)
		return false;
	uint32_t answered = flow->progress - AWAITING;
	const struct nm_greeting *greeting =
		&greetings->of[answered < greetings->count ? answered : answered - 1];

	if (flow->error == EACCES)
		snprintf(buf, size, "the server refuses %s%s%s%s", greeting->name,
			 *said ? ", by " : "", said,
			 greeting->has_password ? " (see user and auth_file)" : "");
	else if (flow->error == EPROTO)
		snprintf(buf, size, "\"%s\" has come, which is no answer of app=%s to %s", said,
			 connect->ask.app->name, greeting->name);
	else
		snprintf(buf, size, "%s, where %s awaits its answer", strerror(flow->error),
			 greeting->name);
	return true;
}
