/* SPDX-License-Identifier: Apache-2.0 */
/* Code that all waiters share: choosing one for a phase, and arming by it. wait/waiter.h tells how
 * waiting works. */
#include "engine/wait/waiter.h"

#include <errno.h>
#include <sched.h>

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "transport/ring.h"

int nm_waiter_begin(struct nm_worker *worker)
{
	static const struct nm_waiter_ops *const all[] = {[NM_WAITER_EPOLL] = &nm_waiter_epoll,
							  [NM_WAITER_POLL] = &nm_waiter_poll,
							  [NM_WAITER_RECV] = &nm_waiter_recv,
							  [NM_WAITER_URING] = &nm_waiter_uring};
	const struct nm_waiter_ops *ops = all[worker->shape->waiter];
	int r = ops->begin(worker);

	worker->waiter.ops = r == 0 ? ops : &nm_waiter_epoll;
	return r < 0 ? r : 0;
}

void nm_waiter_end(struct nm_worker *worker)
{
	const struct nm_waiter_ops *ops = worker->waiter.ops;

	worker->waiter.ops = &nm_waiter_epoll;
	ops->end(worker);
}

void nm_waiter_stop(struct nm_worker *worker)
{
	nm_waiter_end(worker);
	worker->waiter.ring = nm_ring_free(worker->waiter.ring);
}

void nm_waiter_fini(struct nm_worker *worker)
{
	if (worker->io.cache)
		nm_conn_cache_fini(worker->io.cache);
	worker->io.cache = NULL;
}

int nm_waiter_arm(struct nm_worker *worker, struct nm_conn *conn, bool output)
{
	uint32_t wanted = NM_CONN_ARMED | (output ? NM_CONN_ARMED_OUT : 0u);

	if (!(conn->flags & NM_CONN_OPEN))
		return -ENOTCONN;
	if ((conn->flags & wanted) == wanted)
		return 0;
	return worker->waiter.ops->arm(worker, conn, output);
}

void nm_waiter_ignore(struct nm_worker *worker, struct nm_conn *conn)
{
	worker->waiter.ops->ignore(worker, conn);
}

void nm_waiter_disarm(struct nm_worker *worker, struct nm_conn *conn)
{
	worker->waiter.ops->disarm(worker, conn);
}

bool nm_flow_is_waiting(const struct nm_flow *flow)
{
	return flow->state == NM_FLOW_WAITING || flow->state == NM_FLOW_WAITING_UNTIL;
}

/* Should this fail, the flow's next wait arms the connection. */
void nm_waiter_rearm(struct nm_worker *worker)
{
	const struct nm_flow *flow = nm_worker_flow(worker, 0);

	flow->conn->flags &= ~(uint32_t)(NM_CONN_ARMED | NM_CONN_ARMED_OUT);
	if ((flow->conn->flags & NM_CONN_OPEN) && nm_flow_is_waiting(flow))
		(void)nm_waiter_epoll.arm(worker, flow->conn, false);
}

void nm_waiter_spun(struct nm_worker *worker, int n_events)
{
	struct nm_waiter *waiter = &worker->waiter;

	waiter->vain_looks = n_events > 0 || !worker->run.phase ? 0 : waiter->vain_looks + 1;
	if (waiter->vain_looks < NM_TUNE_SPINS)
		return;
	waiter->vain_looks = 0;
	(void)sched_yield();
}
