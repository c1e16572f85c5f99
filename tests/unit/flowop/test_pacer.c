/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/pacer.h"

#include <check.h>

#include "../suite.h"

#define BEGIN_NS  UINT64_C(5000000000)
#define PERIOD_NS UINT64_C(1000)

static const struct nm_pacer pacer = {
	.period_ns = PERIOD_NS, .begin_ns = BEGIN_NS, .last_ns = UINT64_MAX, .n_flows = 4};

START_TEST(flows_are_spread_over_the_first_interval)
{
	for (uint32_t i = 0; i < pacer.n_flows; i++) {
		const struct nm_flow flow = {.index = i};

		ck_assert_uint_eq(nm_pacer_next(&pacer, &flow, 0), BEGIN_NS + i * PERIOD_NS / 4);
	}
}
END_TEST

/* Whatever the time was when each was asked for. */
START_TEST(intervals_do_not_drift)
{
	const struct nm_flow flow = {.index = 2};
	uint64_t at_ns = nm_pacer_next(&pacer, &flow, 0), first_ns = at_ns;

	for (uint64_t n = 1; n <= 1000; n++) {
		at_ns = nm_pacer_next(&pacer, &flow, at_ns);
		ck_assert_uint_eq(at_ns, first_ns + n * PERIOD_NS);
	}
}
END_TEST

START_TEST(what_is_beyond_all_time_is_never_due)
{
	const struct nm_flow flow = {.index = 0};

	ck_assert_uint_eq(nm_pacer_next(&pacer, &flow, UINT64_MAX - PERIOD_NS), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pacer");
	TCase *tcase = tcase_create("pacer");

	tcase_add_test(tcase, flows_are_spread_over_the_first_interval);
	tcase_add_test(tcase, intervals_do_not_drift);
	tcase_add_test(tcase, what_is_beyond_all_time_is_never_due);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
