/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs of each case in many simulated worlds. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../unit/sanitized.h"
#include "../unit/suite.h"
#include "fault.h"
#include "profile.h"
#include "run.h"
#include "shrink.h"

#define SEEDS 40
#ifdef NM_SANITIZED /* a world takes ten times as long there: the cases take turns in the seeds */
#define STEP (sim_n_profiles - sim_n_ends)
#else
#define STEP 1
#endif

START_TEST(invariants_hold)
{
	for (uint64_t seed = 1 + (uint64_t)_i % STEP; seed <= SEEDS; seed += STEP) {
		const struct sim_choices choices =
			sim_choices_of(seed, sim_n_ends + (size_t)_i, false);
		struct sim_outcome outcome;

		sim_run(&choices, &outcome);
		ck_assert_msg(!*outcome.why, "case %d, seed %llu: %s", _i, (unsigned long long)seed,
			      outcome.why);
	}
}
END_TEST

/* The run with the fault ends, and says why if it is not complete; the next one succeeds. */
START_TEST(a_fault_ends_one_run_at_most)
{
	for (uint64_t seed = 1 + (uint64_t)_i % STEP; seed <= SEEDS; seed += STEP) {
		const struct sim_choices choices =
			sim_choices_of(seed, sim_n_ends + (size_t)_i, true);
		struct sim_outcome outcome;

		sim_run(&choices, &outcome);
		ck_assert_msg(!*outcome.why, "case %d, seed %llu: %s", _i, (unsigned long long)seed,
			      outcome.why);
		ck_assert_uint_gt(outcome.iterations, 0);
	}
}
END_TEST

/* Each wake-up, and each read of one, may fail once, at each side. */
START_TEST(a_wake_up_that_fails_is_made_again)
{
	struct sim_choices choices = sim_choices_plain();
	struct sim_outcome outcome;
	unsigned struck = 0;

	choices.profile = sim_n_ends;
	choices.time_ms = 5;
	choices.fault = SIM_ERROR;
	choices.call = sim_fault_call(_i % 2 ? "read" : "write");
	choices.side = 1 + (uint64_t)_i / 2;
	for (bool strikes = true; strikes; choices.nth++) {
		sim_try(&sim_worlds, &choices, &outcome);
		ck_assert_msg(!*outcome.why, "call %llu: %s", (unsigned long long)choices.nth,
			      outcome.why);
		strikes = outcome.struck;
		struck += strikes;
	}
	ck_assert_uint_ge(struck, 5);
}
END_TEST

/* Worlds that have failed: each line is what `sim shrink` printed. */
START_TEST(kept_worlds_hold)
{
	char line[SIM_LINE_BYTES], why[SIM_WHY_BYTES];
	FILE *kept = fopen(SIM_KEPT, "r");

	ck_assert_ptr_nonnull(kept);
	while (fgets(line, sizeof line, kept)) {
		struct sim_choices choices;
		struct sim_outcome outcome;

		line[strcspn(line, "#")] = '\0';
		if (!line[strspn(line, " \n")])
			continue;
		ck_assert_msg(sim_choices_read(line, &choices, why, sizeof why), "%s", why);
		sim_try(&sim_worlds, &choices, &outcome);
		ck_assert_msg(!*outcome.why, "%s: %s", line, outcome.why);
		/* An allocation is another one where libraries make more or fewer of them. */
		ck_assert_msg(!choices.fault || choices.fault == SIM_NO_MEMORY || outcome.struck,
			      "%s: the fault does not strike", line);
	}
	(void)fclose(kept);
}
END_TEST

START_TEST(a_seed_is_a_run)
{
	const struct sim_choices seven = sim_choices_of(7, sim_n_ends + (size_t)_i, true);
	const struct sim_choices eight = sim_choices_of(8, sim_n_ends + (size_t)_i, true);
	struct sim_outcome one, again, other;

	sim_run(&seven, &one);
	sim_run(&seven, &again);
	sim_run(&eight, &other);
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
	tcase_add_loop_test(tests, invariants_hold, 0, (int)(sim_n_profiles - sim_n_ends));
	tcase_add_loop_test(tests, a_fault_ends_one_run_at_most, 0,
			    (int)(sim_n_profiles - sim_n_ends));
	tcase_add_loop_test(tests, a_seed_is_a_run, 0, (int)(sim_n_profiles - sim_n_ends));
	tcase_add_loop_test(tests, a_wake_up_that_fails_is_made_again, 0, 4);
	tcase_add_test(tests, kept_worlds_hold);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
