/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/idle_path.h"

#include <check.h>

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

START_TEST(sizes_are_the_ends_and_the_borders_between)
{
	static const struct {
		uint64_t least, most;
		size_t count;
		uint64_t sizes[NM_IDLE_SIZES];
	} cases[] = {{7, 7, 1, {7}},
		     {1, 9999, 2, {1, 9999}},
		     {10000, 100000, 2, {10000, 100000}},
		     {5000, 50000, 3, {5000, 10000, 50000}},
		     {1, 40000001, 6, {1, 10000, 100000, 1000000, 10000000, 40000000}},
		     {1, UINT64_MAX, 6, {1, 10000, 100000, 1000000, 10000000, 40000000}},
		     {50000000, 60000000, 2, {50000000, 60000000}}};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t sizes[NM_IDLE_SIZES];

		ck_assert_uint_eq(nm_idle_path_sizes(cases[i].least, cases[i].most, sizes),
				  cases[i].count);
		for (size_t k = 0; k < cases[i].count; k++)
			ck_assert_uint_eq(sizes[k], cases[i].sizes[k]);
	}
}
END_TEST

START_TEST(the_least_time_counts)
{
	struct nm_idle_path path = {.count = 0};

	ck_assert_double_eq(nm_idle_path_s(&path, 5), 0);
	nm_idle_path_note(&path, 100, 3000);
	nm_idle_path_note(&path, 100, 2000);
	nm_idle_path_note(&path, 100, 4000);
	ck_assert_uint_eq(path.count, 1);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 100), 2e-6, 1e-15);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 1000000), 2e-6, 1e-15);
}
END_TEST

START_TEST(between_sizes_and_beyond_them_times_lie_on_lines)
{
	struct nm_idle_path path = {.count = 0};

	nm_idle_path_note(&path, 2000, 40000);
	nm_idle_path_note(&path, 1000, 10000);
	nm_idle_path_note(&path, 4000, 60000);
	ck_assert_uint_eq(path.sizes[0].bytes, 1000);
	ck_assert_uint_eq(path.sizes[1].bytes, 2000);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 1000), 10e-6, 1e-12);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 1500), 25e-6, 1e-12);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 2000), 40e-6, 1e-12);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 3000), 50e-6, 1e-12);
	ck_assert_double_eq_tol(nm_idle_path_s(&path, 6000), 80e-6, 1e-12);
}
END_TEST

/* In whatever order they are noted. */
START_TEST(no_flow_takes_longer_than_a_larger_one)
{
	struct nm_idle_path up = {.count = 0}, down = {.count = 0};

	nm_idle_path_note(&up, 10, 9000);
	nm_idle_path_note(&up, 20, 5000);
	nm_idle_path_note(&up, 10, 7000);
	nm_idle_path_note(&down, 20, 5000);
	nm_idle_path_note(&down, 10, 9000);
	for (uint64_t bytes = 10; bytes <= 30; bytes += 5) {
		ck_assert_double_eq_tol(nm_idle_path_s(&up, bytes), 5e-6, 1e-15);
		ck_assert_double_eq_tol(nm_idle_path_s(&down, bytes), 5e-6, 1e-15);
	}
	nm_idle_path_note(&up, 10, 3000);
	ck_assert_double_eq_tol(nm_idle_path_s(&up, 15), 4e-6, 1e-15);
}
END_TEST

START_TEST(one_size_too_many_is_forgotten)
{
	struct nm_idle_path path = {.count = 0};

	for (uint64_t i = 1; i <= NM_IDLE_SIZES + 1; i++)
		nm_idle_path_note(&path, i, i * 1000);
	ck_assert_uint_eq(path.count, NM_IDLE_SIZES);
	ck_assert_uint_eq(path.sizes[NM_IDLE_SIZES - 1].bytes, NM_IDLE_SIZES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("the idle path");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, sizes_are_the_ends_and_the_borders_between);
	tcase_add_test(tc, the_least_time_counts);
	tcase_add_test(tc, between_sizes_and_beyond_them_times_lie_on_lines);
	tcase_add_test(tc, no_flow_takes_longer_than_a_larger_one);
	tcase_add_test(tc, one_size_too_many_is_forgotten);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
