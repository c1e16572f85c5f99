/* SPDX-License-Identifier: Apache-2.0 */
/* Ends requests: the times and outcomes from which all that is reported of requests is made. */
#include "engine/loop/request.h"

#include "engine/engine_priv.h"
#include "flowop/message.h"

/* The pass was a flow. */
static void record_flow(const struct nm_worker *worker, const struct nm_flow *flow, uint64_t ns)
{
	const struct nm_phase_flows *flows = &worker->run.phase->flows;
	uint64_t bytes = nm_message_bytes(&worker->io, flow, &worker->group->instrs[flows->instr]);
	uint64_t slowdown = nm_ideal_slowdown(&flows->ideal, bytes, ns);
	enum nm_time complete = nm_time_of_class(nm_size_class(bytes));

	nm_hist_record(worker->run.slowdown, slowdown);
	nm_hist_record(worker->run.times[complete], ns);
	nm_hist_record(worker->run.times[complete + 1], slowdown);
}

static void record(const struct nm_worker *worker, const struct nm_flow *flow, uint64_t now_ns)
{
	const struct nm_phase_run *run = &worker->run;
	const struct nm_request *request = &flow->request;
	uint64_t pass_ns = now_ns - request->sent_ns;

	nm_hist_record(run->latency, pass_ns - request->think_ns);
	if (run->pass)
		nm_hist_record(run->pass, pass_ns);
	if (run->response)
		nm_hist_record(run->response, now_ns - request->due_ns);
	if (run->send_delay)
		nm_hist_record(run->send_delay, request->sent_ns - request->due_ns);
	if (run->slowdown)
		record_flow(worker, flow,
			    now_ns - (run->response ? request->due_ns : request->sent_ns));
}

/* Counts what tells whether the load was as asked for. */
static void count_open(const struct nm_worker *worker, const struct nm_request *request,
		       uint64_t now_ns)
{
	if (now_ns >= worker->run.open.last_ns)
		nm_counter_add(&worker->io.count->tardy, 1);
	if (!(request->marks & NM_REQUEST_LIGHT))
		return;
	nm_counter_add(&worker->io.count->light, 1);
	nm_counter_add(&worker->io.count->light_ns, now_ns - request->sent_ns);
}

void nm_request_end(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_request *request = &flow->request;

	if (worker->run.open.on && now_ns)
		nm_open_count_end(worker, request, now_ns);
	if (request->outcome != NM_UNDER_WAY) {
		nm_counter_add(&worker->io.count->unanswered, 1);
		/* With one answered pass less the end is reached. */
		nm_worker_set_end(worker, worker->run.end_at);
	} else {
		nm_counter_add(&worker->io.count->iterations, 1);
		if (worker->run.latency)
			record(worker, flow, now_ns);
		if (worker->run.open.on && now_ns)
			count_open(worker, request, now_ns);
		if (worker->observe.counts_passes)
			nm_flowop_stats_pass(worker, flow, now_ns);
	}
	request->sent_ns = now_ns;
	request->think_ns = 0;
	request->outcome = NM_UNDER_WAY;
	request->marks = worker->run.marks;
}
