/* SPDX-License-Identifier: Apache-2.0 */
/* What is read while a phase runs, by a clock and an engine that stand still until the test moves
 * them. */
#include "control/sampler.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "control/flows.h"
#include "control/interval.h"
#include "control/progress.h"
#include "control/responses.h"
#include "control/usage.h"
#include "control/windows.h"
#include "fake_engine.h"
#include "flowop/flowop.h"

#define S UINT64_C(1000000000)

static struct nm_phase phases[2];
static struct nm_instr instrs[2];
static struct nm_group group;
static struct nm_plan plan;
static struct nm_engine *engine;
static struct nm_run_options options;
static struct nm_result *result;
static struct nm_samplers samplers;
static struct nm_phase_order order;

static struct nm_host_interval host_rows[8];
static unsigned n_host_rows;
static struct nm_result_interval rows[8];
static unsigned n_rows, n_times;
static struct nm_flow_row flow_rows[8];
static unsigned n_flow_rows, n_tcp_rows;
static double flow_seconds;
static struct nm_traffic traffic[8];
static unsigned n_traffic;
static struct nm_progress progress[8];
static unsigned n_progress;
static struct nm_response_row execs[8];
static unsigned n_execs;

static void on_host_row(void *arg, const struct nm_host_interval *row)
{
	(void)arg;
	host_rows[n_host_rows++ % 8] = *row;
}

static void on_interval(void *arg, const struct nm_result *so_far,
			const struct nm_result_interval *row)
{
	(void)arg;
	(void)so_far;
	rows[n_rows++ % 8] = *row;
}

static void on_times(void *arg, const struct nm_interval_times *times)
{
	(void)arg;
	(void)times;
	n_times++;
}

static void on_flows(void *arg, const struct nm_flow_rows *list)
{
	(void)arg;
	for (size_t i = 0; i < list->count; i++)
		flow_rows[n_flow_rows++ % 8] = list->rows[i];
	flow_seconds = list->seconds;
}

static void on_tcp(void *arg, const struct nm_tcp_rows *list)
{
	(void)arg;
	n_tcp_rows += (unsigned)list->count;
}

static void on_traffic(void *arg, const struct nm_traffic *row)
{
	(void)arg;
	traffic[n_traffic++ % 8] = *row;
}

static void on_progress(void *arg, const struct nm_plan *of, const struct nm_progress *row)
{
	(void)arg;
	(void)of;
	progress[n_progress++ % 8] = *row;
}

static void on_execs(void *arg, const struct nm_response_row *list, size_t count)
{
	(void)arg;
	for (size_t i = 0; i < count; i++)
		execs[n_execs++ % 8] = list[i];
}

/* One group of two flows: a phase that is not measured, and one that is, of 10 s. */
static void start(void)
{
	static char name[] = "web", nothing[] = "", measured[] = "load";

	instrs[0] = instrs[1] = (struct nm_instr){.op = nm_flowop_find("nop")};
	phases[0] = (struct nm_phase){.name = nothing, .iterations = 1, .first = 0, .n_instrs = 1};
	phases[1] = (struct nm_phase){.name = measured,
				      .measured = true,
				      .duration_ns = 10 * S,
				      .first = 1,
				      .n_instrs = 1};
	group = (struct nm_group){.name = name,
				  .runs = true,
				  .n_flows = 2,
				  .n_workers = 1,
				  .n_phases = 2,
				  .phases = phases,
				  .instrs = instrs,
				  .n_instrs = 2};
	plan = (struct nm_plan){.master = true, .groups = &group, .n_groups = 1, .n_phases = 2};
	order = (struct nm_phase_order){
		.phase = 1, .measured = true, .stop_ns = 10 * S, .usage_to_ns = NM_USAGE_AT_END};
	nm_run_options_default(&options);
	options.interval_ns = S;
	options.events = (struct nm_run_events){.interval = on_interval,
						.times = on_times,
						.traffic = on_traffic,
						.progress = on_progress,
						.responses = on_execs};
	result = nm_result_new();
	ck_assert_ptr_nonnull(result);
	result->wall.offset_ns = 1000 * S;
	result->groups = calloc(1, sizeof *result->groups);
	result->n_groups = 1;
	result->groups[0].phases = calloc(2, sizeof *result->groups[0].phases);
	result->groups[0].n_phases = 2;
	samplers = (struct nm_samplers){.first = NULL};
	n_host_rows = n_rows = n_times = n_flow_rows = n_tcp_rows = 0;
	n_traffic = n_progress = n_execs = 0;
	const struct nm_engine_config config = {.plan = &plan,
						.details = NM_OBSERVE_ALL & ~NM_OBSERVE_PASS_TIMES};

	ck_assert_int_eq(nm_engine_new(&config, &engine), 0);
	engine->phase = 1;
	engine->parts[0][1].begin_ns = 100 * S;
}

static void end(void)
{
	engine = nm_engine_free(engine);
	result = nm_result_free(result);
}

/* What the group has sent by now, in as many passes. */
static void sent(uint64_t bytes)
{
	struct fake_part *part = &engine->parts[0][1];

	part->sample.counts.bytes_sent = bytes;
	part->sample.counts.iterations = part->operations = bytes / 10;
}

static void begin(uint64_t at_ns)
{
	nm_samplers_begin(&samplers, &order, at_ns);
}

static void run(uint64_t now_ns)
{
	nm_samplers_run(&samplers, now_ns);
}

START_TEST(the_grid_leaves_out_the_point_at_which_a_phase_stops)
{
	struct nm_interval grid;

	nm_interval_begin(&grid, 100 * S, S, 3 * S);
	ck_assert_uint_eq(grid.next_ns, 101 * S);
	ck_assert_uint_eq(nm_interval_pass(&grid, 101 * S + 5), S);
	ck_assert_uint_eq(nm_interval_pass(&grid, 102 * S), 2 * S);
	ck_assert_uint_eq(grid.next_ns, 104 * S);
	nm_interval_begin(&grid, 100 * S, 0, 3 * S);
	ck_assert_uint_eq(grid.next_ns, UINT64_MAX);
	/* Points that were missed are passed at once. */
	nm_interval_begin(&grid, 100 * S, S, 0);
	ck_assert_uint_eq(nm_interval_pass(&grid, 107 * S + S / 2), 7 * S);
	ck_assert_uint_eq(grid.next_ns, 108 * S);
	/* One that comes within half an interval after the stop is too late, too. */
	nm_interval_begin(&grid, 0, S, S - S / 4);
	ck_assert_uint_eq(grid.next_ns, 2 * S);
}
END_TEST

static char called[32];

static void note(char what)
{
	size_t used = strlen(called);

	called[used] = what;
	called[used + 1] = '\0';
}

static void note_begin(struct nm_sampler *sampler, const struct nm_phase_order *of, uint64_t at_ns)
{
	(void)sampler;
	(void)of;
	(void)at_ns;
	note('b');
}

static uint64_t at_five(const struct nm_sampler *sampler)
{
	(void)sampler;
	return 5;
}

static uint64_t at_three(const struct nm_sampler *sampler)
{
	(void)sampler;
	return 3;
}

static void note_run(struct nm_sampler *sampler, uint64_t now_ns)
{
	(void)now_ns;
	note(sampler->failed ? 'F' : 'r');
}

static void note_end(struct nm_sampler *sampler, uint64_t now_ns)
{
	(void)now_ns;
	note(sampler->ops->until_all ? 'E' : 'e');
}

START_TEST(a_list_calls_all_of_its_samplers)
{
	static const struct nm_sampler_ops here = {
		.begin = note_begin, .next_ns = at_five, .run = note_run, .end = note_end};
	static const struct nm_sampler_ops all = {.begin = note_begin,
						  .next_ns = at_three,
						  .run = note_run,
						  .end = note_end,
						  .until_all = true};
	struct nm_sampler a = {.ops = &here}, b = {.ops = &all, .failed = true}, c = {.ops = &here};

	called[0] = '\0';
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	ck_assert(!nm_samplers_failed(&samplers));
	nm_samplers_add(&samplers, &a);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 5);
	nm_samplers_add(&samplers, &c);
	nm_samplers_add_first(&samplers, &b);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 3);
	nm_samplers_begin(&samplers, &order, 1);
	nm_samplers_run(&samplers, 1);
	nm_samplers_end(&samplers, false, 1);
	nm_samplers_end(&samplers, true, 1);
	ck_assert_str_eq(called, "bbbFrreeEee");
	ck_assert(nm_samplers_failed(&samplers));
}
END_TEST

static struct nm_usage_sampler *usage;

static void start_usage(void)
{
	start();
	const struct nm_usage_config config = {
		.engine = engine, .plan = &plan, .interval_ns = S, .row = on_host_row};

	usage = nm_usage_sampler_new(&config);
	ck_assert_ptr_nonnull(usage);
	nm_samplers_add(&samplers, nm_usage_sampler_base(usage));
}

static void end_usage(void)
{
	usage = nm_usage_sampler_free(usage);
	end();
}

START_TEST(rows_of_a_host_hold_what_was_counted_between_points)
{
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 100 * S);
	run(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 101 * S);
	sent(500);
	run(101 * S);
	sent(800);
	engine->parts[0][1].end_ns = 101 * S + S / 2;
	nm_samplers_end(&samplers, false, 102 * S);
	ck_assert_uint_eq(n_host_rows, 1);
	nm_samplers_end(&samplers, true, 102 * S);
	ck_assert_uint_eq(n_host_rows, 2);
	ck_assert_uint_eq(host_rows[0].counts.bytes_sent, 500);
	ck_assert_uint_eq(host_rows[1].counts.bytes_sent, 300);
	ck_assert_double_eq(host_rows[1].to_s, 1.5);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(n_host_rows, 2);
}
END_TEST

START_TEST(the_window_of_a_host_leaves_out_the_warmup)
{
	struct nm_usage_window window;

	order.usage_from_ns = (int64_t)(2 * S);
	order.usage_to_ns = (int64_t)(6 * S);
	begin(100 * S);
	sent(200);
	engine->parts[0][1].sample.counts.messages_received = 1;
	engine->parts[0][1].sample.counts.message_bytes = 50;
	run(102 * S);
	sent(700);
	engine->parts[0][1].sample.counts.message_bytes = 80;
	run(106 * S);
	sent(900);
	engine->parts[0][1].end_ns = 110 * S;
	nm_samplers_end(&samplers, true, 110 * S);
	nm_usage_sampler_window(usage, 110 * S, &window);
	ck_assert(window.has_usage);
	ck_assert_uint_eq(window.counted.counts.bytes_sent, 500);
	ck_assert_uint_eq(window.counted.ns, 4 * S);
	ck_assert_uint_eq(window.counted.from_ns, 102 * S);
	ck_assert_uint_eq(window.counted.to_ns, 106 * S);
	ck_assert_uint_eq(window.arrived.bytes, 30);
	ck_assert_uint_eq(window.arrived.ns, 4 * S);
}
END_TEST

static void received(uint64_t bytes)
{
	engine->parts[0][1].sample.counts.bytes_received = bytes;
}

/* Data go both ways. The time is over at 103 s: the window opened when the phase began, or later,
 * or its flows came only then; or it is over at 104 s, as the flows have come late. */
static const struct {
	uint64_t from_s, begin_s, ns, bytes, after_ns, after_bytes;
} afters[] = {
	{0, 100, 5 * S, 90, 2 * S, 20},
	{4, 100, 1 * S, 10, 1 * S, 10},
	{0, 104, 1 * S, 90, 0, 0},
	{0, 101, 4 * S, 90, 1 * S, 10},
};

START_TEST(what_comes_after_the_time_is_a_part_of_the_window)
{
	struct nm_usage_window window;

	order.stop_ns = 3 * S;
	order.usage_from_ns = (int64_t)(afters[_i].from_s * S);
	order.usage_to_ns = NM_USAGE_NEVER;
	begin(100 * S);
	run(100 * S);
	sent(1);
	received(70);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 101 * S);
	engine->parts[0][1].begin_ns = afters[_i].begin_s <= 103 ? afters[_i].begin_s * S : 0;
	run(103 * S);
	engine->parts[0][1].begin_ns = afters[_i].begin_s * S;
	received(80);
	run(104 * S);
	received(90);
	engine->parts[0][1].end_ns = 105 * S;
	nm_samplers_end(&samplers, true, 105 * S);
	nm_usage_sampler_window(usage, 105 * S, &window);
	ck_assert_uint_eq(window.counted.ns, afters[_i].ns);
	ck_assert_uint_eq(window.counted.counts.bytes_received, afters[_i].bytes);
	ck_assert_uint_eq(window.counted.after_ns, afters[_i].after_ns);
	ck_assert_uint_eq(window.counted.after_bytes, afters[_i].after_bytes);
}
END_TEST

START_TEST(a_window_over_two_phases_is_added_up)
{
	struct nm_usage_window window;

	order.usage_to_ns = NM_USAGE_NEVER;
	begin(100 * S);
	run(100 * S);
	sent(200);
	engine->parts[0][1].end_ns = 101 * S;
	nm_samplers_end(&samplers, true, 101 * S);
	order.usage_from_ns = NM_USAGE_NEVER;
	engine->parts[0][1].begin_ns = 102 * S;
	engine->parts[0][1].end_ns = 0;
	sent(0);
	begin(102 * S);
	sent(100);
	nm_usage_sampler_window(usage, 103 * S, &window);
	ck_assert_uint_eq(window.counted.counts.bytes_sent, 300);
	ck_assert_uint_eq(window.counted.ns, 2 * S);
}
END_TEST

START_TEST(a_host_that_has_not_come_so_far_has_no_usage)
{
	struct nm_usage_window window;

	order.usage_from_ns = NM_USAGE_NEVER;
	order.measured = false;
	begin(100 * S);
	run(101 * S);
	nm_usage_sampler_window(usage, 101 * S, &window);
	ck_assert(!window.has_usage);
	ck_assert_uint_eq(window.counted.ns, 0);
	ck_assert_uint_eq(n_host_rows, 0);
}
END_TEST

static struct nm_windows *windows;

static void start_windows(void)
{
	start();
	windows = nm_windows_new(&plan, engine, &options, result);
	ck_assert_ptr_nonnull(windows);
	nm_samplers_add(&samplers, nm_windows_base(windows));
}

static void end_windows(void)
{
	windows = nm_windows_free(windows);
	end();
}

/* A pass of so many ns. */
static void pass(uint64_t ns)
{
	struct nm_tally_snap *sample = &engine->parts[0][1].sample;

	if (!nm_tally_keeps(sample, NM_TIME_LATENCY))
		nm_hist_snap_init(&sample->latency);
	sample->kept = 1u << NM_TIME_LATENCY;
	sample->latency.count++;
	sample->latency.sum_ns += ns;
	sample->latency.bucket[nm_hist_index(ns)]++;
	if (ns < sample->latency.min_ns)
		sample->latency.min_ns = ns;
	if (ns > sample->latency.max_ns)
		sample->latency.max_ns = ns;
}

START_TEST(a_phase_is_measured_as_a_whole_without_warmup)
{
	begin(100 * S);
	pass(1000);
	sent(500);
	run(101 * S);
	pass(2000);
	sent(900);
	engine->parts[0][1].end_ns = 102 * S;
	nm_samplers_end(&samplers, true, 103 * S);
	nm_samplers_end(&samplers, true, 104 * S);
	ck_assert_uint_eq(n_rows, 2);
	ck_assert_uint_eq(rows[0].window.counts.bytes_sent, 500);
	ck_assert_uint_eq(rows[1].window.counts.bytes_sent, 400);
	ck_assert_uint_eq(rows[1].window.latency.count, 1);
	ck_assert_double_eq(rows[1].to_s, 2);
	nm_windows_finish(windows);
	ck_assert(nm_windows_measured(windows, 0));
	ck_assert_uint_eq(result->totals.counts.bytes_sent, 900);
	ck_assert_double_eq(result->totals.seconds, 2);
	ck_assert_uint_eq(result->groups[0].totals.latency.count, 2);
	ck_assert_double_eq(result->groups[0].phases[1].seconds, 2);
	ck_assert_uint_eq(n_times, 3);
	ck_assert_uint_eq(result->from_ns, 100 * S);
	ck_assert_uint_eq(result->to_ns, 102 * S);
}
END_TEST

START_TEST(warmup_and_cooldown_are_cut_off)
{
	options.warmup_ns = 2 * S;
	options.cooldown_ns = 3 * S;
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 101 * S);
	sent(100);
	run(101 * S);
	sent(200);
	run(102 * S);
	sent(600);
	run(107 * S);
	sent(1000);
	run(109 * S);
	engine->parts[0][1].end_ns = 110 * S;
	nm_samplers_end(&samplers, true, 110 * S);
	nm_windows_finish(windows);
	ck_assert_uint_eq(result->totals.counts.bytes_sent, 400);
	ck_assert_double_eq(result->totals.seconds, 5);
	ck_assert_int_eq(rows[0].part, NM_PART_WARMUP);
	ck_assert_int_eq(rows[2].part, NM_PART_MEASURED);
	ck_assert_int_eq(rows[3].part, NM_PART_COOLDOWN);
	ck_assert_uint_eq(result->n_intervals, n_rows);
}
END_TEST

START_TEST(a_phase_that_ends_within_its_warmup_is_not_measured)
{
	options.warmup_ns = 5 * S;
	begin(100 * S);
	sent(100);
	engine->parts[0][1].end_ns = 103 * S;
	nm_samplers_end(&samplers, true, 103 * S);
	nm_windows_finish(windows);
	ck_assert(!nm_windows_measured(windows, 0));
	ck_assert_double_eq(result->totals.seconds, 0);
	ck_assert_uint_eq(result->from_ns, 0);
}
END_TEST

START_TEST(what_is_not_measured_has_no_rows)
{
	order.phase = 0;
	order.measured = false;
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	run(101 * S);
	nm_samplers_end(&samplers, true, 101 * S);
	ck_assert_uint_eq(n_rows, 0);
	ck_assert(!nm_windows_measured(windows, 0));
}
END_TEST

static struct nm_flow_sampler *flows;

static void make_flows(const struct nm_percentiles *percentiles)
{
	const struct nm_flow_config config = {.engine = engine,
					      .plan = &plan,
					      .interval_ns = S,
					      .percentiles = percentiles,
					      .flows = on_flows,
					      .tcp = on_tcp};

	flows = nm_flow_sampler_new(&config);
	ck_assert_ptr_nonnull(flows);
	nm_samplers_add(&samplers, nm_flow_sampler_base(flows));
}

static void end_flows(void)
{
	flows = nm_flow_sampler_free(flows);
	end();
}

START_TEST(each_flow_has_a_row_with_what_it_has_done_since_the_last)
{
	make_flows(NULL);
	begin(100 * S);
	engine->flows[1] = (struct nm_flow_sample){.passes = 4,
						   .bytes_sent = 40,
						   .sum_ns = 8000,
						   .squares = 1.7e-11,
						   .min_ns = 1000,
						   .max_ns = 3000};
	run(101 * S);
	ck_assert_uint_eq(n_flow_rows, 2);
	ck_assert(!flow_rows[0].has_latency);
	ck_assert_uint_eq(flow_rows[1].flow, 1);
	ck_assert_uint_eq(flow_rows[1].delta.passes, 4);
	ck_assert(flow_rows[1].has_latency);
	ck_assert_double_eq_tol(flow_rows[1].mean_s, 2e-6, 1e-12);
	engine->flows[1].passes = 5;
	engine->flows[1].bytes_sent = 50;
	engine->parts[0][1].end_ns = 101 * S + S / 2;
	nm_samplers_end(&samplers, false, 102 * S);
	ck_assert_uint_eq(flow_rows[3].delta.bytes_sent, 10);
	ck_assert_uint_eq(flow_rows[3].total.bytes_sent, 50);
	ck_assert_double_eq(flow_seconds, 0.5);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(n_flow_rows, 4);
}
END_TEST

START_TEST(percentiles_are_those_since_the_last_row)
{
	static struct nm_hist_snap times;
	const struct nm_percentiles percentiles = {.count = 1, .pct = {50}};

	engine->config.details |= NM_OBSERVE_PASS_TIMES;
	engine->flow_times = &times;
	make_flows(&percentiles);
	begin(100 * S);
	nm_hist_snap_init(&times);
	times.min_ns = times.max_ns = 10;
	times.bucket[nm_hist_index(10)] = 1;
	engine->flows[0] = engine->flows[1] =
		(struct nm_flow_sample){.passes = 1, .sum_ns = 10, .min_ns = 10, .max_ns = 10};
	run(101 * S);
	ck_assert_ptr_nonnull(flow_rows[0].pct_s);
	ck_assert_double_eq_tol(*flow_rows[0].pct_s, 1e-8, 1e-12);
	/* Nothing more: no latency, and no percentiles. */
	run(102 * S);
	ck_assert_ptr_null(flow_rows[2].pct_s);
}
END_TEST

START_TEST(tcp_info_comes_when_all_have_answered)
{
	make_flows(NULL);
	engine->n_tcp = 2;
	begin(100 * S);
	run(101 * S);
	ck_assert(engine->tcp_asked);
	run(101 * S + 1);
	ck_assert_uint_eq(n_tcp_rows, 0);
	engine->tcp_answered = true;
	run(101 * S + 2);
	ck_assert_uint_eq(n_tcp_rows, 2);
	run(102 * S);
	engine->parts[0][1].end_ns = 102 * S;
	/* Those that were asked for, and the last ones. */
	nm_samplers_end(&samplers, true, 102 * S);
	ck_assert_uint_eq(n_tcp_rows, 6);
}
END_TEST

START_TEST(without_details_no_flow_is_read)
{
	engine->config.details = NM_OBSERVE_COUNTS;
	make_flows(NULL);
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	run(105 * S);
	nm_samplers_end(&samplers, true, 105 * S);
	ck_assert_uint_eq(n_flow_rows, 0);
}
END_TEST

static struct nm_progress_sampler *told;

static void make_progress(void)
{
	told = nm_progress_sampler_new(&plan, engine, &options, 1000 * S);
	ck_assert_ptr_nonnull(told);
	nm_samplers_add(&samplers, nm_progress_sampler_base(told));
}

static void end_progress(void)
{
	told = nm_progress_sampler_free(told);
	end();
}

START_TEST(progress_is_told_on_the_grid_and_at_both_ends)
{
	static const enum nm_progress_event expected[] = {NM_PROGRESS_START, NM_PROGRESS_BEGIN,
							  NM_PROGRESS_TICK, NM_PROGRESS_END,
							  NM_PROGRESS_FINISH};

	options.statistics = NM_STAT_RAW;
	make_progress();
	begin(100 * S);
	sent(70);
	run(101 * S);
	sent(90);
	nm_samplers_end(&samplers, true, 102 * S);
	nm_samplers_end(&samplers, true, 102 * S);
	nm_progress_sampler_finish(told, 103 * S);
	ck_assert_uint_eq(n_progress, 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(progress[i].event, expected[i]);
	ck_assert_uint_eq(progress[2].bytes, 70);
	ck_assert_uint_eq(progress[2].wall_ns, 1101 * S);
	ck_assert_uint_eq(progress[4].bytes, 90);
	ck_assert_uint_eq(progress[4].operations, 9);
	ck_assert_uint_eq(n_traffic, 0);
}
END_TEST

START_TEST(traffic_is_what_has_moved_since_it_was_told)
{
	options.events.progress = NULL;
	options.traffic_ns = 2 * S;
	make_progress();
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 102 * S);
	sent(70);
	run(102 * S);
	sent(100);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(n_traffic, 2);
	ck_assert_uint_eq(traffic[0].counts.bytes_sent, 70);
	ck_assert_double_eq(traffic[0].seconds, 2);
	ck_assert_uint_eq(traffic[1].counts.bytes_sent, 30);
	ck_assert_double_eq(traffic[1].at_s, 3);
	ck_assert_uint_eq(n_progress, 0);
}
END_TEST

START_TEST(executions_are_told_with_their_names)
{
	ck_assert(!nm_responses_wanted(&options));
	options.log_passes = 1;
	ck_assert(nm_responses_wanted(&options));
	struct nm_response_sampler *sampler =
		nm_response_sampler_new(&plan, engine, &options, result);

	ck_assert_ptr_nonnull(sampler);
	nm_samplers_add(&samplers, nm_response_sampler_base(sampler));
	begin(100 * S);
	engine->execs[0] =
		(struct nm_exec_record){.end_ns = 101 * S, .elapsed_ns = 7, .flow = 1, .instr = 1};
	engine->execs[1] = (struct nm_exec_record){.end_ns = 102 * S, .is_pass = true, .instr = 1};
	engine->n_execs = 2;
	ck_assert_uint_le(nm_samplers_next_ns(&samplers), 101 * S);
	run(102 * S);
	ck_assert_uint_eq(n_execs, 2);
	ck_assert_str_eq(execs[0].flowop, "nop");
	ck_assert_str_eq(execs[0].transaction, "load");
	ck_assert_uint_eq(execs[0].since_ns, S);
	ck_assert_uint_eq(execs[0].wall_ns, 1101 * S);
	ck_assert_ptr_null(execs[1].flowop);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	run(104 * S);
	engine->n_execs = 1;
	engine->lost_execs = 5;
	nm_response_sampler_finish(sampler);
	ck_assert_uint_eq(result->responses.told, 3);
	ck_assert_uint_eq(result->responses.lost, 5);
	ck_assert_uint_eq(result->warnings.count, 1);
	nm_response_sampler_free(sampler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("samplers");
	TCase *list = tcase_create("list"), *host = tcase_create("usage"),
	      *measured = tcase_create("windows"), *single = tcase_create("flows"),
	      *live = tcase_create("progress");

	tcase_add_checked_fixture(list, start, end);
	tcase_add_test(list, the_grid_leaves_out_the_point_at_which_a_phase_stops);
	tcase_add_test(list, a_list_calls_all_of_its_samplers);
	tcase_add_test(list, executions_are_told_with_their_names);
	tcase_add_checked_fixture(host, start_usage, end_usage);
	tcase_add_test(host, rows_of_a_host_hold_what_was_counted_between_points);
	tcase_add_test(host, the_window_of_a_host_leaves_out_the_warmup);
	tcase_add_loop_test(host, what_comes_after_the_time_is_a_part_of_the_window, 0,
			    sizeof afters / sizeof *afters);
	tcase_add_test(host, a_window_over_two_phases_is_added_up);
	tcase_add_test(host, a_host_that_has_not_come_so_far_has_no_usage);
	tcase_add_checked_fixture(measured, start_windows, end_windows);
	tcase_add_test(measured, a_phase_is_measured_as_a_whole_without_warmup);
	tcase_add_test(measured, warmup_and_cooldown_are_cut_off);
	tcase_add_test(measured, a_phase_that_ends_within_its_warmup_is_not_measured);
	tcase_add_test(measured, what_is_not_measured_has_no_rows);
	tcase_add_checked_fixture(single, start, end_flows);
	tcase_add_test(single, each_flow_has_a_row_with_what_it_has_done_since_the_last);
	tcase_add_test(single, percentiles_are_those_since_the_last_row);
	tcase_add_test(single, tcp_info_comes_when_all_have_answered);
	tcase_add_test(single, without_details_no_flow_is_read);
	tcase_add_checked_fixture(live, start, end_progress);
	tcase_add_test(live, progress_is_told_on_the_grid_and_at_both_ends);
	tcase_add_test(live, traffic_is_what_has_moved_since_it_was_told);
	suite_add_tcase(suite, list);
	suite_add_tcase(suite, host);
	suite_add_tcase(suite, measured);
	suite_add_tcase(suite, single);
	suite_add_tcase(suite, live);
	return run_suite(suite);
}
