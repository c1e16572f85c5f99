/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the counts of each flow and, a moment after it was asked for, TCP_INFO of each
 * connection. */
#include "control/flows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "control/interval.h"
#include "engine/flowop_stats.h"
#include "engine/tcp_sampler.h"

struct nm_flow_sampler {
	struct nm_sampler base;
	struct nm_flow_config config;
	bool flows, tcp;	     /* whether flows and connections are sampled */
	uint32_t n_flows;	     /* the flows that this side runs */
	struct nm_flow_sample *last; /* owned; by flow, group after group */
	struct nm_flow_row *rows;    /* owned; likewise */
	/* With NM_OBSERVE_PASS_TIMES, else NULL; owned. */
	struct nm_hist_snap *last_times; /* by flow; only the buckets are used */
	struct nm_hist_snap *times;	 /* times of the row that is being made */
	double *pct_s;			 /* by flow */
	struct nm_tcp_sample *tcp_rows;	 /* owned */
	size_t n_tcp, tcp_room;
	/* The present phase. */
	bool running;
	uint32_t phase;
	uint64_t row_at_ns;
	struct nm_interval grid;
	bool asked; /* for TCP_INFO, and not all have answered */
};

/* Whether the group has flows here, and measures the phase. */
static bool is_measured(const struct nm_flow_sampler *sampler, uint32_t group)
{
	const struct nm_group *g = &sampler->config.plan->groups[group];

	return g->runs && sampler->phase < g->n_phases && g->phases[sampler->phase].measured;
}

static void fill_latency(struct nm_flow_row *row, const struct nm_flow_sample *now,
			 const struct nm_flow_sample *last)
{
	double n = (double)(now->passes - last->passes);

	row->has_latency = n > 0 && now->max_ns && now->sum_ns > last->sum_ns;
	if (!row->has_latency)
		return;
	row->min_s = (double)now->min_ns / 1e9;
	row->max_s = (double)now->max_ns / 1e9;
	row->mean_s = (double)(now->sum_ns - last->sum_ns) / 1e9 / n;
	row->stddev_s =
		sqrt(fmax(0, (now->squares - last->squares) / n - row->mean_s * row->mean_s));
}

/* Turns `times`, which are all of the phase, into those since the row before. Only buckets of
 * `last` that change are written. */
static void subtract_last(struct nm_hist_snap *times, struct nm_hist_snap *last)
{
	times->count = 0;
	if (times->min_ns > times->max_ns)
		return; /* there is none */
	for (unsigned i = nm_hist_index(times->min_ns); i <= nm_hist_index(times->max_ns); i++) {
		uint64_t now = times->bucket[i];

		if (!now)
			continue;
		times->bucket[i] = now - last->bucket[i];
		times->count += times->bucket[i];
		if (times->bucket[i])
			last->bucket[i] = now;
	}
}

static void fill_percentiles(struct nm_flow_sampler *sampler, struct nm_flow_row *row,
			     uint32_t number, const struct nm_flow_sample *now)
{
	struct nm_hist_snap *times = sampler->times;
	double *pct_s = &sampler->pct_s[number * sampler->config.percentiles->count];

	/* As exact as in the row's other columns. */
	times->min_ns = now->min_ns;
	times->max_ns = now->max_ns;
	for (size_t i = 0; i < sampler->config.percentiles->count; i++)
		pct_s[i] = nm_hist_percentile_s(times, sampler->config.percentiles->pct[i]);
	row->pct_s = pct_s;
}

/* Fills a row with the flow's counts since the row before, and in the phase so far. */
static void fill_row(struct nm_flow_row *row, const struct nm_flow_sample *now,
		     const struct nm_flow_sample *last)
{
	row->delta = (struct nm_flow_counts){.passes = now->passes - last->passes,
					     .bytes_sent = now->bytes_sent - last->bytes_sent,
					     .bytes_received =
						     now->bytes_received - last->bytes_received,
					     .errors = now->errors - last->errors};
	row->total.passes += row->delta.passes;
	row->total.bytes_sent += row->delta.bytes_sent;
	row->total.bytes_received += row->delta.bytes_received;
	row->total.errors += row->delta.errors;
	fill_latency(row, now, last);
}

/* Reads all flows, and tells the flows of groups that measure the phase. */
static void read_flows(struct nm_flow_sampler *sampler, uint64_t at_ns, bool tell)
{
	struct nm_flow_rows rows = {.phase = sampler->phase,
				    .at_ns = at_ns,
				    .seconds = (double)(at_ns - sampler->row_at_ns) / 1e9,
				    .rows = sampler->rows};
	uint32_t first = 0;

	nm_engine_flow_epoch(sampler->config.engine);
	for (uint32_t g = 0; g < sampler->config.plan->n_groups; g++) {
		const struct nm_group *group = &sampler->config.plan->groups[g];

		for (uint32_t i = 0; group->runs && i < group->n_flows; i++, first++) {
			struct nm_flow_sample now;

			nm_engine_flow_sample(sampler->config.engine, g, i, &now);
			/* Passes that are not measured have no times. */
			bool timed =
				sampler->times && is_measured(sampler, g) &&
				nm_engine_flow_times(sampler->config.engine, g, i, sampler->times);

			if (timed)
				subtract_last(sampler->times, &sampler->last_times[first]);
			if (tell && is_measured(sampler, g)) {
				struct nm_flow_row *row = &sampler->rows[rows.count++];

				row->group = g;
				row->flow = i;
				fill_row(row, &now, &sampler->last[first]);
				row->pct_s = NULL;
				if (timed && row->has_latency && sampler->times->count)
					fill_percentiles(sampler, row, first, &now);
			}
			sampler->last[first] = now;
		}
	}
	sampler->row_at_ns = at_ns;
	if (!tell || !rows.count)
		return;
	nm_rusage_read(&rows.usage);
	sampler->config.flows(sampler->config.arg, &rows);
}

static void add_tcp(void *arg, const struct nm_tcp_sample *sample)
{
	struct nm_flow_sampler *sampler = arg;

	if (!is_measured(sampler, sample->group))
		return;
	if (sampler->n_tcp == sampler->tcp_room) {
		size_t room = sampler->tcp_room ? 2 * sampler->tcp_room : 64;
		struct nm_tcp_sample *grown = realloc(sampler->tcp_rows, room * sizeof *grown);

		sampler->base.failed |= !grown;
		if (!grown)
			return;
		sampler->tcp_rows = grown;
		sampler->tcp_room = room;
	}
	sampler->tcp_rows[sampler->n_tcp++] = *sample;
}

static void tell_tcp(struct nm_flow_sampler *sampler)
{
	const struct nm_tcp_rows rows = {
		.phase = sampler->phase, .rows = sampler->tcp_rows, .count = sampler->n_tcp};

	if (rows.count)
		sampler->config.tcp(sampler->config.arg, &rows);
	sampler->n_tcp = 0;
}

/* Passes on TCP_INFO once all connections that were asked have answered. */
static void take_answers(struct nm_flow_sampler *sampler)
{
	if (!sampler->asked || !nm_engine_tcp_answered(sampler->config.engine))
		return;
	sampler->asked = false;
	nm_engine_tcp_read(sampler->config.engine, add_tcp, sampler);
	tell_tcp(sampler);
}

static struct nm_flow_sampler *sampler_of(struct nm_sampler *base)
{
	return (struct nm_flow_sampler *)base;
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_flow_sampler *sampler = sampler_of(base);

	if (!sampler->flows && !sampler->tcp)
		return;
	sampler->running = true;
	sampler->phase = order->phase;
	sampler->row_at_ns = begin_ns;
	nm_interval_begin(&sampler->grid, begin_ns,
			  order->measured ? sampler->config.interval_ns : 0, order->stop_ns);
	for (uint32_t i = 0; sampler->rows && i < sampler->n_flows; i++)
		sampler->rows[i].total = (struct nm_flow_counts){.passes = 0};
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	const struct nm_flow_sampler *sampler = (const struct nm_flow_sampler *)base;

	return sampler->running ? sampler->grid.next_ns : UINT64_MAX;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_flow_sampler *sampler = sampler_of(base);

	if (!sampler->running)
		return;
	take_answers(sampler);
	if (now_ns < sampler->grid.next_ns)
		return;
	(void)nm_interval_pass(&sampler->grid, now_ns);
	if (sampler->flows)
		read_flows(sampler, now_ns, true);
	if (sampler->tcp) {
		nm_engine_tcp_ask(sampler->config.engine);
		sampler->asked = true;
	}
}

/* When the last flow left the phase, if it has. */
static uint64_t end_of_phase(const struct nm_flow_sampler *sampler, uint64_t now_ns)
{
	uint64_t last_ns = 0;

	for (uint32_t g = 0; g < sampler->config.plan->n_groups; g++) {
		uint64_t begin_ns, end_ns;

		if (!is_measured(sampler, g))
			continue;
		nm_engine_times(sampler->config.engine, g, sampler->phase, &begin_ns, &end_ns);
		last_ns = !end_ns ? now_ns : end_ns > last_ns ? end_ns : last_ns;
	}
	return last_ns > sampler->row_at_ns ? last_ns : now_ns;
}

static void end(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_flow_sampler *sampler = sampler_of(base);
	bool any = false;

	if (!sampler->running)
		return;
	sampler->running = false;
	for (uint32_t g = 0; g < sampler->config.plan->n_groups; g++)
		any |= is_measured(sampler, g);
	/* Flows that are not measured are read too: the next phase counts from here. */
	if (sampler->flows)
		read_flows(sampler, end_of_phase(sampler, now_ns),
			   any && sampler->grid.interval_ns);
	if (!sampler->tcp || !any || !sampler->grid.interval_ns)
		return;
	take_answers(sampler);
	sampler->asked = false;
	nm_engine_tcp_read_last(sampler->config.engine, add_tcp, sampler);
	tell_tcp(sampler);
}

/* Only those buckets of a histogram in which something was counted are written to, and take
 * memory. */
static bool make_times(struct nm_flow_sampler *sampler)
{
	size_t n = sampler->n_flows + 1u;

	sampler->last_times = calloc(n, sizeof *sampler->last_times);
	sampler->times = calloc(1, sizeof *sampler->times);
	sampler->pct_s =
		calloc(n * (sampler->config.percentiles->count + 1), sizeof *sampler->pct_s);
	return sampler->last_times && sampler->times && sampler->pct_s;
}

static bool make_rows(struct nm_flow_sampler *sampler, bool times)
{
	const struct nm_plan *plan = sampler->config.plan;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		sampler->n_flows += plan->groups[g].runs ? plan->groups[g].n_flows : 0;
	sampler->last = calloc(sampler->n_flows + 1u, sizeof *sampler->last);
	sampler->rows = calloc(sampler->n_flows + 1u, sizeof *sampler->rows);
	return sampler->last && sampler->rows && (!times || make_times(sampler));
}

struct nm_flow_sampler *nm_flow_sampler_new(const struct nm_flow_config *config)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end};
	unsigned details = nm_engine_details(config->engine);
	struct nm_flow_sampler *sampler = calloc(1, sizeof *sampler);

	if (!sampler)
		return NULL;
	sampler->base.ops = &ops;
	sampler->config = *config;
	sampler->flows = details & NM_OBSERVE_PASSES;
	sampler->tcp = details & NM_OBSERVE_TCP;
	sampler->grid.next_ns = UINT64_MAX;
	if (sampler->flows && !make_rows(sampler, details & NM_OBSERVE_PASS_TIMES))
		return nm_flow_sampler_free(sampler);
	return sampler;
}

struct nm_flow_sampler *nm_flow_sampler_free(struct nm_flow_sampler *sampler)
{
	if (!sampler)
		return NULL;
	free(sampler->last);
	free(sampler->rows);
	free(sampler->last_times);
	free(sampler->times);
	free(sampler->pct_s);
	free(sampler->tcp_rows);
	free(sampler);
	return NULL;
}

struct nm_sampler *nm_flow_sampler_base(struct nm_flow_sampler *sampler)
{
	return &sampler->base;
}
