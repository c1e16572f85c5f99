/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase: takes the bytes that open senders have sent beyond it, so that
 * none is left for the next phase. */
#include "engine/phase/drain.h"

#include <errno.h>

#include "engine/wait/waiter.h"
#include "engine/engine_priv.h"
#include "flowop/datagram.h"
#include "transport/io.h"
#include "transport/transport.h"

static bool is_lossy(const struct nm_conn *conn)
{
	return conn->lossy || !nm_transport_is_reliable(conn->transport);
}

void nm_drain_conn(struct nm_worker *worker, struct nm_conn *conn)
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
			/* Nothing more comes, and epoll would report the end on and on. */
			if (n != -EAGAIN && nm_transport_is_reliable(conn->transport))
				nm_waiter_disarm(worker, conn);
			break;
		}
		worker->run.drained += new;
	}
	if (worker->observe.stats)
		nm_flowop_stats_drained(worker, conn,
					nm_counter_read(&io->count->bytes_received) - before);
}

static void begin_flow(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_phase *phase = worker->run.phase;

	for (uint32_t i = 0; i < phase->n_instrs; i++) {
		const struct nm_instr *instr = &worker->group->instrs[phase->first + i];

		if (!instr->pass.drains)
			continue;
		flow->conn = nm_flow_conn(flow, instr->slot);
		worker->run.drained += flow->conn->ahead;
		flow->conn->ahead = 0;
		if (nm_waiter_arm(worker, flow->conn, false) == 0) {
			nm_drain_conn(worker, flow->conn);
			nm_waiter_ignore(worker, flow->conn);
		}
	}
}

void nm_drain_begin(struct nm_worker *worker)
{
	worker->run.drained = 0;
	for (uint32_t i = 0; i < worker->n_flows; i++)
		begin_flow(worker, nm_worker_flow(worker, i));
}
