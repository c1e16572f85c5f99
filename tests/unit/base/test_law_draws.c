/* SPDX-License-Identifier: Apache-2.0 */
/* A million draws of each law, or a tenth of that under a sanitizer, held against theory. The
 * bounds are those that a right generator passes once in a million; the seeds are fixed, so that it
 * always does. */
#include "base/law.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../sanitized.h"
#include "../suite.h"

/* A sanitizer watches the memory, which each draw uses as the last one did. */
#ifdef NM_SANITIZED
#define DRAWS 100000u
#else
#define DRAWS 1000000u
#endif
#define FEWER	    100000u
#define LAGS	    5
#define BINS	    16
#define KEY	    7
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static struct nm_law law;

static void parse(const char *text)
{
	char why[512];

	ck_assert_msg(nm_law_parse(text, NM_LAW_OF_BYTES, NM_READING_NETMODEL, 1, &law, why,
				   sizeof why) == 0,
		      "%s: %s", text, why);
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

static double below_gpareto(double x)
{
	return 1 - pow(1 + 0.348238 * (x - 15e6) / 214.476e6, -1 / 0.348238);
}

static double below_gev(double x)
{
	return exp(-pow(1 + 0.078688 * (x - 308e6) / 82e6, -1 / 0.078688));
}

static double below_gumbel(double x)
{
	return exp(-exp(-(x - 3e9) / 1e8));
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

static double below_uniform(double x)
{
	return x / 1e12;
}

/* What each law has below a value. */
static const struct {
	const char *text;
	double (*below)(double x);
} continuous[] = {
	{"rand(1,1000000000000)", below_uniform},
	{"exp(1000000000;..1125899906842624)", below_exp},
	{"normal(1000000000,100000000;..1125899906842624)", below_normal_law},
	{"lognormal(10000000,1.5;..1125899906842624)", below_lognormal},
	{"pareto(1000000,1.2;..1125899906842624)", below_pareto},
	{"gpareto(15000000,214476000,0.348238;..1125899906842624)", below_gpareto},
	{"gev(308000000,82000000,0.078688;..1125899906842624)", below_gev},
	{"gev(3000000000,100000000,0;..1125899906842624)", below_gumbel},
	{"cdf(websearch)", below_websearch},
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The share of a law below each of its draws: uniform numbers, if it is the law. */
static double *shares(double (*below)(double x), uint64_t key, size_t count)
{
	double *share = malloc(count * sizeof *share);

	ck_assert_ptr_nonnull(share);
	for (uint64_t n = 0; n < count; n++)
		share[n] = below((double)nm_law_draw(&law, key, n));
	return share;
}

/* Of uniform numbers, times the root of their count: beyond 4.9 once in a million. */
static double correlation(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (a[i] - 0.5) * (b[i] - 0.5);
	return fabs(sum * 12 / sqrt((double)count));
}

/* Beyond it once in a million, by Wilson and Hilferty. */
static double most_chi_square(double freedom)
{
	double ninth = 2 / (9 * freedom);

	return freedom * pow(1 - ninth + 4.753 * sqrt(ninth), 3);
}

/* Of each number and the next, on a board. */
static double pairs_chi_square(const double *share)
{
	unsigned board[BINS][BINS] = {0};
	double sum = 0, wanted = (DRAWS / 2) / (double)(BINS * BINS);

	for (size_t i = 0; i + 1 < DRAWS; i += 2)
		board[(unsigned)fmin(share[i] * BINS, BINS - 1)]
		     [(unsigned)fmin(share[i + 1] * BINS, BINS - 1)]++;
	for (size_t i = 0; i < (size_t)BINS * BINS; i++) {
		double off = board[i / BINS][i % BINS] - wanted;

		sum += off * off / wanted;
	}
	return sum;
}

/* Kolmogorov and Smirnov; and each draw tells nothing about the next, nor about those of the next
 * flow. */
START_TEST(draws_follow_the_law)
{
	double above = 0, beneath = 0, worst = 0;

	parse(continuous[_i].text);
	double *share = shares(continuous[_i].below, KEY, DRAWS);
	double *next = shares(continuous[_i].below, KEY + 1, FEWER);

	for (size_t lag = 1; lag <= LAGS; lag++)
		worst = fmax(worst, correlation(share, share + lag, DRAWS - lag));
	worst = fmax(worst, correlation(share, next, FEWER));
	double pairs = pairs_chi_square(share);

	qsort(share, DRAWS, sizeof *share, compare);
	for (size_t i = 0; i < DRAWS; i++) {
		above = fmax(above, (double)(i + 1) / DRAWS - share[i]);
		beneath = fmax(beneath, share[i] - (double)i / DRAWS);
	}
	free(share);
	free(next);
	ck_assert_double_le(above * sqrt(DRAWS), 2.69);
	ck_assert_double_le(beneath * sqrt(DRAWS), 2.69);
	ck_assert_double_le(worst, 4.9);
	ck_assert_double_le(pairs, most_chi_square(BINS * BINS - 1));
}
END_TEST

/* Ranks up to HOT are bins of their own; beyond, each bin is a quarter larger than the last. */
#define HOT 100

static size_t bin_of(uint64_t rank)
{
	size_t bin = HOT;

	if (rank <= HOT)
		return (size_t)rank - 1;
	for (double end = HOT * 1.25; (double)rank > end; end *= 1.25)
		bin++;
	return bin;
}

static const struct {
	const char *text;
	double s;
	uint64_t n;
} zipfs[] = {
	{"zipf(0.99,1000000)", 0.99, 1000000}, {"zipf(1,1000000)", 1, 1000000},
	{"zipf(0,1000000)", 0, 1000000},       {"zipf(0.5,1000)", 0.5, 1000},
	{"zipf(2.5,1000000)", 2.5, 1000000},   {"zipf(7,3)", 7, 3},
};

START_TEST(ranks_follow_zipf)
{
	double wanted[256] = {0}, drawn[256] = {0}, harmonic = 0, sum = 0;
	double last_wanted = 0, last_drawn = 0;
	size_t bins = bin_of(zipfs[_i].n) + 1, freedom = 0;

	parse(zipfs[_i].text);
	for (uint64_t rank = 1; rank <= zipfs[_i].n; rank++) {
		double weight = pow((double)rank, -zipfs[_i].s);

		harmonic += weight;
		wanted[bin_of(rank)] += weight;
	}
	for (uint64_t n = 0; n < DRAWS; n++)
		drawn[bin_of(nm_law_draw(&law, KEY, n))]++;
	nm_law_fini(&law);
	/* Bins with too few are put together. */
	for (size_t i = 0; i < bins; i++) {
		last_wanted += wanted[i] * DRAWS / harmonic;
		last_drawn += drawn[i];
		if (last_wanted < 50 && i + 1 < bins)
			continue;
		sum += (last_drawn - last_wanted) * (last_drawn - last_wanted) / last_wanted;
		last_wanted = last_drawn = 0;
		freedom++;
	}
	ck_assert_double_le(sum, most_chi_square((double)freedom - 1));
}
END_TEST

static const struct {
	const char *text;
	struct {
		uint64_t value;
		double share;
	} values[5];
} few[] = {
	{"bimodal(10,1k,0.25)", {{10, 0.25}, {1024, 0.75}}},
	{"discrete(1:70,64k:20,100:9.5,7:0.5)", {{1, 0.7}, {7, 0.005}, {100, 0.095}, {65536, 0.2}}},
	{"cdf(datamining;step;..4000)", {{1460, 0.5 / 0.6}, {2920, 0.1 / 0.6}}},
};

START_TEST(values_have_their_weights)
{
	double drawn[5] = {0}, sum = 0, freedom = -1, others = DRAWS;

	parse(few[_i].text);
	for (uint64_t n = 0; n < DRAWS; n++) {
		uint64_t value = nm_law_draw(&law, KEY, n);

		for (size_t i = 0; i < COUNT_OF(drawn); i++)
			drawn[i] += few[_i].values[i].value == value;
	}
	nm_law_fini(&law);
	for (size_t i = 0; i < COUNT_OF(drawn) && few[_i].values[i].value; i++) {
		double wanted = few[_i].values[i].share * DRAWS;

		sum += (drawn[i] - wanted) * (drawn[i] - wanted) / wanted;
		others -= drawn[i];
		freedom++;
	}
	ck_assert_double_eq(others, 0);
	ck_assert_double_le(sum, most_chi_square(freedom));
}
END_TEST

/* As many of each as its weight says, one after the other. */
START_TEST(values_in_their_order)
{
	uint64_t n = 0;

	parse("discrete(1:2,10k:2,5m:1,40m:1)");
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(nm_law_in_order(&law, n++, 60), 1);
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(nm_law_in_order(&law, n++, 60), 10 << 10);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(nm_law_in_order(&law, n++, 60), 5 << 20);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(nm_law_in_order(&law, n++, 60), 40 << 20);
	nm_law_fini(&law);
	parse("discrete(7:1)");
	ck_assert_uint_eq(nm_law_in_order(&law, 0, 1), 7);
	nm_law_fini(&law);
}
END_TEST

/* Points of tables: as many draws must be between two as the table says. */
static const struct {
	const char *text;
	size_t count;
	struct {
		double value, below;
	} points[12];
} tables[] = {
	{"cdf(websearch)",
	 11,
	 {{1e4, .15},
	  {2e4, .2},
	  {3e4, .3},
	  {5e4, .4},
	  {8e4, .53},
	  {2e5, .6},
	  {1e6, .7},
	  {2e6, .8},
	  {5e6, .9},
	  {1e7, .97},
	  {3e7, 1}}},
	{"cdf(datamining)",
	 8,
	 {{1460, .5},
	  {2 * 1460, .6},
	  {3 * 1460, .7},
	  {7 * 1460, .8},
	  {267 * 1460, .9},
	  {2107 * 1460, .95},
	  {66667 * 1460, .99},
	  {666667. * 1460, 1}}},
};

START_TEST(segments_of_a_table_have_their_share)
{
	double drawn[12] = {0}, sum = 0, before = 0;

	parse(tables[_i].text);
	for (uint64_t n = 0; n < DRAWS; n++) {
		double value = (double)nm_law_draw(&law, KEY, n);
		size_t i = 0;

		while (i + 1 < tables[_i].count && value > tables[_i].points[i].value)
			i++;
		drawn[i]++;
	}
	nm_law_fini(&law);
	for (size_t i = 0; i < tables[_i].count; i++) {
		double wanted = (tables[_i].points[i].below - before) * DRAWS;

		sum += (drawn[i] - wanted) * (drawn[i] - wanted) / wanted;
		before = tables[_i].points[i].below;
	}
	ck_assert_double_le(sum, most_chi_square((double)tables[_i].count - 1));
}
END_TEST

static const char *const with_mean[] = {
	"exp(4k;64..16k)",
	"normal(8k,4k;..16k)",
	"lognormal(4k,2;..1m)",
	"pareto(1k,0.2;..1m)",
	"pareto(1k,1.2;4k..64k)",
	"bimodal(9k,100,0.1)",
	"cdf(websearch;20k..50000)",
	"cdf(datamining;..100000)",
	"cdf(vl2;1..1m)",
	"cdf(vl2;step;..1m)",
	"gpareto(1k,4k,0;2k..64k)",
	"gev(1m,100k,0;..8m)",
	"zipf(0.99,1m)",
	"zipf(1,1000)",
	"zipf(2.5,1t;2..1g)",
	"zipf(0,100;10..)",
	"discrete(1:3,64k:1,100:0.5)",
	"gpareto(15,214.476,0.348238;..1m)",
	"gev(30.7984,8.20449,0.078688;..250)",
	"zipf(0.99,1000000)",
	"discrete(1:70,64k:20,100:9.5,7:0.5)",
	"cdf(websearch)",
	"cdf(datamining)",
	"cdf(vl2)",
};

/* Five standard errors are far away. */
START_TEST(mean_is_that_of_the_draws)
{
	double sum = 0, squares = 0, mean;

	parse(with_mean[_i]);
	for (uint64_t n = 0; n < DRAWS; n++) {
		double value = (double)nm_law_draw(&law, KEY, n);

		sum += value;
		squares += value * value;
	}
	mean = sum / DRAWS;
	ck_assert_double_le(fabs(mean - nm_law_mean(&law)),
			    5 * sqrt((squares / DRAWS - mean * mean) / DRAWS));
	nm_law_fini(&law);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("draws of laws");
	TCase *tc = tcase_create("many draws");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, draws_follow_the_law, 0, COUNT_OF(continuous));
	tcase_add_loop_test(tc, ranks_follow_zipf, 0, COUNT_OF(zipfs));
	tcase_add_loop_test(tc, values_have_their_weights, 0, COUNT_OF(few));
	tcase_add_test(tc, values_in_their_order);
	tcase_add_loop_test(tc, segments_of_a_table_have_their_share, 0, COUNT_OF(tables));
	tcase_add_loop_test(tc, mean_is_that_of_the_draws, 0, COUNT_OF(with_mean));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
