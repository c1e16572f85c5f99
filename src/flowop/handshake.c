/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake that the transport has of its own, apart from the connect: so that it has a latency
 * of its own. */
#include <errno.h>

#include "flowop/flowop.h"
#include "flowop/open_opts.h"
#include "transport/transport.h"

/* Whoever has sent the preamble is somebody else: the accept before this waits for the next.
 * Only a flow that is run can go back, and not one that is woken. */
static enum nm_step back_to_accept(struct nm_flow *flow, const struct nm_instr *instr)
{
	if (!flow->progress) {
		instr->transport->close(flow->conn, true);
		flow->progress = 1;
		return NM_STEP_YIELD;
	}
	flow->progress = 0;
	return NM_STEP_BACK;
}

static enum nm_step secure_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	if (flow->progress)
		return back_to_accept(flow, instr);
	bool accepted = flow->conn->traits & NM_CONN_ACCEPTED;
	int r = nm_open_continue(flow->conn, instr);

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
