/* SPDX-License-Identifier: Apache-2.0 */
/* Paced phases: when the passes of a flow are due. */
#include "engine/loop/pacer.h"

#include "engine/phase/reconnect.h"

bool nm_worker_pace(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->plan_ns += worker->run.period_ns;
	bool over = flow->plan_ns >= worker->run.last_ns;
	uint64_t wake_ns = over ? worker->run.last_ns : flow->plan_ns;

	if (wake_ns <= now_ns && over) {
		nm_worker_flow_done(worker, flow);
		return true;
	}
	if (nm_reconnect_before_pass(worker, flow))
		return true;
	if (wake_ns <= now_ns)
		return false;
	flow->wake_ns = wake_ns;
	flow->paced = true;
	nm_worker_sleep(worker, flow);
	return true;
}

bool nm_worker_begin_paced_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	flow->paced = false;
	flow->wake_ns = 0;
	flow->start_ns = now_ns;
	if (flow->plan_ns >= worker->run.last_ns) {
		nm_worker_flow_done(worker, flow);
		return false;
	}
	return !nm_reconnect_before_pass(worker, flow);
}
