/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of the program that opens a connection anew. */
#include "engine/phase/reopen.h"

#include "engine/engine_priv.h"
#include "engine/runq.h"
#include "engine/wait/waiter.h"
#include "flowop/copy_modes.h"
#include "transport/transport.h"

void nm_reopen_begin(struct nm_worker *worker, struct nm_flow *flow, struct nm_conn *conn,
		     const struct nm_instr *opening, const struct nm_instr *resume)
{
	nm_open_leave(worker, flow);
	nm_waiter_disarm(worker, conn);
	if (conn->traits & NM_CONN_ZEROCOPY)
		nm_copy_modes_drain(&worker->io, conn);
	conn->transport->close(conn, false);
	flow->conn = conn;
	flow->error = 0;
	flow->left = 0;
	flow->progress = 0;
	flow->timer.at_ns = 0;
	flow->resume = resume;
	flow->at = opening;
	nm_worker_queue(worker, flow);
}
