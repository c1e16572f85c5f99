/* SPDX-License-Identifier: Apache-2.0 */
/* Flows at the end of a phase: they are stopped wherever they are. */
#include "engine/phase/flows.h"

#include "engine/accept/listener.h"
#include "engine/engine_priv.h"
#include "engine/wait/defer.h"
#include "flowop/abandoned.h"
#include "flowop/pipeline.h"
#include "transport/errqueue.h"
#include "transport/transport.h"

void nm_flow_push(const struct nm_worker *worker, struct nm_flow *flow)
{
	for (uint32_t c = 0; worker->run.phase->cork && c < worker->group->n_conns; c++)
		if (nm_flow_conn(flow, c)->flags & NM_CONN_MORE)
			nm_socket_push(nm_flow_conn(flow, c));
}

/* A message that the end of the phase has cut moves on before the next. */
static void reset_flow(const struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *at = flow->at;

	if (worker->group->messages.gives_up && (flow->left || flow->progress) && at && at->op &&
	    (!at->pass.is_first || nm_abandoned_has_begun(&worker->io, flow, at)))
		nm_abandoned_add(&worker->io, flow, flow->at);
	flow->request.unusual = 0;
	flow->state = NM_FLOW_IDLE;
	flow->left = 0;
	flow->progress = 0;
	flow->repeated = 0;
	flow->timer.at_ns = 0;
	flow->next = NULL;
	flow->paced = false;
}

void nm_flows_stop(struct nm_worker *worker)
{
	for (uint32_t i = 0; i < worker->group->n_openings; i++)
		nm_listener_unpark_all(&worker->accept.listeners[i]);
	worker->runq.first = worker->runq.last = NULL;
	nm_defer_end(worker);
	for (uint32_t i = 0; i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		nm_timers_remove(&worker->timers, &flow->timer);
		nm_flow_push(worker, flow);
		reset_flow(worker, flow);
		if (worker->run.phase->pipeline)
			nm_pipe_reset(nm_pipe_of(&worker->io, flow));
	}
}
