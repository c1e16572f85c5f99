/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase: takes what free hosts have sent beyond it, so that nothing is
 * left for the next phase. All on the worker's thread. */
#include <errno.h>

#include "engine/wait/waiter.h"
#include "engine/engine_priv.h"
#include "engine/phase/flush.h"
#include "flowop/datagram.h"
#include "transport/io.h"
#include "transport/transport.h"

static bool is_lossy(const struct nm_conn *conn)
{
	return conn->lossy || !(conn->transport->caps & NM_TRANSPORT_RELIABLE);
}

/* Ends the phase once as much has come as the free hosts have sent. */
static void check(struct nm_worker *worker)
{
	if (worker->run.drained >=
	    atomic_load_explicit(&worker->commands.drain, memory_order_acquire))
		nm_worker_end_phase(worker);
}

void nm_worker_drain_conn(struct nm_worker *worker, struct nm_conn *conn)
{
	struct nm_io *io = &worker->io;
	uint64_t before = nm_counter_read(&io->count->bytes_received);

	while (conn->flags & (NM_CONN_IN | NM_CONN_HUP)) {
		uint64_t new = 0;
		ssize_t n;

		if (is_lossy(conn))
			n = nm_datagram_discard(io, conn, &new);
		else if (nm_conn_recv(io, conn, io->chunk, &n) == NM_IO_AGAIN)
			n = -EAGAIN;
		else
			new = n > 0 ? (uint64_t)n : 0;
		if (n <= 0) {
			conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
			/* Nothing more comes, and that would be told on and on. */
			if (n != -EAGAIN && (conn->transport->caps & NM_TRANSPORT_RELIABLE))
				nm_waiter_disarm(worker, conn);
			break;
		}
		worker->run.drained += new;
	}
	if (worker->observe.stats)
		nm_flowop_stats_drained(worker, conn,
					nm_counter_read(&io->count->bytes_received) - before);
	check(worker);
}

static void begin_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_phase *phase = worker->run.phase;

	for (uint32_t i = 0; i < phase->n_instrs && worker->run.phase; i++) {
		const struct nm_instr *instr = &worker->group->instrs[phase->first + i];

		if (!instr->pass.drains)
			continue;
		flow->conn = &flow->conns[instr->slot];
		worker->run.drained += flow->conn->ahead;
		flow->conn->ahead = 0;
		if (nm_waiter_arm(worker, flow->conn, false) == 0) {
			nm_worker_drain_conn(worker, flow->conn);
			nm_waiter_ignore(worker, flow->conn);
		}
	}
}

void nm_worker_drain(struct nm_worker *worker)
{
	nm_waiter_end(worker);
	nm_worker_stop_flows(worker); /* those that follow wait for what does not come */
	worker->run.quiet_ns = 0;     /* again when it is known how much there is */
	worker->run.draining = true;
	worker->run.drained = 0;
	for (uint32_t i = 0; i < worker->n_flows && worker->run.phase; i++)
		begin_flow(worker, nm_worker_flow(worker, i));
	if (worker->run.phase) {
		atomic_store_explicit(&worker->answers.passed, worker->run.number + 1,
				      memory_order_release);
		nm_worker_notify_owner(worker);
	}
}

void nm_worker_drain_told(struct nm_worker *worker)
{
	check(worker);
}
