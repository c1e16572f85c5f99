/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on a trial of many runs. */
#include "cli/trial.h"

#include <check.h>
#include <stdlib.h>

#include "result/load.h"
#include "result/result.h"

#include "../suite.h"

#define RUNS 4

/* Runs of 1000 passes of 1 ms each in a second. */
static struct nm_result_phase phases[RUNS];
static struct nm_result_group groups[RUNS];
static struct nm_result results[RUNS], *pointers[RUNS];
static struct nm_runs series;
static struct nm_trial trial;

static void setup(void)
{
	series = (struct nm_runs){.runs = pointers, .n_runs = RUNS};
	for (size_t i = 0; i < RUNS; i++) {
		phases[i] = (struct nm_result_phase){
			.measured = true,
			.arrivals = (char *)"const(1000/s)",
			.whole = {.counts = {.iterations = 1000,
					     .arrivals = 1000,
					     .open_ns = UINT64_C(1000000000)},
				  .latency = {.count = 1000, .min_s = 0.001, .mean_s = 0.001}}};
		groups[i] = (struct nm_result_group){
			.n_flows = 10, .n_workers = 1, .phases = &phases[i], .n_phases = 1};
		results[i] =
			(struct nm_result){.groups = &groups[i], .n_groups = 1, .complete = true};
		pointers[i] = &results[i];
	}
}

static void judge(void)
{
	const struct nm_search_trial asked = {.window = RUNS, .lengthens = true};
	struct nm_args args = {.master = NULL};
	const struct nm_runner runner = {.args = &args};

	nm_trial_fini(&trial);
	ck_assert_int_eq(nm_trial_judge(&runner, &asked, "1", 0, &series, &trial), 0);
}

static void overload(size_t i)
{
	phases[i].whole.counts.tardy = 500;
	phases[i].whole.latency.mean_s = 0.010;
}

START_TEST(most_runs_decide_about_the_load)
{
	overload(RUNS - 1);
	judge();
	ck_assert(trial.pass);
	ck_assert_str_eq(trial.load, "ok");
	overload(0);
	judge();
	ck_assert(!trial.pass);
	ck_assert_str_eq(trial.load, "overload");
	ck_assert_str_eq(trial.reason, "load: overload");
	ck_assert_int_eq(trial.limit, NM_LIMIT_OVERLOAD);
}
END_TEST

START_TEST(failures_of_one_run_are_enough)
{
	phases[1].whole.counts.unanswered = 20;
	judge();
	ck_assert(!trial.pass);
	ck_assert_str_eq(trial.load, "errors");
	ck_assert_int_eq(trial.limit, NM_LIMIT_ERRORS);
}
END_TEST

START_TEST(an_incomplete_run_is_enough)
{
	results[1].complete = false;
	judge();
	ck_assert_str_eq(trial.reason, "the reason is not known");
	ck_assert_int_eq(trial.limit, NM_LIMIT_RUN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trial");
	TCase *tc = tcase_create("trial");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, most_runs_decide_about_the_load);
	tcase_add_test(tc, failures_of_one_run_are_enough);
	tcase_add_test(tc, an_incomplete_run_is_enough);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
