/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase: messages that were abandoned on streams half-way move to their
 * end, so that the next phase finds the streams between two messages. */
#include "engine/phase/flush.h"

#include "engine/engine_priv.h"
#include "engine/wait/waiter.h"
#include "flowop/abandoned.h"

void nm_flush_conn(struct nm_worker *worker, struct nm_conn *conn)
{
	struct nm_io *io = &worker->io;
	uint64_t sent = nm_counter_read(&io->count->bytes_sent);
	uint64_t received = nm_counter_read(&io->count->bytes_received);
	enum nm_step answer;

	if (!nm_conn_has_abandoned(conn))
		return;
	do {
		answer = nm_abandoned_move(io, conn);
	} while (answer == NM_STEP_YIELD &&
		 !atomic_load_explicit(&worker->commands.quit, memory_order_relaxed));
	if (worker->observe.stats)
		nm_flowop_stats_settled(worker, conn,
					nm_counter_read(&io->count->bytes_sent) - sent,
					nm_counter_read(&io->count->bytes_received) - received);
	/* The connection has failed: the step that uses it next finds out. */
	if (answer == NM_STEP_FAIL) {
		conn->flow->error = 0;
		conn->abandoned_in = conn->abandoned_out = 0;
	}
	if (!nm_conn_has_abandoned(conn))
		worker->run.n_abandoning--;
}

uint32_t nm_flush_count(const struct nm_worker *worker)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		for (uint32_t c = 0; !flow->error && c < worker->group->n_conns; c++)
			n += (nm_flow_conn(flow, c)->flags & NM_CONN_OPEN) &&
			     nm_conn_has_abandoned(nm_flow_conn(flow, c));
	}
	return n;
}

static void flush_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	for (uint32_t c = 0; !flow->error && worker->run.n_abandoning && c < worker->group->n_conns;
	     c++) {
		struct nm_conn *conn = nm_flow_conn(flow, c);

		if (!(conn->flags & NM_CONN_OPEN) || !nm_conn_has_abandoned(conn))
			continue;
		flow->conn = conn;
		(void)nm_waiter_arm(worker, conn, true);
		nm_flush_conn(worker, conn);
		nm_waiter_ignore(worker, conn);
	}
}

void nm_flush_begin(struct nm_worker *worker)
{
	for (uint32_t i = 0; i < worker->n_flows && worker->run.n_abandoning; i++)
		flush_flow(worker, nm_worker_flow(worker, i));
}
