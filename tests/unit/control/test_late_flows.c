/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of flows that come later than the master has told them to, by a clock and an engine that
 * stand still until the test moves them. */
#include <check.h>
#include <stdlib.h>

#include "../suite.h"
#include "control/tail.h"
#include "control/usage.h"
#include "control/windows.h"
#include "fake_engine.h"
#include "flowop/flowop.h"

#define S UINT64_C(1000000000)

static struct nm_phase phase;
static struct nm_instr instrs[2];
static struct nm_group groups[2];
static struct nm_plan plan;
static struct nm_engine *engine;
static struct nm_run_options options;
static struct nm_result *result;
static struct nm_samplers samplers;
static struct nm_phase_order order;
static struct nm_usage_sampler *usage;
static struct nm_windows *windows;

static void on_host_row(void *arg, const struct nm_host_interval *row)
{
	(void)arg;
	(void)row;
}

/* One group of two flows, which is measured for 10 s; another such one does not run. */
static void start(void)
{
	static char name[] = "web", measured[] = "load";

	instrs[0] = (struct nm_instr){.op = nm_flowop_find("nop")};
	phase = (struct nm_phase){
		.name = measured, .measured = true, .duration_ns = 10 * S, .n_instrs = 1};
	groups[0] = (struct nm_group){.name = name,
				      .runs = true,
				      .n_flows = 2,
				      .n_workers = 1,
				      .n_phases = 1,
				      .phases = &phase,
				      .instrs = instrs,
				      .n_instrs = 2};
	groups[1] = groups[0];
	groups[1].runs = false;
	plan = (struct nm_plan){.master = true, .groups = groups, .n_groups = 2, .n_phases = 1};
	order = (struct nm_phase_order){
		.measured = true, .stop_ns = 10 * S, .usage_to_ns = NM_USAGE_AT_END};
	nm_run_options_default(&options);
	result = nm_result_new();
	ck_assert_ptr_nonnull(result);
	result->groups = calloc(2, sizeof *result->groups);
	result->n_groups = 2;
	for (size_t g = 0; g < 2; g++) {
		result->groups[g].phases = calloc(1, sizeof *result->groups[g].phases);
		result->groups[g].n_phases = 1;
	}
	samplers = (struct nm_samplers){.first = NULL};
	const struct nm_engine_config config = {.plan = &plan};

	ck_assert_int_eq(nm_engine_new(&config, &engine), 0);
	const struct nm_usage_config of_usage = {
		.engine = engine, .plan = &plan, .row = on_host_row};

	usage = nm_usage_sampler_new(&of_usage);
	windows = nm_windows_new(&plan, engine, &options, result);
	ck_assert(usage && windows);
	nm_samplers_add(&samplers, nm_usage_sampler_base(usage));
	nm_samplers_add(&samplers, nm_windows_base(windows));
}

static void end(void)
{
	usage = nm_usage_sampler_free(usage);
	windows = nm_windows_free(windows);
	engine = nm_engine_free(engine);
	result = nm_result_free(result);
}

/* What the group has sent by now. */
static void sent(uint64_t bytes)
{
	engine->parts[0][0].sample.counts.bytes_sent = bytes;
}

static void begin(uint64_t at_ns)
{
	nm_samplers_begin(&samplers, &order, at_ns);
}

static void run(uint64_t now_ns)
{
	nm_samplers_run(&samplers, now_ns);
}

/* The flows came at once, late, or after the time at which the window was to close. */
static const struct {
	uint64_t begin_s, to_s;
} closes[] = {{100, 106}, {102, 108}, {107, 113}};

START_TEST(a_window_that_is_closed_is_as_long_as_asked)
{
	struct nm_usage_window window;

	order.usage_to_ns = (int64_t)(6 * S);
	engine->parts[0][0].begin_ns = 0;
	begin(100 * S);
	for (uint64_t s = 100; s <= 114; s++) {
		if (s == closes[_i].begin_s)
			engine->parts[0][0].begin_ns = s * S;
		sent(10 * s);
		run(s * S);
	}
	engine->parts[0][0].end_ns = 115 * S;
	nm_samplers_end(&samplers, true, 115 * S);
	nm_usage_sampler_window(usage, 115 * S, &window);
	ck_assert_uint_eq(window.counted.from_ns, closes[_i].begin_s * S);
	ck_assert_uint_eq(window.counted.to_ns, closes[_i].to_s * S);
	ck_assert_uint_eq(window.counted.ns, 6 * S);
}
END_TEST

START_TEST(a_window_that_opens_late_is_as_long_as_asked)
{
	options.cooldown_ns = 3 * S;
	begin(100 * S);
	engine->parts[0][0].begin_ns = 102 * S;
	run(107 * S);
	sent(700);
	run(109 * S);
	sent(1000);
	engine->parts[0][0].end_ns = 112 * S;
	nm_samplers_end(&samplers, true, 112 * S);
	nm_windows_finish(windows);
	ck_assert_uint_eq(result->totals.counts.bytes_sent, 700);
	ck_assert_double_eq(result->totals.seconds, 7);
}
END_TEST

START_TEST(after_a_warmup_the_time_is_reckoned_from_when_the_window_opened)
{
	options.warmup_ns = 2 * S;
	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	ck_assert_uint_eq(nm_windows_time_from(windows, 0), 100 * S);
	run(103 * S);
	ck_assert_uint_eq(nm_windows_time_from(windows, 0), 101 * S);
}
END_TEST

/* The warm-up may be over before. */
START_TEST(the_time_does_not_begin_before_the_first_flow)
{
	options.warmup_ns = 2 * S;
	options.cooldown_ns = 3 * S;
	engine->parts[0][0].begin_ns = 0;
	begin(100 * S);
	run(102 * S);
	ck_assert_uint_eq(nm_windows_time_from(windows, 0), 0);
	run(107 * S);
	ck_assert_uint_eq(nm_windows_time_from(windows, 0), 0);
	engine->parts[0][0].begin_ns = 108 * S;
	ck_assert_uint_eq(nm_windows_time_from(windows, 0), 108 * S);
	sent(700);
	run(115 * S);
	engine->parts[0][0].end_ns = 118 * S;
	nm_samplers_end(&samplers, true, 118 * S);
	nm_windows_finish(windows);
	ck_assert_uint_eq(result->totals.counts.bytes_sent, 700);
}
END_TEST

/* The last flow leaves after a time of 10 s: passes by the end of it and in all, when it left, and
 * whether data went one way; the passes and seconds of the window. */
static const struct {
	uint64_t in_time, all, to_s;
	uint64_t passes, seconds;
} tails[] = {
	{1000, 1002, 113, 1000, 10}, /* most flows have done nothing for 3 s */
	{1000, 1300, 113, 1300, 13}, /* the flows were busy */
	{1, 2, 113, 2, 13},	     /* passes are longer than the time */
	{2, 4, 122, 2, 10},	     /* the last were far longer than all before */
	{2, 4, 120, 4, 20},	     /* they were as long */
};

START_TEST(what_ends_long_after_the_time_is_not_in_the_window)
{
	struct nm_counts *counts = &engine->parts[0][0].sample.counts;
	struct nm_usage_window window;
	uint64_t end_ns = tails[_i].to_s * S;

	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	*counts = (struct nm_counts){
		.iterations = tails[_i].in_time, .bytes_sent = 50, .bytes_received = 500};
	run(110 * S);
	counts->iterations = tails[_i].all;
	counts->bytes_received = 600;
	counts->errors = 1;
	engine->parts[0][0].end_ns = end_ns;
	if (nm_windows_cut(windows, 0, end_ns))
		nm_usage_sampler_cut(usage, 0, end_ns);
	nm_samplers_end(&samplers, true, end_ns + S);
	nm_windows_finish(windows);
	nm_usage_sampler_window(usage, end_ns + S, &window);
	ck_assert_uint_eq(result->totals.counts.iterations, tails[_i].passes);
	ck_assert_uint_eq(result->totals.counts.errors, 1);
	ck_assert_double_eq(result->totals.seconds, (double)tails[_i].seconds);
	ck_assert_uint_eq(result->grid.after.transactions, tails[_i].all - tails[_i].passes);
	ck_assert_uint_eq(result->groups[0].after.transactions, tails[_i].all - tails[_i].passes);
	ck_assert_double_eq(result->grid.after.seconds,
			    (double)(tails[_i].to_s - 100 - tails[_i].seconds));
	ck_assert_uint_eq(result->groups[0].phases[0].whole.counts.iterations, tails[_i].all);
	ck_assert_uint_eq(window.counted.counts.iterations, tails[_i].passes);
	ck_assert_uint_eq(window.counted.ns, tails[_i].seconds * S);
	ck_assert_uint_eq(window.counted.after_bytes, tails[_i].seconds == 10 ? 0 : 100);
	ck_assert_uint_eq(window.counted.after_ns, (tails[_i].seconds - 10) * S);
}
END_TEST

/* A phase that ends before its flows have is cut on no host, so that all have the same. */
START_TEST(a_window_that_nobody_has_cut_has_all)
{
	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	engine->parts[0][0].sample.counts.iterations = 1000;
	run(110 * S);
	engine->parts[0][0].sample.counts.iterations = 1002;
	nm_samplers_end(&samplers, true, 113 * S);
	nm_windows_finish(windows);
	ck_assert_uint_eq(result->totals.counts.iterations, 1002);
	ck_assert_double_eq(result->totals.seconds, 13);
	ck_assert_uint_eq(result->grid.after.transactions, 0);
}
END_TEST

/* A host whose flows have left in time has nothing to leave out. */
START_TEST(a_host_that_has_left_in_time_keeps_all)
{
	struct nm_usage_window window;

	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	engine->parts[0][0].sample.counts.iterations = 7;
	run(110 * S);
	engine->parts[0][0].end_ns = 110 * S;
	nm_usage_sampler_cut(usage, 0, 120 * S);
	nm_samplers_end(&samplers, true, 120 * S);
	nm_usage_sampler_cut(usage, 0, 121 * S);
	nm_usage_sampler_window(usage, 121 * S, &window);
	ck_assert_uint_eq(window.counted.counts.iterations, 7);
	ck_assert_uint_eq(window.counted.ns, 10 * S);
}
END_TEST

/* With arrivals: what still queued is in the window, and a few passes that are late are not. */
START_TEST(a_queue_that_is_served_on_is_in_the_window)
{
	const void *law = "any";

	phase.arrivals.law = law;
	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	engine->parts[0][0].sample.counts.iterations = 1000;
	run(110 * S);
	engine->parts[0][0].end_ns = 113 * S;
	engine->parts[0][0].sample.counts.iterations = 1290;
	ck_assert(!nm_windows_cut(windows, 0, 113 * S));
	engine->parts[0][0].sample.counts.iterations = 1150;
	ck_assert(!nm_windows_cut(windows, 0, 113 * S));
	engine->parts[0][0].sample.counts.iterations = 1149;
	ck_assert(nm_windows_cut(windows, 0, 113 * S));
}
END_TEST

/* One turn of the thread has brought both, as where it stood still. */
START_TEST(a_host_whose_window_opens_with_the_end_of_the_time_keeps_all)
{
	struct nm_usage_window window;

	order.usage_from_ns = (int64_t)(9 * S);
	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	engine->parts[0][0].sample.counts.iterations = 7;
	run(111 * S);
	engine->parts[0][0].sample.counts.iterations = 9;
	engine->parts[0][0].end_ns = 120 * S;
	nm_usage_sampler_cut(usage, 0, 120 * S);
	nm_samplers_end(&samplers, true, 120 * S);
	nm_usage_sampler_window(usage, 120 * S, &window);
	ck_assert_uint_eq(window.counted.counts.iterations, 2);
	ck_assert_uint_eq(window.counted.ns, 9 * S);
}
END_TEST

/* By 5 % no figure is wrong, and by less than 100 ms the machine may have been busy. */
START_TEST(what_ends_soon_after_the_time_is_in_the_window)
{
	const struct nm_tail tail = {.at_ns = 110 * S, .counts.iterations = 1000};
	struct nm_tail_window window = {
		.from_ns = 100 * S, .counts.iterations = 1001, .n_flows = 2};

	window.end_ns = 110 * S + S / 2;
	ck_assert(!nm_tail_is_cut(&tail, &window));
	window.end_ns++;
	ck_assert(nm_tail_is_cut(&tail, &window));
	window.from_ns = 110 * S - S / 5;
	window.end_ns = 110 * S + S / 10;
	ck_assert(!nm_tail_is_cut(&tail, &window));
	window.end_ns++;
	ck_assert(nm_tail_is_cut(&tail, &window));
	window.from_passes = 999; /* fewer than flows */
	ck_assert(!nm_tail_is_cut(&tail, &window));
	/* It opened when the time was over. */
	window = (struct nm_tail_window){.from_ns = 111 * S, .end_ns = 113 * S};
	ck_assert(!nm_tail_is_cut(&tail, &window));
}
END_TEST

/* A stream whose data come at 100 bytes a second on the path, as hosts see it: kernels hold back
 * what has come behind a hole. The time of 10 s has begun at 100 s; what had come by each second
 * after its end, and when the window opened. */
static const struct {
	uint64_t warmup_s, opened, after[6], to_s, late;
	bool sends;	     /* this host */
	uint64_t other_to_s; /* another group of this host sends until then; 0: none */
} streams[] = {
	/* all has come at 113 s, but for what one flow waits for alone */
	{0, 0, {950, 1090, 1150, 1300, 1300, 1310}, 113, 10, false, 0},
	/* it comes at the rate of the path until the end */
	{0, 0, {950, 1090, 1150, 1300, 1400, 1500}, 115, 0, false, 0},
	/* as much was held back when the window opened as 2 s after the time */
	{2, 150, {960, 1090, 1150, 1300, 1300, 1310}, 112, 160, false, 0},
	/* who sends does so until the kernel has taken the last message */
	{0, 0, {950, 1090, 1150, 1300, 1300, 1310}, 115, 0, true, 0},
	/* but what goes the other way is over with what has come */
	{0, 0, {950, 1090, 1150, 1300, 1300, 1310}, 113, 10, false, 117},
};

START_TEST(a_stream_closes_where_as_much_is_held_back_as_when_it_opened)
{
	struct nm_counts *counts = &engine->parts[0][0].sample.counts;
	struct nm_usage_window window;
	uint64_t *came = streams[_i].sends ? &counts->bytes_sent : &counts->bytes_received;
	uint64_t warmup_ns = streams[_i].warmup_s * S, last = streams[_i].after[5];
	uint64_t other_way = streams[_i].other_to_s ? 700 : 0;

	groups[1].runs = other_way;
	engine->parts[1][0].begin_ns = 100 * S;
	engine->parts[1][0].sample.counts.bytes_sent = other_way;
	options.warmup_ns = warmup_ns;
	order.usage_from_ns = (int64_t)warmup_ns;
	engine->parts[0][0].begin_ns = 100 * S;
	*counts = (struct nm_counts){.iterations = 1};
	begin(100 * S);
	*came = streams[_i].opened;
	run(100 * S + warmup_ns);
	for (uint64_t s = 0; s < 5; s++) {
		*came = streams[_i].after[s];
		fake_counts_read = 0;
		run((110 + s) * S);
		/* What is judged is what is kept, while flows move on. */
		ck_assert(s == 0 || fake_counts_read == (other_way ? 2 : 1));
	}
	*came = last;
	engine->parts[0][0].end_ns = 115 * S;
	engine->parts[1][0].end_ns = streams[_i].other_to_s * S;
	nm_usage_sampler_close(usage, 118 * S);
	for (uint32_t g = 0; g < 2; g++)
		if (nm_usage_sampler_closed(usage, g))
			nm_windows_close(windows, g, nm_usage_sampler_closed(usage, g));
	ck_assert(!nm_windows_cut(windows, 0, 118 * S));
	nm_samplers_end(&samplers, true, 118 * S);
	nm_windows_finish(windows);
	nm_usage_sampler_window(usage, 118 * S, &window);
	ck_assert_uint_eq(window.counted.ns, (streams[_i].to_s - 100) * S - warmup_ns);
	ck_assert_uint_eq(window.counted.counts.bytes_received + window.counted.counts.bytes_sent,
			  last - streams[_i].late - streams[_i].opened + other_way);
	ck_assert_uint_eq(window.counted.late_bytes, streams[_i].late);
	ck_assert_uint_eq(window.counted.late_ns, (115 - streams[_i].to_s) * S);
	ck_assert_double_eq(result->totals.seconds, (double)window.counted.ns / 1e9);
	ck_assert_uint_eq(result->totals.counts.bytes_received,
			  window.counted.counts.bytes_received);
	ck_assert_double_eq(result->grid.after.seconds, 0);
}
END_TEST

/* An interrupt ends the time earlier. */
START_TEST(a_stream_that_is_stopped_closes_after_that)
{
	struct nm_counts *counts = &engine->parts[0][0].sample.counts;
	struct nm_usage_window window;

	engine->parts[0][0].begin_ns = 100 * S;
	begin(100 * S);
	counts->bytes_received = 390;
	nm_usage_sampler_stop(usage, 0, 104 * S);
	run(104 * S);
	counts->bytes_received = 500;
	nm_usage_sampler_stop(usage, 0, 105 * S);
	run(105 * S);
	counts->bytes_received = 505;
	run(110 * S);
	engine->parts[0][0].end_ns = 112 * S;
	nm_samplers_end(&samplers, true, 112 * S);
	nm_usage_sampler_window(usage, 112 * S, &window);
	ck_assert_uint_eq(window.counted.ns, 5 * S);
	ck_assert_uint_eq(window.counted.counts.bytes_received, 500);
	ck_assert_uint_eq(window.counted.after_bytes, 110);
	ck_assert_uint_eq(window.counted.late_bytes, 5);
}
END_TEST

/* The master stops groups one after the other: until the last of them there is no end of the time.
 * The other has left, or is stopped, too. */
START_TEST(the_time_lasts_as_long_as_that_of_the_last_group)
{
	struct nm_usage_window window;

	groups[1].runs = true;
	for (size_t g = 0; g < 2; g++)
		engine->parts[g][0].begin_ns = 100 * S;
	begin(100 * S);
	engine->parts[0][0].sample.counts.bytes_received = 200;
	engine->parts[1][0].sample.counts.bytes_received = 200;
	nm_usage_sampler_stop(usage, 0, 102 * S);
	run(102 * S);
	engine->parts[1][0].sample.counts.bytes_received = 400;
	if (_i)
		engine->parts[1][0].end_ns = 104 * S;
	nm_usage_sampler_stop(usage, _i ? 0 : 1, 104 * S);
	run(104 * S);
	engine->parts[0][0].sample.counts.bytes_received = 210;
	engine->parts[0][0].end_ns = 106 * S;
	engine->parts[1][0].end_ns = _i ? 104 * S : 106 * S;
	nm_samplers_end(&samplers, true, 106 * S);
	nm_usage_sampler_window(usage, 106 * S, &window);
	ck_assert_uint_eq(window.counted.ns, 4 * S);
	ck_assert_uint_eq(window.counted.counts.bytes_received, 600);
	ck_assert_uint_eq(window.counted.late_bytes, 10);
}
END_TEST

/* By 1 % no figure is wrong, and by less than 100 ms the machine may have been busy. */
START_TEST(a_stream_that_is_hardly_late_has_all)
{
	struct nm_tail_stream stream = {.begin_ns = S, .from_ns = S};

	ck_assert(!nm_tail_is_late(&stream, 3 * S, 100));
	ck_assert(!nm_tail_look(&stream, S, 0));
	ck_assert(nm_tail_look(&stream, 2 * S, 1000));
	ck_assert(!nm_tail_look(&stream, 3 * S, 1999));
	ck_assert(nm_tail_look(&stream, 3 * S, 2000));
	ck_assert(!nm_tail_is_late(&stream, 3 * S + S / 10, 2000));
	ck_assert(nm_tail_is_late(&stream, 3 * S + S / 10 + 1, 2000));
	ck_assert(!nm_tail_is_late(&stream, 4 * S, 2971));
	ck_assert(nm_tail_is_late(&stream, 4 * S, 2969));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("late flows");
	TCase *late = tcase_create("late");

	tcase_add_checked_fixture(late, start, end);
	tcase_add_loop_test(late, a_window_that_is_closed_is_as_long_as_asked, 0,
			    (int)(sizeof closes / sizeof *closes));
	tcase_add_test(late, a_window_that_opens_late_is_as_long_as_asked);
	tcase_add_test(late, after_a_warmup_the_time_is_reckoned_from_when_the_window_opened);
	tcase_add_test(late, the_time_does_not_begin_before_the_first_flow);
	tcase_add_loop_test(late, what_ends_long_after_the_time_is_not_in_the_window, 0,
			    (int)(sizeof tails / sizeof *tails));
	tcase_add_test(late, a_window_that_nobody_has_cut_has_all);
	tcase_add_test(late, a_host_that_has_left_in_time_keeps_all);
	tcase_add_test(late, a_host_whose_window_opens_with_the_end_of_the_time_keeps_all);
	tcase_add_test(late, a_queue_that_is_served_on_is_in_the_window);
	tcase_add_test(late, what_ends_soon_after_the_time_is_in_the_window);
	tcase_add_loop_test(late, a_stream_closes_where_as_much_is_held_back_as_when_it_opened, 0,
			    (int)(sizeof streams / sizeof *streams));
	tcase_add_test(late, a_stream_that_is_stopped_closes_after_that);
	tcase_add_loop_test(late, the_time_lasts_as_long_as_that_of_the_last_group, 0, 2);
	tcase_add_test(late, a_stream_that_is_hardly_late_has_all);
	suite_add_tcase(suite, late);
	return run_suite(suite);
}
