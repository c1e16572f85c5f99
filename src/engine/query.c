/* SPDX-License-Identifier: Apache-2.0 */
/* What main may ask about a running engine. Nothing here makes a worker wait. */
#include <string.h>

#include "engine/engine_priv.h"
#include "engine/events.h"

bool nm_engine_group_done(const struct nm_engine *engine, uint32_t group)
{
	const struct nm_engine_group *g = &engine->groups[group];

	if (engine->begun > g->plan->n_phases)
		return true;
	for (uint32_t w = 0; w < g->n_workers; w++)
		if (atomic_load_explicit(&g->workers[w].answers.done, memory_order_acquire) <
		    engine->begun)
			return false;
	return true;
}

bool nm_engine_group_passed(const struct nm_engine *engine, uint32_t group)
{
	const struct nm_engine_group *g = &engine->groups[group];

	for (uint32_t w = 0; engine->begun <= g->plan->n_phases && w < g->n_workers; w++) {
		const struct nm_worker *worker = &g->workers[w];

		if (atomic_load_explicit(&worker->answers.done, memory_order_acquire) <
			    engine->begun &&
		    atomic_load_explicit(&worker->answers.passed, memory_order_acquire) <
			    engine->begun)
			return false;
	}
	return true;
}

bool nm_engine_done(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		if (!nm_engine_group_done(engine, g))
			return false;
	return true;
}

uint64_t nm_engine_iterations(const struct nm_engine *engine, uint32_t group, uint32_t worker)
{
	const struct nm_engine_group *g = &engine->groups[group];

	if (worker >= g->n_workers || engine->begun == 0 || engine->begun > g->plan->n_phases)
		return 0;
	return nm_count_passes(&g->workers[worker].stats[engine->begun - 1].counters);
}

bool nm_engine_failed(const struct nm_engine *engine, struct nm_engine_error *ret_error)
{
	bool failed = false;
	uint64_t count = 0;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			struct nm_worker *worker = &engine->groups[g].workers[w];

			nm_process_check(worker);
			if (!atomic_load_explicit(&worker->answers.failed, memory_order_acquire))
				continue;
			count += atomic_load_explicit(&worker->answers.n_failed,
						      memory_order_relaxed);
			/* The end of a process is what makes flows of others fail. */
			if (!failed || (worker->answers.error.of_process && !ret_error->of_process))
				*ret_error = worker->answers.error;
			failed = true;
		}
	}
	if (failed)
		ret_error->count = count;
	/* What all connections have died of. */
	return nm_events_lost(engine, ret_error) || failed;
}

void nm_engine_times(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		     uint64_t *ret_begin_ns, uint64_t *ret_end_ns)
{
	const struct nm_engine_group *g = &engine->groups[group];
	uint64_t begin = 0, end = 0;
	bool over = true;

	for (uint32_t w = 0; phase < g->plan->n_phases && w < g->n_workers; w++) {
		const struct nm_phase_stats *stats = &g->workers[w].stats[phase];
		uint64_t b = atomic_load_explicit(&stats->begin_ns, memory_order_acquire);
		uint64_t e = atomic_load_explicit(&stats->end_ns, memory_order_acquire);

		begin = b && (!begin || b < begin) ? b : begin;
		end = e > end ? e : end;
		over = over && e;
	}
	*ret_begin_ns = begin;
	*ret_end_ns = over ? end : 0;
}

void nm_engine_sample(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_sample *ret_sample)
{
	const struct nm_engine_group *g = &engine->groups[group];

	memset(&ret_sample->counts, 0, sizeof ret_sample->counts);
	ret_sample->has_latency = ret_sample->has_response = false;
	nm_hist_snap_init(&ret_sample->latency);
	nm_hist_snap_init(&ret_sample->response);
	for (uint32_t w = 0; phase < g->plan->n_phases && w < g->n_workers; w++) {
		const struct nm_phase_stats *stats = &g->workers[w].stats[phase];

		nm_counts_collect(&ret_sample->counts, &stats->counters);
		if (stats->latency) {
			ret_sample->has_latency = true;
			nm_hist_collect(&ret_sample->latency, stats->latency);
		}
		if (stats->response) {
			ret_sample->has_response = true;
			nm_hist_collect(&ret_sample->response, stats->response);
		}
	}
}

void nm_engine_counts(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_counts *ret_counts)
{
	const struct nm_engine_group *g = &engine->groups[group];

	memset(ret_counts, 0, sizeof *ret_counts);
	for (uint32_t w = 0; phase < g->plan->n_phases && w < g->n_workers; w++)
		nm_counts_collect(ret_counts, &g->workers[w].stats[phase].counters);
}

static void merge_connections(struct nm_conn_summary *into, const struct nm_conn_summary *from)
{
	if (!from->connections)
		return;
	if (!into->connections) {
		*into = *from;
		return;
	}
	double total = (double)(into->connections + from->connections);
	double share = (double)from->connections / total;

	into->rtt_mean_s += (from->rtt_mean_s - into->rtt_mean_s) * share;
	into->cwnd_mean += (from->cwnd_mean - into->cwnd_mean) * share;
	into->rtt_min_s = from->rtt_min_s < into->rtt_min_s ? from->rtt_min_s : into->rtt_min_s;
	into->rtt_max_s = from->rtt_max_s > into->rtt_max_s ? from->rtt_max_s : into->rtt_max_s;
	into->mss_min = from->mss_min < into->mss_min ? from->mss_min : into->mss_min;
	into->mss_max = from->mss_max > into->mss_max ? from->mss_max : into->mss_max;
	into->retransmits += from->retransmits;
	nm_conn_tls_add(&into->tls, &from->tls);
	into->connections += from->connections;
}

void nm_engine_conn_summary(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			    struct nm_conn_summary *ret_summary)
{
	const struct nm_engine_group *g = &engine->groups[group];

	memset(ret_summary, 0, sizeof *ret_summary);
	for (uint32_t w = 0; phase < g->plan->n_phases && w < g->n_workers; w++)
		if (atomic_load_explicit(&g->workers[w].answers.done, memory_order_acquire) > phase)
			merge_connections(ret_summary, &g->workers[w].stats[phase].conns);
}

uint64_t nm_engine_progress(const struct nm_engine *engine)
{
	uint64_t progress = engine->begun;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		const struct nm_engine_group *group = &engine->groups[g];

		if (!engine->begun || engine->begun > group->plan->n_phases)
			continue;
		for (uint32_t w = 0; w < group->n_workers; w++) {
			const struct nm_counters *c =
				&group->workers[w].stats[engine->begun - 1].counters;

			progress += nm_count_passes(c) + nm_counter_read(&c->bytes_sent) +
				    nm_counter_read(&c->bytes_received) +
				    nm_counter_read(&c->timeouts) + nm_counter_read(&c->connects) +
				    nm_counter_read(&c->accepts) +
				    atomic_load_explicit(&group->workers[w].answers.done,
							 memory_order_relaxed);
		}
	}
	return progress;
}
