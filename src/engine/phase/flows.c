/* SPDX-License-Identifier: Apache-2.0 */
/* Flows at the end of a phase: they are stopped wherever they are. */
#include "engine/phase/flows.h"

#include "engine/accept/listener.h"
#include "engine/engine_priv.h"
#include "engine/wait/defer.h"
#include "flowop/abandoned.h"
#include "flowop/ask.h"
#include "flowop/pipeline.h"
#include "plan/shape.h"
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

void nm_flows_time_out(struct nm_worker *worker, const struct nm_flow *flow)
{
	if (!nm_instr_asks(flow->at))
		return;
	struct nm_outcome_counters *outcomes = nm_app_outcomes(&worker->io, flow, flow->at);
	const bool lost = nm_ask_is_lost(&worker->io, flow);

	nm_counter_add(lost ? &outcomes->lost : &outcomes->timed_out,
		       nm_app_use_keys(&flow->at->ask));
	if (worker->observe.stats)
		nm_flowop_stats_outcome(worker, flow->at,
					lost ? offsetof(struct nm_outcome_counters, lost)
					     : offsetof(struct nm_outcome_counters, timed_out));
}

/* Whether the flow waits for an answer that may be lost. */
static bool awaits_answer(const struct nm_flow *flow)
{
	const struct nm_instr *at = flow->at;

	if (flow->state == NM_FLOW_IDLE || flow->error || !nm_instr_may_wait_in_vain(at))
		return false;
	return nm_instr_asks(at) || (!at->pass.is_first && nm_instr_receives(at));
}

/* The requests of a window that are outstanding. */
static void count_window(struct nm_worker *worker, struct nm_flow *flow)
{
	const struct nm_instr *query = flow->at - 1;
	struct nm_outcome_counters *outcomes = nm_app_outcomes(&worker->io, flow, query);
	const uint32_t n = nm_pipe_of(&worker->io, flow)->outstanding;
	const bool lost = nm_ask_is_lost(&worker->io, flow);

	nm_counter_add(&worker->io.count->unanswered, n);
	nm_counter_add(lost ? &outcomes->lost : &outcomes->timed_out, n);
	for (uint32_t i = 0; worker->observe.stats && i < n; i++)
		nm_flowop_stats_outcome(worker, query,
					lost ? offsetof(struct nm_outcome_counters, lost)
					     : offsetof(struct nm_outcome_counters, timed_out));
}

void nm_flows_count_unanswered(struct nm_worker *worker, uint64_t now_ns)
{
	for (uint32_t i = 0; worker->run.phase->leads && i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);

		if (worker->run.phase->pipeline && flow->at->lossy && flow->state != NM_FLOW_IDLE &&
		    !flow->error)
			count_window(worker, flow);
		if (!awaits_answer(flow))
			continue;
		nm_counter_add(&nm_flow_counters(&worker->io, flow)->unanswered, 1);
		nm_flows_time_out(worker, flow);
		flow->request.outcome = NM_TIMEOUT;
		if (worker->run.open.on)
			nm_open_count_end(worker, &flow->request, now_ns);
	}
}
