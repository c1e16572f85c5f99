/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/hist.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "../suite.h"

static struct nm_hist hist;
static struct nm_hist_snap snap, other;

static void init(struct nm_hist *empty)
{
	memset(empty, 0, sizeof *empty);
	nm_hist_init_zeroed(empty);
}

static void copy(const struct nm_hist *from, struct nm_hist_snap *ret)
{
	nm_hist_snap_init(ret);
	nm_hist_collect(ret, from);
}

static void start(void)
{
	init(&hist);
	nm_hist_snap_init(&snap);
	nm_hist_snap_init(&other);
}

/* xorshift64*: the same values in every run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void record_all(uint64_t from, uint64_t to)
{
	for (uint64_t ns = from; ns <= to; ns++)
		nm_hist_record(&hist, ns);
}

static void assert_near(double value, double expected, double tolerance)
{
	ck_assert_double_le(fabs(value - expected), tolerance);
}

START_TEST(buckets_alone_are_those_of_a_whole_copy)
{
	static struct nm_hist live;
	static struct nm_hist_snap whole, buckets;
	const uint64_t values[] = {3, 300, 300, 70000, UINT64_MAX};

	init(&live);
	nm_hist_copy_buckets(&live, &buckets);
	ck_assert_uint_eq(buckets.count, 0);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		nm_hist_record(&live, values[i]);
		copy(&live, &whole);
		nm_hist_copy_buckets(&live, &buckets);
		ck_assert_uint_eq(buckets.count, i + 1);
		ck_assert_uint_eq(buckets.min_ns, whole.min_ns);
		ck_assert_uint_eq(buckets.max_ns, whole.max_ns);
		ck_assert_mem_eq(buckets.bucket, whole.bucket, sizeof whole.bucket);
	}
}
END_TEST

START_TEST(buckets_follow_each_other_without_gap)
{
	uint64_t expected = 0;

	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++) {
		uint64_t low = nm_hist_bucket_low(i), last = low + nm_hist_bucket_width(i) - 1;

		ck_assert_uint_eq(low, expected);
		ck_assert_uint_eq(nm_hist_index(low), i);
		ck_assert_uint_eq(nm_hist_index(last), i);
		expected = last + 1;
	}
	/* The last bucket ends with the last number there is. */
	ck_assert_uint_eq(expected, 0);
	ck_assert_uint_eq(nm_hist_index(UINT64_MAX), NM_HIST_BUCKETS - 1);
}
END_TEST

static void assert_precise(uint64_t ns)
{
	unsigned index = nm_hist_index(ns);

	ck_assert_uint_lt(index, NM_HIST_BUCKETS);
	uint64_t low = nm_hist_bucket_low(index), width = nm_hist_bucket_width(index);

	ck_assert_uint_le(low, ns);
	ck_assert_uint_lt(ns - low, width);
	init(&hist);
	nm_hist_record(&hist, ns);
	copy(&hist, &snap);
	/* Without the minimum and the maximum, which would make it exact. */
	snap.min_ns = 0;
	snap.max_ns = UINT64_MAX;
	double off = fabs(nm_hist_percentile_s(&snap, 50) * 1e9 - (double)ns);

	ck_assert_msg(off <= (double)ns / 256 * (1 + 1e-9), "%llu ns is off by %g",
		      (unsigned long long)ns, off);
}

START_TEST(reported_values_are_within_a_256th)
{
	uint64_t state = 88172645463325252u;

	for (unsigned bit = 0; bit < 64; bit++) {
		assert_precise(UINT64_C(1) << bit);
		assert_precise((UINT64_C(1) << bit) - 1);
		assert_precise((UINT64_C(1) << bit) + 1);
		/* All magnitudes alike, not mostly the largest. */
		for (unsigned i = 0; i < 32; i++)
			assert_precise(next_random(&state) >> bit);
	}
	assert_precise(UINT64_MAX);
	assert_precise(UINT64_MAX - 1);
}
END_TEST

START_TEST(an_empty_histogram_gives_zeros)
{
	copy(&hist, &snap);
	ck_assert_uint_eq(snap.count, 0);
	ck_assert_uint_eq(snap.min_ns, UINT64_MAX);
	ck_assert_uint_eq(snap.max_ns, 0);
	ck_assert_double_eq(nm_hist_percentile_s(&snap, 50), 0);
	ck_assert_double_eq(nm_hist_mean_s(&snap), 0);
	ck_assert_double_eq(nm_hist_stddev_s(&snap), 0);
}
END_TEST

START_TEST(figures_of_known_values)
{
	record_all(1, 100);
	copy(&hist, &snap);
	ck_assert_uint_eq(snap.count, 100);
	ck_assert_uint_eq(snap.sum_ns, 5050);
	ck_assert_uint_eq(snap.min_ns, 1);
	ck_assert_uint_eq(snap.max_ns, 100);
	assert_near(nm_hist_mean_s(&snap), 50.5e-9, 1e-15);
	/* Of 1..n: (n^2 - 1) / 12. */
	assert_near(nm_hist_stddev_s(&snap), sqrt(9999.0 / 12) * 1e-9, 1e-15);
	assert_near(nm_hist_percentile_s(&snap, 0), 1e-9, 1e-15);
	assert_near(nm_hist_percentile_s(&snap, 1), 1e-9, 1e-15);
	assert_near(nm_hist_percentile_s(&snap, 50), 50e-9, 1e-15);
	assert_near(nm_hist_percentile_s(&snap, 99), 99e-9, 1e-15);
	assert_near(nm_hist_percentile_s(&snap, 99.5), 100e-9, 1e-15);
	assert_near(nm_hist_percentile_s(&snap, 100), 100e-9, 1e-15);
}
END_TEST

static const struct {
	double pct;
	uint64_t n, rank;
} ranks[] = {
	{99.9, 1000, 999}, {99.9, 10000, 9990}, {99.99, 10000, 9999}, {99, 100, 99},
	{90, 10, 9},	   {95, 20, 19},	{99.9, 1001, 1000},   {50, 3, 2},
};

/* The last of the values that reach the rank is 7, all beyond are 200. */
START_TEST(a_percentile_is_of_the_nearest_rank)
{
	for (uint64_t i = 1; i <= ranks[_i].n; i++)
		nm_hist_record(&hist, i <= ranks[_i].rank ? 7 : 200);
	copy(&hist, &snap);
	assert_near(nm_hist_percentile_s(&snap, ranks[_i].pct), 7e-9, 1e-15);
	init(&hist);
	for (uint64_t i = 1; i <= ranks[_i].n; i++)
		nm_hist_record(&hist, i < ranks[_i].rank ? 7 : 200);
	copy(&hist, &snap);
	assert_near(nm_hist_percentile_s(&snap, ranks[_i].pct), 200e-9, 1e-15);
}
END_TEST

START_TEST(percentiles_stay_within_minimum_and_maximum)
{
	/* Both in one bucket, whose middle is neither. */
	nm_hist_record(&hist, 1000001);
	nm_hist_record(&hist, 1000002);
	copy(&hist, &snap);
	ck_assert_double_ge(nm_hist_percentile_s(&snap, 0), 1000001e-9 * (1 - 1e-12));
	ck_assert_double_le(nm_hist_percentile_s(&snap, 100), 1000002e-9 * (1 + 1e-12));
}
END_TEST

START_TEST(the_ends_are_minimum_and_maximum)
{
	/* In the double that is nearest to the nanoseconds, as others divide them. */
	for (uint64_t ns = 1000001; ns < 1000100; ns += 3) {
		init(&hist);
		nm_hist_record(&hist, ns);
		nm_hist_record(&hist, ns + 1);
		nm_hist_record(&hist, 7 * ns);
		copy(&hist, &snap);
		ck_assert_double_eq(nm_hist_percentile_s(&snap, 0), (double)ns / 1e9);
		ck_assert_double_eq(nm_hist_percentile_s(&snap, 100), (double)(7 * ns) / 1e9);
	}
}
END_TEST

START_TEST(equal_values_have_no_deviation)
{
	for (int i = 0; i < 1000; i++)
		nm_hist_record(&hist, 123456789012345);
	copy(&hist, &snap);
	double stddev = nm_hist_stddev_s(&snap);

	ck_assert(!isnan(stddev));
	ck_assert_double_ge(stddev, 0);
	ck_assert_double_le(stddev, 123456.789012345 * 1e-9);
}
END_TEST

START_TEST(deviation_of_large_values_is_within_its_bound)
{
	uint64_t state = 1;
	double sum = 0, squares = 0;
	const int n = 20000;

	for (int i = 0; i < n; i++) {
		uint64_t ns = 1000000 + next_random(&state) % 1000000;

		nm_hist_record(&hist, ns);
		sum += (double)ns;
		squares += (double)ns * (double)ns;
	}
	copy(&hist, &snap);
	double exact = sqrt(squares / n - sum / n * (sum / n));

	assert_near(nm_hist_stddev_s(&snap) * 1e9, exact, sum / n / 440);
	assert_near(nm_hist_mean_s(&snap) * 1e9, sum / n, 1e-3);
}
END_TEST

START_TEST(merging_is_as_if_recorded_together)
{
	record_all(1, 50);
	copy(&hist, &snap);
	init(&hist);
	record_all(51, 100);
	copy(&hist, &other);
	nm_hist_snap_merge(&snap, &other);
	ck_assert_uint_eq(snap.count, 100);
	ck_assert_uint_eq(snap.sum_ns, 5050);
	ck_assert_uint_eq(snap.min_ns, 1);
	ck_assert_uint_eq(snap.max_ns, 100);
	assert_near(nm_hist_percentile_s(&snap, 75), 75e-9, 1e-15);
}
END_TEST

START_TEST(merging_nothing_changes_nothing)
{
	record_all(7, 9);
	copy(&hist, &snap);
	nm_hist_snap_merge(&snap, &other);
	ck_assert_uint_eq(snap.count, 3);
	ck_assert_uint_eq(snap.min_ns, 7);
	ck_assert_uint_eq(snap.max_ns, 9);
	nm_hist_snap_merge(&other, &snap);
	ck_assert_uint_eq(other.count, 3);
	ck_assert_uint_eq(other.min_ns, 7);
	ck_assert_uint_eq(other.max_ns, 9);
}
END_TEST

START_TEST(collecting_adds)
{
	record_all(10, 19);
	nm_hist_collect(&snap, &hist);
	nm_hist_collect(&snap, &hist);
	ck_assert_uint_eq(snap.count, 20);
	ck_assert_uint_eq(snap.bucket[10], 2);
	ck_assert_uint_eq(snap.sum_ns, 2 * 145);
	ck_assert_uint_eq(snap.min_ns, 10);
	ck_assert_uint_eq(snap.max_ns, 19);
}
END_TEST

/* Reads no more than what was recorded, and adds as much as a whole reading. */
START_TEST(what_was_touched_is_all)
{
	nm_hist_collect_touched(&snap, &hist);
	ck_assert_uint_eq(snap.count, 0);
	ck_assert_uint_eq(snap.min_ns, UINT64_MAX);
	nm_hist_record(&hist, 7);
	nm_hist_record(&hist, 1000000);
	nm_hist_record(&hist, UINT64_MAX);
	nm_hist_collect_touched(&snap, &hist);
	nm_hist_collect(&other, &hist);
	ck_assert_mem_eq(&snap, &other, sizeof snap);
	/* Below the minimum, where the writer may be between two stores. */
	atomic_store(&hist.bucket[nm_hist_index(3)], 1);
	nm_hist_collect_touched(&snap, &hist);
	ck_assert_uint_eq(snap.count, 6);
}
END_TEST

/* As another thread may see it: the writer has not come to the minimum and the maximum yet. */
START_TEST(a_copy_between_two_stores_has_a_minimum_and_a_maximum)
{
	atomic_store(&hist.bucket[nm_hist_index(50)], 1);
	copy(&hist, &snap);
	ck_assert_uint_eq(snap.count, 1);
	ck_assert_uint_eq(snap.min_ns, 50);
	ck_assert_uint_eq(snap.max_ns, 50);
	init(&hist);
	nm_hist_record(&hist, 60);
	atomic_store(&hist.bucket[nm_hist_index(50)], 1);
	atomic_store(&hist.bucket[nm_hist_index(70)], 1);
	copy(&hist, &snap);
	ck_assert_uint_eq(snap.min_ns, 50);
	ck_assert_uint_eq(snap.max_ns, 70);
	/* A wide bucket: the maximum is read after the minimum, and may be there already. */
	init(&hist);
	atomic_store(&hist.bucket[nm_hist_index(1001)], 1);
	atomic_store(&hist.max_ns, 1001);
	copy(&hist, &snap);
	ck_assert_uint_eq(snap.min_ns, nm_hist_bucket_low(nm_hist_index(1001)));
	ck_assert_uint_eq(snap.max_ns, 1001);
}
END_TEST

START_TEST(subtracting_leaves_what_came_later)
{
	nm_hist_record(&hist, 5);
	nm_hist_record(&hist, 9000000);
	copy(&hist, &other);
	nm_hist_record(&hist, 200);
	nm_hist_record(&hist, 100000);
	copy(&hist, &snap);
	nm_hist_snap_subtract(&snap, &other);
	ck_assert_uint_eq(snap.count, 2);
	ck_assert_uint_eq(snap.sum_ns, 100200);
	ck_assert_uint_eq(snap.min_ns, 200);
	unsigned index = nm_hist_index(100000);

	ck_assert_uint_eq(snap.max_ns, nm_hist_bucket_low(index) + nm_hist_bucket_width(index) - 1);
}
END_TEST

START_TEST(edges_are_no_wider_than_the_later_minimum_and_maximum)
{
	nm_hist_record(&hist, 500000);
	copy(&hist, &other);
	nm_hist_record(&hist, 100001);
	nm_hist_record(&hist, 900001);
	copy(&hist, &snap);
	nm_hist_snap_subtract(&snap, &other);
	/* The edges of their buckets are below and above them. */
	ck_assert_uint_eq(snap.min_ns, 100001);
	ck_assert_uint_eq(snap.max_ns, 900001);
}
END_TEST

START_TEST(the_edge_of_the_last_bucket_does_not_overflow)
{
	nm_hist_record(&hist, 1);
	copy(&hist, &other);
	nm_hist_record(&hist, UINT64_MAX);
	copy(&hist, &snap);
	nm_hist_snap_subtract(&snap, &other);
	ck_assert_uint_eq(snap.max_ns, UINT64_MAX);
	ck_assert_uint_eq(snap.min_ns, nm_hist_bucket_low(NM_HIST_BUCKETS - 1));
}
END_TEST

START_TEST(subtracting_all_leaves_an_empty_one)
{
	record_all(1, 10);
	copy(&hist, &snap);
	nm_hist_snap_subtract(&snap, &snap);
	ck_assert_uint_eq(snap.count, 0);
	ck_assert_uint_eq(snap.min_ns, UINT64_MAX);
	ck_assert_uint_eq(snap.max_ns, 0);
	ck_assert_double_eq(nm_hist_percentile_s(&snap, 99), 0);
	ck_assert_double_eq(nm_hist_stddev_s(&snap), 0);
}
END_TEST

START_TEST(counts_and_ranks_have_64_bits)
{
	/* 2^34 of 10 ns and as many of 200 ns. */
	nm_hist_record(&hist, 10);
	nm_hist_record(&hist, 200);
	nm_hist_collect(&snap, &hist);
	for (int i = 0; i < 34; i++) {
		other = snap;
		nm_hist_snap_merge(&snap, &other);
	}
	ck_assert_uint_eq(snap.count, UINT64_C(2) << 34);
	ck_assert_double_eq(nm_hist_percentile_s(&snap, 49.9), 10e-9);
	ck_assert_double_eq(nm_hist_percentile_s(&snap, 50.1), 200e-9);
	ck_assert_double_eq(nm_hist_mean_s(&snap), 105e-9);
	assert_near(nm_hist_stddev_s(&snap), 95e-9, 1e-10);
	/* Where the worker counts, too. */
	for (int i = 0; i < 2; i++)
		atomic_store(&hist.bucket[nm_hist_index(i ? 200 : 10)], UINT32_MAX);
	nm_hist_record(&hist, 200);
	nm_hist_snap_init(&snap);
	nm_hist_collect(&snap, &hist);
	ck_assert_uint_eq(snap.count, (UINT64_C(2) << 32) - 1);
	ck_assert_double_eq(nm_hist_percentile_s(&snap, 75), 200e-9);
}
END_TEST

/* Hours of a heavy overload: the sum of the times is more than 64 bits have. */
START_TEST(a_sum_that_does_not_fit_spoils_no_mean)
{
	const uint64_t hour_ns = UINT64_C(3600000000000);

	nm_hist_record(&hist, hour_ns);
	copy(&hist, &snap);
	for (int i = 0; i < 24; i++) {
		other = snap;
		nm_hist_snap_merge(&snap, &other);
		assert_near(nm_hist_mean_s(&snap), 3600, 3600. / 256);
	}
	ck_assert_uint_eq(snap.count, UINT64_C(1) << 24);
	/* What comes after it is known exactly, with the bits that cross the wire. */
	other = snap;
	other.sum_ns &= INT64_MAX;
	nm_hist_record(&hist, 1000);
	nm_hist_snap_init(&snap);
	nm_hist_collect(&snap, &hist);
	snap.count += other.count - 1;
	snap.bucket[nm_hist_index(hour_ns)] += other.count - 1;
	snap.sum_ns = (other.sum_ns + 1000) & INT64_MAX;
	nm_hist_snap_subtract(&snap, &other);
	ck_assert_uint_eq(snap.count, 1);
	assert_near(nm_hist_mean_s(&snap), 1e-6, 1e-12);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hist");
	TCase *tc = tcase_create("hist");

	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, buckets_alone_are_those_of_a_whole_copy);
	tcase_add_test(tc, buckets_follow_each_other_without_gap);
	tcase_add_test(tc, reported_values_are_within_a_256th);
	tcase_add_test(tc, an_empty_histogram_gives_zeros);
	tcase_add_test(tc, figures_of_known_values);
	tcase_add_loop_test(tc, a_percentile_is_of_the_nearest_rank, 0,
			    sizeof ranks / sizeof *ranks);
	tcase_add_test(tc, percentiles_stay_within_minimum_and_maximum);
	tcase_add_test(tc, the_ends_are_minimum_and_maximum);
	tcase_add_test(tc, equal_values_have_no_deviation);
	tcase_add_test(tc, deviation_of_large_values_is_within_its_bound);
	tcase_add_test(tc, merging_is_as_if_recorded_together);
	tcase_add_test(tc, merging_nothing_changes_nothing);
	tcase_add_test(tc, collecting_adds);
	tcase_add_test(tc, what_was_touched_is_all);
	tcase_add_test(tc, a_copy_between_two_stores_has_a_minimum_and_a_maximum);
	tcase_add_test(tc, subtracting_leaves_what_came_later);
	tcase_add_test(tc, edges_are_no_wider_than_the_later_minimum_and_maximum);
	tcase_add_test(tc, the_edge_of_the_last_bucket_does_not_overflow);
	tcase_add_test(tc, subtracting_all_leaves_an_empty_one);
	tcase_add_test(tc, counts_and_ranks_have_64_bits);
	tcase_add_test(tc, a_sum_that_does_not_fit_spoils_no_mean);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
