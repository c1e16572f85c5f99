/* SPDX-License-Identifier: Apache-2.0 */
/* Some hundred scripts of calls on the simulated kernel and on the machine's. */
#include <check.h>

#include "../unit/suite.h"
#include "conform.h"

#define SCRIPTS 100

START_TEST(both_kernels_say_the_same)
{
	struct sim_choices choices = sim_choices_plain();

	for (uint64_t i = 1; i <= SCRIPTS; i++) {
		struct sim_outcome outcome;

		choices.seed = (uint64_t)_i * SCRIPTS + i;
		sim_conform(&choices, &outcome);
		ck_assert_msg(!*outcome.why, "seed %llu: %s; build/tests/sim/sim conform %llu",
			      (unsigned long long)choices.seed, outcome.why,
			      (unsigned long long)choices.seed);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conformance");
	TCase *tests = tcase_create("scripts");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, both_kernels_say_the_same, 0, 4);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
