/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of each profile in many simulated worlds. */
#include <check.h>
#include <string.h>

#include "../unit/suite.h"
#include "ends.h"

#define SEEDS 40

START_TEST(invariants_hold)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim_outcome outcome;

		sim_run_ends(sim_profiles[_i], seed, NULL, &outcome);
		ck_assert_msg(!*outcome.why, "profile %d, seed %llu: %s", _i,
			      (unsigned long long)seed, outcome.why);
	}
}
END_TEST

START_TEST(a_seed_is_a_run)
{
	struct sim_outcome one, again, other;

	sim_run_ends(sim_profiles[_i], 7, NULL, &one);
	sim_run_ends(sim_profiles[_i], 7, NULL, &again);
	sim_run_ends(sim_profiles[_i], 8, NULL, &other);
	ck_assert_uint_eq(one.hash, again.hash);
	ck_assert_uint_eq(one.time_ns, again.time_ns);
	ck_assert_uint_ne(one.hash, other.hash);
}
END_TEST

/* A closed loop over a link makes as many requests as fit into the time, one after the other. */
START_TEST(a_request_takes_two_delays)
{
	const struct sim_kernel_config slow = {
		.delay_ns = 1000000, .send_buffer = 100000, .call_ns = 300};
	struct sim_outcome outcome;

	sim_run_ends(sim_profiles[1], 1, &slow, &outcome); /* for 20 ms */
	ck_assert_str_eq(outcome.why, "");
	ck_assert_uint_ge(outcome.iterations, 9);
	/* The stop is seen some milliseconds later, and the request under way ends. */
	ck_assert_uint_le(outcome.iterations, 14);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulated ends");
	TCase *tests = tcase_create("ends");

	tcase_add_loop_test(tests, invariants_hold, 0, (int)sim_n_profiles);
	tcase_add_loop_test(tests, a_seed_is_a_run, 0, (int)sim_n_profiles);
	tcase_add_test(tests, a_request_takes_two_delays);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
