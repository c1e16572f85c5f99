/* SPDX-License-Identifier: Apache-2.0 */
/* A result beside an earlier one, which nobody vouches for. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "report/compare.h"
#include "report/view.h"
#include "sample.h"

static struct nm_result *runs[2];
static struct nm_runs series;
static struct nm_baseline baseline;
static struct nm_comparison comparison;
static char why[256];

static void set_up(void)
{
	runs[0] = sample_result();
	runs[1] = sample_result();
	series = (struct nm_runs){.runs = runs, .n_runs = 1};
}

static void tear_down(void)
{
	nm_comparison_fini(&comparison);
	nm_baseline_fini(&baseline);
	nm_result_free(runs[0]);
	nm_result_free(runs[1]);
}

static int parse(const char *text)
{
	return nm_baseline_parse("old.json", text, strlen(text), &baseline, why, sizeof why);
}

/* Compares with a document that has these members besides its schema. */
static void compare(const char *members)
{
	char text[2048];

	snprintf(text, sizeof text, "{\"schema\": \"netmodel.result/1\", %s}", members);
	ck_assert_msg(parse(text) == 0, "%s", why);
	ck_assert_int_eq(nm_compare(&baseline, &series, &comparison), 0);
}

static const struct nm_compared *figure(const char *name)
{
	for (size_t i = 0; i < comparison.n_figures; i++)
		if (strcmp(comparison.figures[i].figure, name) == 0)
			return &comparison.figures[i];
	ck_abort_msg("no %s", name);
	return NULL;
}

static bool is_noted(const char *text)
{
	for (size_t i = 0; i < comparison.n_notes; i++)
		if (strstr(comparison.notes[i], text))
			return true;
	return false;
}

#define PROFILE                                                                                    \
	"\"profile\": {\"name\": \"mix\", \"params\": {\"num_flows\": \"8\", \"request_size\": "   \
	"\"100\"}}, \"run\": {\"complete\": true}, "

START_TEST(each_figure_has_its_change)
{
	compare(PROFILE "\"totals\": {\"transactions\": 10000, \"errors\": 0, \"connects\": 5, "
			"\"latency_s\": {\"p50\": 38e-6, \"p99_99\": 99e-6}}, "
			"\"groups\": [{\"name\": \"large\", \"transactions\": 20000}]");
	ck_assert_uint_eq(comparison.n_notes, 0);
	ck_assert_double_eq_tol(figure("transactions")->change, 100, 1e-9);
	ck_assert_double_eq_tol(figure("latency.p50")->change, -50, 1e-9);
	ck_assert_double_eq_tol(figure("latency.p99.99")->change, 0, 1e-9);
	ck_assert_double_eq_tol(figure("connects")->change, -100, 1e-9);
	ck_assert_double_eq_tol(figure("group.large.transactions")->change, -50, 1e-9);
	ck_assert(!figure("errors")->has_change); /* it was 0 */
	ck_assert(figure("group.small.transactions")->has_now);
	ck_assert(!figure("group.small.transactions")->has_before);
	ck_assert(!figure("transactions")->has_now_ci && !figure("transactions")->overlap);
}
END_TEST

/* Of three runs one is not complete. By Student's t with one degree of freedom: 12.706. */
START_TEST(runs_that_are_repeated_have_intervals)
{
	series.n_runs = 2;
	runs[1]->totals.counts.iterations = 20002;
	compare(PROFILE
		"\"totals\": {\"transactions\": 7, \"connects\": 4}, \"repeat\": {\"runs\": ["
		"{\"run\": {\"complete\": true}, \"totals\": {\"transactions\": 19998}}, "
		"{\"run\": {\"complete\": false}, \"totals\": {\"transactions\": 1}}, "
		"{\"run\": {\"complete\": true}, \"totals\": {\"transactions\": 20000}}]}");
	const struct nm_compared *transactions = figure("transactions");

	ck_assert_uint_eq(comparison.n_before, 2);
	ck_assert_uint_eq(comparison.n_now, 2);
	ck_assert_double_eq(transactions->before, 19999);
	ck_assert_double_eq(transactions->now, 20001);
	ck_assert(transactions->has_before_ci && transactions->has_now_ci);
	ck_assert_double_eq_tol(transactions->before_ci95, 12.706, 0.01);
	ck_assert(transactions->overlap);
	/* The runs of the series do not have it: the last one stands for all. */
	ck_assert_double_eq(figure("connects")->before, 4);
	ck_assert(!figure("connects")->has_before_ci);
}
END_TEST

/* Percentiles with failures, where there are some, as requirements are judged. */
START_TEST(what_failed_is_infinitely_late)
{
	compare(PROFILE "\"totals\": {\"latency_s\": {\"p50\": 38e-6, \"p99_99\": 99e-6}, "
			"\"with_failures\": {\"failures\": 1, \"latency_s\": {\"p50\": 40e-6, "
			"\"p99_99\": null}}}");
	ck_assert_double_eq_tol(figure("latency.p50")->before, 40e-6, 1e-12);
	ck_assert(isinf(figure("latency.p99.99")->before));
	ck_assert(!figure("latency.p99.99")->has_change);
}
END_TEST

START_TEST(what_differs_is_noted)
{
	compare("\"profile\": {\"name\": \"mix\", \"sha256\": \"b\", \"params\": {\"num_flows\": "
		"\"4\", \"old\": \"x\\ny\"}}, \"run\": {\"complete\": false}");
	ck_assert(is_noted("the text of the profile mix has changed"));
	ck_assert(is_noted("parameter num_flows: 4 before, 8 now"));
	ck_assert(is_noted("parameter request_size: none before, 100 now"));
	ck_assert(is_noted("parameter old: x y before, none now"));
	ck_assert(is_noted("the earlier run is incomplete"));
}
END_TEST

START_TEST(another_profile_is_noted)
{
	compare("\"profile\": {\"name\": \"rr\"}");
	ck_assert(is_noted("another profile: rr before, mix now"));
}
END_TEST

static const struct {
	const char *text, *why;
} refused[] = {
	{"", "it is not JSON: line 1: "},
	{"{\"schema\": \"netmodel.result/1\", \"schema\": 1}", "it is not JSON: line 1: "},
	{"{}", "it is no result: --format json writes one"},
	{"5", "it is not JSON"},
	{"{\"schema\": \"netmodel.result/2\"}", "its schema is \"netmodel.result/2\", and only "
						"results of \"netmodel.result/1\" are compared"},
};

START_TEST(what_is_no_result_is_refused)
{
	ck_assert_int_eq(parse(refused[_i].text), -EINVAL);
	ck_assert_msg(strstr(why, refused[_i].why) != NULL, "%s", why);
	ck_assert_ptr_null(baseline.document);
}
END_TEST

/* Members of any type, and too many of them. */
START_TEST(a_hostile_result_is_compared_as_far_as_it_goes)
{
	static const char *const members[] = {
		"\"totals\": 5, \"groups\": {}, \"profile\": [], \"run\": null, \"repeat\": []",
		("\"totals\": {\"transactions\": \"5\", \"latency_s\": {\"p50\": {}}, \"errors\": "
		 "[1]}"),
		"\"groups\": [5, {\"name\": 7}, {\"name\": \"small\", \"errors\": -1}, null]",
		"\"repeat\": {\"runs\": [1, {\"run\": {\"complete\": true}, \"totals\": []}]}",
		"\"totals\": {\"transactions\": 1e308, \"seconds\": -1e308}",
	};

	series.n_runs = 2;
	compare(members[_i]);
	ck_assert_uint_gt(comparison.n_figures, 10);
}
END_TEST

static size_t append(char *text, size_t size, size_t at, const char *part)
{
	ck_assert_uint_lt(at + strlen(part), size);
	strcpy(text + at, part);
	return strlen(part);
}

/* A crafted document: many runs of many groups that have one name. Each object is looked for once
 * in a document, not once for each figure, and without counting from the first group again. This
 * ends within the suite's time limit (it took minutes), also under sanitizers. */
START_TEST(many_runs_of_groups_of_one_name_are_compared_at_once)
{
	enum { RUNS = 200, GROUPS = 2048, SIZE = 16 << 20 };
	char *text = malloc(SIZE);
	size_t at = 0;

	ck_assert_ptr_nonnull(text);
	at += append(text, SIZE, at, "{\"schema\":\"netmodel.result/1\",\"repeat\":{\"runs\":[");
	for (int run = 0; run < RUNS; run++) {
		at += append(text, SIZE, at, run ? "," : "");
		at += append(text, SIZE, at, "{\"run\":{\"complete\":true},\"groups\":[");
		at += append(text, SIZE, at,
			     "{\"name\":\"small\",\"errors\":7,\"connects\":1,\"transactions\":1,"
			     "\"bytes_sent\":1,\"bytes_received\":1}");
		for (int i = 1; i < GROUPS; i++)
			at += append(text, SIZE, at, ",{\"name\":\"small\"}");
		at += append(text, SIZE, at, "]}");
	}
	at += append(text, SIZE, at, "]}}");
	ck_assert_msg(parse(text) == 0, "%s", why);
	free(text);
	ck_assert_int_eq(nm_compare(&baseline, &series, &comparison), 0);
	ck_assert_uint_eq(comparison.n_before, RUNS);
	ck_assert_double_eq_tol(figure("group.small.errors")->before, 7, 1e-9);
}
END_TEST

/* Groups of one name are told apart by their places, on both sides. */
START_TEST(each_group_of_one_name_is_compared_with_its_own)
{
	free(runs[0]->groups[1].name);
	runs[0]->groups[1].name = strdup("small");
	compare(PROFILE
		"\"groups\": [{\"name\": \"smal\", \"errors\": 1}, {\"name\": \"small\", "
		"\"errors\": 2}, {\"name\": \"other\", \"errors\": 3}, {\"name\": \"small\", "
		"\"errors\": 4}]");
	ck_assert_double_eq(figure("group.small.errors")->before, 2);
	ck_assert_double_eq(figure("group.small#2.errors")->before, 4);
}
END_TEST

/* Two runs now, and two before: the members of their totals, and the line for people. */
static const struct {
	const char *totals[2], *says;
} judged[] = {
	{{"\"transactions_per_s\": 1", "\"transactions_per_s\": 1e9"},
	 "within the intervals of both: changes may be chance\n"},
	{{"\"transactions_per_s\": 1", "\"transactions_per_s\": 1"},
	 "beyond the intervals of both: transactions_per_s +"},
	/* Half of what was infinite is no more known than all of it. */
	{{"\"transactions_per_s\": 1, \"latency_s\": {\"p50\": 1}",
	  "\"transactions_per_s\": 1e9, \"with_failures\": {\"latency_s\": {\"p50\": null}}"},
	 "within the intervals of both: changes may be chance; without an interval: latency.p50\n"},
	{{"\"with_failures\": {\"latency_s\": {\"p50\": null}}", "\"transactions_per_s\": 1"},
	 "none: no row has an interval on both sides\n"},
};

/* The section for people, of two runs now, and two before with these totals. */
static const char *printed(const char *first, const char *second)
{
	static const struct nm_view view = {.comparison = &comparison};
	static char text[4096];
	char members[1024];
	FILE *out = fmemopen(text, sizeof text, "w");

	ck_assert_ptr_nonnull(out);
	series.n_runs = 2;
	series.view = &view;
	snprintf(members, sizeof members,
		 PROFILE "\"repeat\": {\"runs\": [{\"run\": {\"complete\": true}, \"totals\": "
			 "{%s}}, {\"run\": {\"complete\": true}, \"totals\": {%s}}]}",
		 first, second);
	compare(members);
	nm_comparison_print(&series, out);
	(void)fclose(out);
	return text;
}

START_TEST(the_verdict_is_of_what_has_intervals)
{
	const char *text = printed(judged[_i].totals[0], judged[_i].totals[1]);
	const char *verdict = strstr(text, "  verdict: ");

	ck_assert_msg(verdict && strncmp(verdict + strlen("  verdict: "), judged[_i].says,
					 strlen(judged[_i].says)) == 0,
		      "%s", text);
}
END_TEST

/* Of arrivals the latency has not the time for which a pass has waited. */
START_TEST(the_time_since_a_pass_was_due_is_among_the_rows)
{
	const char *text = printed("\"response_s\": {\"p50\": 1}", "\"response_s\": {\"p50\": 1}");

	ck_assert_msg(strstr(text, "\n  response.p50 "), "%s", text);
}
END_TEST

START_TEST(a_run_without_a_measurement_is_refused)
{
	static const char form[] =
		"{\"schema\": \"netmodel.result/1\", \"totals\": {\"seconds\": %s}}";
	char text[128];

	snprintf(text, sizeof text, form, "0.0");
	ck_assert_int_eq(parse(text), -EINVAL);
	ck_assert_str_eq(why, "nothing was measured in that run");
	snprintf(text, sizeof text, form, "0.1");
	ck_assert_int_eq(parse(text), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tc = tcase_create("compare");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, each_figure_has_its_change);
	tcase_add_test(tc, runs_that_are_repeated_have_intervals);
	tcase_add_test(tc, what_failed_is_infinitely_late);
	tcase_add_test(tc, what_differs_is_noted);
	tcase_add_test(tc, another_profile_is_noted);
	tcase_add_loop_test(tc, what_is_no_result_is_refused, 0, sizeof refused / sizeof *refused);
	tcase_add_loop_test(tc, a_hostile_result_is_compared_as_far_as_it_goes, 0, 5);
	tcase_add_test(tc, many_runs_of_groups_of_one_name_are_compared_at_once);
	tcase_add_test(tc, each_group_of_one_name_is_compared_with_its_own);
	tcase_add_loop_test(tc, the_verdict_is_of_what_has_intervals, 0,
			    sizeof judged / sizeof *judged);
	tcase_add_test(tc, the_time_since_a_pass_was_due_is_among_the_rows);
	tcase_add_test(tc, a_run_without_a_measurement_is_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
