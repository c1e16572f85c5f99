/* SPDX-License-Identifier: Apache-2.0 */
/* Measured flows in all reports. */
#include "report/report.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "report/named.h"
#include "report/sweep.h"

/* It has a variable `text`. */
#include "rendered.h"

START_TEST(people_have_a_table)
{
	render("text");
	has_not("flow size");
	sample_add_flows(&run->totals);
	render("text");
	has("  flow size                flows    mean     p50  p99.99\n"
	    "  all            slowdown     40    2.50    1.25     123\n"
	    "  < 10 kB        complete     10  3.50 s  1.25 s   123 s\n");
	has("  >= 10 MB       slowdown     10   12.50    1.25     123\n");
}
END_TEST

START_TEST(what_was_measured_before_is_told)
{
	struct nm_idle_path *idle = &run->groups[0].phases[0].idle;

	sample_add_flows(&run->totals);
	render("text");
	has_not("on the idle path");
	render("json");
	has_not("idle_path");
	nm_idle_path_note(idle, 1000, 20000);
	nm_idle_path_note(idle, 40000000, 50000000);
	render("text");
	has("bytes    ideal\n");
	has("      1000  20.0 us\n");
	has("  40000000  50.0 ms\n");
	render("json");
	has("\"idle_path\": [");
	has("\"bytes\": 40000000,");
	has("\"ideal_s\": 0.05\n");
	idle->count = 0;
}
END_TEST

START_TEST(classes_without_flows_have_no_rows)
{
	sample_add_flows(&run->totals);
	run->totals.sized[NM_TIME_SLOWDOWN_1_10MB - NM_TIME__SIZED].count = 0;
	run->totals.sized[NM_TIME_COMPLETE_1_10MB - NM_TIME__SIZED].count = 0;
	render("text");
	has("100 kB - 1 MB");
	has_not("1 - 10 MB");
	render("json");
	has("\"slowdown_1_10mb\": null");
	render("kv");
	has_not("slowdown_1_10mb");
	has("slowdown_100kb_1mb");
}
END_TEST

START_TEST(programs_have_members_and_keys)
{
	sample_add_flows(&run->totals);
	render("json");
	json_t *document = json_loads(text, 0, NULL);
	int count, small;
	double mean, p99_99;

	ck_assert_int_eq(json_unpack(document, "{s:{s:{s:i, s:F, s:F}, s:{s:i}}}", "totals",
				     "slowdown", "count", &count, "mean", &mean, "p99_99", &p99_99,
				     "complete_under_10kb_s", "count", &small),
			 0);
	ck_assert_int_eq(count, 40);
	ck_assert_double_eq(mean, 2.5);
	ck_assert_double_eq(p99_99, 123.4);
	ck_assert_int_eq(small, 10);
	json_decref(document);
	render("kv");
	has("\nslowdown_mean=2.500000000\n");
	has("\ncomplete_10_100kb_mean=5.500000000\n");
	has("\nslowdown_10_100kb_p99.99=123.400000000\n");
}
END_TEST

START_TEST(intervals_have_columns_where_there_are_flows)
{
	render("csv");
	has_not("slowdown");
	sample_add_flows(&run->intervals[0].window);
	render("csv");
	has(",slowdown_count,slowdown_min,slowdown_mean,slowdown_max,slowdown_stddev,slowdown_p50,"
	    "slowdown_p99_99,complete_under_10kb_count,complete_under_10kb_min_s,");
	has(",40,1.000000000,2.500000000,200.000000000,4.000000000,1.250000000,123.400000000,10,");
	has(",0,,,,,,,0,,,,,,,"); /* of the other rows */
}
END_TEST

START_TEST(figures_have_names)
{
	struct nm_runs series = sample_series(&run);
	struct nm_named_list list;
	struct nm_named_at at;
	json_t *document;
	char why[256];
	double value;

	sample_add_flows(&run->totals);
	document = nm_named_of_result(&series, run);
	ck_assert_int_eq(nm_named_list(&list), 0);
	ck_assert_int_eq(
		nm_named_find(&list, document, "slowdown_over_10mb.p50", &at, why, sizeof why), 0);
	ck_assert_int_eq(at.named.quantity, NM_QUANTITY_NUMBER);
	ck_assert(nm_named_value(&at, &value, why, sizeof why));
	ck_assert_double_eq(value, 1.25);
	ck_assert_int_eq(
		nm_named_find(&list, document, "complete_over_10mb.mean", &at, why, sizeof why), 0);
	ck_assert_int_eq(at.named.quantity, NM_QUANTITY_SECONDS);
	ck_assert(nm_named_value(&at, &value, why, sizeof why));
	ck_assert_double_eq(value, 11.5);
	nm_named_fini(&list);
	json_decref(document);
}
END_TEST

/* Trials outlive the results that they come from. */
START_TEST(a_trial_keeps_its_flows)
{
	struct nm_sweep sweep = {.parameter = "load"};
	struct nm_trial trial = {.totals = {.seconds = 1}};

	sample_add_flows(&trial.totals);
	ck_assert_int_eq(nm_sweep_add(&sweep, &trial), 0);
	nm_window_fini(&trial.totals);
	ck_assert_uint_eq(nm_window_time(&sweep.trials[0].totals, NM_TIME_SLOWDOWN)->count, 40);
	nm_sweep_fini(&sweep);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flows");
	TCase *tc = tcase_create("flows");

	tcase_add_checked_fixture(tc, rendered_set_up, rendered_tear_down);
	tcase_add_test(tc, people_have_a_table);
	tcase_add_test(tc, what_was_measured_before_is_told);
	tcase_add_test(tc, classes_without_flows_have_no_rows);
	tcase_add_test(tc, programs_have_members_and_keys);
	tcase_add_test(tc, intervals_have_columns_where_there_are_flows);
	tcase_add_test(tc, figures_have_names);
	tcase_add_test(tc, a_trial_keeps_its_flows);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
