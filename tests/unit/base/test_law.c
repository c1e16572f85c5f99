/* SPDX-License-Identifier: Apache-2.0 */
#include "base/law.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/fixed.h"
#include "base/rng.h"

#define DRAWS	    100000u
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static struct nm_law law;
static char why[256];

static int parse(const char *text)
{
	return nm_law_parse(text, NM_READING_NETMODEL, 1, &law, why, sizeof why);
}

static double below_normal(double x)
{
	return 0.5 * erfc(-x / sqrt(2));
}

static double below_exp(double x)
{
	return 1 - exp(-x / 1e9);
}

static double below_normal_law(double x)
{
	return below_normal((x - 1e9) / 1e8);
}

static double below_lognormal(double x)
{
	return below_normal(log(x / 1e7) / 1.5);
}

static double below_pareto(double x)
{
	return 1 - pow(1e6 / x, 1.2);
}

static double below_websearch(double x)
{
	static const double points[][2] = {{0, 0},    {1e4, .15}, {2e4, .2},  {3e4, .3},
					   {5e4, .4}, {8e4, .53}, {2e5, .6},  {1e6, .7},
					   {2e6, .8}, {5e6, .9},  {1e7, .97}, {3e7, 1}};
	size_t i = 0;

	while (i + 2 < COUNT_OF(points) && x >= points[i + 1][0])
		i++;
	return points[i][1] + (x - points[i][0]) / (points[i + 1][0] - points[i][0]) *
				      (points[i + 1][1] - points[i][1]);
}

/* What each law has below a value. */
static const struct {
	const char *text;
	double (*below)(double x);
} continuous[] = {
	{"exp(1000000000;..1125899906842624)", below_exp},
	{"normal(1000000000,100000000;..1125899906842624)", below_normal_law},
	{"lognormal(10000000,1.5;..1125899906842624)", below_lognormal},
	{"pareto(1000000,1.2;..1125899906842624)", below_pareto},
	{"cdf(websearch)", below_websearch},
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: beyond 2.69 once in a million. */
START_TEST(draws_follow_the_law)
{
	uint64_t *drawn = malloc(DRAWS * sizeof *drawn);
	double most = 0;

	ck_assert_ptr_nonnull(drawn);
	ck_assert_msg(parse(continuous[_i].text) == 0, "%s", why);
	for (uint64_t n = 0; n < DRAWS; n++)
		drawn[n] = nm_law_draw(&law, 7, n);
	qsort(drawn, DRAWS, sizeof *drawn, compare);
	for (size_t i = 0; i < DRAWS; i++) {
		double below = continuous[_i].below((double)drawn[i]);

		most = fmax(most, fmax((double)(i + 1) / DRAWS - below, below - (double)i / DRAWS));
	}
	free(drawn);
	ck_assert_double_le(most * sqrt(DRAWS), 2.69);
}
END_TEST

START_TEST(functions_are_exact)
{
	const double one = (double)(UINT64_C(1) << NM_FIXED_BITS);

	for (uint64_t n = 0; n < 20000; n++) {
		uint64_t k = (nm_rng(3, n) >> (n % 40)) | 1;
		double u = (double)k / 0x1p64, middle = ((double)k + 0.5) / 0x1p64;

		ck_assert_double_eq_tol((double)nm_fixed_neg_log2(k) / one, -log2(u), 1e-10);
		ck_assert_double_eq_tol(below_normal((double)nm_fixed_quantile(k) / one) / middle,
					1, 1e-6);
	}
	for (int64_t e = -20; e < 20; e++) {
		int64_t exponent = e * (INT64_C(1) << NM_FIXED_BITS) + 123456789012;
		double wanted = ldexp(1, 30) * exp2((double)exponent / one);

		ck_assert_double_eq_tol((double)nm_fixed_exp2(UINT64_C(1) << 30, exponent), wanted,
					0.51 + wanted * 1e-12);
	}
	ck_assert_uint_eq(nm_fixed_exp2(UINT64_C(1) << 50, INT64_C(20) << NM_FIXED_BITS),
			  UINT64_MAX);
	ck_assert_uint_eq(nm_fixed_exp2(5, -(INT64_C(100) << NM_FIXED_BITS)), 0);
	ck_assert_uint_eq(nm_fixed_scale(3, 5, 1), 8);
	ck_assert_uint_eq(nm_fixed_scale(UINT64_MAX, UINT64_MAX, 64), UINT64_MAX - 1);
}
END_TEST

START_TEST(two_values)
{
	unsigned first = 0;

	ck_assert_int_eq(parse("bimodal(10,1k,0.25)"), 0);
	for (uint64_t n = 0; n < DRAWS; n++) {
		uint64_t value = nm_law_draw(&law, 1, n);

		ck_assert(value == 10 || value == 1024);
		first += value == 10;
	}
	ck_assert_double_eq_tol(first / (double)DRAWS, 0.25, 0.007);
}
END_TEST

static const char *const bounded[] = {
	"exp(4k;64..16k)",	     "normal(8k,4k;..16k)",	 "lognormal(4k,2;..1m)",
	"pareto(1k,0.2;..1m)",	     "pareto(1k,1.2;4k..64k)",	 "bimodal(9k,100,0.1)",
	"cdf(websearch;20k..50000)", "cdf(datamining;..100000)", "cdf(vl2;1..1m)",
};

/* Theory, with the draws outside of the bounds taken off. */
static const struct {
	const char *text;
	double mean;
} means[] = {
	{"exp(1000000;0..1125899906842624)", 1e6},
	{"exp(1000000;0..1000000)", 1e6 * (1 - 1 / (M_E - 1))},
	{"exp(1000000;1000000..1125899906842624)", 2e6},
	{"normal(1000000,100000;0..1125899906842624)", 1e6},
	/* half of it: the deviation times the root of 2 / pi */
	{"normal(0,1000000;1..1125899906842624)", 797884.5608},
	{"lognormal(1000000,0.5;0..1125899906842624)", 1133148.453},
	{"lognormal(1000000,1.5;0..1125899906842624)", 3080216.849},
	{"pareto(1000000,3;..1125899906842624)", 1.5e6},
	{"pareto(1000000,1;..4000000)", 1e6 * 1.386294361 / 0.75},
	{"bimodal(1000,9000,0.25)", 7000},
	{"bimodal(1000,9000,0.25;..2000)", 1000},
	{"cdf(websearch)", 1711250},
	{"cdf(datamining)", 7470236},
	{"cdf(vl2;0..1000000000)", 12658199},
	{"cdf(websearch;..20000)", (0.15 * 5000 + 0.05 * 15000) / 0.2},
};

START_TEST(mean_is_that_of_theory)
{
	ck_assert_msg(parse(means[_i].text) == 0, "%s", why);
	ck_assert_double_eq_tol(nm_law_mean(&law) / means[_i].mean, 1, 1e-4);
}
END_TEST

/* The mean of the draws is it, too; five standard errors are far away. */
START_TEST(mean_is_that_of_draws)
{
	double sum = 0, squares = 0, mean;

	ck_assert_msg(parse(bounded[_i]) == 0, "%s", why);
	for (uint64_t n = 0; n < DRAWS; n++) {
		double value = (double)nm_law_draw(&law, 11, n);

		sum += value;
		squares += value * value;
	}
	mean = sum / DRAWS;
	ck_assert_double_le(fabs(mean - nm_law_mean(&law)),
			    5 * sqrt((squares / DRAWS - mean * mean) / DRAWS));
}
END_TEST

static const struct {
	const char *text, *written;
	uint64_t min, max, hash;
} good[] = {
	{"exp(4k;..1m)", "exp(4096;1..1048576)", 1, 1048576, UINT64_C(0x205b9051ade1da39)},
	{"EXP(4k;64..1m)", "exp(4096;64..1048576)", 64, 1048576, UINT64_C(0x3e2855fecac4855d)},
	{"normal(8k,1k;..16k)", "normal(8192,1024;1..16384)", 1, 16384,
	 UINT64_C(0x4ca236eaae6ebee0)},
	{"lognormal(4k,0.5;..1m)", "lognormal(4096,0.500000000;1..1048576)", 1, 1048576,
	 UINT64_C(0x9982445df0ff9acb)},
	{"pareto(1k,1.2;..1m)", "pareto(1024,1.200000000;1024..1048576)", 1024, 1048576,
	 UINT64_C(0x68b16836215448b2)},
	{"bimodal(9k,100,0.1)", "bimodal(9216,100,0.100000000;100..9216)", 100, 9216,
	 UINT64_C(0xbb67a802bf59d8b7)},
	{"cdf(websearch)", "cdf(websearch;1..30000000)", 1, 30000000, UINT64_C(0x4aad462521fec11b)},
	{"cdf(datamining)", "cdf(datamining;1..973333820)", 1, 973333820,
	 UINT64_C(0xfd9b204552ac62d1)},
	{"cdf(vl2;..1m)", "cdf(vl2;1..1048576)", 1, 1048576, UINT64_C(0xabd14fce06c9ba97)},
};

/* 1000 draws of each law are these on every machine. */
START_TEST(text_and_draws)
{
	char text[160];
	struct nm_law again;
	uint64_t hash = 0;

	ck_assert_msg(parse(good[_i].text) == 0, "%s", why);
	ck_assert_str_eq(nm_law_text(&law, text, sizeof text), good[_i].written);
	ck_assert_uint_eq(law.min, good[_i].min);
	ck_assert_uint_eq(law.max, good[_i].max);
	again = law;
	ck_assert_int_eq(parse(text), 0);
	ck_assert(nm_law_equals(&law, &again));
	for (uint64_t n = 0; n < 1000; n++) {
		uint64_t value = nm_law_draw(&law, 42, n);

		ck_assert(value >= law.min && value <= law.max);
		hash = nm_rng(hash ^ value, n);
	}
	ck_assert_msg(hash == good[_i].hash, "%s: %#llx", good[_i].text, (unsigned long long)hash);
}
END_TEST

static const struct {
	const char *text, *why;
} bad[] = {
	{"exp(4k)", "has no largest size; write it behind a semicolon, as in exp(4k;..1m)"},
	{"exp(4k,1;..1m)", "not of the form exp(MEAN;..MAX) with sizes, without blanks"},
	{"exp(x;..1m)", "not of the form exp(MEAN;..MAX) with sizes, without blanks"},
	{"exp(4k;1m)", "not of the form exp(MEAN;..MAX) with sizes, without blanks"},
	{"exp(4k;..1m", "not of the form exp(MEAN;..MAX) with sizes, without blanks"},
	{"exp(4k;8..4)", "the least size, 8, must not be larger than the largest, 4"},
	{"exp(1;1m..2m)", "fewer than 1 in 20 draws are from 1048576 to 2097152; draws outside "
			  "are made again"},
	{"pareto(1k,0;..1m)", "not of the form pareto(LEAST,SHAPE;..MAX) with sizes and a shape "
			      "from 0.1 to 100, without blanks"},
	{"lognormal(1k,11;..1m)", "not of the form lognormal(MEDIAN,S;..MAX) with sizes and S, of "
				  "the logarithm, from 0 to 10, without blanks"},
	{"bimodal(1,2,1.1)", "not of the form bimodal(A,B,P) with two sizes and the probability "
			     "of A from 0 to 1, without blanks"},
	{"cdf(web)", "not of the form cdf(websearch), cdf(datamining) or cdf(vl2), without "
		     "blanks"},
};

START_TEST(what_is_no_law)
{
	ck_assert(nm_law_is_named(bad[_i].text));
	ck_assert_int_eq(parse(bad[_i].text), -EINVAL);
	ck_assert_str_eq(why, bad[_i].why);
}
END_TEST

START_TEST(names)
{
	ck_assert(!nm_law_is_named("4k"));
	ck_assert(!nm_law_is_named("exp"));
	ck_assert(!nm_law_is_named("rand(1,2)"));
	ck_assert(!nm_law_is_named(""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("law");
	TCase *tc = tcase_create("law");

	tcase_add_loop_test(tc, draws_follow_the_law, 0, COUNT_OF(continuous));
	tcase_add_test(tc, functions_are_exact);
	tcase_add_test(tc, two_values);
	tcase_add_loop_test(tc, mean_is_that_of_theory, 0, COUNT_OF(means));
	tcase_add_loop_test(tc, mean_is_that_of_draws, 0, COUNT_OF(bounded));
	tcase_add_loop_test(tc, text_and_draws, 0, COUNT_OF(good));
	tcase_add_loop_test(tc, what_is_no_law, 0, COUNT_OF(bad));
	tcase_add_test(tc, names);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
