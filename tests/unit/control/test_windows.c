/* SPDX-License-Identifier: Apache-2.0 */
/* The windows and intervals of what the master counts. */
#include "control/windows.h"

#include "../suite.h"
#include "sampled.h"

static struct nm_result_interval rows[8];
static unsigned n_rows, n_times;

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

static struct nm_windows *windows;

static void start_windows(void)
{
	start();
	options.events = (struct nm_run_events){.interval = on_interval, .times = on_times};
	n_rows = n_times = 0;
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

int main(void)
{
	Suite *suite = suite_create("windows");
	TCase *measured = tcase_create("measured");

	tcase_add_checked_fixture(measured, start_windows, end_windows);
	tcase_add_test(measured, a_phase_is_measured_as_a_whole_without_warmup);
	tcase_add_test(measured, warmup_and_cooldown_are_cut_off);
	tcase_add_test(measured, a_phase_that_ends_within_its_warmup_is_not_measured);
	tcase_add_test(measured, what_is_not_measured_has_no_rows);
	suite_add_tcase(suite, measured);
	return run_suite(suite);
}
