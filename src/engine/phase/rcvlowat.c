/* SPDX-License-Identifier: Apache-2.0 */
/* A flow that only receives, until the phase is told to stop, need not be woken for every packet:
 * waking another CPU may cost the sender more than the packet. Setting the mark back wakes
 * receivers that sleep below it, tcp(7). */
#include <sys/socket.h>

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/runq.h"
#include "host/clock.h"

static void set(const struct nm_worker *worker, int bytes)
{
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		for (uint32_t c = 0; c < worker->group->n_conns; c++)
			if (nm_flow_conn(flow, c)->flags & NM_CONN_OPEN)
				(void)setsockopt(nm_flow_conn(flow, c)->fd, SOL_SOCKET, SO_RCVLOWAT,
						 &bytes, sizeof bytes);
	}
}

void nm_rcvlowat_begin(struct nm_worker *worker)
{
	if (!worker->run.phase->rcvlowat)
		return;
	worker->run.rcvlowat = (struct nm_rcvlowat){.on = true};
	nm_worker_arm(worker, &worker->run.rcvlowat.timer, NM_TIMER_RCVLOWAT,
		      nm_clock_ns() + NM_TUNE_RCVLOWAT_LOOK_NS);
	set(worker, worker->run.phase->rcvlowat);
}

void nm_rcvlowat_conn(const struct nm_worker *worker, const struct nm_conn *conn)
{
	(void)setsockopt(conn->fd, SOL_SOCKET, SO_RCVLOWAT, &worker->run.phase->rcvlowat,
			 sizeof worker->run.phase->rcvlowat);
}

void nm_rcvlowat_end(struct nm_worker *worker)
{
	if (!worker->run.rcvlowat.on)
		return;
	nm_worker_disarm(worker, &worker->run.rcvlowat.timer);
	worker->run.rcvlowat.on = false;
	set(worker, 1);
}

static void receive_all(struct nm_worker *worker)
{
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state != NM_FLOW_WAITING || !(flow->conn->flags & NM_CONN_OPEN))
			continue;
		flow->conn->flags |= NM_CONN_IN;
		nm_worker_queue(worker, flow);
	}
}

/* Flows that reach their mark in the meantime are left alone, but at times, for a slow one among
 * them. */
bool nm_rcvlowat_is_slow(struct nm_rcvlowat *rcvlowat, uint64_t received, uint64_t enough)
{
	bool fast =
		received - rcvlowat->seen >= enough && ++rcvlowat->skipped < NM_TUNE_MOST_SKIPPED;

	rcvlowat->seen = received;
	if (!fast)
		rcvlowat->skipped = 0;
	return !fast;
}

void nm_rcvlowat_sweep(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_rcvlowat *rcvlowat = &worker->run.rcvlowat;
	uint64_t received = nm_counter_read(&worker->io.count->bytes_received);
	uint64_t enough = (uint64_t)worker->run.phase->rcvlowat * worker->n_flows;

	nm_worker_arm(worker, &rcvlowat->timer, NM_TIMER_RCVLOWAT,
		      now_ns + NM_TUNE_RCVLOWAT_LOOK_NS);
	if (nm_rcvlowat_is_slow(rcvlowat, received, enough) && !worker->waiter.sleeps_in_recv)
		receive_all(worker);
}
