/* SPDX-License-Identifier: Apache-2.0 */
/* Who only receives, and goes on receiving until all is told to stop, need not be woken for every
 * packet: to wake another CPU may cost the sender more than the packet. Setting the mark back wakes
 * whoever sleeps below it, tcp(7). */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "engine/engine_priv.h"
#include "host/clock.h"

/* How long what stays below the mark may wait, and how many times as long at most where most flows
 * are fast. */
#define LOOK_NS	     100000000u
#define MOST_SKIPPED 10

static void set(const struct nm_worker *worker, int bytes)
{
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		const struct nm_flow *flow = nm_worker_flow(worker, i);

		for (uint32_t c = 0; c < worker->group->n_conns; c++)
			if (flow->conns[c].flags & NM_CONN_OPEN)
				(void)setsockopt(flow->conns[c].fd, SOL_SOCKET, SO_RCVLOWAT, &bytes,
						 sizeof bytes);
	}
}

void nm_rcvlowat_begin(struct nm_worker *worker)
{
	if (!worker->run.phase->rcvlowat)
		return;
	worker->run.rcvlowat = (struct nm_rcvlowat){.on = true, .look_ns = nm_clock_ns() + LOOK_NS};
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
	worker->run.rcvlowat = (struct nm_rcvlowat){.on = false};
	set(worker, 1);
}

static void receive_all(struct nm_worker *worker)
{
	for (uint32_t i = 0; i < worker->n_flows && worker->run.phase; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state == NM_FLOW_WAITING && (flow->conn->flags & NM_CONN_OPEN))
			nm_worker_conn_event(worker, flow->conn, EPOLLIN);
	}
}

/* Where flows bring their mark in the meantime they are left alone, but for a slow one among
 * them. */
void nm_rcvlowat_sweep(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_rcvlowat *rcvlowat = &worker->run.rcvlowat;

	if (now_ns < rcvlowat->look_ns)
		return;
	uint64_t received = nm_counter_read(&worker->io.count->bytes_received);
	uint64_t enough = (uint64_t)worker->run.phase->rcvlowat * worker->n_flows;
	bool fast = received - rcvlowat->seen >= enough && ++rcvlowat->skipped < MOST_SKIPPED;

	rcvlowat->look_ns = now_ns + LOOK_NS;
	rcvlowat->seen = received;
	if (fast)
		return;
	rcvlowat->skipped = 0;
	if (!worker->waiter.sleeps_in_recv)
		receive_all(worker);
}
