/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles of several runs, which are those of all their times, and how sure they are. */
#include "report/confidence.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/shape.h"
#include "stats/tally.h"

#include "../suite.h"

#define RUNS  4
#define TIMES 50 /* of each run */
#define ROWS  6
#define MS    UINT64_C(1000000)

static struct nm_result *runs[RUNS];
static struct nm_runs series;
static struct nm_tally_snap *sample;
static struct nm_requirements list;
static struct nm_verdicts verdicts;
static struct nm_confidence confidence[4];
static char why[512];

static void add_times(struct nm_hist_snap *hist, uint64_t ns, uint64_t n)
{
	hist->bucket[nm_hist_index(ns)] += n;
	hist->count += n;
	hist->sum_ns += n * ns;
	hist->min_ns = ns < hist->min_ns ? ns : hist->min_ns;
	hist->max_ns = ns > hist->max_ns ? ns : hist->max_ns;
}

/* TIMES passes, each one request of a verb: one takes so long, and the others 1 ms. */
static void fill_sample(uint64_t longest_ns)
{
	nm_tally_snap_clear(sample);
	sample->kept = sample->verbs[0].kept = 1u << NM_TIME_LATENCY;
	sample->counts.iterations = sample->counts.requests = TIMES;
	sample->verbs[0].name = "get";
	sample->verbs[0].outcomes = (struct nm_outcomes){.requests = TIMES, .ok = TIMES};
	add_times(&sample->latency, MS, TIMES - 1);
	add_times(&sample->latency, longest_ns, 1);
	sample->verbs[0].latency = sample->latency;
}

static void fill(struct nm_window *window, const struct nm_percentiles *percentiles)
{
	nm_window_fini(window);
	ck_assert_int_eq(nm_window_fill(window, sample, 1000 * MS, percentiles), 0);
	ck_assert_int_eq(nm_window_keep(window, sample), 0);
}

static void fill_run(struct nm_result *run)
{
	fill(&run->totals, &run->percentiles);
	fill(&run->groups[0].totals, &run->percentiles);
	fill(&run->groups[0].phases[0].whole, &run->percentiles);
}

static struct nm_result *make_run(uint64_t longest_ns)
{
	struct nm_result *run = nm_result_new();

	ck_assert_ptr_nonnull(run);
	run->complete = true;
	ck_assert_int_eq(nm_percentiles_parse("50,99,99.9,100", &run->percentiles), 0);
	run->groups = calloc(1, sizeof(*run->groups));
	run->n_groups = 1;
	ck_assert_ptr_nonnull(run->groups);
	run->groups[0].name = strdup("g");
	run->groups[0].phases = calloc(1, sizeof(*run->groups[0].phases));
	run->groups[0].n_phases = 1;
	ck_assert_ptr_nonnull(run->groups[0].phases);
	run->groups[0].phases[0].name = strdup("t");
	fill_sample(longest_ns);
	fill_run(run);
	return run;
}

/* Rows of a second, whose medians are 1, 2, 3... ms. */
static void add_rows(struct nm_result *run)
{
	run->grid.interval_s = 1;
	run->intervals = calloc(ROWS, sizeof(*run->intervals));
	ck_assert_ptr_nonnull(run->intervals);
	run->n_intervals = ROWS;
	for (size_t i = 0; i < ROWS; i++) {
		run->intervals[i] = (struct nm_result_interval){
			.from_s = (double)i, .to_s = (double)i + 1, .part = NM_PART_MEASURED};
		nm_tally_snap_clear(sample);
		sample->kept = 1u << NM_TIME_LATENCY;
		add_times(&sample->latency, (i + 1) * MS, TIMES);
		ck_assert_int_eq(nm_window_fill(&run->intervals[i].window, sample, 1000 * MS,
						&run->percentiles),
				 0);
	}
}

/* The first run has the longest time of all. */
static void setup(void)
{
	sample = nm_tally_snap_new(1);
	ck_assert_ptr_nonnull(sample);
	for (size_t i = 0; i < RUNS; i++)
		runs[i] = make_run(i ? MS : 1000 * MS);
	series = (struct nm_runs){.runs = runs, .n_runs = RUNS};
}

static void teardown(void)
{
	nm_verdicts_fini(&verdicts);
	nm_requirements_fini(&list);
	for (size_t i = 0; i < RUNS; i++)
		nm_result_free(runs[i]);
	free(sample);
}

static void judge(const char *text, bool negated)
{
	static const struct nm_flowop asks = {.flags = NM_FLOWOP_ASKS};
	struct nm_instr get = {.op = &asks};
	struct nm_plan_verb verb = {.name = "get"};
	struct nm_phase phase = {.name = (char *)"t", .measured = true, .n_instrs = 1};
	struct nm_group group = {
		.name = (char *)"g", .phases = &phase, .n_phases = 1, .instrs = &get};
	const struct nm_plan plan = {.groups = &group, .n_groups = 1, .verbs = &verb, .n_verbs = 1};

	nm_verdicts_fini(&verdicts);
	nm_requirements_fini(&list);
	ck_assert_msg(nm_requirements_add(&list, text, "--require", negated, &plan, why,
					  sizeof(why)) == 0,
		      "%s: %s", text, why);
	ck_assert_uint_le(list.count, sizeof(confidence) / sizeof(confidence[0]));
	ck_assert_int_eq(nm_requirements_judge(&list, &series, &verdicts, confidence), 0);
}

/* --- of all times --- */

/* In each of the runs but one no time is above 1 ms: the mean of their percentiles would be a
 * quarter of the true one. */
START_TEST(a_percentile_of_several_runs_is_that_of_all_their_times)
{
	static const char *const scopes[] = {"", "verb.get.", "group.g.", "group.g.transaction.t.",
					     "group.g.transaction.t.verb.get."};
	char text[128];

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		snprintf(text, sizeof(text), "%slatency.p99.9 <= 900ms %slatency.p50 <= 2ms",
			 scopes[i], scopes[i]);
		judge(text, false);
		ck_assert(!verdicts.items[0].met && verdicts.items[1].met);
		ck_assert_double_eq_tol(verdicts.items[0].value, 1, 0.005);
		ck_assert_double_eq_tol(confidence[0].beyond, RUNS * TIMES * 0.001, 1e-9);
		ck_assert_double_eq_tol(confidence[1].beyond, RUNS * TIMES * 0.5, 1e-9);
	}
	judge("latency.p99 <= 2ms latency.mean <= 6ms", false);
	ck_assert_uint_eq(verdicts.n_met, 2);
	ck_assert_double_eq_tol(verdicts.items[1].value, (1 + (RUNS * TIMES - 1) * 1e-3) / 200,
				1e-6);
}
END_TEST

/* By itself the run has its percentile among them. */
START_TEST(what_was_never_answered_in_one_run_is_a_share_of_all)
{
	fill_sample(MS);
	sample->counts.unanswered = 1;
	fill_run(runs[1]);
	judge("latency.p99 <= 2ms latency.p99.9 <= 1h", false);
	ck_assert(verdicts.items[0].met);
	ck_assert_str_eq(verdicts.items[1].reason,
			 "latency.p99.9 is infinite: it lies among what was never answered");
}
END_TEST

START_TEST(all_runs_must_have_measured_it)
{
	nm_tally_snap_clear(sample);
	fill_run(runs[1]);
	judge("latency.p99 <= 2ms", false);
	ck_assert_str_eq(verdicts.items[0].reason, "latency.p99 was not measured");
	ck_assert(isnan(confidence[0].value) && isnan(confidence[0].beyond));
	/* It does not count if it is not complete. */
	runs[1]->complete = false;
	judge("latency.p99 <= 2ms", false);
	ck_assert(verdicts.items[0].met);
	ck_assert_double_eq_tol(confidence[0].beyond, (RUNS - 1) * TIMES * 0.01, 1e-9);
}
END_TEST

/* --- by rows --- */

/* The medians 1 to 6 ms scatter by 1.87 ms: 1.96 about the value of 1 ms, and no time is below
 * 0. */
static const struct {
	const char *text;
	bool negated, in_doubt;
} doubts[] = {
	{"latency.p50 <= 2ms", false, true},	      {"latency.p50 < 2ms", false, true},
	{"latency.p50 > 2ms", false, true},	      {"latency.p50 >= 2ms", false, true},
	{"latency.p50 <= 4ms", false, false},	      {"latency.p50 > 4ms", false, false},
	{"latency.p50 >= 0s", false, false},	      {"latency.p50 > 0s", false, true},
	{"latency.p50 == 2ms", false, false},	      {"latency.p50 != 2ms", false, false},
	{"latency.p50 > 2ms", true, false},	      {"latency.mean <= 30ms", false, false},
	{"group.g.latency.p50 <= 2ms", false, false},
};

START_TEST(the_limit_is_in_doubt_within_the_interval)
{
	runs[0]->complete = runs[1]->complete = runs[2]->complete = false;
	add_rows(runs[RUNS - 1]);
	judge(doubts[_i].text, doubts[_i].negated);
	ck_assert_int_eq(confidence[0].in_doubt, doubts[_i].in_doubt);
}
END_TEST

START_TEST(the_interval_is_as_wide_as_rows_scatter)
{
	struct nm_result *run = runs[RUNS - 1];

	runs[0]->complete = runs[1]->complete = runs[2]->complete = false;
	add_rows(run);
	judge("latency.p50 <= 2ms", false);
	ck_assert_double_eq(confidence[0].low, 0);
	ck_assert_double_eq_tol(confidence[0].high, 1e-3 + 2.570582 * 1.870829e-3 / sqrt(6), 2e-5);
	/* Without the last row there are five of 1 to 5 ms. */
	run->intervals[ROWS - 1].to_s -= 0.2;
	judge("latency.p50 <= 2ms", false);
	ck_assert_double_eq_tol(confidence[0].high, 1e-3 + 2.776445 * 1.581139e-3 / sqrt(5), 2e-5);
	run->intervals[0].part = NM_PART_WARMUP;
	judge("latency.p50 <= 2ms", false);
	ck_assert(isnan(confidence[0].low) && isnan(confidence[0].high) && !confidence[0].in_doubt);
	ck_assert_double_eq_tol(confidence[0].value, 1e-3, 1e-5);
}
END_TEST

START_TEST(nothing_is_above_the_greatest)
{
	judge("latency.p100 <= 2s latency.mean <= 1s", false);
	ck_assert_double_eq(confidence[0].value, 1);
	ck_assert(isnan(confidence[0].beyond) && isnan(confidence[1].value));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("confidence");
	TCase *tc = tcase_create("confidence");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_percentile_of_several_runs_is_that_of_all_their_times);
	tcase_add_test(tc, what_was_never_answered_in_one_run_is_a_share_of_all);
	tcase_add_test(tc, all_runs_must_have_measured_it);
	tcase_add_loop_test(tc, the_limit_is_in_doubt_within_the_interval, 0,
			    sizeof(doubts) / sizeof(doubts[0]));
	tcase_add_test(tc, the_interval_is_as_wide_as_rows_scatter);
	tcase_add_test(tc, nothing_is_above_the_greatest);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
