/* SPDX-License-Identifier: Apache-2.0 */
/* Ends requests: the times and outcomes from which all that is reported of requests is made. */
#include "engine/loop/request.h"

#include "engine/engine_priv.h"
#include "flowop/message.h"

/* Whose flow makes the solitary passes is the group's first worker. */
static struct nm_idle_path *idle_path_of(const struct nm_worker *worker,
					 const struct nm_phase_flows *flows)
{
	return &worker->engine->groups[worker->group_no].workers[0].stats[flows->probe].idle;
}

/* The pass was a flow. */
static void record_flow(const struct nm_worker *worker, struct nm_hist *const *times,
			const struct nm_flow *flow, uint64_t ns)
{
	const struct nm_phase_flows *flows = &worker->run.phase->flows;
	uint64_t bytes = nm_message_bytes(&worker->io, flow, &worker->group->instrs[flows->instr]);
	enum nm_time complete = nm_time_of_class(nm_size_class(bytes));

	if (flows->ideal.kind == NM_IDEAL_PROBE) {
		nm_idle_path_note(idle_path_of(worker, flows), bytes, ns);
		return;
	}
	uint64_t slowdown =
		nm_ideal_slowdown(flows->ideal.kind == NM_IDEAL_MEASURED
					  ? nm_idle_path_s(idle_path_of(worker, flows), bytes) * 1e9
					  : nm_ideal_ns(&flows->ideal, bytes),
				  ns);

	nm_hist_record(times[NM_TIME_SLOWDOWN], slowdown);
	nm_hist_record(times[complete], ns);
	nm_hist_record(times[complete + 1], slowdown);
}

static void record(const struct nm_worker *worker, struct nm_hist *const *times,
		   const struct nm_flow *flow, uint64_t now_ns)
{
	const struct nm_request *request = &flow->request;
	uint64_t pass_ns = now_ns - request->sent_ns;
	uint64_t due_ns = times[NM_TIME_RESPONSE] ? request->due_ns : request->sent_ns;

	nm_hist_record(times[NM_TIME_LATENCY], pass_ns - request->think_ns);
	if (times[NM_TIME_PASS])
		nm_hist_record(times[NM_TIME_PASS], pass_ns);
	if (times[NM_TIME_RESPONSE])
		nm_hist_record(times[NM_TIME_RESPONSE], now_ns - due_ns);
	if (times[NM_TIME_SEND_DELAY])
		nm_hist_record(times[NM_TIME_SEND_DELAY], request->sent_ns - due_ns);
	if (times[NM_TIME_SLOWDOWN])
		record_flow(worker, times, flow, now_ns - due_ns);
}

/* Counts what tells whether the load was as asked for. */
static void count_open(const struct nm_worker *worker, struct nm_counters *count,
		       const struct nm_request *request, uint64_t now_ns)
{
	if (now_ns >= worker->run.open.due.to_ns)
		nm_counter_add(&count->tardy, 1);
	if (!(request->marks & NM_REQUEST_LIGHT))
		return;
	nm_counter_add(&count->light, 1);
	nm_counter_add(&count->light_ns, now_ns - request->sent_ns);
}

/* The pass is in a part of the phase, with the answer at now_ns: where its times are kept. */
static const struct nm_tally *end_apart(const struct nm_due *due, const struct nm_request *request,
					uint64_t now_ns)
{
	struct nm_due_part *part = nm_due_part(due, request->marks, request->due_ns);

	if (request->marks & NM_REQUEST_OF_STEP &&
	    now_ns >= nm_due_part_end_ns(due, request->due_ns))
		nm_counter_add(&part->tardy, 1);
	return &part->tally;
}

/* The pass became due by itself: it counts by when that was. */
static void end_open(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	const struct nm_request *request = &flow->request;
	struct nm_counters *count = nm_flow_counters(&worker->io, flow);

	if (now_ns)
		nm_open_count_end(worker, request, now_ns);
	if (request->outcome != NM_UNDER_WAY) {
		nm_counter_add(&count->unanswered, 1);
		return;
	}
	nm_counter_add(&count->iterations, 1);
	if (worker->run.latency)
		record(worker,
		       request->marks & NM_REQUEST_APART
			       ? end_apart(&worker->run.open.due, request, now_ns)->times
			       : worker->run.times,
		       flow, now_ns);
	if (now_ns)
		count_open(worker, count, request, now_ns);
	if (worker->observe.counts_passes)
		nm_flowop_stats_pass(worker, flow, now_ns);
}

void nm_request_end(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_request *request = &flow->request;

	if (worker->run.open.on) {
		end_open(worker, flow, now_ns);
	} else if (request->outcome != NM_UNDER_WAY) {
		nm_counter_add(&worker->io.count->unanswered, 1);
		/* With one answered pass less the end is reached. */
		nm_worker_set_end(worker, worker->run.end_at);
	} else {
		nm_counter_add(&worker->io.count->iterations, 1);
		if (worker->run.latency)
			record(worker, worker->run.times, flow, now_ns);
		if (worker->observe.counts_passes)
			nm_flowop_stats_pass(worker, flow, now_ns);
	}
	request->sent_ns = now_ns;
	request->think_ns = 0;
	request->outcome = NM_UNDER_WAY;
	request->marks = worker->run.marks | (request->marks & NM_REQUEST_REFUSED);
}
