/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile slave may tell of a run, with times made up. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "../suite.h"
#include "control/master/claims.h"

#define S UINT64_C(1000000000)

static struct nm_claims claims;

static void start(void)
{
	claims = (struct nm_claims){.interval_ns = S};
	nm_claims_begin(&claims, 1, 100 * S);
}

static const char *row(uint32_t phase, double from_s, double to_s, uint64_t now_ns)
{
	const struct nm_host_interval one = {.phase = phase, .from_s = from_s, .to_s = to_s};

	return nm_claims_row(&claims, &one, now_ns);
}

START_TEST(rows_follow_each_other_on_the_grid)
{
	ck_assert_ptr_null(row(1, 0, 1, 101 * S));
	ck_assert_ptr_null(row(1, 1, 2, 102 * S));
	ck_assert_ptr_null(row(1, 2, 2.25, 102 * S));
	ck_assert_str_eq(row(1, 2, 3, 103 * S), "it does not come after the one before");
	ck_assert_str_eq(row(1, 3, 2.5, 103 * S), "it does not come after the one before");
	ck_assert_str_eq(row(1, 3, 1e18, 103 * S), "it ends in the future");
}
END_TEST

START_TEST(rows_come_while_their_phase_runs)
{
	ck_assert_ptr_nonnull(row(0, 0, 1, 101 * S));
	ck_assert_ptr_nonnull(row(2, 0, 1, 101 * S));
	claims.began = false;
	ck_assert_str_eq(row(1, 0, 1, 101 * S), "it is not of the phase that the slave is in");
}
END_TEST

START_TEST(there_are_no_more_rows_than_intervals)
{
	unsigned n = 0;

	while (n < 1000 && !row(1, 0, 0, 110 * S))
		n++;
	/* 10 intervals, one second of slack, the last, and one that was due. */
	ck_assert_uint_eq(n, 13);
	nm_claims_begin(&claims, 2, 110 * S);
	ck_assert_ptr_null(row(2, 0, 0, 110 * S));
	claims.interval_ns = 0;
	ck_assert_str_eq(row(2, 0, 0, 110 * S), "there are no intervals in this run");
}
END_TEST

START_TEST(samples_lie_within_their_phase)
{
	struct nm_flow_rows flows = {.phase = 1, .at_ns = 101 * S, .seconds = 1};
	struct nm_tcp_sample sample = {.at_ns = 101 * S};
	const struct nm_tcp_rows tcp = {.phase = 1, .rows = &sample, .count = 1};

	ck_assert_ptr_null(nm_claims_flows(&claims, &flows, 102 * S));
	ck_assert_ptr_null(nm_claims_tcp(&claims, &tcp, 102 * S));
	flows.at_ns = sample.at_ns = 98 * S;
	ck_assert_ptr_nonnull(nm_claims_flows(&claims, &flows, 102 * S));
	ck_assert_ptr_nonnull(nm_claims_tcp(&claims, &tcp, 102 * S));
	flows.at_ns = sample.at_ns = 104 * S;
	ck_assert_ptr_nonnull(nm_claims_flows(&claims, &flows, 102 * S));
	ck_assert_ptr_nonnull(nm_claims_tcp(&claims, &tcp, 102 * S));
	flows.at_ns = sample.at_ns = UINT64_MAX - 5;
	ck_assert_ptr_nonnull(nm_claims_flows(&claims, &flows, 102 * S));
	ck_assert_ptr_nonnull(nm_claims_tcp(&claims, &tcp, 102 * S));
	flows.at_ns = 101 * S;
	flows.seconds = 1e18;
	ck_assert_ptr_nonnull(nm_claims_flows(&claims, &flows, 102 * S));
}
END_TEST

START_TEST(a_window_is_no_longer_than_its_run)
{
	struct nm_counts groups[] = {{.bytes_received = 2}, {.bytes_received = 3}};
	struct nm_msg_result result;

	memset(&result, 0, sizeof result);
	result.groups = groups;
	result.n_groups = 2;
	result.window = (struct nm_host_window){.from_ns = 7 * S, .to_ns = 9 * S, .ns = 2 * S};
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.window.to_ns = 6 * S;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window.to_ns = 20 * S;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window = (struct nm_host_window){.ns = 20 * S};
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window.ns = 0;
	result.others = (struct nm_msg_others){.runs = 1, .ns = 2 * S, .of_ns = 1 * S};
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.others = (struct nm_msg_others){.runs = 1, .ns = 20 * S, .of_ns = 20 * S};
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.others = (struct nm_msg_others){.runs = 1, .ns = 1 * S, .of_ns = 2 * S};
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.window.counts.bytes_received = 5;
	result.window.after_bytes = 5;
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.window.after_bytes = 6;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window.after_bytes = 0;
	result.window.late_bytes = 1;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	groups[0].bytes_received = UINT64_MAX; /* the sum is no number */
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.window.late_bytes = UINT64_MAX;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window.late_bytes = 0;
	/* Who has the results warns of that. */
	groups[0].bytes_received = 1;
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.window.ns = result.window.late_ns = S;
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.window.ns = result.window.late_ns = 2 * S;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window.late_ns = UINT64_MAX;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.window.ns = result.window.late_ns = 0;
	result.arrived.ns = 20 * S;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.arrived.ns = 0;
	result.usage.at_ns = 20 * S;
	ck_assert_ptr_null(nm_claims_result(&result, 2 * S));
	result.has_usage = true;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
	result.has_usage = false;
	result.connections.srtt_min_s = 2;
	result.connections.srtt_max_s = 1;
	ck_assert_ptr_nonnull(nm_claims_result(&result, 2 * S));
}
END_TEST

static double skew(uint64_t begun_ns)
{
	return nm_claims_skew(&claims, 100 * S + 1000, begun_ns, 101 * S, 1e-4);
}

START_TEST(a_begin_outside_of_its_phase_is_not_known)
{
	ck_assert(fabs(skew(100 * S + 5000) - 4e-6) < 1e-12);
	/* The clocks are known as well as that. */
	ck_assert(skew(100 * S - 50000) < 0);
	ck_assert(isnan(skew(99 * S)));
	ck_assert(isnan(skew(102 * S)));
	ck_assert(isnan(skew(UINT64_MAX / 2)));
	ck_assert(isnan(skew(0)));
}
END_TEST

START_TEST(a_part_is_no_more_than_the_whole)
{
	const struct nm_counts whole = {.iterations = 5, .bytes_sent = 7};
	struct nm_counts part = {.iterations = 5, .bytes_sent = 7};

	ck_assert_ptr_null(nm_claims_beyond(&part, &whole));
	part.bytes_sent++;
	ck_assert_str_eq(nm_claims_beyond(&part, &whole), "bytes_sent");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("claims");
	TCase *tc = tcase_create("claims");

	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, rows_follow_each_other_on_the_grid);
	tcase_add_test(tc, rows_come_while_their_phase_runs);
	tcase_add_test(tc, there_are_no_more_rows_than_intervals);
	tcase_add_test(tc, samples_lie_within_their_phase);
	tcase_add_test(tc, a_window_is_no_longer_than_its_run);
	tcase_add_test(tc, a_begin_outside_of_its_phase_is_not_known);
	tcase_add_test(tc, a_part_is_no_more_than_the_whole);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
