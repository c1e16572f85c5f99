/* SPDX-License-Identifier: Apache-2.0 */
#include "control/flows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Of each histogram only buckets in which something was counted are written to, and take memory. */
static int make_times(struct nm_flow_sampler *meter, const struct nm_percentiles *percentiles)
{
	meter->percentiles = percentiles;
	meter->last_times = calloc(meter->n_flows + 1u, sizeof *meter->last_times);
	meter->times = calloc(1, sizeof *meter->times);
	meter->pct_s =
		calloc((meter->n_flows + 1u) * (percentiles->count + 1), sizeof *meter->pct_s);
	return meter->last_times && meter->times && meter->pct_s ? 0 : -ENOMEM;
}

int nm_flow_sampler_init(struct nm_flow_sampler *meter, const struct nm_engine *engine,
			 const struct nm_plan *plan, uint64_t interval_ns,
			 const struct nm_percentiles *percentiles,
			 const struct nm_flow_sampler_events *events)
{
	unsigned details = nm_engine_details(engine);

	*meter = (struct nm_flow_sampler){.plan = plan,
					  .events = *events,
					  .interval_ns = interval_ns,
					  .flows = details & NM_DETAIL_PASSES,
					  .tcp = details & NM_DETAIL_TCP};
	meter->grid.next_ns = UINT64_MAX;
	if (!meter->flows && !meter->tcp)
		return 0;
	meter->engine = engine;
	for (uint32_t g = 0; g < plan->n_groups; g++)
		meter->n_flows += plan->groups[g].runs ? plan->groups[g].n_flows : 0;
	if (!meter->flows)
		return 0;
	meter->last = calloc(meter->n_flows + 1u, sizeof *meter->last);
	meter->rows = calloc(meter->n_flows + 1u, sizeof *meter->rows);
	if (!meter->last || !meter->rows)
		return -ENOMEM;
	return details & NM_DETAIL_PASS_TIMES ? make_times(meter, percentiles) : 0;
}

void nm_flow_sampler_fini(struct nm_flow_sampler *meter)
{
	free(meter->last);
	free(meter->rows);
	free(meter->last_times);
	free(meter->times);
	free(meter->pct_s);
	free(meter->tcp_rows);
	*meter = (struct nm_flow_sampler){.engine = NULL};
}

/* Whether the group has flows here, and measures the phase. */
static bool is_measured(const struct nm_flow_sampler *meter, uint32_t group)
{
	const struct nm_group *g = &meter->plan->groups[group];

	return g->runs && meter->phase < g->n_phases && g->phases[meter->phase].measured;
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

/* What was recorded since the row before: `times` are all, and become those. What is the same is
 * not written. */
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

static void fill_percentiles(struct nm_flow_sampler *meter, struct nm_flow_row *row,
			     uint32_t number, const struct nm_flow_sample *now)
{
	struct nm_hist_snap *times = meter->times;
	double *pct_s = &meter->pct_s[number * meter->percentiles->count];

	/* As exact as in the row's other columns. */
	times->min_ns = now->min_ns;
	times->max_ns = now->max_ns;
	for (size_t i = 0; i < meter->percentiles->count; i++)
		pct_s[i] = nm_hist_percentile_s(times, meter->percentiles->pct[i]);
	row->pct_s = pct_s;
}

/* What the flow has done since the row before, and in the phase so far. */
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

/* Reads all flows; tells those of groups that measure the phase. */
static void read_flows(struct nm_flow_sampler *meter, uint64_t at_ns, bool tell)
{
	struct nm_flow_rows rows = {.phase = meter->phase,
				    .at_ns = at_ns,
				    .seconds = (double)(at_ns - meter->row_at_ns) / 1e9,
				    .rows = meter->rows};
	uint32_t first = 0;

	nm_engine_flow_epoch(meter->engine);
	for (uint32_t g = 0; g < meter->plan->n_groups; g++) {
		const struct nm_group *group = &meter->plan->groups[g];

		for (uint32_t i = 0; group->runs && i < group->n_flows; i++, first++) {
			struct nm_flow_sample now;

			nm_engine_flow_sample(meter->engine, g, i, &now);
			/* Passes that are not measured have no times. */
			bool timed = meter->times && is_measured(meter, g) &&
				     nm_engine_flow_times(meter->engine, g, i, meter->times);

			if (timed)
				subtract_last(meter->times, &meter->last_times[first]);
			if (tell && is_measured(meter, g)) {
				struct nm_flow_row *row = &meter->rows[rows.count++];

				row->group = g;
				row->flow = i;
				fill_row(row, &now, &meter->last[first]);
				row->pct_s = NULL;
				if (timed && row->has_latency && meter->times->count)
					fill_percentiles(meter, row, first, &now);
			}
			meter->last[first] = now;
		}
	}
	meter->row_at_ns = at_ns;
	if (!tell || !rows.count)
		return;
	nm_rusage_read(&rows.usage);
	meter->events.flows(meter->events.arg, &rows);
}

static void add_tcp(void *arg, const struct nm_tcp_sample *sample)
{
	struct nm_flow_sampler *meter = arg;

	if (!is_measured(meter, sample->group))
		return;
	if (meter->n_tcp == meter->tcp_room) {
		size_t room = meter->tcp_room ? 2 * meter->tcp_room : 64;
		struct nm_tcp_sample *grown = realloc(meter->tcp_rows, room * sizeof *grown);

		meter->failed |= !grown;
		if (!grown)
			return;
		meter->tcp_rows = grown;
		meter->tcp_room = room;
	}
	meter->tcp_rows[meter->n_tcp++] = *sample;
}

static void tell_tcp(struct nm_flow_sampler *meter)
{
	const struct nm_tcp_rows rows = {
		.phase = meter->phase, .rows = meter->tcp_rows, .count = meter->n_tcp};

	if (rows.count)
		meter->events.tcp(meter->events.arg, &rows);
	meter->n_tcp = 0;
}

void nm_flow_sampler_begin(struct nm_flow_sampler *meter, const struct nm_phase_order *order,
			   uint64_t begin_ns)
{
	if (!meter->engine)
		return;
	meter->running = true;
	meter->phase = order->phase;
	meter->row_at_ns = begin_ns;
	nm_interval_begin(&meter->grid, begin_ns, order->measured ? meter->interval_ns : 0,
			  order->stop_ns);
	for (uint32_t i = 0; meter->rows && i < meter->n_flows; i++)
		meter->rows[i].total = (struct nm_flow_counts){.passes = 0};
}

uint64_t nm_flow_sampler_next_ns(const struct nm_flow_sampler *meter)
{
	return meter->running ? meter->grid.next_ns : UINT64_MAX;
}

void nm_flow_sampler_run(struct nm_flow_sampler *meter, uint64_t now_ns)
{
	if (!meter->running)
		return;
	if (meter->asked && nm_engine_tcp_answered(meter->engine)) {
		meter->asked = false;
		nm_engine_tcp_read(meter->engine, add_tcp, meter);
		tell_tcp(meter);
	}
	if (now_ns < meter->grid.next_ns)
		return;
	(void)nm_interval_pass(&meter->grid, now_ns);
	if (meter->flows)
		read_flows(meter, now_ns, true);
	if (meter->tcp) {
		nm_engine_tcp_ask(meter->engine);
		meter->asked = true;
	}
}

/* When the last flow left the phase, if it has. */
static uint64_t end_of_phase(const struct nm_flow_sampler *meter, uint64_t now_ns)
{
	uint64_t last_ns = 0;

	for (uint32_t g = 0; g < meter->plan->n_groups; g++) {
		uint64_t begin_ns, end_ns;

		if (!is_measured(meter, g))
			continue;
		nm_engine_times(meter->engine, g, meter->phase, &begin_ns, &end_ns);
		last_ns = !end_ns ? now_ns : end_ns > last_ns ? end_ns : last_ns;
	}
	return last_ns > meter->row_at_ns ? last_ns : now_ns;
}

void nm_flow_sampler_end(struct nm_flow_sampler *meter, uint64_t now_ns)
{
	bool any = false;

	if (!meter->running)
		return;
	meter->running = false;
	for (uint32_t g = 0; g < meter->plan->n_groups; g++)
		any |= is_measured(meter, g);
	/* Those that are not measured are read too: the next phase counts from here. */
	if (meter->flows)
		read_flows(meter, end_of_phase(meter, now_ns), any && meter->grid.interval_ns);
	if (!meter->tcp || !any || !meter->grid.interval_ns)
		return;
	if (meter->asked && nm_engine_tcp_answered(meter->engine)) {
		nm_engine_tcp_read(meter->engine, add_tcp, meter);
		tell_tcp(meter);
	}
	meter->asked = false;
	nm_engine_tcp_read_last(meter->engine, add_tcp, meter);
	tell_tcp(meter);
}
