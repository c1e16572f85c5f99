/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the engine's counts at the points of a grid, and subtracts. */
#include "control/plateaus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/interval.h"

struct group {
	const struct nm_plateau *watched; /* of the present phase; NULL: none */
	struct nm_plateau_seen seen;
	uint64_t settled_ns;
	bool is_over;		      /* the group has done the phase: nothing more is watched */
	struct nm_tally_snap *before; /* owned; made when needed */
};

struct nm_plateaus {
	struct nm_sampler base;
	const struct nm_plan *plan; /* borrowed, both */
	const struct nm_engine *engine;
	uint64_t interval_ns;
	struct group *groups;		 /* owned */
	struct nm_tally_snap *now, *row; /* owned */
	struct nm_interval grid;
	uint32_t phase;
	uint64_t begin_ns, row_at_ns;
};

static struct nm_plateaus *plateaus_of(struct nm_sampler *base)
{
	return (struct nm_plateaus *)base;
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_plateaus *plateaus = plateaus_of(base);
	bool any = false;

	plateaus->phase = order->phase;
	plateaus->begin_ns = plateaus->row_at_ns = begin_ns;
	for (uint32_t g = 0; g < plateaus->plan->n_groups; g++) {
		const struct nm_group *of = &plateaus->plan->groups[g];
		struct group *group = &plateaus->groups[g];

		group->watched = NULL;
		group->settled_ns = 0;
		group->is_over = false;
		group->seen.count = 0;
		if (!of->runs || order->phase >= of->n_phases ||
		    !of->phases[order->phase].waits.until.figure)
			continue;
		if (!group->before)
			group->before = nm_tally_snap_new(0);
		if (!group->before) {
			base->failed = true;
			continue;
		}
		nm_tally_snap_clear(group->before);
		group->watched = &of->phases[order->phase].waits.until;
		any = true;
	}
	nm_interval_begin(&plateaus->grid, begin_ns, any ? plateaus->interval_ns : 0, 0);
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	return ((const struct nm_plateaus *)base)->grid.next_ns;
}

static double time_of(const struct nm_hist_snap *times, double percentile)
{
	if (!times->count)
		return NAN;
	return isnan(percentile) ? nm_hist_mean_s(times) : nm_hist_percentile_s(times, percentile);
}

/* NaN: nothing was done. */
static double value_of(const struct nm_plateau *plateau, const struct nm_tally_snap *row,
		       uint64_t ns)
{
	const double seconds = (double)ns / 1e9;
	const double bytes = (double)row->counts.bytes_sent + (double)row->counts.bytes_received;

	/* A pass that moves much may take longer than an interval. */
	if (plateau->figure == NM_PLATEAU_BITS ? !(bytes > 0) : !row->counts.iterations)
		return NAN;
	switch (plateau->figure) {
	case NM_PLATEAU_TRANSACTIONS:
		return (double)row->counts.iterations / seconds;
	case NM_PLATEAU_BITS:
		return bytes * 8 / seconds;
	case NM_PLATEAU_RESPONSE:
		return nm_tally_keeps(row, NM_TIME_RESPONSE)
			       ? time_of(&row->response, plateau->percentile)
			       : NAN;
	case NM_PLATEAU_LATENCY:
	case NM_PLATEAU_NONE:
		break;
	}
	return time_of(&row->latency, plateau->percentile);
}

/* Takes what the group has done since the last point. */
static void watch(struct nm_plateaus *plateaus, uint32_t g, uint64_t now_ns)
{
	struct group *group = &plateaus->groups[g];
	struct nm_tally_snap *now = plateaus->now, *row = plateaus->row;

	nm_engine_sample(plateaus->engine, g, plateaus->phase, now);
	nm_tally_copy(row, now);
	nm_tally_subtract(row, group->before);
	plateaus->now = group->before;
	group->before = now;
	if (nm_plateau_add(group->watched, &group->seen,
			   value_of(group->watched, row, now_ns - plateaus->row_at_ns)))
		group->settled_ns = now_ns;
}

static bool is_watched(const struct group *group)
{
	return group->watched && !group->settled_ns && !group->is_over;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_plateaus *plateaus = plateaus_of(base);
	bool any = false;

	if (now_ns < plateaus->grid.next_ns)
		return;
	for (uint32_t g = 0; g < plateaus->plan->n_groups; g++) {
		if (is_watched(&plateaus->groups[g]))
			watch(plateaus, g, now_ns);
		any |= is_watched(&plateaus->groups[g]);
	}
	(void)nm_interval_pass(&plateaus->grid, now_ns);
	plateaus->row_at_ns = now_ns;
	if (!any)
		plateaus->grid.next_ns = UINT64_MAX;
}

static void end(struct nm_sampler *base, uint64_t now_ns)
{
	(void)now_ns;
	plateaus_of(base)->grid.next_ns = UINT64_MAX;
}

struct nm_plateaus *nm_plateaus_new(const struct nm_plan *plan, const struct nm_engine *engine,
				    uint64_t interval_ns)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end};
	struct nm_plateaus *plateaus = calloc(1, sizeof *plateaus);

	if (!plateaus)
		return NULL;
	*plateaus = (struct nm_plateaus){
		.base = {.ops = &ops},
		.plan = plan,
		.engine = engine,
		.interval_ns = interval_ns ? interval_ns : NM_PLATEAU_INTERVAL_NS,
		.groups = calloc(plan->n_groups + 1u, sizeof *plateaus->groups),
		.now = nm_tally_snap_new(0),
		.row = nm_tally_snap_new(0),
		.grid = {.next_ns = UINT64_MAX}};
	return plateaus->groups && plateaus->now && plateaus->row ? plateaus
								  : nm_plateaus_free(plateaus);
}

struct nm_plateaus *nm_plateaus_free(struct nm_plateaus *plateaus)
{
	if (!plateaus)
		return NULL;
	for (uint32_t g = 0; plateaus->groups && g < plateaus->plan->n_groups; g++)
		free(plateaus->groups[g].before);
	free(plateaus->groups);
	free(plateaus->now);
	free(plateaus->row);
	free(plateaus);
	return NULL;
}

struct nm_sampler *nm_plateaus_base(struct nm_plateaus *plateaus)
{
	return &plateaus->base;
}

uint64_t nm_plateaus_settled_ns(const struct nm_plateaus *plateaus, uint32_t group)
{
	return plateaus->groups[group].settled_ns;
}

void nm_plateaus_leave(struct nm_plateaus *plateaus, uint32_t group)
{
	plateaus->groups[group].is_over = true;
}

bool nm_plateaus_missed(const struct nm_plateaus *plateaus, uint32_t group, char *why,
			size_t why_size)
{
	const struct group *of = &plateaus->groups[group];
	unsigned count = of->seen.count < NM_PLATEAU_ROWS ? of->seen.count : NM_PLATEAU_ROWS;
	double least = INFINITY, most = 0;

	if (!of->watched || of->settled_ns)
		return false;
	for (unsigned i = 0; i < count; i++) {
		least = fmin(least, of->seen.values[i]);
		most = fmax(most, of->seen.values[i]);
	}
	if (count == NM_PLATEAU_ROWS)
		(void)snprintf(why, why_size,
			       "%s has not settled within %.4g %%: in the last intervals it was "
			       "from %.4g to %.4g",
			       of->watched->name, of->watched->share * 100, least, most);
	else
		(void)snprintf(why, why_size,
			       "%s has not settled: it was measured in %u of the last %d "
			       "intervals (-i)",
			       of->watched->name, count, NM_PLATEAU_ROWS);
	return true;
}
