/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of each profile in many simulated worlds. */
#include <check.h>
#include <string.h>

#include "../unit/suite.h"
#include "profile.h"
#include "run.h"

#define SEEDS 40

START_TEST(invariants_hold)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim_outcome outcome;
		const struct sim_choices choices = sim_choices_of(seed, (size_t)_i, false);

		sim_run(&choices, &outcome);
		ck_assert_msg(!*outcome.why, "profile %d, seed %llu: %s", _i,
			      (unsigned long long)seed, outcome.why);
	}
}
END_TEST

START_TEST(a_seed_is_a_run)
{
	const struct sim_choices seven = sim_choices_of(7, (size_t)_i, false);
	const struct sim_choices eight = sim_choices_of(8, (size_t)_i, false);
	struct sim_outcome one, again, other;

	sim_run(&seven, &one);
	sim_run(&seven, &again);
	sim_run(&eight, &other);
	ck_assert_uint_eq(one.hash, again.hash);
	ck_assert_uint_eq(one.time_ns, again.time_ns);
	ck_assert_uint_ne(one.hash, other.hash);
}
END_TEST

/* A closed loop over a link makes as many requests as fit into the time, one after the other. */
START_TEST(a_request_takes_two_delays)
{
	struct sim_choices slow = sim_choices_plain();
	struct sim_outcome outcome;

	slow.profile = 1;
	slow.delay_ns = 1000000;
	slow.time_ms = 20;
	sim_run(&slow, &outcome);
	ck_assert_str_eq(outcome.why, "");
	ck_assert_uint_ge(outcome.iterations, 9);
	/* The stop is seen some milliseconds later, and the request under way ends. */
	ck_assert_uint_le(outcome.iterations, 14);
	ck_assert_uint_le(outcome.kernel.calls, 1000); /* it sleeps between its looks */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulated ends");
	TCase *tests = tcase_create("ends");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, invariants_hold, 0, (int)sim_n_ends);
	tcase_add_loop_test(tests, a_seed_is_a_run, 0, (int)sim_n_ends);
	tcase_add_test(tests, a_request_takes_two_delays);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
