/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for flows that wait for a lost reset. */
#include "engine/phase/ends.h"

#include "engine/engine_priv.h"
#include "flowop/disconnect.h"

void nm_ends_begin(struct nm_worker *worker)
{
	worker->run.ends = (struct nm_ends){.told = worker->run.ends.told};
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
static void look_at(struct nm_conn *conn, bool eager, struct nm_ends_found *found)
{
	if (conn->traits & NM_CONN_FINISHED) {
		found->open++;
		found->late += nm_conn_has_peer(conn);
		return;
	}
	found->waiting++;
	if (conn->flags & NM_CONN_LOOKED) {
		found->asked += nm_conn_ask_end(conn, eager);
		return;
	}
	conn->flags |= NM_CONN_LOOKED;
	if (eager)
		nm_conn_acknowledge(conn);
}

uint32_t nm_ends_lost(struct nm_ends *ends, const struct nm_ends_found *found, bool eager)
{
	uint32_t over = ends->asked > found->open ? ends->asked - found->open : 0;
	uint32_t lost = ends->eager ? 0 : over;

	ends->waiting = found->waiting;
	ends->asked = found->open + found->asked;
	ends->eager = eager;
	return lost;
}

void nm_ends_command(struct nm_worker *worker)
{
	struct nm_ends *ends = &worker->run.ends;
	uint32_t told = atomic_load_explicit(&worker->commands.ends, memory_order_relaxed);
	struct nm_ends_found found = {0};

	if (told == ends->told)
		return;
	bool eager = atomic_load_explicit(&worker->commands.ends_eager, memory_order_relaxed);

	ends->told = told;
	if (!worker->run.phase || !is_time(ends, nm_count_passes(worker->io.count),
					   eager ? ends->waiting : worker->n_flows))
		return;
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (awaits_reset(flow))
			look_at(flow->conn, eager, &found);
	}
	atomic_fetch_add_explicit(&worker->answers.ends_lost, nm_ends_lost(ends, &found, eager),
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&worker->answers.ends_late, found.late, memory_order_relaxed);
}

uint64_t nm_ends_missed(const struct nm_worker *worker)
{
	uint64_t passes = nm_count_passes(worker->io.count), end_at = worker->run.end_at;

	return worker->run.phase->waits.may_miss && end_at != UINT64_MAX && end_at > passes
		       ? end_at - passes
		       : 0;
}
