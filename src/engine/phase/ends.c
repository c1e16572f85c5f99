/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for flows that wait for a lost reset. */
#include "engine/phase/ends.h"

#include "engine/engine_priv.h"
#include "flowop/disconnect.h"

void nm_ends_begin(struct nm_worker *worker)
{
	worker->run.ends.looked = worker->run.ends.seen = 0;
	worker->run.ends.waiting = 0;
}

/* Whether each of the flows may well have made a pass since the last look, or none is made any
 * more. */
static bool is_time(struct nm_ends *ends, uint64_t passes, uint32_t n_flows)
{
	bool is_still = passes == ends->seen;

	ends->seen = passes;
	if (!is_still && passes - ends->looked < n_flows)
		return false;
	ends->looked = passes;
	return true;
}

static bool awaits_reset(const struct nm_flow *flow)
{
	return nm_flow_is_waiting(flow) &&
	       nm_disconnect_awaits_reset(flow->at, flow->conn->traits & NM_CONN_ACCEPTED);
}

/* Looks at a flow that waits for a reset. */
static void look_at(struct nm_worker *worker, struct nm_conn *conn, bool eager)
{
	if (conn->flags & NM_CONN_LOOKED) {
		if (nm_conn_ask_end(conn, eager))
			atomic_fetch_add_explicit(&worker->answers.asked, 1, memory_order_relaxed);
		return;
	}
	conn->flags |= NM_CONN_LOOKED;
	if (eager)
		nm_conn_acknowledge(conn);
}

void nm_ends_command(struct nm_worker *worker)
{
	struct nm_ends *ends = &worker->run.ends;
	uint32_t told = atomic_load_explicit(&worker->commands.ends, memory_order_relaxed);

	if (told == ends->told)
		return;
	bool eager = atomic_load_explicit(&worker->commands.ends_eager, memory_order_relaxed);

	ends->told = told;
	if (!worker->run.phase || !is_time(ends, nm_count_passes(worker->io.count),
					   eager ? ends->waiting : worker->n_flows))
		return;
	ends->waiting = 0;
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);
		struct nm_conn *conn = flow->conn;

		if (!awaits_reset(flow) || (conn->traits & NM_CONN_FINISHED))
			continue;
		ends->waiting++;
		look_at(worker, conn, eager);
	}
}

uint64_t nm_ends_missed(const struct nm_worker *worker)
{
	uint64_t passes = nm_count_passes(worker->io.count), end_at = worker->run.end_at;

	return worker->run.phase->waits.may_miss && end_at != UINT64_MAX && end_at > passes
		       ? end_at - passes
		       : 0;
}
