/* SPDX-License-Identifier: Apache-2.0 */
/* Flows of a worker that wait for none of their connections: the flows on the run queue can go on,
 * and have their turn one after the other; others sleep. On the worker's thread. */
#ifndef NM_ENGINE_RUNQ_H
#define NM_ENGINE_RUNQ_H

#include "engine/engine_priv.h"

/* The flow, which is on no queue, has its turn after those that are queued already. */
static inline void nm_worker_queue(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->busy = true;
	flow->state = NM_FLOW_READY;
	flow->next = NULL;
	if (worker->runq.last)
		worker->runq.last->next = flow;
	else
		worker->runq.first = flow;
	worker->runq.last = flow;
}

/* The flow, which is on no queue, goes on at flow->timer.at_ns. */
static inline void nm_worker_sleep(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->busy = true;
	flow->state = NM_FLOW_ASLEEP;
	nm_timers_add(&worker->timers, &flow->timer);
}

#endif
