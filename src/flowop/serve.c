/* SPDX-License-Identifier: Apache-2.0 */
/* serve: the other end of requests. Each pass takes one, and sends its answer. */
#include <errno.h>
#include <string.h>

#include "flowop/ask.h"
#include "flowop/message.h"
#include "transport/io.h"

#define IN_BYTES 2048u

struct serving {
	struct nm_app_served served;
	bool answered;	   /* the request of this pass is, but not all of the answer is sent */
	uint32_t n_in, at; /* of what has come, so much; and of that, so much is taken */
	char in[IN_BYTES];
	char said[NM_SAID_MAX]; /* of a request that is none */
};

size_t nm_serve_bytes(void)
{
	return sizeof(struct serving);
}

/* NEXT: the kernel has all answers so far. */
static enum nm_step send_answers(struct nm_io *io, struct nm_conn *conn,
				 struct nm_app_served *served)
{
	ssize_t n;

	if (served->n_sent == served->n_out)
		return NM_STEP_NEXT;
	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	if (nm_conn_send(io, conn, NULL, served->out + served->n_sent,
			 served->n_out - served->n_sent, &n) == NM_IO_ERROR)
		return nm_flow_failed(conn->flow, n);
	served->n_sent += (uint32_t)n;
	if (served->n_sent < served->n_out)
		return NM_STEP_WAIT_OUT;
	served->n_out = served->n_sent = 0;
	return NM_STEP_NEXT;
}

static enum nm_step receive(struct nm_io *io, struct nm_conn *conn, struct serving *serving)
{
	ssize_t n;

	if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
		return NM_STEP_WAIT_IN;
	enum nm_io_status status = nm_conn_recv(io, conn, sizeof serving->in, &n);

	if (status >= NM_IO_EOF)
		return nm_flow_failed(conn->flow, n);
	if (status == NM_IO_AGAIN)
		return NM_STEP_WAIT_IN;
	memcpy(serving->in, io->rx, (size_t)n);
	serving->n_in = (uint32_t)n;
	serving->at = 0;
	return NM_STEP_NEXT;
}

const char *nm_serve_said(const struct nm_io *io, const struct nm_flow *flow)
{
	return ((const struct serving *)nm_app_state(io, flow))->said;
}

/* Takes what has come, to the end of a request at most. False: it is none. */
static bool take(const struct nm_instr *instr, struct serving *serving)
{
	size_t taken = 0;
	enum nm_took took = instr->app->take(&serving->served, serving->in + serving->at,
					     serving->n_in - serving->at, &taken);

	if (took == NM_TOOK_BAD)
		nm_app_note(serving->said, serving->in + serving->at, serving->n_in - serving->at);
	serving->at += (uint32_t)taken;
	serving->answered = took == NM_TOOK_REQUEST;
	return took != NM_TOOK_BAD;
}

static enum nm_step serve_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct serving *serving = nm_app_state(io, flow);

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		enum nm_step answer = send_answers(io, flow->conn, &serving->served);

		if (answer != NM_STEP_NEXT)
			return answer;
		if (serving->answered) {
			serving->answered = false;
			return NM_STEP_NEXT;
		}
		if (serving->at == serving->n_in)
			answer = receive(io, flow->conn, serving);
		if (answer != NM_STEP_NEXT)
			return answer;
		if (!take(instr, serving)) {
			flow->error = EPROTO;
			return NM_STEP_FAIL;
		}
	}
	return NM_STEP_YIELD;
}

static const struct nm_opt serve_opts[] = {NM_OPT_END};

const struct nm_flowop nm_flowop_serve = {
	.name = "serve",
	.mirror_op = &nm_flowop_ping,
	.help = "the other end of a request: answers it",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_FOLLOWS | NM_FLOWOP_ASKS | NM_FLOWOP_INTERNAL,
	.opts = serve_opts,
	.opts_size = sizeof(struct nm_opts_ask),
	.step = serve_step,
};
