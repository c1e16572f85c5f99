/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/summary.h"

#include <check.h>
#include <math.h>

#include "../suite.h"

static void assert_near(double value, double expected, double tolerance)
{
	ck_assert_msg(fabs(value - expected) <= tolerance, "%.9g is not %.9g", value, expected);
}

/* Computed from the distribution to ten places, not taken from the table under test. */
static const struct {
	size_t df;
	double t;
} quantiles[] = {
	{1, 12.7062047362}, {2, 4.3026527297},	 {3, 3.1824463053},   {4, 2.7764451052},
	{5, 2.5705818356},  {9, 2.2621571628},	 {10, 2.2281388520},  {19, 2.0930240544},
	{29, 2.0452296421}, {30, 2.0422724563},	 {31, 2.0395134464},  {40, 2.0210753903},
	{60, 2.0002978220}, {100, 1.9839715185}, {120, 1.9799304051}, {1000, 1.9623390808},
};

START_TEST(quantiles_of_student)
{
	assert_near(nm_student_t95(quantiles[_i].df), quantiles[_i].t, 1e-5);
}
END_TEST

START_TEST(quantiles_fall_towards_the_normal_one)
{
	/* Also over the place where the table ends. */
	for (size_t df = 2; df < 2000; df++)
		ck_assert_double_lt(nm_student_t95(df), nm_student_t95(df - 1));
	assert_near(nm_student_t95((size_t)1 << 40), 1.9599639845, 1e-8);
}
END_TEST

/* The distribution function of Student's t by its density (Simpson's rule): an independent check of
 * every entry. */
static double within(double t, size_t df)
{
	const int steps = 20000;
	double n = (double)df, h = t / steps, sum = 0;
	double scale = exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(n * acos(-1));

	for (int i = 0; i <= steps; i++) {
		double x = i * h, weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;

		sum += weight * pow(1 + x * x / n, -(n + 1) / 2);
	}
	return 2 * scale * sum * h / 3;
}

START_TEST(quantiles_enclose_95_percent)
{
	assert_near(within(nm_student_t95((size_t)_i), (size_t)_i), 0.95, 2e-6);
}
END_TEST

START_TEST(one_value_has_no_interval)
{
	struct nm_summary s;
	const double values[] = {42.5};

	nm_summary_compute(values, 1, &s);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_double_eq(s.mean, 42.5);
	ck_assert_double_eq(s.stddev, 0);
	ck_assert(!s.has_ci);
}
END_TEST

START_TEST(no_value_has_no_figures)
{
	struct nm_summary s;

	nm_summary_compute(NULL, 0, &s);
	ck_assert_uint_eq(s.n, 0);
	ck_assert_double_eq(s.mean, 0);
	ck_assert_double_eq(s.stddev, 0);
	ck_assert(!s.has_ci);
}
END_TEST

START_TEST(figures_of_known_values)
{
	struct nm_summary s;
	const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};

	nm_summary_compute(values, 8, &s);
	ck_assert_uint_eq(s.n, 8);
	assert_near(s.mean, 5, 1e-12);
	assert_near(s.stddev, sqrt(32.0 / 7), 1e-12);
	ck_assert(s.has_ci);
	assert_near(s.ci95, 2.3646242516 * sqrt(32.0 / 7) / sqrt(8), 1e-5);
}
END_TEST

START_TEST(two_values_have_a_wide_interval)
{
	struct nm_summary s;
	const double values[] = {10, 12};

	nm_summary_compute(values, 2, &s);
	ck_assert(s.has_ci);
	assert_near(s.stddev, sqrt(2), 1e-12);
	/* stddev / sqrt(2) is 1. */
	assert_near(s.ci95, 12.7062047362, 1e-5);
}
END_TEST

START_TEST(a_small_spread_about_a_large_mean_is_not_lost)
{
	struct nm_summary s;
	const double values[] = {1e12 + 1, 1e12 + 2, 1e12 + 3};

	nm_summary_compute(values, 3, &s);
	assert_near(s.stddev, 1, 1e-3);
}
END_TEST

START_TEST(equal_values_have_no_spread)
{
	struct nm_summary s;
	const double values[] = {1024, 1024, 1024, 1024};

	nm_summary_compute(values, 4, &s);
	ck_assert_double_eq(s.stddev, 0);
	ck_assert_double_eq(s.ci95, 0);
	ck_assert(s.has_ci);
}
END_TEST

START_TEST(a_figure_is_as_sure_as_its_parts_are_alike)
{
	const double values[] = {9, 10, 11}, endless[] = {9, INFINITY, 11};
	double low, high;

	nm_confidence(10.5, values, 3, &low, &high);
	assert_near(high - 10.5, 4.302653 / sqrt(3), 1e-5);
	assert_near(10.5 - low, 4.302653 / sqrt(3), 1e-5);
	nm_confidence(10.5, endless, 3, &low, &high);
	ck_assert(isinf(low) && low < 0 && isinf(high) && high > 0);
	nm_confidence(10.5, values, 1, &low, &high);
	ck_assert(isnan(low) && isnan(high));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("summary");
	TCase *tc = tcase_create("summary");

	tcase_add_loop_test(tc, quantiles_of_student, 0, sizeof quantiles / sizeof *quantiles);
	tcase_add_test(tc, quantiles_fall_towards_the_normal_one);
	tcase_add_loop_test(tc, quantiles_enclose_95_percent, 1, 41);
	tcase_add_test(tc, one_value_has_no_interval);
	tcase_add_test(tc, no_value_has_no_figures);
	tcase_add_test(tc, figures_of_known_values);
	tcase_add_test(tc, two_values_have_a_wide_interval);
	tcase_add_test(tc, a_small_spread_about_a_large_mean_is_not_lost);
	tcase_add_test(tc, a_figure_is_as_sure_as_its_parts_are_alike);
	tcase_add_test(tc, equal_values_have_no_spread);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
