/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a request, and parses its answer as it comes. */
#include "flowop/ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flowop/message.h"
#include "transport/io.h"

/* How far the step is: flow->progress. */
enum { BEGIN, SENDING, AWAITING };

struct asking {
	struct nm_app_request request;
	struct nm_app_parser parser;
	char said[NM_SAID_MAX]; /* of an answer that is none */
};

size_t nm_ask_bytes(void)
{
	return sizeof(struct asking);
}

void nm_app_note(char said[NM_SAID_MAX], const char *data, size_t n)
{
	size_t i = 0;

	for (; i < n && i + 1 < NM_SAID_MAX && data[i] != '\r' && data[i] != '\n'; i++)
		said[i] = data[i] >= ' ' && data[i] < 127 ? data[i] : '?';
	said[i] = '\0';
}

void nm_ask_why(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
		char *buf, size_t size)
{
	const struct asking *asking = nm_app_state(io, flow);
	bool serves = instr->op->flags & NM_FLOWOP_FOLLOWS;

	snprintf(buf, size, "\"%s\" has come, which is no %s of app=%s",
		 serves ? nm_serve_said(io, flow) : asking->said, serves ? "request" : "answer",
		 instr->app->name);
}

/* --- sending --- */

static enum nm_step fail(struct nm_flow *flow, struct asking *asking, const char *data, size_t n)
{
	nm_app_note(asking->said, data, n);
	flow->error = EPROTO;
	return NM_STEP_FAIL;
}

/* Nothing has asked for what is there before a request is sent. It is known to be there, or not,
 * without a call, but where receives sleep: what comes there is told by the next answer. */
static enum nm_step look_for_unasked(struct nm_io *io, struct nm_flow *flow, struct asking *asking)
{
	ssize_t n;

	if (!(flow->conn->flags & NM_CONN_IN) || !io->recv_flags)
		return NM_STEP_NEXT;
	enum nm_io_status status = nm_conn_recv(io, flow->conn, io->chunk, &n);

	if (status >= NM_IO_EOF)
		return nm_flow_failed(flow, n);
	return n ? fail(flow, asking, io->rx, (size_t)n) : NM_STEP_NEXT;
}

static void begin(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
		  struct asking *asking)
{
	uint64_t size = instr->size ? nm_message_bytes(io, flow, instr) : 0;

	asking->request = (struct nm_app_request){.verb = (enum nm_verb)instr->op->verb,
						  .size = size,
						  .seed = nm_step_key(io, flow, instr)};
	asking->parser = (struct nm_app_parser){.at = 0};
	flow->progress = SENDING;
}

/* NEXT: the kernel has all of it. What it has not taken is encoded once more, as other flows use
 * the same memory meanwhile. */
static enum nm_step send_request(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr, struct asking *asking)
{
	struct nm_conn *conn = flow->conn;
	ssize_t n;

	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	size_t whole = instr->app->encode(&asking->request, io->tx);
	size_t left = flow->left ? (size_t)flow->left : whole;
	enum nm_io_status status = nm_conn_send(io, conn, NULL, io->tx + (whole - left), left, &n);

	if (status == NM_IO_ERROR)
		return nm_flow_failed(flow, n);
	flow->left = left - (size_t)n;
	if (flow->left)
		return NM_STEP_WAIT_OUT;
	flow->progress = AWAITING;
	return NM_STEP_NEXT;
}

/* --- the answer --- */

static enum nm_step await_answer(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr, struct asking *asking)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		size_t taken;
		ssize_t n;

		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		enum nm_io_status status = nm_conn_recv(io, conn, io->chunk, &n);

		if (status >= NM_IO_EOF)
			return nm_flow_failed(flow, n);
		if (status == NM_IO_AGAIN)
			return NM_STEP_WAIT_IN;
		switch (instr->app->parse(&asking->parser, &asking->request, io->rx, (size_t)n,
					  &taken)) {
		case NM_PARSED_MORE:
			break;
		case NM_PARSED_BAD:
			return fail(flow, asking, io->rx, (size_t)n);
		case NM_PARSED_DONE:
			/* Nothing has asked for what comes behind an answer. */
			if (taken < (size_t)n)
				return fail(flow, asking, io->rx + taken, (size_t)n - taken);
			flow->progress = BEGIN;
			return NM_STEP_NEXT;
		}
	}
	return NM_STEP_YIELD;
}

enum nm_step nm_ask_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct asking *asking = nm_app_state(io, flow);

	enum nm_step answer = NM_STEP_NEXT;

	if (flow->progress == BEGIN) {
		answer = look_for_unasked(io, flow, asking);
		begin(io, flow, instr, asking);
	}
	if (answer == NM_STEP_NEXT && flow->progress == SENDING)
		answer = send_request(io, flow, instr, asking);
	if (answer != NM_STEP_NEXT)
		return answer;
	return await_answer(io, flow, instr, asking);
}
