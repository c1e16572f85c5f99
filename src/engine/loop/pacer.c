/* SPDX-License-Identifier: Apache-2.0 */
/* Paced phases: when the passes of a flow are due. */
#include "engine/loop/pacer.h"

#include "engine/phase/reconnect.h"

/* When the flow has something to do next: its pass is due, or none is any more. */
static uint64_t wake_ns(const struct nm_worker *worker, const struct nm_flow *flow)
{
	uint64_t last_ns = worker->run.pacer.last_ns;

	return flow->plan_ns < last_ns ? flow->plan_ns : last_ns;
}

void nm_worker_await_pass(struct nm_worker *worker, struct nm_flow *flow)
{
	flow->timer.at_ns = wake_ns(worker, flow);
	flow->paced = true;
	nm_worker_sleep(worker, flow);
}

bool nm_worker_pace(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	bool is_due = wake_ns(worker, flow) <= now_ns;

	if (is_due && flow->plan_ns >= worker->run.pacer.last_ns) {
		nm_worker_flow_done(worker, flow);
		return true;
	}
	if (nm_reconnect_before_pass(worker, flow))
		return true;
	if (is_due)
		return false;
	nm_worker_await_pass(worker, flow);
	return true;
}

bool nm_worker_begin_paced_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->paced = false;
	flow->timer.at_ns = 0;
	flow->start_ns = now_ns;
	if (flow->plan_ns >= worker->run.pacer.last_ns) {
		nm_worker_flow_done(worker, flow);
		return false;
	}
	return !nm_reconnect_before_pass(worker, flow);
}
