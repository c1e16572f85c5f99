/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/counters.h"

#include <check.h>

#include "../suite.h"

#define BEFORE ((UINT64_C(1) << 32) - 1)

START_TEST(counters_have_64_bits)
{
	struct nm_counters live = {0};
	struct nm_counts sum = {0}, twice = {0};

#define PUT(name, ...)                                                                             \
	nm_counter_add(&live.name, BEFORE);                                                        \
	nm_counter_add(&live.name, 2);
	NM_COUNTERS_WITH(PUT, NM_OUTCOME_CLASSES)
	nm_counts_collect(&sum, &live);
	nm_counts_add(&twice, &sum);
	nm_counts_add(&twice, &sum);
	nm_counts_subtract(&sum, &(struct nm_counts){.connects = 1, .bytes_sent = 2});
#define CHECK(name, ...) ck_assert_uint_eq(twice.name, 2 * ((UINT64_C(1) << 32) + 1));
	NM_COUNTERS_WITH(CHECK, NM_OUTCOME_CLASSES)
	ck_assert_uint_eq(sum.connects, UINT64_C(1) << 32);
	ck_assert_uint_eq(sum.bytes_sent, BEFORE);
}
END_TEST

/* Those whose classes are in the counts of a worker are of the other end. */
START_TEST(requests_are_those_that_have_ended)
{
	struct nm_counters serves = {.hits = 7};
	struct nm_outcome_counters live = {.hits = 3, .lost = 4, .tcp_fallback = 1};
	struct nm_outcomes outcomes = {0};
	struct nm_counts sum = {0};

	nm_outcomes_collect(&outcomes, &live);
	ck_assert_uint_eq(outcomes.requests, 7);
	nm_counts_add_outcomes(&sum, &outcomes);
	nm_counts_collect(&sum, &serves);
	ck_assert_uint_eq(sum.requests, 7);
	ck_assert_uint_eq(sum.hits, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counters");
	TCase *tc = tcase_create("counters");

	tcase_add_test(tc, counters_have_64_bits);
	tcase_add_test(tc, requests_are_those_that_have_ended);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
