/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/phase/rcvlowat.h"

#include <check.h>

#include "../suite.h"

#define ENOUGH 1000

START_TEST(flows_that_bring_their_mark_are_left_alone)
{
	struct nm_rcvlowat rcvlowat = {.on = true};

	ck_assert(!nm_rcvlowat_is_slow(&rcvlowat, ENOUGH, ENOUGH));
	ck_assert(!nm_rcvlowat_is_slow(&rcvlowat, 3 * ENOUGH, ENOUGH));
}
END_TEST

START_TEST(what_is_less_than_the_marks_is_received)
{
	struct nm_rcvlowat rcvlowat = {.on = true};

	ck_assert(nm_rcvlowat_is_slow(&rcvlowat, ENOUGH - 1, ENOUGH));
	ck_assert(!nm_rcvlowat_is_slow(&rcvlowat, 2 * ENOUGH - 1, ENOUGH));
	ck_assert(nm_rcvlowat_is_slow(&rcvlowat, 2 * ENOUGH, ENOUGH));
}
END_TEST

/* One slow flow among fast ones is not left alone for ever. */
START_TEST(each_tenth_time_all_is_received)
{
	struct nm_rcvlowat rcvlowat = {.on = true};
	uint64_t received = 0;

	for (unsigned i = 1; i <= 40; i++)
		ck_assert_int_eq(nm_rcvlowat_is_slow(&rcvlowat, received += ENOUGH, ENOUGH),
				 i % 10 == 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rcvlowat");
	TCase *tcase = tcase_create("decision");

	tcase_add_test(tcase, flows_that_bring_their_mark_are_left_alone);
	tcase_add_test(tcase, what_is_less_than_the_marks_is_received);
	tcase_add_test(tcase, each_tenth_time_all_is_received);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
