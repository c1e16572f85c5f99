/* SPDX-License-Identifier: Apache-2.0 */
/* serve, of a profile: answers whoever has connected, for as long as the connection lasts. */
#include <errno.h>

#include "flowop/ask.h"

/* The connection is of no more use; what closes it need not wait for the client. */
static enum nm_step leave(struct nm_flow *flow)
{
	flow->conn->flags |= NM_CONN_HUP;
	flow->error = 0;
	flow->ended = false;
	return NM_STEP_NEXT;
}

enum nm_step nm_serve_all_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		enum nm_step answer = nm_flowop_serve.step(io, flow, instr);

		if (answer == NM_STEP_FAIL && flow->error == EPROTO)
			nm_counter_add(&nm_serve_outcomes(io, instr, NM_VERB_NONE)->malformed, 1);
		if (answer == NM_STEP_FAIL ||
		    (answer == NM_STEP_NEXT && nm_serve_is_over(io, flow)))
			return leave(flow);
		if (answer != NM_STEP_NEXT)
			return answer;
	}
	return NM_STEP_YIELD;
}
