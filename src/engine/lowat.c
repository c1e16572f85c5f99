/* SPDX-License-Identifier: Apache-2.0 */
/* Who only receives, and goes on receiving until all is told to stop, need not be woken for every packet: to wake another
 * CPU may cost the sender more than the packet. Setting the mark back wakes whoever sleeps below it, tcp(7). */
#include <sys/socket.h>

#include "engine/engine_priv.h"

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

void nm_worker_lowat_begin(struct nm_worker *worker)
{
	if (!worker->phase->rcvlowat)
		return;
	worker->lowat = true;
	set(worker, worker->phase->rcvlowat);
}

void nm_worker_lowat_conn(const struct nm_worker *worker, const struct nm_conn *conn)
{
	(void)setsockopt(conn->fd, SOL_SOCKET, SO_RCVLOWAT, &worker->phase->rcvlowat,
			 sizeof worker->phase->rcvlowat);
}

void nm_worker_lowat_end(struct nm_worker *worker)
{
	if (!worker->lowat)
		return;
	worker->lowat = false;
	set(worker, 1);
}
