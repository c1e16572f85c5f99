/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/arrival_law/schedule.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define COUNT 200000u
#define KEY   7

static struct nm_arrivals arrivals_of(const char *text)
{
	struct nm_arrivals arrivals;
	char why[256];

	ck_assert_msg(nm_arrivals_parse(text, &arrivals, why, sizeof why) == 0, "%s", why);
	return arrivals;
}

START_TEST(laws_are_read)
{
	static const struct {
		const char *text, *written;
		double per_s;
	} good[] = {{"const(500)", "const(500/s)", 500},
		    {"poisson(50k/s)", "poisson(50000/s)", 50000},
		    {"poisson(0.5)", "poisson(0.5/s)", 0.5},
		    {"const(1G)", "const(1000000000/s)", 1e9}};
	char text[64];

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct nm_arrivals arrivals = arrivals_of(good[i].text);

		ck_assert_double_eq(arrivals.per_s, good[i].per_s);
		ck_assert_str_eq(nm_arrivals_text(&arrivals, text, sizeof text), good[i].written);
	}
}
END_TEST

START_TEST(mistakes_are_named)
{
	static const char *const bad[][2] = {
		{"const", "\"const\": must be const(RATE) or poisson(RATE), as poisson(50k/s)"},
		{"fixed(5)", "must be const(RATE) or poisson(RATE)"},
		{"con(5)", "must be const(RATE)"},
		{"const(5", "must be const(RATE)"},
		{"const(5) ", "must be const(RATE)"},
		{"poisson()", "\"\" is no rate of arrivals: from 0.000001 to 1G a second"},
		{"poisson(0)", "\"0\" is no rate of arrivals"},
		{"poisson(-1)", "\"-1\" is no rate of arrivals"},
		{"poisson(2G)", "\"2G\" is no rate of arrivals"},
		{"poisson(nan)", "\"nan\" is no rate of arrivals"},
		{"const(5q)", "\"5q\" is no rate of arrivals"},
		{"const(1000000000000000000000000000000000000000000000000000000000)",
		 "is no rate of arrivals"}};
	struct nm_arrivals arrivals;
	char why[256];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ck_assert_int_lt(nm_arrivals_parse(bad[i][0], &arrivals, why, sizeof why), 0);
		ck_assert_msg(strstr(why, bad[i][1]), "%s: %s", bad[i][0], why);
	}
}
END_TEST

/* The first `count` arrivals of all workers together, in their order; owned. */
static double *times_of(const char *text, uint32_t n_workers, size_t count)
{
	struct nm_arrivals arrivals = arrivals_of(text);
	struct nm_schedule *workers = calloc(n_workers, sizeof *workers);
	double *times = calloc(count, sizeof *times);

	ck_assert(workers && times);
	for (uint32_t w = 0; w < n_workers; w++) {
		ck_assert_int_eq(nm_schedule_init(&workers[w], w, n_workers), 0);
		nm_schedule_begin(&workers[w], &arrivals, KEY);
	}
	for (size_t i = 0; i < count; i++) {
		struct nm_schedule *first = &workers[0];

		for (uint32_t w = 1; w < n_workers; w++)
			if (nm_schedule_at_ns(&workers[w]) < nm_schedule_at_ns(first))
				first = &workers[w];
		times[i] = nm_schedule_at_ns(first);
		nm_schedule_step(first);
	}
	for (uint32_t w = 0; w < n_workers; w++)
		nm_schedule_fini(&workers[w]);
	free(workers);
	return times;
}

START_TEST(const_arrivals_have_one_distance)
{
	double *times = times_of("const(1M)", 1, COUNT);

	for (size_t i = 0; i < COUNT; i++)
		ck_assert_double_eq(times[i], ((double)i + 0.5) * 1000);
	free(times);
}
END_TEST

START_TEST(the_number_of_workers_changes_no_time)
{
	static const uint32_t workers[] = {2, 7, 60, 1024};
	static const char *const laws[] = {"const(10k)", "poisson(10k)"};
	enum { FEW = 5000 };

	for (size_t l = 0; l < 2; l++) {
		double *alone = times_of(laws[l], 1, FEW);

		for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
			double *shared = times_of(laws[l], workers[i], FEW);

			ck_assert_int_eq(memcmp(alone, shared, FEW * sizeof *alone), 0);
			free(shared);
		}
		free(alone);
	}
}
END_TEST

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Kolmogorov and Smirnov's test of the distances at 10^-6, and the dispersion of the counts in
 * windows of 10 and 100 mean distances: with a fixed seed, so that it fails never or always. */
START_TEST(poisson_arrivals_are_independent)
{
	double *times = times_of("poisson(1M)", 1, COUNT), *gaps = calloc(COUNT, sizeof *gaps);
	double most = 0;

	for (size_t i = 0; i < COUNT; i++)
		gaps[i] = (times[i] - (i ? times[i - 1] : 0)) / 1000;
	qsort(gaps, COUNT, sizeof *gaps, compare);
	for (size_t i = 0; i < COUNT; i++) {
		double law = -expm1(-gaps[i]), at = (double)i / COUNT;

		most = fmax(most, fmax(fabs(law - at), fabs(law - at - 1.0 / COUNT)));
	}
	ck_assert_double_le(most * sqrt(COUNT), 2.69);
	for (double window = 10; window <= 100; window *= 10) {
		size_t n = (size_t)(times[COUNT - 1] / 1000 / window), i = 0;
		double squares = 0;

		for (size_t w = 0; w < n; w++) {
			double in_window = 0;

			for (; times[i] / 1000 < window * (double)(w + 1); i++)
				in_window++;
			squares += (in_window - window) * (in_window - window);
		}
		ck_assert_double_eq_tol(squares / (double)n / window, 1, 4.9 * sqrt(2 / (double)n));
	}
	free(gaps);
	free(times);
}
END_TEST

START_TEST(what_is_skipped_is_counted)
{
	struct nm_arrivals arrivals = arrivals_of("const(1M)");
	struct nm_schedule schedule;

	ck_assert_int_eq(nm_schedule_init(&schedule, 1, 2), 0);
	nm_schedule_begin(&schedule, &arrivals, KEY);
	ck_assert_uint_eq(nm_schedule_skip(&schedule, 10e6, 1000000), 5000);
	ck_assert_uint_eq(nm_schedule_skip(&schedule, 10e6, 1000000), 0);
	/* Nine of ten by the mean: of an hour, at once. */
	uint64_t many = nm_schedule_skip(&schedule, 3600e9, 100);

	ck_assert_double_eq_tol((double)many, 1800e6 - 5000, 2);
	nm_schedule_fini(&schedule);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arrivals");
	TCase *tcase = tcase_create("arrivals");

	tcase_add_test(tcase, laws_are_read);
	tcase_add_test(tcase, mistakes_are_named);
	tcase_add_test(tcase, const_arrivals_have_one_distance);
	tcase_add_test(tcase, the_number_of_workers_changes_no_time);
	tcase_add_test(tcase, poisson_arrivals_are_independent);
	tcase_add_test(tcase, what_is_skipped_is_counted);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
