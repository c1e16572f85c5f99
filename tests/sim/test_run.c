/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs of each case in many simulated worlds. */
#include <check.h>

#include "../unit/suite.h"
#include "run.h"

#define SEEDS 40

START_TEST(invariants_hold)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim_outcome outcome;

		sim_run_case(&sim_cases[_i], seed, false, &outcome);
		ck_assert_msg(!*outcome.why, "case %d, seed %llu: %s", _i, (unsigned long long)seed,
			      outcome.why);
	}
}
END_TEST

/* The run with the fault ends, and says why if it is not complete; the next one succeeds. */
START_TEST(a_fault_ends_one_run_at_most)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim_outcome outcome;

		sim_run_case(&sim_cases[_i], seed, true, &outcome);
		ck_assert_msg(!*outcome.why, "case %d, seed %llu: %s", _i, (unsigned long long)seed,
			      outcome.why);
		ck_assert_uint_gt(outcome.iterations, 0);
	}
}
END_TEST

START_TEST(a_seed_is_a_run)
{
	struct sim_outcome one, again, other;

	sim_run_case(&sim_cases[_i], 7, true, &one);
	sim_run_case(&sim_cases[_i], 7, true, &again);
	sim_run_case(&sim_cases[_i], 8, true, &other);
	ck_assert_uint_gt(one.iterations, 0);
	ck_assert_uint_eq(one.hash, again.hash);
	ck_assert_uint_eq(one.time_ns, again.time_ns);
	ck_assert_uint_ne(one.hash, other.hash);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulated runs");
	TCase *tests = tcase_create("runs");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, invariants_hold, 0, (int)sim_n_cases);
	tcase_add_loop_test(tests, a_fault_ends_one_run_at_most, 0, (int)sim_n_cases);
	tcase_add_loop_test(tests, a_seed_is_a_run, 0, (int)sim_n_cases);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
