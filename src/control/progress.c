/* SPDX-License-Identifier: Apache-2.0 */
/* Two grids: one of the intervals, for progress, and one of the traffic. */
#include "control/progress.h"

#include <stdlib.h>

#include "control/interval.h"
#include "engine/flowop_stats.h"

struct nm_progress_sampler {
	struct nm_sampler base;
	const struct nm_plan *plan; /* borrowed, all of them */
	const struct nm_engine *engine;
	const struct nm_run_options *options;
	uint64_t wall_offset_ns;
	uint64_t run_begin_ns;
	uint64_t bytes, operations; /* sums of the phases that are over */
	/* The present phase. */
	bool running;
	uint32_t phase;
	struct nm_interval grid, traffic_grid;
	struct nm_counts traffic; /* counts of the phase when the traffic was last told */
	uint64_t traffic_at_ns;	  /* when that was */
};

static struct nm_progress_sampler *progress_of(struct nm_sampler *base)
{
	return (struct nm_progress_sampler *)base;
}

static bool tells_progress(const struct nm_progress_sampler *progress)
{
	return progress->options->events.progress;
}

static bool tells_traffic(const struct nm_progress_sampler *progress)
{
	return progress->options->traffic_ns && progress->options->events.traffic;
}

static void tell(const struct nm_progress_sampler *progress, enum nm_progress_event event,
		 uint64_t now_ns, uint64_t bytes, uint64_t operations)
{
	const struct nm_run_events *events = &progress->options->events;
	const struct nm_progress row = {
		.event = event,
		.phase = progress->phase,
		.wall_ns = now_ns + progress->wall_offset_ns,
		.bytes = bytes,
		.operations = operations,
	};

	if (tells_progress(progress))
		events->progress(events->arg, progress->plan, &row);
}

/* Reads the counts and the operations of the present phase. */
static void read_phase(const struct nm_progress_sampler *progress, struct nm_counts *ret_counts,
		       uint64_t *ret_operations)
{
	*ret_counts = (struct nm_counts){.iterations = 0};
	*ret_operations = 0;
	for (uint32_t g = 0; g < progress->plan->n_groups; g++) {
		const struct nm_group *group = &progress->plan->groups[g];
		struct nm_counts counts;

		if (!group->runs || progress->phase >= group->n_phases)
			continue;
		nm_engine_counts(progress->engine, g, progress->phase, &counts);
		nm_counts_add(ret_counts, &counts);
		*ret_operations += nm_engine_operations(progress->engine, g, progress->phase);
	}
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_progress_sampler *progress = progress_of(base);
	const struct nm_run_options *options = progress->options;

	progress->running = true;
	progress->phase = order->phase;
	if (progress->run_begin_ns == 0) {
		progress->run_begin_ns = begin_ns;
		tell(progress, NM_PROGRESS_START, begin_ns, 0, 0);
	}
	nm_interval_begin(&progress->grid, begin_ns,
			  tells_progress(progress) ? options->interval_ns : 0, order->stop_ns);
	tell(progress, NM_PROGRESS_BEGIN, begin_ns, 0, 0);
	/* Only where something is measured: phases that open and close connections have no
	 * traffic. */
	nm_interval_begin(&progress->traffic_grid, begin_ns,
			  tells_traffic(progress) && order->measured ? options->traffic_ns : 0,
			  order->stop_ns);
	progress->traffic = (struct nm_counts){.iterations = 0};
	progress->traffic_at_ns = begin_ns;
}

/* Tells the traffic since the last time. */
static void tell_traffic(struct nm_progress_sampler *progress, const struct nm_counts *counts,
			 uint64_t now_ns)
{
	const struct nm_run_events *events = &progress->options->events;
	struct nm_traffic traffic = {
		.at_s = (double)(now_ns - progress->run_begin_ns) / 1e9,
		.seconds = (double)(now_ns - progress->traffic_at_ns) / 1e9,
		.counts = *counts,
	};

	nm_counts_subtract(&traffic.counts, &progress->traffic);
	progress->traffic = *counts;
	progress->traffic_at_ns = now_ns;
	if (traffic.seconds > 0)
		events->traffic(events->arg, &traffic);
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	const struct nm_progress_sampler *progress = (const struct nm_progress_sampler *)base;

	if (!progress->running)
		return UINT64_MAX;
	return progress->traffic_grid.next_ns < progress->grid.next_ns
		       ? progress->traffic_grid.next_ns
		       : progress->grid.next_ns;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_progress_sampler *progress = progress_of(base);
	struct nm_counts counts;
	uint64_t operations;

	if (now_ns < next_ns(base))
		return;
	read_phase(progress, &counts, &operations);
	if (now_ns >= progress->traffic_grid.next_ns) {
		(void)nm_interval_pass(&progress->traffic_grid, now_ns);
		tell_traffic(progress, &counts, now_ns);
	}
	if (now_ns < progress->grid.next_ns)
		return;
	(void)nm_interval_pass(&progress->grid, now_ns);
	tell(progress, NM_PROGRESS_TICK, now_ns, counts.bytes_sent + counts.bytes_received,
	     operations);
}

static void end(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_progress_sampler *progress = progress_of(base);
	struct nm_counts counts;
	uint64_t operations;

	if (!progress->running)
		return;
	progress->running = false;
	read_phase(progress, &counts, &operations);
	progress->bytes += counts.bytes_sent + counts.bytes_received;
	progress->operations += operations;
	if (progress->traffic_grid.interval_ns)
		tell_traffic(progress, &counts, now_ns);
	tell(progress, NM_PROGRESS_END, now_ns, counts.bytes_sent + counts.bytes_received,
	     operations);
}

struct nm_progress_sampler *nm_progress_sampler_new(const struct nm_plan *plan,
						    const struct nm_engine *engine,
						    const struct nm_run_options *options,
						    uint64_t wall_offset_ns)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end};
	struct nm_progress_sampler *progress = calloc(1, sizeof *progress);

	if (progress)
		*progress = (struct nm_progress_sampler){.base = {.ops = &ops},
							 .plan = plan,
							 .engine = engine,
							 .options = options,
							 .wall_offset_ns = wall_offset_ns};
	return progress;
}

struct nm_progress_sampler *nm_progress_sampler_free(struct nm_progress_sampler *progress)
{
	free(progress);
	return NULL;
}

struct nm_sampler *nm_progress_sampler_base(struct nm_progress_sampler *progress)
{
	return &progress->base;
}

void nm_progress_sampler_finish(struct nm_progress_sampler *progress, uint64_t now_ns)
{
	tell(progress, NM_PROGRESS_FINISH, now_ns, progress->bytes, progress->operations);
}
