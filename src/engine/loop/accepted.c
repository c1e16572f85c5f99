/* SPDX-License-Identifier: Apache-2.0 */
/* Connections have come: the flows that wait for them go on. */
#include "engine/loop/accepted.h"

#include <unistd.h>

#include "engine/accept/handoff.h"
#include "engine/accept/listener.h"
#include "engine/accept/mux.h"
#include "engine/accept/pending.h"
#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/loop/interp.h"
#include "host/clock.h"
#include "plan/shape.h"

void nm_worker_shorten_wait(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *at = flow->at;
	uint64_t until_ns = nm_clock_ns() + NM_TUNE_OVERTAKEN_NS;

	if (!flow->pending ||
	    (flow->state != NM_FLOW_WAITING && flow->state != NM_FLOW_WAITING_UNTIL) ||
	    !at->transport || !nm_instr_may_wait_in_vain(at))
		return;
	if (flow->state == NM_FLOW_WAITING_UNTIL && flow->timer.at_ns <= until_ns)
		return;
	nm_timers_remove(&worker->timers, &flow->timer);
	flow->state = NM_FLOW_WAITING_UNTIL;
	flow->timer.at_ns = until_ns;
	worker->busy = true;
	nm_timers_add(&worker->timers, &flow->timer);
}

/* Runs a flow that was parked. */
static void wake(struct nm_worker *worker, struct nm_flow *flow)
{
	nm_timers_remove(&worker->timers, &flow->timer);
	flow->timer.at_ns = 0;
	nm_worker_run_flow(worker, flow);
}

/* One more connection is pending at the flow. */
static void on_pending(struct nm_worker *worker, struct nm_flow *flow)
{
	if (nm_pending_is_awaited(flow))
		wake(worker, flow);
	else
		nm_worker_shorten_wait(worker, flow);
}

static void on_message(struct nm_worker *worker, struct nm_conn *conn)
{
	nm_worker_conn_event(worker, conn, NM_CONN_IN);
}

void nm_worker_listener_event(struct nm_worker *worker, struct nm_listen_fd *one)
{
	static const struct nm_mux_events events = {.pending = on_pending, .message = on_message};
	struct nm_flow *flow;

	if (one->mux) {
		nm_mux_receive(one->mux, &events);
		worker->busy = true;
		return;
	}
	one->ready = true;
	while ((flow = nm_listener_next(one)))
		wake(worker, flow);
}

void nm_worker_handoff_event(struct nm_worker *worker)
{
	uint32_t opening, index;
	int fd;

	while (nm_handoff_receive(worker->accept.handoff, &opening, &index, &fd) == 0) {
		struct nm_flow *flow = nm_worker_flow(worker, index / worker->group->n_workers);

		if (nm_pending_add(flow, opening, fd, NULL) < 0)
			(void)close(fd);
		else
			on_pending(worker, flow);
	}
	worker->busy = true;
}
