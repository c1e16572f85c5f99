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
	NM_COUNTERS(PUT)
	nm_counts_collect(&sum, &live);
	nm_counts_add(&twice, &sum);
	nm_counts_add(&twice, &sum);
	nm_counts_subtract(&sum, &(struct nm_counts){.connects = 1, .bytes_sent = 2});
	twice.requests /= NM_OUTCOMES__COUNT - 2; /* the sum of the classes */
#define CHECK(name, ...) ck_assert_uint_eq(twice.name, 2 * ((UINT64_C(1) << 32) + 1));
	NM_COUNTERS(CHECK)
	ck_assert_uint_eq(sum.connects, UINT64_C(1) << 32);
	ck_assert_uint_eq(sum.bytes_sent, BEFORE);
}
END_TEST

/* A worker that is between two of its counters is not seen so. */
START_TEST(requests_are_those_that_have_ended)
{
	struct nm_counters live = {.requests = 8, .hits = 3, .lost = 4}, serves = {.hits = 7};
	struct nm_counts sum = {0};

	nm_counts_collect(&sum, &live);
	ck_assert_uint_eq(sum.requests, 7);
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
