/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/phase/flush.h"

#include "engine/engine_priv.h"
#include "engine/wait/waiter.h"
#include "flowop/abandoned.h"

void nm_worker_flush_conn(struct nm_worker *worker, struct nm_conn *conn)
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
	/* Nothing more comes: what uses the connection next finds out. */
	if (answer == NM_STEP_FAIL) {
		conn->flow->error = 0;
		conn->abandoned_in = conn->abandoned_out = 0;
	}
	if (!nm_conn_has_abandoned(conn) && --worker->run.n_abandoning == 0)
		nm_worker_end_phase_now(worker);
}

static uint32_t count_owing(const struct nm_worker *worker)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < worker->n_flows; i++) {
		const struct nm_flow *flow = nm_worker_flow(worker, i);

		for (uint32_t c = 0; !flow->error && c < worker->group->n_conns; c++)
			n += (flow->conns[c].flags & NM_CONN_OPEN) &&
			     nm_conn_has_abandoned(&flow->conns[c]);
	}
	return n;
}

static void settle_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	for (uint32_t c = 0; !flow->error && worker->run.n_abandoning && c < worker->group->n_conns;
	     c++) {
		struct nm_conn *conn = &flow->conns[c];

		if (!(conn->flags & NM_CONN_OPEN) || !nm_conn_has_abandoned(conn))
			continue;
		flow->conn = conn;
		(void)nm_waiter_arm(worker, conn, true);
		nm_worker_flush_conn(worker, conn);
		nm_waiter_ignore(worker, conn);
	}
}

bool nm_worker_flush(struct nm_worker *worker)
{
	nm_worker_stop_flows(worker);
	/* What free hosts have sent is drained, whatever it belongs to. */
	worker->run.n_abandoning = worker->run.phase->drains ? 0 : count_owing(worker);
	if (!worker->run.n_abandoning)
		return false;
	nm_waiter_end(worker);
	nm_worker_end_when_quiet(worker);
	for (uint32_t i = 0; i < worker->n_flows && worker->run.n_abandoning; i++)
		settle_flow(worker, nm_worker_flow(worker, i));
	return true;
}
