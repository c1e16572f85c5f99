/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the engine's counts and histograms where a window opens or closes and where a row ends, and
 * subtracts. */
#include "control/windows.h"

#include <math.h>
#include <stdlib.h>

#include "control/interval.h"

/* The window of one group. */
struct group {
	struct nm_tally_snap *total; /* over its measured windows; owned; NULL until there is one */
	uint64_t total_ns;
	/* In the present phase. */
	bool measured;
	uint64_t from_at_ns, to_at_ns; /* timers; UINT64_MAX: none, or over */
	struct nm_tally_snap *from;    /* the figures before the window; owned; made when needed */
	uint64_t from_ns;	       /* when that was read; 0: the window opens with the phase */
	bool waits;		       /* for from_at_ns */
	uint64_t until_ns; /* with a timer to_at_ns: how long its time has lasted then */
	bool until_end;	   /* that is all of its time, and the window may last longer */
	struct nm_tail tail;
	struct nm_tally_snap *at_end; /* as tail, for verbs; owned; NULL: there are none */
	bool cut;		      /* it closes earlier than its last flow: tail has its end */
	bool by_due;		      /* passes belong to it by when they were due */
	bool is_stream;		      /* that is where nm_windows_close has it, and not its time */
	bool closed;		      /* the window has been added to the totals */
	struct nm_tally_snap *before; /* the figures before the present row; owned */
};

struct nm_windows {
	struct nm_sampler base;
	const struct nm_plan *plan; /* borrowed, all of them */
	const struct nm_engine *engine;
	const struct nm_run_options *options;
	struct nm_result *result;
	struct group *groups;				    /* owned */
	struct nm_tally_snap *scratch, *row, *row_of_group; /* owned */
	struct nm_tally_snap *total;			    /* of all groups; owned */
	uint64_t total_ns;
	size_t row_capacity; /* room in result->intervals */
	/* The present phase. */
	bool running;
	uint32_t phase;
	uint64_t begin_ns, run_begin_ns;
	uint64_t union_from_ns, union_to_ns; /* all windows of its groups; 0: none yet */
	uint64_t longest_ns;		     /* until its last timed group stops; 0: not known */
	struct nm_interval grid;
	uint64_t row_ns;    /* where the present row begins, after the begin */
	uint64_t row_at_ns; /* when that was read */
};

static struct nm_windows *windows_of(struct nm_sampler *base)
{
	return (struct nm_windows *)base;
}

static void fill_window(struct nm_windows *windows, struct nm_window *window,
			const struct nm_tally_snap *sample, uint64_t ns)
{
	if (nm_window_fill(window, sample, ns, &windows->result->percentiles) != 0)
		windows->base.failed = true;
}

/* The same of one that may be pooled with that of other runs. */
static void fill_whole(struct nm_windows *windows, struct nm_window *window,
		       const struct nm_tally_snap *sample, uint64_t ns)
{
	fill_window(windows, window, sample, ns);
	if (nm_window_keep(window, sample) != 0)
		windows->base.failed = true;
}

static void begin_group(struct nm_windows *windows, uint32_t g)
{
	const struct nm_group *group = &windows->plan->groups[g];
	struct group *mg = &windows->groups[g];
	const struct nm_run_options *options = windows->options;

	mg->measured = group->runs && windows->phase < group->n_phases &&
		       group->phases[windows->phase].measured;
	mg->from_at_ns = mg->to_at_ns = UINT64_MAX;
	mg->from_ns = mg->until_ns = 0;
	mg->waits = mg->closed = mg->cut = mg->is_stream = false;
	mg->by_due = nm_engine_cuts(windows->engine, g, windows->phase);
	mg->tail.at_ns = 0;
	if (!mg->measured)
		return;
	if (options->warmup_ns) {
		mg->from_at_ns = windows->begin_ns + options->warmup_ns;
		mg->waits = true;
	}
	uint64_t duration_ns = group->phases[windows->phase].duration_ns;
	uint64_t cooldown_ns = options->cooldown_ns < duration_ns ? options->cooldown_ns : 0;

	mg->until_end = cooldown_ns == 0;
	if (duration_ns) {
		mg->until_ns = duration_ns - cooldown_ns;
		mg->to_at_ns = windows->begin_ns + mg->until_ns;
	}
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_windows *windows = windows_of(base);
	bool any = false;

	windows->running = true;
	windows->phase = order->phase;
	windows->begin_ns = begin_ns;
	windows->longest_ns = order->stop_ns;
	if (windows->run_begin_ns == 0)
		windows->run_begin_ns = begin_ns;
	windows->union_from_ns = windows->union_to_ns = 0;
	windows->row_ns = 0;
	windows->row_at_ns = begin_ns;
	for (uint32_t g = 0; g < windows->plan->n_groups; g++) {
		nm_tally_snap_clear(windows->groups[g].before);
		begin_group(windows, g);
		any |= windows->groups[g].measured;
	}
	nm_interval_begin(&windows->grid, begin_ns, any ? windows->options->interval_ns : 0,
			  order->stop_ns);
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	const struct nm_windows *windows = (const struct nm_windows *)base;
	uint64_t next = windows->grid.next_ns;

	for (uint32_t g = 0; g < windows->plan->n_groups; g++) {
		const struct group *mg = &windows->groups[g];

		if (mg->from_at_ns < next)
			next = mg->from_at_ns;
		if (mg->to_at_ns < next)
			next = mg->to_at_ns;
	}
	return windows->running ? next : UINT64_MAX;
}

/* Opens the window: the figures before it are set aside. */
static void open_window(struct nm_windows *windows, uint32_t g, uint64_t now_ns)
{
	struct group *mg = &windows->groups[g];

	mg->waits = false;
	mg->from_ns = mg->by_due ? mg->from_at_ns : now_ns;
	mg->from_at_ns = UINT64_MAX;
	if (!mg->from)
		mg->from = nm_tally_snap_new(windows->plan->n_verbs);
	if (!mg->from) {
		windows->base.failed = true;
		return;
	}
	nm_engine_sample_due(windows->engine, g, windows->phase, mg->from);
	if (mg->by_due)
		nm_tally_forget_passes(mg->from);
}

/* Closes the window: scratch holds the group's figures in the phase so far. */
static void close_window(struct nm_windows *windows, uint32_t g, uint64_t from_ns, uint64_t to_ns)
{
	struct group *mg = &windows->groups[g];

	mg->to_at_ns = UINT64_MAX;
	mg->closed = true;
	if (!mg->total)
		mg->total = nm_tally_snap_new(windows->plan->n_verbs);
	if (!mg->total) {
		windows->base.failed = true;
		return;
	}
	if (mg->from_ns)
		nm_tally_subtract(windows->scratch, mg->from);
	nm_tally_add(mg->total, windows->scratch);
	nm_tally_add(windows->total, windows->scratch);
	mg->total_ns += to_ns - from_ns;
	if (windows->union_from_ns == 0 || from_ns < windows->union_from_ns)
		windows->union_from_ns = from_ns;
	if (to_ns > windows->union_to_ns)
		windows->union_to_ns = to_ns;
}

/* When the group's flows entered and left the phase; until_ns where they have not yet left. */
static void group_times(const struct nm_windows *windows, uint32_t g, uint64_t until_ns,
			uint64_t *ret_begin_ns, uint64_t *ret_end_ns)
{
	nm_engine_times(windows->engine, g, windows->phase, ret_begin_ns, ret_end_ns);
	if (*ret_begin_ns == 0)
		*ret_begin_ns = windows->begin_ns;
	if (*ret_end_ns == 0)
		*ret_end_ns = until_ns > *ret_begin_ns ? until_ns : *ret_begin_ns;
}

static uint64_t window_begin(const struct nm_windows *windows, uint32_t g, uint64_t until_ns)
{
	uint64_t begin_ns, end_ns;

	if (windows->groups[g].from_ns)
		return windows->groups[g].from_ns;
	group_times(windows, g, until_ns, &begin_ns, &end_ns);
	return begin_ns;
}

uint64_t nm_windows_time_from(const struct nm_windows *windows, uint32_t group)
{
	uint64_t opened_ns = windows->groups[group].from_ns, begin_ns, end_ns;

	nm_engine_times(windows->engine, group, windows->phase, &begin_ns, &end_ns);
	if (!begin_ns || !opened_ns || opened_ns < begin_ns + windows->options->warmup_ns)
		return begin_ns;
	return opened_ns - windows->options->warmup_ns;
}

/* When the window is to be closed, which the timer has said too early where flows came late. */
static uint64_t close_at_ns(const struct nm_windows *windows, uint32_t g, uint64_t now_ns)
{
	uint64_t from_ns = nm_windows_time_from(windows, g);

	return (from_ns ? from_ns : now_ns) + windows->groups[g].until_ns;
}

/* The part to which a row belongs, by its end. */
static enum nm_part part_of(const struct nm_windows *windows, uint64_t to_ns)
{
	const struct nm_run_options *options = windows->options;

	if (options->warmup_ns && to_ns <= options->warmup_ns)
		return NM_PART_WARMUP;
	if (options->cooldown_ns && windows->longest_ns > options->cooldown_ns &&
	    to_ns > windows->longest_ns - options->cooldown_ns)
		return NM_PART_COOLDOWN;
	return NM_PART_MEASURED;
}

static struct nm_result_interval *append_row(struct nm_windows *windows)
{
	struct nm_result *result = windows->result;

	if (result->n_intervals == windows->row_capacity) {
		size_t capacity = windows->row_capacity ? windows->row_capacity * 2 : 64;
		struct nm_result_interval *grown =
			realloc(result->intervals, capacity * sizeof *grown);

		if (!grown)
			return NULL;
		result->intervals = grown;
		windows->row_capacity = capacity;
	}
	return &result->intervals[result->n_intervals++];
}

static void tell_times(const struct nm_windows *windows, const struct nm_tally_snap *sample,
		       uint64_t from_ns, uint64_t length_ns, enum nm_part part, bool total)
{
	const struct nm_run_events *events = &windows->options->events;
	struct nm_interval_times times = {
		.wall_ns = from_ns + windows->result->wall.offset_ns,
		.seconds = (double)length_ns / 1e9,
		.part = part,
		.total = total,
	};

	for (enum nm_time i = 0; events->times && i < NM_TIME__SIZED; i++) {
		if (!nm_tally_keeps(sample, i))
			continue;
		times.time = i;
		times.hist = &sample->times[i];
		events->times(events->arg, &times);
	}
}

/* What each group has done since the last row, into its window, where rows have some, and into
 * windows->row. */
static void add_groups(struct nm_windows *windows, struct nm_window *of_groups, uint64_t ns)
{
	nm_tally_snap_clear(windows->row);
	for (uint32_t g = 0; g < windows->plan->n_groups; g++) {
		struct nm_tally_snap *now = windows->scratch;
		struct group *mg = &windows->groups[g];

		if (!mg->measured)
			continue;
		nm_engine_sample(windows->engine, g, windows->phase, now);
		nm_tally_copy(windows->row_of_group, now);
		nm_tally_subtract(windows->row_of_group, mg->before);
		windows->scratch = mg->before;
		mg->before = now;
		nm_tally_add(windows->row, windows->row_of_group);
		if (of_groups)
			fill_window(windows, &of_groups[g], windows->row_of_group, ns);
	}
}

static void end_row(struct nm_windows *windows, uint64_t to_ns, uint64_t now_ns)
{
	const struct nm_run_events *events = &windows->options->events;
	uint64_t ns = now_ns - windows->row_at_ns;
	size_t n_groups = windows->plan->n_groups;
	bool apart = n_groups > 1 && n_groups <= NM_INTERVAL_GROUPS;
	struct nm_window *of_groups = apart ? calloc(n_groups, sizeof *of_groups) : NULL;
	struct nm_result_interval *row = append_row(windows);

	add_groups(windows, of_groups, ns);
	if (!row || (apart && !of_groups))
		windows->base.failed = true;
	if (!row) {
		for (size_t g = 0; of_groups && g < n_groups; g++)
			nm_window_fini(&of_groups[g]);
		free(of_groups);
		return;
	}
	*row = (struct nm_result_interval){.from_s = (double)windows->row_ns / 1e9,
					   .to_s = (double)to_ns / 1e9,
					   .phase = windows->phase,
					   .part = part_of(windows, to_ns),
					   .groups = of_groups,
					   .n_groups = of_groups ? n_groups : 0};
	fill_window(windows, &row->window, windows->row, ns);
	tell_times(windows, windows->row, windows->row_at_ns, ns, row->part, false);
	windows->row_ns = to_ns;
	windows->row_at_ns = now_ns;
	if (events->interval)
		events->interval(events->arg, windows->result, row);
}

/* Whether the window closes before the last flow has left, and has passes that end after that. */
static bool is_cut_by_due(const struct group *mg)
{
	return mg->by_due && !mg->until_end;
}

/* The timer of a window's end has run out: it closes, or it is seen whether it should have, once
 * its last flow has left. */
static void end_of_time(struct nm_windows *windows, uint32_t g, uint64_t now_ns)
{
	struct group *mg = &windows->groups[g];

	if (is_cut_by_due(mg))
		now_ns = mg->to_at_ns;
	else
		mg->to_at_ns = close_at_ns(windows, g, now_ns);
	if (now_ns < mg->to_at_ns)
		return;
	if (!mg->until_end && !mg->by_due) {
		nm_engine_sample(windows->engine, g, windows->phase, windows->scratch);
		close_window(windows, g, window_begin(windows, g, now_ns), now_ns);
		return;
	}
	mg->to_at_ns = UINT64_MAX;
	mg->tail.at_ns = now_ns;
	if (!mg->at_end) {
		nm_engine_counts_due(windows->engine, g, windows->phase, &mg->tail.counts);
		return;
	}
	nm_engine_sample_due(windows->engine, g, windows->phase, mg->at_end);
	mg->tail.counts = mg->at_end->counts;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_windows *windows = windows_of(base);

	if (!windows->running)
		return;
	for (uint32_t g = 0; g < windows->plan->n_groups; g++) {
		struct group *mg = &windows->groups[g];

		if (now_ns >= mg->from_at_ns)
			open_window(windows, g, now_ns);
		if (now_ns >= mg->to_at_ns)
			end_of_time(windows, g, now_ns);
	}
	if (now_ns >= windows->grid.next_ns)
		end_row(windows, nm_interval_pass(&windows->grid, now_ns), now_ns);
}

bool nm_windows_cut(struct nm_windows *windows, uint32_t g, uint64_t now_ns)
{
	struct group *mg = &windows->groups[g];
	const struct nm_group *group = &windows->plan->groups[g];
	uint64_t begin_ns;
	struct nm_tail_window window = {
		.from_passes = mg->from_ns ? mg->from->counts.iterations : 0,
		.n_flows = group->n_flows,
		.queues = windows->phase < group->n_phases &&
			  group->phases[windows->phase].arrivals.law,
	};

	if (!mg->tail.at_ns || mg->closed || mg->is_stream || is_cut_by_due(mg))
		return false;
	group_times(windows, g, now_ns, &begin_ns, &window.end_ns);
	window.from_ns = mg->from_ns ? mg->from_ns : begin_ns;
	nm_engine_counts_due(windows->engine, g, windows->phase, &window.counts);
	mg->cut = nm_tail_is_cut(&mg->tail, &window);
	return mg->cut;
}

void nm_windows_close(struct nm_windows *windows, uint32_t g, const struct nm_tail *tail)
{
	struct group *mg = &windows->groups[g];

	if (mg->closed || mg->waits || is_cut_by_due(mg) || tail->at_ns <= mg->from_ns)
		return;
	mg->cut = mg->is_stream = true;
	mg->tail = *tail;
}

/* Adds what was too late for the window, which the text report tells of passes. */
static void add_after(struct nm_windows *windows, uint32_t g, uint64_t passes, uint64_t end_ns)
{
	const struct group *mg = &windows->groups[g];
	const struct nm_counts *counts = &windows->scratch->counts;
	const struct nm_result_after after = {
		.transactions = passes,
		.unanswered = counts->unanswered - mg->tail.counts.unanswered,
		.seconds = (double)(end_ns - mg->tail.at_ns) / 1e9,
	};

	nm_result_after_add(&windows->result->groups[g].after, after);
	nm_result_after_add(&windows->result->grid.after, after);
}

/* Closes the window as the last flow has left, at end_ns: scratch holds the group's figures. Passes
 * that are too late for the window are among its times all the same, and among its failures where
 * they have none: they have begun in it, and are the longest. None is that was due in it, where
 * others were not. */
static void close_at_end(struct nm_windows *windows, uint32_t g, uint64_t end_ns)
{
	struct group *mg = &windows->groups[g];
	struct nm_counts *counts = &windows->scratch->counts;
	uint64_t all = counts->iterations, from_ns = window_begin(windows, g, end_ns);

	if (mg->by_due && mg->tail.at_ns && (mg->cut || !mg->until_end)) {
		struct nm_counts in_time = mg->tail.counts;

		nm_counts_take_passes(&in_time, counts);
		*counts = in_time;
		end_ns = mg->tail.at_ns;
	} else if (mg->cut) {
		nm_tail_cut(&mg->tail, counts);
		if (mg->at_end && !mg->is_stream)
			nm_tally_set_back_outcomes(windows->scratch, mg->at_end);
		if (!mg->is_stream)
			add_after(windows, g, all - counts->iterations, end_ns);
		end_ns = mg->tail.at_ns;
	}
	close_window(windows, g, from_ns, end_ns);
}

/* Of what was counted in the phase, into scratch, passes that were due outside of the window are no
 * part; and of that, what was counted before it has opened is none of the phase's. */
static void keep_due(struct nm_windows *windows, uint32_t g, struct nm_result_phase *phase,
		     uint64_t ns)
{
	const struct group *mg = &windows->groups[g];

	nm_engine_sample_due(windows->engine, g, windows->phase, windows->scratch);
	nm_tally_copy(windows->row_of_group, windows->scratch);
	if (mg->from_ns)
		nm_tally_subtract(windows->row_of_group, mg->from);
	fill_window(windows, &phase->due, windows->row_of_group, ns);
}

/* What came of the passes of each step, as long as it has lasted. */
static void keep_steps(struct nm_windows *windows, uint32_t g, struct nm_result_phase *phase)
{
	struct nm_tally_snap *sample = windows->row_of_group;

	for (uint32_t i = 0; i < nm_engine_steps(windows->engine, g, windows->phase); i++) {
		nm_engine_sample_step(windows->engine, g, windows->phase, i, sample);
		fill_whole(windows, &phase->steps[i].window, sample,
			   sample->counts.open_ns / windows->plan->groups[g].n_workers);
	}
}

static void end_group(struct nm_windows *windows, uint32_t g, uint64_t now_ns)
{
	const struct nm_group *group = &windows->plan->groups[g];
	struct group *mg = &windows->groups[g];
	struct nm_result_phase *phase = &windows->result->groups[g].phases[windows->phase];
	uint64_t begin_ns, end_ns;

	if (!group->runs || windows->phase >= group->n_phases)
		return;
	group_times(windows, g, now_ns, &begin_ns, &end_ns);
	nm_engine_sample(windows->engine, g, windows->phase, windows->scratch);
	phase->begin_s = (double)(int64_t)(begin_ns - windows->run_begin_ns) / 1e9;
	phase->seconds = (double)(end_ns - begin_ns) / 1e9;
	fill_whole(windows, &phase->whole, windows->scratch, end_ns - begin_ns);
	if (group->phases[windows->phase].flows.ideal.kind == NM_IDEAL_MEASURED)
		phase->idle = *nm_engine_idle_path(windows->engine, g,
						   group->phases[windows->phase].flows.probe);
	if (mg->measured && mg->by_due)
		keep_due(windows, g, phase, end_ns - begin_ns);
	keep_steps(windows, g, phase);
	/* A window that has not opened by now, or opens after the last flow has left, holds
	 * nothing. */
	if (mg->measured && !mg->closed && !mg->waits && mg->from_ns < end_ns)
		close_at_end(windows, g, end_ns);
	mg->from_at_ns = mg->to_at_ns = UINT64_MAX;
}

static void end(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_windows *windows = windows_of(base);
	uint64_t last_ns = windows->begin_ns;

	if (!windows->running)
		return;
	windows->running = false;
	for (uint32_t g = 0; g < windows->plan->n_groups; g++) {
		uint64_t begin_ns, end_ns;

		end_group(windows, g, now_ns);
		if (!windows->groups[g].measured)
			continue;
		group_times(windows, g, now_ns, &begin_ns, &end_ns);
		if (end_ns > last_ns)
			last_ns = end_ns;
	}
	/* The last row ends with the last flow, or when it is read if a grid point came after
	 * that. */
	if (windows->grid.interval_ns && last_ns > windows->row_at_ns)
		end_row(windows, last_ns - windows->begin_ns, last_ns);
	windows->grid.next_ns = UINT64_MAX;
	if (windows->union_to_ns <= windows->union_from_ns)
		return;
	windows->total_ns += windows->union_to_ns - windows->union_from_ns;
	if (!windows->result->from_ns)
		windows->result->from_ns = windows->union_from_ns;
	windows->result->to_ns = windows->union_to_ns;
}

struct nm_windows *nm_windows_new(const struct nm_plan *plan, const struct nm_engine *engine,
				  const struct nm_run_options *options, struct nm_result *result)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end};
	struct nm_windows *windows = calloc(1, sizeof *windows);

	if (!windows)
		return NULL;
	*windows =
		(struct nm_windows){.base = {.ops = &ops},
				    .plan = plan,
				    .engine = engine,
				    .options = options,
				    .result = result,
				    .groups = calloc(plan->n_groups + 1, sizeof *windows->groups),
				    .scratch = nm_tally_snap_new(plan->n_verbs),
				    .row = nm_tally_snap_new(plan->n_verbs),
				    .row_of_group = nm_tally_snap_new(plan->n_verbs),
				    .total = nm_tally_snap_new(plan->n_verbs),
				    .grid = {.next_ns = UINT64_MAX}};
	bool complete = windows->groups && windows->scratch && windows->row &&
			windows->row_of_group && windows->total;

	for (uint32_t g = 0; complete && g < plan->n_groups; g++) {
		windows->groups[g].before = nm_tally_snap_new(plan->n_verbs);
		if (plan->n_verbs)
			windows->groups[g].at_end = nm_tally_snap_new(plan->n_verbs);
		complete =
			windows->groups[g].before && (windows->groups[g].at_end || !plan->n_verbs);
	}
	if (!complete)
		return nm_windows_free(windows);
	return windows;
}

struct nm_windows *nm_windows_free(struct nm_windows *windows)
{
	if (!windows)
		return NULL;
	for (uint32_t g = 0; windows->groups && g < windows->plan->n_groups; g++) {
		free(windows->groups[g].total);
		free(windows->groups[g].from);
		free(windows->groups[g].before);
		free(windows->groups[g].at_end);
	}
	free(windows->groups);
	free(windows->scratch);
	free(windows->row);
	free(windows->row_of_group);
	free(windows->total);
	free(windows);
	return NULL;
}

struct nm_sampler *nm_windows_base(struct nm_windows *windows)
{
	return &windows->base;
}

bool nm_windows_measured(const struct nm_windows *windows, uint32_t group)
{
	return windows->groups[group].total;
}

double nm_windows_slowdown(const struct nm_windows *windows, uint32_t group)
{
	const struct nm_tally_snap *total = windows->groups[group].total;

	return total && nm_tally_keeps(total, NM_TIME_SLOWDOWN) && total->slowdown.count
		       ? nm_hist_percentile_s(&total->slowdown, 50)
		       : NAN;
}

void nm_windows_finish(struct nm_windows *windows)
{
	for (uint32_t g = 0; g < windows->plan->n_groups; g++) {
		const struct group *mg = &windows->groups[g];

		if (mg->total)
			fill_whole(windows, &windows->result->groups[g].totals, mg->total,
				   mg->total_ns);
	}
	fill_whole(windows, &windows->result->totals, windows->total, windows->total_ns);
	tell_times(windows, windows->total, windows->result->from_ns, windows->total_ns,
		   NM_PART_MEASURED, true);
}
