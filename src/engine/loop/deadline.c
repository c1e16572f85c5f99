/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that end by themselves. What comes for such a flow need not be what it waits for: a
 * datagram that comes late, or twice. Then the same wait goes on, and its deadline is that of the
 * whole. On a stream whatever comes is part of it. */
#include "engine/loop/deadline.h"

#include "engine/engine_priv.h"
#include "engine/wait/waiter.h"
#include "host/clock.h"

static bool goes_on(const struct nm_deadline *lifted, const struct nm_flow *flow)
{
	return lifted->flow == flow && flow->at->lossy && lifted->at == flow->at &&
	       lifted->left == flow->left && lifted->repeated == flow->repeated &&
	       lifted->iterations_left == flow->iterations_left;
}

void nm_deadline_set(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->busy = true;
	if (goes_on(&worker->lifted_deadline, flow)) {
		flow->timer.at_ns = worker->lifted_deadline.due_ns;
	} else {
		/* Where passes are measured the time is known well enough, once some limit is being
		 * looked at; unless receives have slept since. */
		if (!worker->run.latency || worker->waiter.ops->kind == NM_WAITER_POLL ||
		    (!worker->timers.count && worker->io.recv_flags))
			worker->io.now_ns = nm_clock_ns();
		flow->timer.at_ns = worker->io.now_ns + flow->at->timeout_ns;
	}
	worker->lifted_deadline.flow = NULL;
	nm_timers_add(&worker->timers, &flow->timer);
}

void nm_deadline_lift(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->lifted_deadline = (struct nm_deadline){
		.flow = flow->timer.at_ns ? flow : NULL,
		.at = flow->at,
		.due_ns = flow->timer.at_ns,
		.iterations_left = flow->iterations_left,
		.left = flow->left,
		.repeated = flow->repeated,
	};
	flow->timer.at_ns = 0; /* and its timer comes up in vain */
}
