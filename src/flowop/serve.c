/* SPDX-License-Identifier: Apache-2.0 */
/* serve: the other end of requests. Each pass takes one, and sends its answer. */
#include <errno.h>

#include "flowop/ask.h"
#include "flowop/message.h"
#include "transport/io.h"

struct serving {
	struct nm_app_served served;
	size_t n_sent;		/* of the answer */
	bool answered;		/* the request of this pass is, but not all of the answer is sent */
	char said[NM_SAID_MAX]; /* of a request that is none */
	char out[];
};

size_t nm_serve_bytes(uint64_t answer_bytes)
{
	return sizeof(struct serving) + (size_t)answer_bytes;
}

void nm_serve_reset(const struct nm_io *io, const struct nm_flow *flow)
{
	struct serving *serving = nm_app_state(io, flow);

	serving->served = (struct nm_app_served){.out = serving->out,
						 .room = io->behind.app_bytes - sizeof *serving};
	serving->n_sent = 0;
	serving->answered = false;
}

const char *nm_serve_said(const struct nm_io *io, const struct nm_flow *flow)
{
	return ((const struct serving *)nm_app_state(io, flow))->said;
}

/* NEXT: the kernel has all of the answer. */
static enum nm_step send_answer(struct nm_io *io, struct nm_conn *conn, struct serving *serving)
{
	struct nm_app_served *served = &serving->served;
	ssize_t n;

	if (!(conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	if (nm_conn_send(io, conn, NULL, served->out + serving->n_sent,
			 served->n_out - serving->n_sent, &n) == NM_IO_ERROR)
		return nm_flow_failed(conn->flow, n);
	serving->n_sent += (size_t)n;
	if (serving->n_sent < served->n_out)
		return NM_STEP_WAIT_OUT;
	serving->n_sent = 0;
	serving->answered = false;
	return NM_STEP_NEXT;
}

static enum nm_step refuse(struct nm_flow *flow, struct serving *serving, const char *data,
			   size_t n)
{
	nm_app_note(serving->said, data, n);
	flow->error = EPROTO;
	return NM_STEP_FAIL;
}

/* Takes what has come, which is of one request: a client asks when it has its answer. NEXT: the
 * answer is put together whole before any of it is sent, so that it goes out at once, and both ends
 * never wait for each other to receive. */
static enum nm_step take_request(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr, struct serving *serving)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		size_t taken;
		ssize_t n;

		if (!(flow->conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		enum nm_io_status status = nm_conn_recv(io, flow->conn, io->chunk, &n);

		if (status >= NM_IO_EOF)
			return nm_flow_failed(flow, n);
		if (status == NM_IO_AGAIN)
			return NM_STEP_WAIT_IN;
		switch (instr->app->take(&serving->served, io->rx, (size_t)n, &taken)) {
		case NM_TOOK_MORE:
			break;
		case NM_TOOK_BAD:
			return refuse(flow, serving, io->rx, (size_t)n);
		case NM_TOOK_REQUEST:
			if (taken < (size_t)n)
				return refuse(flow, serving, io->rx + taken, (size_t)n - taken);
			serving->answered = true;
			return NM_STEP_NEXT;
		}
	}
	return NM_STEP_YIELD;
}

static enum nm_step serve_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct serving *serving = nm_app_state(io, flow);
	enum nm_step answer =
		serving->answered ? NM_STEP_NEXT : take_request(io, flow, instr, serving);

	return answer == NM_STEP_NEXT ? send_answer(io, flow->conn, serving) : answer;
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
