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

#define NOT_CDF                                                                                    \
	"not of the form cdf(A:P,B:P,...) with sizes and probabilities, neither of which falls, "  \
	"the last one 1 or 100; or cdf(websearch), cdf(datamining), cdf(vl2), cdf(FILE), without " \
	"blanks"
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static struct nm_law law;
static char why[256];

static int parse(const char *text)
{
	return nm_law_parse(text, NM_LAW_OF_BYTES, NM_READING_NETMODEL, 1, &law, why, sizeof why);
}

static double below_normal(double x)
{
	return 0.5 * erfc(-x / sqrt(2));
}

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
	{"cdf(websearch;step)", 0.15 * 1e4 + 0.05 * 2e4 + 0.1 * 3e4 + 0.1 * 5e4 + 0.13 * 8e4 +
					0.07 * 2e5 + 0.1 * 1e6 + 0.1 * 2e6 + 0.1 * 5e6 +
					0.07 * 1e7 + 0.03 * 3e7},
	{"gpareto(15000,214476,0.348238;0..1125899906842624)", 15000 + 214476 / (1 - 0.348238)},
	{"gpareto(1000,1000000,0;0..1125899906842624)", 1001000},
	{"gev(0,1000000,0;..1125899906842624)", 1e6 * 1.260202},
	{"gev(10000000,1000000,0.25;..1125899906842624)", 1e7 + 4e6 * (1.2254167024652 - 1)},
	{"cdf(0:0,1000:25,5000:100;0..)", 125 + 2250},
	{"cdf(1000:0.25,5000:1;step)", 4000},
	{"zipf(0,1000)", 500.5},
	{"zipf(1,1000)", 1000 / 7.48547086055},
	{"zipf(0.99,1000000)", 73856.3503},
	{"zipf(2,1000000;2..3)", (0.5 + 1 / 3.0) / (0.25 + 1 / 9.0)},
	{"discrete(1000:3,9000:1)", 3000},
	{"cdf(websearch;..20000)", (0.15 * 5000 + 0.05 * 15000) / 0.2},
};

START_TEST(mean_is_that_of_theory)
{
	ck_assert_msg(parse(means[_i].text) == 0, "%s", why);
	ck_assert_double_eq_tol(nm_law_mean(&law) / means[_i].mean, 1, 1e-4);
	nm_law_fini(&law);
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
	{"gpareto(15,214.476,0.348238;..1m)", "gpareto(15,214.4761,0.348238000;1..1048576)", 1,
	 1048576, UINT64_C(0x555ce3ba4e5ee33f)},
	{"gpareto(1k,2k,0;..1m)", "gpareto(1024,2048,0.000000000;1..1048576)", 1, 1048576,
	 UINT64_C(0x75571d38d8df347b)},
	{"gev(30.7984,8.20449,0.078688;..250)", "gev(30.7983,8.2046,0.078688000;1..250)", 1, 250,
	 UINT64_C(0x3ee9afb1d8d355cc)},
	{"zipf(0.99,1m)", "zipf(0.990000000,1048576;1..1048576)", 1, 1048576,
	 UINT64_C(0x7f91f270a0de4eac)},
	{"zipf(1,1000;2..)", "zipf(1.000000000,1000;2..1000)", 2, 1000,
	 UINT64_C(0x6e22e8ca285d4d4a)},
	{"discrete(9k:1,100:2.5)", "discrete(9k:1,100:2.5;100..9216)", 100, 9216,
	 UINT64_C(0xcfaedb8403c40e63)},
	{"cdf(vl2;step;..1m)", "cdf(vl2;step;1..1048576)", 1, 1048576,
	 UINT64_C(0x21c69cfe79486559)},
	{"cdf(0:0,1k:0.25,4000:1)", "cdf(0:0,1k:0.25,4000:1;1..4000)", 1, 4000,
	 UINT64_C(0xc91ec1e1604af0a4)},
	{"cdf(0:10,1k:25,4000:100;step)", "cdf(0:10,1k:25,4000:100;step;1..4000)", 1, 4000,
	 UINT64_C(0x734f211ae48052b5)},
	{"cdf(vl2;..1m)", "cdf(vl2;1..1048576)", 1, 1048576, UINT64_C(0xabd14fce06c9ba97)},
};

/* 1000 draws of each law are these on every machine. */
START_TEST(text_and_draws)
{
	char text[160];
	struct nm_law again;
	uint64_t hash = 0;
	unsigned outside = 0;

	ck_assert_msg(parse(good[_i].text) == 0, "%s", why);
	ck_assert_str_eq(nm_law_text(&law, text, sizeof text), good[_i].written);
	ck_assert_uint_eq(law.min, good[_i].min);
	ck_assert_uint_eq(law.max, good[_i].max);
	again = law;
	ck_assert_int_eq(parse(text), 0);
	ck_assert(nm_law_equals(&law, &again));
	nm_law_fini(&again);
	for (uint64_t n = 0; n < 1000; n++) {
		uint64_t value = nm_law_draw(&law, 42, n);

		outside += value < law.min || value > law.max;
		hash = nm_rng(hash ^ value, n);
	}
	nm_law_fini(&law);
	ck_assert_uint_eq(outside, 0);
	ck_assert_msg(hash == good[_i].hash, "%s: %#llx", good[_i].text, (unsigned long long)hash);
}
END_TEST

/* Durations need no largest value: the largest that can be drawn is it. */
START_TEST(durations)
{
	static const struct {
		const char *text, *written;
	} laws[] = {
		{"exp(10ms)", "exp(10000000ns;0ns..443614196ns)"},
		{"exp(10ms;1us..1s)", "exp(10000000ns;1000ns..1000000000ns)"},
		{"uniform(1ms,2ms)", "rand(1000000ns,2000000ns)"},
		{"gpareto(1ms,2ms,0.25;..1s)",
		 "gpareto(1000000ns,2000000ns,0.250000000;0ns..1000000000ns)"},
		{"discrete(1ms:3,2s:1)", "discrete(1ms:3,2s:1;1000000ns..2000000000ns)"},
	};

	for (size_t i = 0; i < COUNT_OF(laws); i++) {
		char text[160];

		ck_assert_msg(nm_law_parse(laws[i].text, NM_LAW_OF_NS, NM_READING_NETMODEL, 0, &law,
					   why, sizeof why) == 0,
			      "%s: %s", laws[i].text, why);
		ck_assert_str_eq(nm_law_text(&law, text, sizeof text), laws[i].written);
		nm_law_fini(&law);
	}
	ck_assert_int_eq(nm_law_parse("exp(10kb)", NM_LAW_OF_NS, NM_READING_NETMODEL, 0, &law, why,
				      sizeof why),
			 -EINVAL);
	ck_assert_str_eq(why, "not of the form exp(MEAN) with durations, without blanks");
}
END_TEST

/* k is 1000 of counts, and 1024 of sizes. */
START_TEST(counts)
{
	static const struct {
		const char *text, *written, *why;
	} laws[] = {
		{"rand(1,2k)", "rand(1,2000)", ""},
		{"exp(2.5k;..10k)", "exp(2500;1..10000)", ""},
		{"exp(4)", NULL,
		 "has no largest count; write it behind a semicolon, as in exp(4;..100)"},
		{"exp(4kb;..10k)", NULL,
		 "not of the form exp(MEAN;..MAX) with counts, without blanks"},
		{"rand(9,1)", NULL, "the least count, 9, must not be larger than the largest, 1"},
	};

	for (size_t i = 0; i < COUNT_OF(laws); i++) {
		char text[160];
		int error = nm_law_parse(laws[i].text, NM_LAW_OF_COUNTS, NM_READING_NETMODEL, 1,
					 &law, why, sizeof why);

		ck_assert_msg(!error == !!laws[i].written, "%s: %s", laws[i].text, why);
		if (error)
			ck_assert_str_eq(why, laws[i].why);
		else
			ck_assert_str_eq(nm_law_text(&law, text, sizeof text), laws[i].written);
		nm_law_fini(&law);
	}
}
END_TEST

static const struct {
	const char *text, *why;
} bad[] = {
	{"exp(4k)", "has no largest size; write it behind a semicolon, as in exp(4k;..1m)"},
	{"exq(4k;..1m)",
	 "unknown law \"exq\", did you mean exp?; must be one of: const, rand, uniform, exp, "
	 "normal, lognormal, pareto, gpareto, gev, zipf, bimodal, discrete, cdf"},
	{"(1,2)", "unknown law \"\"; must be one of: const, rand, uniform, exp, normal, lognormal, "
		  "pareto, gpareto, gev, zipf, bimodal, discrete, cdf"},
	{"const(4k", "not of the form const(A) with sizes, without blanks"},
	{"const(4k;1..2)", "not of the form const(A) with sizes, without blanks"},
	{"uniform(4k)", "not of the form uniform(A,B) with sizes, A at most B, without blanks"},
	{"rand(8k,4k)", "the least size, 8192, must not be larger than the largest, 4096"},
	{"zipf(1,0)",
	 "not of the form zipf(S,N) with sizes, N at least 1, and S, the exponent, from "
	 "0 to 10, without blanks"},
	{"zipf(1)",
	 "not of the form zipf(S,N) with sizes, N at least 1, and S, the exponent, from 0 "
	 "to 10, without blanks"},
	{"gpareto(1,2,0.0001;..3)",
	 "not of the form gpareto(LOCATION,SCALE,SHAPE;..MAX) with sizes and a shape of 0 or from "
	 "0.001 to 10, without blanks"},
	{"gev(1,2;..3)",
	 "not of the form gev(LOCATION,SCALE,SHAPE;..MAX) with sizes and a shape of "
	 "0 or from 0.001 to 10, without blanks"},
	{"gev(1,2,3)", "has no largest size; write it behind a semicolon, as in exp(4k;..1m)"},
	{"discrete(1:2,3)",
	 "not of the form discrete(A:WEIGHT,B:WEIGHT,...) with sizes and weights "
	 "up to 1000000, one of them more than 0, without blanks"},
	{"discrete(1:0)",
	 "not of the form discrete(A:WEIGHT,B:WEIGHT,...) with sizes and weights up "
	 "to 1000000, one of them more than 0, without blanks"},
	{"exp(4k;step;..1m)", "not of the form exp(MEAN;..MAX) with sizes, without blanks"},
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
	{"bimodal(1,2,1.1)", "not of the form bimodal(A,B,P) with sizes and the probability "
			     "of A from 0 to 1, without blanks"},
	{"cdf(web)", NOT_CDF},
	{"cdf(VL2)", NOT_CDF},
	{"cdf(1:0.5,2:0.9)", NOT_CDF},
	{"cdf(1:0.5,2:0.4,3:1)", NOT_CDF},
	{"cdf(2:0.5,1:1)", NOT_CDF},
	{"cdf(1:1,2)", NOT_CDF},
};

START_TEST(what_is_no_law)
{
	ck_assert_int_eq(parse(bad[_i].text), -EINVAL);
	ck_assert_str_eq(why, bad[_i].why);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("law");
	TCase *tc = tcase_create("law");

	tcase_add_test(tc, functions_are_exact);
	tcase_add_loop_test(tc, mean_is_that_of_theory, 0, COUNT_OF(means));
	tcase_add_loop_test(tc, text_and_draws, 0, COUNT_OF(good));
	tcase_add_test(tc, durations);
	tcase_add_test(tc, counts);
	tcase_add_loop_test(tc, what_is_no_law, 0, COUNT_OF(bad));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
