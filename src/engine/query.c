/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to the control thread's questions about a running engine: its progress, its counts and
 * its observations. Nothing here makes a worker wait. */
#include <string.h>

#include "engine/accept/rendezvous.h"
#include "engine/engine_priv.h"
#include "engine/events.h"
#include "engine/observe/exec_log.h"
#include "engine/observe/observe.h"
#include "engine/tcp_sampler.h"
#include "stats/summary.h"

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

/* Those of a worker in a phase. */
static uint64_t passes_of(const struct nm_phase_stats *stats)
{
	uint64_t passes = nm_count_passes(&stats->tally.counters);

	for (uint32_t i = 0; i < stats->n_parts; i++)
		passes += nm_count_passes(&stats->parts[i].tally.counters);
	return passes;
}

uint64_t nm_engine_iterations(const struct nm_engine *engine, uint32_t group, uint32_t worker)
{
	const struct nm_engine_group *g = &engine->groups[group];

	if (worker >= g->n_workers || engine->begun == 0 || engine->begun > g->plan->n_phases)
		return 0;
	return passes_of(&g->workers[worker].stats[engine->begun - 1]);
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
			/* The end of a process makes flows of other workers fail, so it is the
			 * cause. */
			if (!failed || (worker->answers.error.of_process && !ret_error->of_process))
				*ret_error = worker->answers.error;
			failed = true;
		}
	}
	if (failed)
		ret_error->count = count;
	failed = failed || nm_rendezvous_lacks_port(engine->rendezvous, ret_error);
	/* The loss of all connections, by a transport's event, is the cause of any other
	 * failure. */
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

bool nm_engine_cuts(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	const struct nm_engine_group *g = &engine->groups[group];

	return (engine->edges_ns[0] || engine->edges_ns[1]) && phase < g->plan->n_phases &&
	       g->n_workers && g->workers[0].stats[phase].n_parts;
}

/* The statistics of the worker w in the phase; NULL: there is no such. */
static const struct nm_phase_stats *stats_in(const struct nm_engine *engine, uint32_t group,
					     uint32_t phase, uint32_t w)
{
	const struct nm_engine_group *g = &engine->groups[group];

	return phase < g->plan->n_phases && w < g->n_workers ? &g->workers[w].stats[phase] : NULL;
}

/* All that is counted by when passes were due, from a part on, is in it, too. */
static void sample_from(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			uint32_t first, struct nm_tally_snap *sample)
{
	const struct nm_phase_stats *stats;

	nm_tally_snap_clear(sample);
	for (uint32_t w = 0; (stats = stats_in(engine, group, phase, w)); w++) {
		nm_tally_collect(sample, &stats->tally);
		for (uint32_t i = first; i < stats->n_parts; i++)
			nm_tally_collect(sample, &stats->parts[i].tally);
	}
}

static void counts_from(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			uint32_t first, struct nm_counts *ret_counts)
{
	const struct nm_phase_stats *stats;

	memset(ret_counts, 0, sizeof *ret_counts);
	for (uint32_t w = 0; (stats = stats_in(engine, group, phase, w)); w++) {
		nm_tally_counts(ret_counts, &stats->tally);
		for (uint32_t i = first; i < stats->n_parts; i++)
			nm_tally_counts(ret_counts, &stats->parts[i].tally);
	}
}

void nm_engine_sample_due(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			  struct nm_tally_snap *sample)
{
	sample_from(engine, group, phase, NM_DUE_STEPS, sample);
}

void nm_engine_sample(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_tally_snap *sample)
{
	sample_from(engine, group, phase, NM_DUE_OUTSIDE, sample);
}

void nm_engine_counts_due(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			  struct nm_counts *ret_counts)
{
	counts_from(engine, group, phase, NM_DUE_STEPS, ret_counts);
}

void nm_engine_counts(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_counts *ret_counts)
{
	counts_from(engine, group, phase, NM_DUE_OUTSIDE, ret_counts);
}

uint32_t nm_engine_steps(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	const struct nm_phase_stats *stats = stats_in(engine, group, phase, 0);

	return stats && stats->n_parts ? stats->n_parts - NM_DUE_STEPS : 0;
}

void nm_engine_sample_step(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			   uint32_t step, struct nm_tally_snap *sample)
{
	const struct nm_phase_stats *stats;
	uint64_t overdue = 0, tardy = 0;

	nm_tally_snap_clear(sample);
	for (uint32_t w = 0; (stats = stats_in(engine, group, phase, w)); w++) {
		const struct nm_due_part *part = &stats->parts[NM_DUE_STEPS + step];

		nm_tally_collect(sample, &part->tally);
		overdue += nm_counter_read(&part->overdue);
		tardy += nm_counter_read(&part->tardy);
	}
	sample->counts.overdue = overdue;
	sample->counts.tardy = tardy;
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

	into->srtt_mean_s += (from->srtt_mean_s - into->srtt_mean_s) * share;
	into->cwnd_mean += (from->cwnd_mean - into->cwnd_mean) * share;
	into->srtt_min_s =
		from->srtt_min_s < into->srtt_min_s ? from->srtt_min_s : into->srtt_min_s;
	into->srtt_max_s =
		from->srtt_max_s > into->srtt_max_s ? from->srtt_max_s : into->srtt_max_s;
	into->min_rtt_s = nm_least_known(into->min_rtt_s, from->min_rtt_s);
	into->mss_min = from->mss_min < into->mss_min ? from->mss_min : into->mss_min;
	into->mss_max = from->mss_max > into->mss_max ? from->mss_max : into->mss_max;
	nm_buffers_add_mss(&into->cut, from->cut.mss_asked, from->cut.mss_given);
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

const struct nm_idle_path *nm_engine_idle_path(const struct nm_engine *engine, uint32_t group,
					       uint32_t phase)
{
	const struct nm_engine_group *g = &engine->groups[group];

	return g->n_workers ? &g->workers[0].stats[phase].idle : NULL;
}

uint64_t nm_engine_received(const struct nm_engine *engine)
{
	uint64_t received = 0;

	for (uint32_t g = 0; engine->begun && g < engine->plan->n_groups; g++) {
		struct nm_counts counts;

		if (engine->begun > engine->groups[g].plan->n_phases)
			continue;
		nm_engine_counts(engine, g, engine->begun - 1, &counts);
		received += counts.bytes_received;
	}
	return received;
}

uint64_t nm_engine_progress(const struct nm_engine *engine)
{
	uint64_t progress = engine->begun;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		const struct nm_engine_group *group = &engine->groups[g];

		if (!engine->begun || engine->begun > group->plan->n_phases)
			continue;
		for (uint32_t w = 0; w < group->n_workers; w++) {
			const struct nm_phase_stats *stats =
				&group->workers[w].stats[engine->begun - 1];
			const struct nm_counters *c = &stats->tally.counters;

			progress += passes_of(stats) + nm_counter_read(&c->bytes_sent) +
				    nm_counter_read(&c->bytes_received) +
				    nm_counter_read(&c->timeouts) + nm_counter_read(&c->connects) +
				    nm_counter_read(&c->failed_connects) +
				    nm_counter_read(&c->accepts) +
				    atomic_load_explicit(&group->workers[w].answers.done,
							 memory_order_relaxed);
		}
	}
	return progress;
}

/* --- statistics of flowops and flows --- */

unsigned nm_engine_details(const struct nm_engine *engine)
{
	return engine->details;
}

void nm_engine_step_sums(const struct nm_engine *engine, uint32_t group, uint32_t instr,
			 struct nm_flowop_sums *ret_sums, struct nm_hist_snap *ret_times)
{
	const struct nm_engine_group *g = &engine->groups[group];

	*ret_sums = (struct nm_flowop_sums){.operations = 0};
	if (ret_times)
		nm_hist_snap_init(ret_times);
	for (uint32_t w = 0; w < g->n_workers; w++)
		if (g->workers[w].observe.stats)
			nm_flowop_stats_add_step(g->workers[w].observe.stats, instr, ret_sums,
						 ret_times);
}

/* The statistics of the worker that has the flow, whose number there is *ret_number; NULL: none. */
static const struct nm_flowop_stats *stats_of(const struct nm_engine *engine, uint32_t group,
					      uint32_t flow, uint32_t *ret_number)
{
	const struct nm_engine_group *g = &engine->groups[group];

	if (!g->n_workers)
		return NULL;
	*ret_number = flow / g->n_workers;
	return g->workers[flow % g->n_workers].observe.stats;
}

void nm_engine_flow_sums(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			 struct nm_flowop_sums *ret_sums)
{
	uint32_t number;
	const struct nm_flowop_stats *stats = stats_of(engine, group, flow, &number);

	*ret_sums = (struct nm_flowop_sums){.operations = 0};
	if (stats)
		nm_flowop_stats_add_flow(stats, number, ret_sums);
}

void nm_engine_flow_epoch(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++)
			if (engine->groups[g].workers[w].observe.stats)
				nm_flowop_stats_begin_epoch(
					engine->groups[g].workers[w].observe.stats);
}

void nm_engine_flow_sample(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			   struct nm_flow_sample *ret_sample)
{
	uint32_t number;
	const struct nm_flowop_stats *stats = stats_of(engine, group, flow, &number);

	*ret_sample = (struct nm_flow_sample){.passes = 0};
	if (stats)
		nm_flowop_stats_sample(stats, number, ret_sample);
}

bool nm_engine_flow_times(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			  struct nm_hist_snap *ret_times)
{
	uint32_t number;
	const struct nm_flowop_stats *stats = stats_of(engine, group, flow, &number);
	const struct nm_hist *passes = stats ? nm_flowop_stats_passes(stats, number) : NULL;

	if (passes)
		nm_hist_copy_buckets(passes, ret_times);
	return passes;
}

uint64_t nm_engine_operations(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	const struct nm_engine_group *g = &engine->groups[group];
	uint64_t operations = 0;

	if (phase >= g->plan->n_phases)
		return 0;
	const struct nm_phase *p = &g->plan->phases[phase];

	for (uint32_t w = 0; w < g->n_workers; w++)
		if (g->workers[w].observe.stats)
			operations += nm_flowop_stats_operations(g->workers[w].observe.stats,
								 p->first, p->n_instrs);
	return operations;
}

/* --- the log of executions --- */

size_t nm_engine_take_execs(struct nm_engine *engine, struct nm_exec_record *list, size_t room)
{
	const uint32_t n_groups = engine->plan->n_groups;
	uint32_t g = engine->log.group, w = engine->log.worker;
	size_t n = 0;

	if (!(engine->details & NM_OBSERVE_OWN))
		return 0;
	/* Begins where the last call has ended, so that a quick worker does not keep the others
	 * waiting; visits each group once, and the first one a second time. */
	for (uint32_t seen = 0; seen <= n_groups && n < room; seen++) {
		const struct nm_engine_group *group = &engine->groups[g];

		for (; w < group->n_workers && n < room; w++)
			n += nm_exec_log_take(nm_flowop_stats_log(group->workers[w].observe.stats),
					      g, list + n, room - n);
		if (w < group->n_workers)
			break;
		g = (g + 1) % n_groups;
		w = 0;
	}
	engine->log.group = g;
	engine->log.worker = w;
	return n;
}

uint64_t nm_engine_lost_execs(const struct nm_engine *engine)
{
	uint64_t lost = 0;

	if (!(engine->details & NM_OBSERVE_OWN))
		return 0;
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++)
			lost += nm_counter_read(
				&nm_flowop_stats_log(engine->groups[g].workers[w].observe.stats)
					 ->lost);
	return lost;
}

/* --- samples of TCP_INFO --- */

void nm_engine_tcp_ask(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			struct nm_worker *worker = &engine->groups[g].workers[w];

			if (worker->observe.tcp && nm_tcp_sampler_ask(worker->observe.tcp))
				nm_worker_wake(worker);
		}
	}
}

bool nm_engine_tcp_answered(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			const struct nm_worker *worker = &engine->groups[g].workers[w];

			if (worker->observe.tcp &&
			    !nm_tcp_sampler_has_answered(worker->observe.tcp))
				return false;
		}
	}
	return true;
}

static void read_samples(const struct nm_engine *engine, bool last, nm_tcp_sample_fn fn, void *arg)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			const struct nm_tcp_sampler *sampler =
				engine->groups[g].workers[w].observe.tcp;
			uint32_t count = 0;
			const struct nm_tcp_sample *samples =
				sampler ? nm_tcp_sampler_samples(sampler, last, &count) : NULL;

			for (uint32_t i = 0; i < count; i++)
				fn(arg, &samples[i]);
		}
	}
}

void nm_engine_tcp_read(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg)
{
	read_samples(engine, false, fn, arg);
}

void nm_engine_tcp_read_last(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg)
{
	read_samples(engine, true, fn, arg);
}
