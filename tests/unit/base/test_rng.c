/* SPDX-License-Identifier: Apache-2.0 */
#include "base/law.h"
#include "base/hash.h"
#include "base/rng.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

#define DRAWS 100000u

/* The numbers are part of what two hosts agree on: another version may not draw others. */
START_TEST(the_numbers_are_these)
{
	ck_assert_uint_eq(nm_rng(0, 0), UINT64_C(0xe220a8397b1dcdaf));
	ck_assert_uint_eq(nm_rng(0, 1), UINT64_C(0x6e789e6aa1b965f4));
	ck_assert_uint_eq(nm_rng(1234567, 0), UINT64_C(6457827717110365317));
	ck_assert_uint_eq(nm_rng(1234567, 1), UINT64_C(3203168211198807973));
	ck_assert_uint_eq(nm_rng(1234567, 4), UINT64_C(16408922859458223821));
}
END_TEST

/* The sum over the cells of (found - expected)^2 / expected. */
static double chi_square(const unsigned *cells, size_t n_cells, double expected)
{
	double sum = 0;

	for (size_t i = 0; i < n_cells; i++)
		sum += (cells[i] - expected) * (cells[i] - expected) / expected;
	return sum;
}

/* With n cells the sum is about n - 1, with a deviation of sqrt(2n): ten of these never happen by
 * chance. */
static const struct {
	unsigned bound, most;
} bounds[] = {{1, 1}, {2, 21}, {3, 26}, {7, 44}, {10, 54}, {64, 177}, {100, 241}};

START_TEST(each_number_is_as_likely)
{
	uint64_t bound = bounds[_i].bound;
	unsigned cells[100] = {0};

	for (uint64_t n = 0; n < DRAWS; n++) {
		uint64_t drawn = nm_rng_below(42, n, bound);

		ck_assert_uint_lt(drawn, bound);
		cells[drawn]++;
	}
	ck_assert_double_lt(chi_square(cells, bound, DRAWS / (double)bound), bounds[_i].most);
}
END_TEST

/* A bound for which half of the numbers are of no use. */
START_TEST(large_bounds_are_kept)
{
	const uint64_t bound = (UINT64_C(1) << 63) + 1;
	unsigned cells[4] = {0};

	for (uint64_t n = 0; n < DRAWS; n++) {
		uint64_t drawn = nm_rng_below(7, n, bound);

		ck_assert_uint_lt(drawn, bound);
		cells[drawn >> 61 & 3]++;
	}
	ck_assert_double_lt(chi_square(cells, 4, DRAWS / 4.0), 30);
}
END_TEST

/* Also of keys that differ by little: these are seeds, numbers of flows, numbers of passes. */
START_TEST(streams_differ)
{
	unsigned cells[16] = {0}, same = 0;

	for (uint64_t key = 0; key < 1000; key++) {
		for (uint64_t n = 0; n < 100; n++) {
			uint64_t here = nm_rng(key, n), there = nm_rng(key + 1, n);

			same += here == there || here == nm_rng(key + 1, n + 1);
			cells[(here ^ there) & 15]++;
		}
	}
	ck_assert_uint_eq(same, 0);
	ck_assert_double_lt(chi_square(cells, 16, 100000 / 16.0), 60);
}
END_TEST

START_TEST(a_number_depends_on_nothing_else)
{
	uint64_t forward[100];

	for (uint64_t n = 0; n < 100; n++)
		forward[n] = nm_rng_below(3, n, 1000);
	for (uint64_t n = 100; n-- > 0;)
		ck_assert_uint_eq(nm_rng_below(3, n, 1000), forward[n]);
}
END_TEST

START_TEST(what_fills_buffers_looks_random)
{
	static char bytes[1 << 16];
	unsigned cells[256] = {0};

	nm_rng_fill(bytes, sizeof bytes - 1);
	ck_assert_int_eq(bytes[sizeof bytes - 1], 0);
	for (size_t i = 0; i < sizeof bytes - 1; i++)
		cells[(unsigned char)bytes[i]]++;
	ck_assert_double_lt(chi_square(cells, 256, sizeof bytes / 256.0), 480);
}
END_TEST

START_TEST(laws)
{
	const struct nm_law fixed = {.kind = NM_LAW_CONST, .min = 5, .max = 5},
			    one = {.kind = NM_LAW_UNIFORM, .min = 9, .max = 9},
			    some = {.kind = NM_LAW_UNIFORM, .min = 10, .max = 13},
			    all = {.kind = NM_LAW_UNIFORM, .min = 0, .max = UINT64_MAX};
	unsigned cells[4] = {0};

	for (uint64_t n = 0; n < DRAWS; n++) {
		uint64_t drawn = nm_law_draw(&some, 1, n);

		ck_assert(drawn >= 10 && drawn <= 13);
		cells[drawn - 10]++;
	}
	ck_assert_double_lt(chi_square(cells, 4, DRAWS / 4.0), 30);
	ck_assert_uint_eq(nm_law_draw(&fixed, 1, 2), 5);
	ck_assert_uint_eq(nm_law_draw(&one, 1, 2), 9);
	ck_assert_uint_eq(nm_law_draw(&all, 1, 2), nm_rng(1, 2));
}
END_TEST

START_TEST(a_hash_is_the_same_everywhere)
{
	ck_assert_uint_eq(nm_hash("netmodel", 8), UINT64_C(0xc3200a3b30ae7ed0));
	ck_assert_uint_eq(nm_hash("key:1", 5), UINT64_C(0xeae5530df3ce34f7));
	ck_assert_uint_ne(nm_hash("\0", 1), nm_hash("\0\0", 2));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("draw");
	TCase *tc = tcase_create("draw");

	tcase_add_test(tc, the_numbers_are_these);
	tcase_add_loop_test(tc, each_number_is_as_likely, 0, sizeof bounds / sizeof *bounds);
	tcase_add_test(tc, large_bounds_are_kept);
	tcase_add_test(tc, streams_differ);
	tcase_add_test(tc, a_number_depends_on_nothing_else);
	tcase_add_test(tc, what_fills_buffers_looks_random);
	tcase_add_test(tc, laws);
	tcase_add_test(tc, a_hash_is_the_same_everywhere);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
