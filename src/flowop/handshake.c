/* SPDX-License-Identifier: Apache-2.0 */
/* secure: the transport's own handshake, apart from the connect, so that the latency of each is
 * measured. */
#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/open_opts.h"
#include "transport/transport.h"

/* The sender of the preamble does not belong to the run: the accept before this waits for the next
 * connection. The interpreter takes JUMP only from a flow that has its turn, not from one that an
 * event wakes: so the step yields first. */
static enum nm_step back_to_accept(struct nm_flow *flow, const struct nm_instr *instr)
{
	if (!flow->progress) {
		instr->transport->close(flow->conn, true);
		flow->progress = 1;
		return NM_STEP_YIELD;
	}
	flow->progress = 0;
	flow->at = instr - 1;
	return NM_STEP_JUMP;
}

static enum nm_step secure_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	if (flow->progress)
		return back_to_accept(flow, instr);
	bool accepted = flow->conn->traits & NM_CONN_ACCEPTED;
	int r = nm_open_continue(flow->conn);

	if (r == 0) {
		if (accepted)
			nm_counter_add(&io->count->accepts, 1);
		return NM_STEP_NEXT;
	}
	if (r == -EINPROGRESS)
		return NM_STEP_WAIT_OUT;
	if (r == -EAGAIN)
		return NM_STEP_WAIT_IN;
	if (r == -ECONNABORTED && accepted)
		return back_to_accept(flow, instr);
	flow->error = -r;
	return NM_STEP_FAIL;
}

static const struct nm_opt secure_opts[] = {NM_OPT_END};

const struct nm_flowop nm_flowop_handshake = {
	.name = "secure",
	.mirror_op = &nm_flowop_handshake,
	.help = "right behind the connect or accept of a connection over psp: exchanges its keys, "
		"which otherwise the connect does, so that it is told apart how long that takes",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_HANDSHAKES,
	.opts = secure_opts,
	.step = secure_step,
};
