/* SPDX-License-Identifier: Apache-2.0 */
#include "control/windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"

static struct nm_sample *sample_new(void)
{
	struct nm_sample *sample = calloc(1, sizeof *sample);

	if (sample) {
		nm_hist_snap_init(&sample->latency);
		nm_hist_snap_init(&sample->response);
	}
	return sample;
}

static void sample_clear(struct nm_sample *sample)
{
	sample->counts = (struct nm_counts){.iterations = 0};
	if (sample->has_latency)
		nm_hist_snap_init(&sample->latency);
	if (sample->has_response)
		nm_hist_snap_init(&sample->response);
	sample->has_latency = sample->has_response = false;
}

static void sample_add(struct nm_sample *into, const struct nm_sample *from)
{
	nm_counts_add(&into->counts, &from->counts);
	if (from->has_latency) {
		nm_hist_snap_merge(&into->latency, &from->latency);
		into->has_latency = true;
	}
	if (from->has_response) {
		nm_hist_snap_merge(&into->response, &from->response);
		into->has_response = true;
	}
}

static void sample_subtract(struct nm_sample *into, const struct nm_sample *earlier)
{
	nm_counts_subtract(&into->counts, &earlier->counts);
	/* Subtracting nothing would still round the extremes to the edges of buckets. */
	if (into->has_latency && earlier->has_latency && earlier->latency.count)
		nm_hist_snap_subtract(&into->latency, &earlier->latency);
	if (into->has_response && earlier->has_response && earlier->response.count)
		nm_hist_snap_subtract(&into->response, &earlier->response);
}

static void fill_window(const struct nm_windows *measure, struct nm_window *window,
			const struct nm_sample *sample, uint64_t ns)
{
	const struct nm_percentiles *percentiles = &measure->result->percentiles;

	*window = (struct nm_window){.seconds = (double)ns / 1e9, .counts = sample->counts};
	if (sample->has_latency)
		nm_latency_from_hist(&window->latency, &sample->latency, percentiles);
	if (sample->has_response)
		nm_latency_from_hist(&window->response, &sample->response, percentiles);
}

int nm_windows_init(struct nm_windows *measure, const struct nm_plan *plan,
		    const struct nm_engine *engine, const struct nm_run_options *options,
		    struct nm_result *result)
{
	*measure =
		(struct nm_windows){.plan = plan,
				    .engine = engine,
				    .options = options,
				    .result = result,
				    .groups = calloc(plan->n_groups + 1, sizeof *measure->groups),
				    .scratch = sample_new(),
				    .current = sample_new(),
				    .previous = sample_new(),
				    .total = sample_new(),
				    .wall_offset_ns = nm_clock_wall_ns() - nm_clock_ns()};
	result->wall_offset_ns = measure->wall_offset_ns;
	if (!measure->groups || !measure->scratch || !measure->current || !measure->previous ||
	    !measure->total)
		return -ENOMEM;
	return 0;
}

void nm_windows_fini(struct nm_windows *measure)
{
	for (uint32_t g = 0; measure->groups && g < measure->plan->n_groups; g++) {
		free(measure->groups[g].total);
		free(measure->groups[g].from);
	}
	free(measure->groups);
	free(measure->scratch);
	free(measure->current);
	free(measure->previous);
	free(measure->total);
	*measure = (struct nm_windows){.groups = NULL};
}

static void begin_group(struct nm_windows *measure, uint32_t g)
{
	const struct nm_group *group = &measure->plan->groups[g];
	struct nm_group_window *mg = &measure->groups[g];
	const struct nm_run_options *options = measure->options;

	mg->measured = group->runs && measure->phase < group->n_phases &&
		       group->phases[measure->phase].measured;
	mg->from_at_ns = mg->to_at_ns = UINT64_MAX;
	mg->from_ns = 0;
	mg->waits = mg->closed = false;
	if (!mg->measured)
		return;
	if (options->warmup_ns) {
		mg->from_at_ns = measure->begin_ns + options->warmup_ns;
		mg->waits = true;
	}
	uint64_t duration_ns = group->phases[measure->phase].duration_ns;

	if (options->cooldown_ns && duration_ns > options->cooldown_ns)
		mg->to_at_ns = measure->begin_ns + duration_ns - options->cooldown_ns;
}

void nm_windows_begin(struct nm_windows *measure, uint32_t phase, uint64_t begin_ns,
		      uint64_t longest_ns)
{
	bool any = false;

	measure->phase = phase;
	measure->begin_ns = begin_ns;
	measure->longest_ns = longest_ns;
	if (measure->run_begin_ns == 0)
		measure->run_begin_ns = begin_ns;
	measure->union_from_ns = measure->union_to_ns = 0;
	measure->row_ns = 0;
	measure->row_at_ns = begin_ns;
	sample_clear(measure->previous);
	for (uint32_t g = 0; g < measure->plan->n_groups; g++) {
		begin_group(measure, g);
		any |= measure->groups[g].measured;
	}
	nm_interval_begin(&measure->grid, begin_ns, any ? measure->options->interval_ns : 0,
			  longest_ns);
}

uint64_t nm_windows_next_ns(const struct nm_windows *measure)
{
	uint64_t next_ns = measure->grid.next_ns;

	for (uint32_t g = 0; g < measure->plan->n_groups; g++) {
		const struct nm_group_window *mg = &measure->groups[g];

		if (mg->from_at_ns < next_ns)
			next_ns = mg->from_at_ns;
		if (mg->to_at_ns < next_ns)
			next_ns = mg->to_at_ns;
	}
	return next_ns;
}

/* The window opens: what was done before it is set aside. */
static void open_window(struct nm_windows *measure, uint32_t g, uint64_t now_ns)
{
	struct nm_group_window *mg = &measure->groups[g];

	mg->from_at_ns = UINT64_MAX;
	mg->waits = false;
	mg->from_ns = now_ns;
	if (!mg->from)
		mg->from = sample_new();
	if (mg->from)
		nm_engine_sample(measure->engine, g, measure->phase, mg->from);
	else
		measure->failed = true;
}

/* The window closes: scratch holds what the group has done in the phase so far. */
static void close_window(struct nm_windows *measure, uint32_t g, uint64_t from_ns, uint64_t to_ns)
{
	struct nm_group_window *mg = &measure->groups[g];

	mg->to_at_ns = UINT64_MAX;
	mg->closed = true;
	if (!mg->total)
		mg->total = sample_new();
	if (!mg->total) {
		measure->failed = true;
		return;
	}
	if (mg->from_ns)
		sample_subtract(measure->scratch, mg->from);
	sample_add(mg->total, measure->scratch);
	sample_add(measure->total, measure->scratch);
	mg->total_ns += to_ns - from_ns;
	if (measure->union_from_ns == 0 || from_ns < measure->union_from_ns)
		measure->union_from_ns = from_ns;
	if (to_ns > measure->union_to_ns)
		measure->union_to_ns = to_ns;
}

/* When the group's flows entered and left the phase; until_ns where they have not yet left. */
static void group_times(const struct nm_windows *measure, uint32_t g, uint64_t until_ns,
			uint64_t *ret_begin_ns, uint64_t *ret_end_ns)
{
	nm_engine_times(measure->engine, g, measure->phase, ret_begin_ns, ret_end_ns);
	if (*ret_begin_ns == 0)
		*ret_begin_ns = measure->begin_ns;
	if (*ret_end_ns == 0)
		*ret_end_ns = until_ns > *ret_begin_ns ? until_ns : *ret_begin_ns;
}

static uint64_t window_begin(const struct nm_windows *measure, uint32_t g, uint64_t until_ns)
{
	uint64_t begin_ns, end_ns;

	if (measure->groups[g].from_ns)
		return measure->groups[g].from_ns;
	group_times(measure, g, until_ns, &begin_ns, &end_ns);
	return begin_ns;
}

/* Where the row belongs, by its end. */
static enum nm_part part_of(const struct nm_windows *measure, uint64_t to_ns)
{
	const struct nm_run_options *options = measure->options;

	if (options->warmup_ns && to_ns <= options->warmup_ns)
		return NM_PART_WARMUP;
	if (options->cooldown_ns && measure->longest_ns > options->cooldown_ns &&
	    to_ns > measure->longest_ns - options->cooldown_ns)
		return NM_PART_COOLDOWN;
	return NM_PART_MEASURED;
}

static struct nm_result_interval *append_row(struct nm_windows *measure)
{
	struct nm_result *result = measure->result;

	if (result->n_intervals == measure->row_capacity) {
		size_t capacity = measure->row_capacity ? measure->row_capacity * 2 : 64;
		struct nm_result_interval *grown =
			realloc(result->intervals, capacity * sizeof *grown);

		if (!grown)
			return NULL;
		result->intervals = grown;
		measure->row_capacity = capacity;
	}
	return &result->intervals[result->n_intervals++];
}

static void tell_times(const struct nm_windows *measure, const struct nm_sample *sample,
		       uint64_t from_ns, uint64_t length_ns, enum nm_part part, bool total)
{
	const struct nm_run_events *events = &measure->options->events;
	const struct nm_interval_times times = {
		.hist = &sample->latency,
		.wall_ns = from_ns + measure->wall_offset_ns,
		.seconds = (double)length_ns / 1e9,
		.part = part,
		.total = total,
	};

	if (events->times && sample->has_latency)
		events->times(events->arg, &times);
}

static void end_row(struct nm_windows *measure, uint64_t to_ns, uint64_t now_ns)
{
	struct nm_sample *swap = measure->previous;
	const struct nm_run_events *events = &measure->options->events;

	sample_clear(measure->current);
	for (uint32_t g = 0; g < measure->plan->n_groups; g++) {
		if (!measure->groups[g].measured)
			continue;
		nm_engine_sample(measure->engine, g, measure->phase, measure->scratch);
		sample_add(measure->current, measure->scratch);
	}
	sample_clear(measure->scratch);
	sample_add(measure->scratch, measure->current);
	sample_subtract(measure->scratch, measure->previous);
	measure->previous = measure->current;
	measure->current = swap;

	struct nm_result_interval *row = append_row(measure);

	if (!row) {
		measure->failed = true;
		return;
	}
	*row = (struct nm_result_interval){.from_s = (double)measure->row_ns / 1e9,
					   .to_s = (double)to_ns / 1e9,
					   .phase = measure->phase,
					   .part = part_of(measure, to_ns)};
	fill_window(measure, &row->window, measure->scratch, now_ns - measure->row_at_ns);
	tell_times(measure, measure->scratch, measure->row_at_ns, now_ns - measure->row_at_ns,
		   row->part, false);
	measure->row_ns = to_ns;
	measure->row_at_ns = now_ns;
	if (events->interval)
		events->interval(events->arg, measure->result, row);
}

void nm_windows_run(struct nm_windows *measure, uint64_t now_ns)
{
	for (uint32_t g = 0; g < measure->plan->n_groups; g++) {
		struct nm_group_window *mg = &measure->groups[g];

		if (now_ns >= mg->from_at_ns)
			open_window(measure, g, now_ns);
		if (now_ns < mg->to_at_ns)
			continue;
		nm_engine_sample(measure->engine, g, measure->phase, measure->scratch);
		close_window(measure, g, window_begin(measure, g, now_ns), now_ns);
	}
	if (now_ns >= measure->grid.next_ns)
		end_row(measure, nm_interval_pass(&measure->grid, now_ns), now_ns);
}

static void end_group(struct nm_windows *measure, uint32_t g, uint64_t now_ns)
{
	const struct nm_group *group = &measure->plan->groups[g];
	struct nm_group_window *mg = &measure->groups[g];
	struct nm_result_phase *phase = &measure->result->groups[g].phases[measure->phase];
	uint64_t begin_ns, end_ns;

	if (!group->runs || measure->phase >= group->n_phases)
		return;
	group_times(measure, g, now_ns, &begin_ns, &end_ns);
	nm_engine_sample(measure->engine, g, measure->phase, measure->scratch);
	phase->begin_s = (double)(int64_t)(begin_ns - measure->run_begin_ns) / 1e9;
	phase->seconds = (double)(end_ns - begin_ns) / 1e9;
	fill_window(measure, &phase->whole, measure->scratch, end_ns - begin_ns);
	/* A window that has not opened by now, or opens after the last flow has left, holds
	 * nothing. */
	if (mg->measured && !mg->closed && !mg->waits && mg->from_ns < end_ns)
		close_window(measure, g, window_begin(measure, g, end_ns), end_ns);
	mg->from_at_ns = mg->to_at_ns = UINT64_MAX;
}

void nm_windows_end(struct nm_windows *measure, uint64_t now_ns)
{
	uint64_t last_ns = measure->begin_ns;

	for (uint32_t g = 0; g < measure->plan->n_groups; g++) {
		uint64_t begin_ns, end_ns;

		end_group(measure, g, now_ns);
		if (!measure->groups[g].measured)
			continue;
		group_times(measure, g, now_ns, &begin_ns, &end_ns);
		if (end_ns > last_ns)
			last_ns = end_ns;
	}
	/* The last row ends with the last flow, or when it is read if a grid point came after
	 * that. */
	if (measure->grid.interval_ns && last_ns > measure->row_at_ns)
		end_row(measure, last_ns - measure->begin_ns, last_ns);
	measure->grid.next_ns = UINT64_MAX;
	if (measure->union_to_ns <= measure->union_from_ns)
		return;
	measure->total_ns += measure->union_to_ns - measure->union_from_ns;
	if (!measure->result->from_ns)
		measure->result->from_ns = measure->union_from_ns;
	measure->result->to_ns = measure->union_to_ns;
}

void nm_windows_finish(struct nm_windows *measure)
{
	for (uint32_t g = 0; g < measure->plan->n_groups; g++) {
		const struct nm_group_window *mg = &measure->groups[g];

		if (mg->total)
			fill_window(measure, &measure->result->groups[g].totals, mg->total,
				    mg->total_ns);
	}
	fill_window(measure, &measure->result->totals, measure->total, measure->total_ns);
	tell_times(measure, measure->total, measure->result->from_ns, measure->total_ns,
		   NM_PART_MEASURED, true);
}
