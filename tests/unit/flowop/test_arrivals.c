/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/arrival_law/schedule.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define COUNT	  200000u
#define KEY	  7
#define LENGTH_NS 10000000000u /* of the transaction */

/* Five in 500 ms, and again after 600 ms. */
static const struct nm_trace *recorded(void)
{
	static const uint64_t at_ns[] = {0, 100000000, 100000000, 400000000, 500000000};
	struct nm_trace *trace = malloc(sizeof *trace + sizeof at_ns);

	ck_assert_ptr_nonnull(trace);
	*trace = (struct nm_trace){.end_ns = 600000000,
				   .longest_ns = 300000000,
				   .count = sizeof at_ns / sizeof *at_ns};
	memcpy(trace->at_ns, at_ns, sizeof at_ns);
	return trace;
}

static struct nm_arrivals arrivals_of(const char *text)
{
	struct nm_arrivals arrivals;
	char why[512];

	ck_assert_msg(nm_arrivals_parse(text, LENGTH_NS, &arrivals, why, sizeof why) == 0, "%s",
		      why);
	ck_assert_int_eq(nm_arrivals_set_bytes(&arrivals, 62500, why, sizeof why), 0);
	if (arrivals.law->by_trace)
		ck_assert_int_eq(nm_arrivals_set_trace(&arrivals, recorded(), why, sizeof why), 0);
	return arrivals;
}

START_TEST(laws_are_read)
{
	static const struct {
		const char *text, *written;
		double per_s;
	} good[] = {
		{"const(500)", "const(500/s)", 500},
		{"poisson(50k/s)", "poisson(50000/s)", 50000},
		{"poisson(0.5)", "poisson(0.5/s)", 0.5},
		{"const(1G)", "const(1000000000/s)", 1e9},
		{"uniform(2k,0.25)", "uniform(2000/s,0.25)", 2000},
		{"ramp(0,1k/s)", "ramp(0/s,1000/s)", 500},
		{"ramp(3k,1k,poisson)", "ramp(3000/s,1000/s,poisson)", 2000},
		{"steps(100,300,100,1s)", "steps(100/s,300/s,100/s,1000ms)", 190},
		{"steps(300,100,100,500ms,poisson,mirrored)",
		 "steps(300/s,100/s,100/s,500ms,mirrored,poisson)", 205},
		{"burst(500,1.5ms,10ms)", "burst(500/s,1.5ms,10ms)", 500},
		{"load(0.5,1Gb/s)", "load(0.5,1000Mb/s)", 1000},
		{"load(1,2.5M)", "load(1,2.5Mb/s)", 5},
		{"steps(100,300,100,1s,shuffled)", "steps(100/s,300/s,100/s,1000ms,shuffled)", 200},
		{"trace(/tmp/a b.txt)", "trace(/tmp/a b.txt)", 0.5},
		{"trace(t,loop)", "trace(t,loop)", 8.3},
		{"trace(t,exact,speed=0.5,loop)", "trace(t,speed=0.5,loop,exact)", 4.3}};
	char text[128];

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct nm_arrivals arrivals = arrivals_of(good[i].text);

		ck_assert_double_eq_tol(arrivals.per_s, good[i].per_s, 1e-6);
		ck_assert_str_eq(nm_arrivals_text(&arrivals, text, sizeof text), good[i].written);
		free((void *)arrivals.trace);
	}
}
END_TEST

START_TEST(mistakes_are_named)
{
	static const char *const bad[][2] = {
		{"const", "\"const\": must be const(RATE), poisson(RATE), uniform(RATE,WIDTH), "
			  "ramp(FROM,TO[,poisson]), "
			  "steps(FROM,TO,STEP,TIME[,mirrored][,shuffled][,poisson]), "
			  "burst(RATE,LENGTH,PERIOD[,poisson]), load(SHARE,LINK) or "
			  "trace(FILE[,speed=FACTOR][,loop][,exact]), as poisson(50k/s)"},
		{"fixed(5)", "must be const(RATE), poisson(RATE)"},
		{"con(5)", "must be const(RATE), poisson(RATE)"},
		{"const(5", "must be const(RATE)"},
		{"const(5) ", "must be const(RATE)"},
		{"poisson()", "must be poisson(RATE)"},
		{"poisson(0)", "\"0\" is no rate of arrivals"},
		{"poisson(-1)", "\"-1\" is no rate of arrivals"},
		{"poisson(2G)", "\"2G\" is no rate of arrivals"},
		{"poisson(nan)", "\"nan\" is no rate of arrivals"},
		{"const(5q)", "\"5q\" is no rate of arrivals"},
		{"const(5,poisson)", "\"const(5,poisson)\": must be const(RATE)"},
		{"uniform(5,1.1)", "\"1.1\" is no share: from 0 to 1"},
		{"uniform(5,)", "\"\" is no share"},
		{"uniform(5)", "must be uniform(RATE,WIDTH)"},
		{"ramp(1k,2k,3k)", "must be ramp(FROM,TO[,poisson])"},
		{"ramp(1k,2k,poisson,poisson)", "must be ramp(FROM,TO[,poisson])"},
		{"ramp(0,0)", "nothing becomes due in the time of the transaction"},
		{"steps(0,5,1,1s)", "\"0\" is no rate of arrivals"},
		{"steps(1,1000,1,1s)",
		 "more than 100 steps lead from the first rate to the second"},
		{"steps(1,2,1,5us)", "more than 1000000 steps are in the time of the transaction"},
		{"load(1.1,1G)", "\"1.1\" is no share: from 0 to 1"},
		{"load(0.5,0)", "\"0\" is no rate of a link above 0, as 10Gb/s"},
		{"load(0.5,1x)", "\"1x\" is no rate of a link"},
		{"load(0.5)", "must be load(SHARE,LINK)"},
		{"trace()", "must be trace(FILE[,speed=FACTOR][,loop][,exact])"},
		{"trace(a,poisson)", "must be trace(FILE[,"},
		{"trace(a,loop,loop)", "must be trace(FILE[,"},
		{"trace(a,speed=0)", "\"0\" is no speed: from 0.001 to 1000000"},
		{"trace(a,speed=)", "\"\" is no speed"},
		{"trace(a,speed=1e9)", "\"1e9\" is no speed"},
		{"const(5,loop)", "must be const(RATE)"},
		{"ramp(1,2,shuffled)", "must be ramp(FROM,TO[,poisson])"},
		{"burst(5,0s,1s)", "\"0s\" is no time above 0"},
		{"burst(5,1m,1s)", "\"1m\" is no time above 0"},
		{"burst(5,2s,1s)", "a burst cannot last longer than from one to the next"},
		{"const(1000000000000000000000000000000000000000000000000000000000)",
		 "is no rate of arrivals"}};
	struct nm_arrivals arrivals;
	char why[512];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ck_assert_int_lt(
			nm_arrivals_parse(bad[i][0], LENGTH_NS, &arrivals, why, sizeof why), 0);
		ck_assert_msg(strstr(why, bad[i][1]), "%s: %s", bad[i][0], why);
		ck_assert_ptr_null(arrivals.law);
	}
}
END_TEST

START_TEST(a_load_has_the_rate_of_its_bytes)
{
	struct nm_arrivals arrivals = arrivals_of("load(0.5,1Gb/s)");
	char why[160];

	ck_assert_int_lt(nm_arrivals_set_bytes(&arrivals, 1e15, why, sizeof why), 0);
	ck_assert_str_eq(why, "with 1e+15 bytes a pass these are 6.25e-08 passes a second; must be "
			      "from 0.000001 to 1G");
	ck_assert_int_eq(nm_arrivals_set_bytes(&arrivals, 125, why, sizeof why), 0);
	ck_assert_double_eq_tol(arrivals.per_s, 500000, 1e-6);
	/* Each is the inverse of the other. */
	ck_assert_double_eq_tol(nm_arrivals_expected(&arrivals, 1e9), 500000, 1e-6);
	ck_assert_double_eq_tol(nm_arrivals_when_ns(&arrivals, 250000), 5e8, 1e-3);
}
END_TEST

/* The first `count` arrivals of all workers together, in their order; owned. Their numbers, unless
 * NULL: room for as many. */
static double *lanes_of(const char *text, uint32_t n_lanes, uint32_t n_workers, size_t count,
			uint64_t *ret_numbers)
{
	struct nm_arrivals arrivals = arrivals_of(text);
	struct nm_schedule *workers = calloc(n_workers, sizeof *workers);
	double *times = calloc(count, sizeof *times);

	ck_assert(workers && times);
	arrivals.n_lanes = n_lanes;
	for (uint32_t w = 0; w < n_workers; w++) {
		ck_assert_int_eq(nm_schedule_init(&workers[w], w, n_workers, NM_LANES_MAX), 0);
		nm_schedule_begin(&workers[w], &arrivals, KEY);
	}
	for (size_t i = 0; i < count; i++) {
		struct nm_schedule *first = &workers[0];

		for (uint32_t w = 1; w < n_workers; w++)
			if (nm_schedule_at_ns(&workers[w]) < nm_schedule_at_ns(first))
				first = &workers[w];
		times[i] = nm_schedule_at_ns(first);
		if (ret_numbers)
			ret_numbers[i] = nm_schedule_number(first);
		nm_schedule_step(first);
	}
	for (uint32_t w = 0; w < n_workers; w++)
		nm_schedule_fini(&workers[w]);
	free(workers);
	free((void *)arrivals.trace);
	return times;
}

static double *times_of(const char *text, uint32_t n_workers, size_t count)
{
	return lanes_of(text, NM_LANES, n_workers, count, NULL);
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
	static const char *const laws[] = {
		"const(10k)",	      "poisson(10k)",	 "uniform(10k,1)", "ramp(0,20k,poisson)",
		"burst(10k,1ms,3ms)", "load(0.8,1Gb/s)", "trace(t,loop)"};
	enum { FEW = 5000 };

	for (size_t l = 0; l < sizeof laws / sizeof *laws; l++) {
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

START_TEST(an_arrival_has_one_number_with_any_worker)
{
	static const uint32_t lanes[] = {7, 64, 1024, NM_LANES_MAX};
	enum { FEW = 5000 };
	uint64_t alone[FEW], shared[FEW];

	for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
		double *times = lanes_of("poisson(10k)", lanes[i], 1, FEW, alone);
		double *same = lanes_of("poisson(10k)", lanes[i], 7, FEW, shared);

		ck_assert_int_eq(memcmp(times, same, FEW * sizeof *times), 0);
		ck_assert_int_eq(memcmp(alone, shared, sizeof alone), 0);
		free(times);
		free(same);
	}
	/* Others are another load, of the same rate. */
	double *few = lanes_of("poisson(10k)", 7, 1, FEW, alone);
	double *many = times_of("poisson(10k)", 1, FEW);

	ck_assert_double_ne(few[0], many[0]);
	ck_assert_double_eq_tol(few[FEW - 1], FEW * 1e5, FEW * 1e5 * 5 / sqrt(FEW));
	free(few);
	free(many);
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

START_TEST(uniform_arrivals_stay_in_their_part_of_a_slot)
{
	double *times = times_of("uniform(1M,0.5)", 1, COUNT), sum = 0;

	for (size_t i = 0; i < COUNT; i++) {
		double place = times[i] / 1000 - (double)i;

		ck_assert_double_ge(place, 0.25 - 1e-6);
		ck_assert_double_le(place, 0.75 + 1e-6);
		sum += place;
	}
	ck_assert_double_eq_tol(sum / COUNT, 0.5, 4.9 * 0.5 / sqrt(12.0 * COUNT));
	free(times);
}
END_TEST

static const char *const changing[] = {
	"ramp(0,2k)",
	"ramp(2k,0)",
	"ramp(1k,1k)",
	"ramp(500,3k)",
	"steps(500,2k,500,1s)",
	"steps(2k,500,500,700ms)",
	"steps(1k,3k,1k,1s,mirrored)",
	"steps(500,2k,500,700ms,shuffled)",
	"steps(2k,500,500,700ms,shuffled,mirrored)",
	"burst(1k,10ms,100ms)",
	"burst(300,1s,3s)",
};

/* With a rate that changes the expected number is the integral of the rate, and its inverse tells
 * the times: arrival i is due when i + 1/2 are expected. */
START_TEST(arrivals_come_when_they_are_expected)
{
	struct nm_arrivals arrivals = arrivals_of(changing[_i]);
	size_t count = (size_t)(nm_arrivals_expected(&arrivals, LENGTH_NS) - 1);
	double *times = times_of(changing[_i], 3, count), pause = 0;

	ck_assert_double_eq_tol(nm_arrivals_expected(&arrivals, LENGTH_NS) / 10, arrivals.per_s,
				1e-6);
	for (size_t i = 0; i < count; i++) {
		double expected = nm_arrivals_expected(&arrivals, times[i]);

		ck_assert_double_eq_tol(expected, (double)i + 0.5, 1e-4);
		pause = fmax(pause, times[i] - (i ? times[i - 1] : 0));
	}
	ck_assert_double_le(pause, nm_arrivals_longest_pause_ns(&arrivals) * (1 + 1e-9));
	free(times);
}
END_TEST

/* By hand: 1000 a second and then 2000, for half a second each. */
START_TEST(steps_are_held)
{
	double *times = times_of("steps(1k,2k,1k,500ms)", 1, 3000);

	ck_assert_double_eq_tol(times[0], 0.5e6, 1);
	ck_assert_double_eq_tol(times[499], 499.5e6, 1);
	ck_assert_double_eq_tol(times[500], 500.25e6, 1);
	ck_assert_double_eq_tol(times[1499], 999.75e6, 1);
	ck_assert_double_eq_tol(times[1500], 1000.5e6, 1);
	free(times);
}
END_TEST

/* Which step a time is of, there and back, and how much of a step there has been until then. */
START_TEST(times_belong_to_steps)
{
	static const struct {
		uint64_t at_ns, in_ns[4];
		uint32_t step;
		uint64_t end_ns;
	} times[] = {{0, {0, 0, 0, 0}, 0, 500},
		     {499, {499, 0, 0, 0}, 0, 500},
		     {500, {500, 0, 0, 0}, 1, 1000},
		     {1001, {500, 500, 1, 0}, 2, 1500},
		     {1999, {500, 500, 500, 499}, 3, 2000},
		     {2000, {500, 500, 500, 500}, 0, 2500},
		     {2600, {1000, 600, 500, 500}, 1, 3000}};
	struct nm_arrivals arrivals = arrivals_of("steps(100,200,100,500ms,mirrored)");

	ck_assert_uint_eq(arrivals.n_steps, 4);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_double_eq(arrivals.law->step_per_s(&arrivals, i),
				    i == 0 || i == 3 ? 100 : 200);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		uint64_t ns = times[i].at_ns * 1000000;

		ck_assert_uint_eq(nm_arrivals_step(&arrivals, ns), times[i].step);
		ck_assert_uint_eq(nm_arrivals_step_end_ns(&arrivals, ns),
				  times[i].end_ns * 1000000);
		for (uint32_t k = 0; k < 4; k++)
			ck_assert_uint_eq(nm_arrivals_in_step_ns(&arrivals, k, ns),
					  times[i].in_ns[k] * 1000000);
	}
}
END_TEST

/* A step may be longer than any run: nothing wraps round, or divides by 0. */
START_TEST(a_step_may_last_for_ever)
{
	static const char *const texts[] = {"steps(1k,1k,1k,18446744073709551615ns)",
					    "steps(1k,100k,1k,5000000h,mirrored)"};
	struct nm_arrivals arrivals = arrivals_of(texts[_i]);
	const uint64_t last_ns = UINT64_C(1) << 62;

	ck_assert_double_eq_tol(arrivals.per_s, 1000, 1e-6);
	ck_assert_uint_eq(nm_arrivals_step(&arrivals, last_ns - 1), 0);
	ck_assert_uint_ge(nm_arrivals_step_end_ns(&arrivals, last_ns - 1), last_ns);
	ck_assert_uint_eq(nm_arrivals_in_step_ns(&arrivals, 0, last_ns - 1), last_ns - 1);
	ck_assert(nm_arrivals_expected(&arrivals, 0) >= 0);
}
END_TEST

/* Each rate is held once in a round, and not one after the other. */
START_TEST(steps_are_shuffled)
{
	struct nm_arrivals arrivals = arrivals_of("steps(100,2k,100,100ms,shuffled)");
	bool seen[21] = {false}, mixed = false;
	double before = 0;

	for (size_t i = 0; i < 20; i++) {
		double until = nm_arrivals_expected(&arrivals, 100e6 * (double)(i + 1));
		size_t step = (size_t)lround((until - before) / 10);

		ck_assert(step >= 1 && step <= 20 && !seen[step]);
		seen[step] = true;
		mixed |= step != i + 1;
		before = until;
	}
	ck_assert(mixed);
	ck_assert_double_eq_tol(nm_arrivals_longest_pause_ns(&arrivals), 10e6, 1e-3);
}
END_TEST

START_TEST(a_trace_is_replayed)
{
	static const double ms[] = {0, 50, 50, 200, 250, 300, 350, 350, 500, 550, 600};
	struct nm_arrivals once = arrivals_of("trace(t)");
	struct nm_arrivals loop = arrivals_of("trace(t,loop,speed=2)");
	double *times = times_of("trace(t,loop,speed=2)", 3, sizeof ms / sizeof *ms);

	for (size_t i = 0; i < sizeof ms / sizeof *ms; i++) {
		ck_assert_double_eq_tol(times[i], ms[i] * 1e6, 1e-3);
		ck_assert_double_le(nm_arrivals_expected(&loop, times[i]), (double)i);
		ck_assert_double_gt(nm_arrivals_expected(&loop, times[i] + 1), (double)i);
	}
	free(times);
	ck_assert_double_eq(nm_arrivals_longest_pause_ns(&loop), 150e6);
	/* Behind its end nothing is due. */
	ck_assert_double_eq(nm_arrivals_longest_pause_ns(&once), 9.5e9);
	ck_assert_double_eq(nm_arrivals_when_ns(&once, 4.5), 500e6);
	ck_assert(isinf(nm_arrivals_when_ns(&once, 5.5)));
	ck_assert_double_eq(nm_arrivals_expected(&once, 9e9), 5);
	free((void *)once.trace);
	free((void *)loop.trace);
}
END_TEST

START_TEST(bursts_are_followed_by_silence)
{
	double *times = times_of("burst(1k,10ms,100ms)", 1, 1000);

	for (size_t i = 0; i < 1000; i++)
		ck_assert_double_le(fmod(times[i], 100e6), 10e6);
	ck_assert_double_eq_tol(times[100], 100.05e6, 1);
	free(times);
}
END_TEST

/* Mapped by the expected number, a Poisson process with a rate that changes is one of rate 1. */
START_TEST(poisson_around_a_rate_that_changes)
{
	struct nm_arrivals arrivals = arrivals_of("ramp(1k,100k,poisson)");
	double *times = times_of("ramp(1k,100k,poisson)", 2, COUNT), most = 0, last = 0;
	double *gaps = calloc(COUNT, sizeof *gaps);

	for (size_t i = 0; i < COUNT; i++) {
		double at = nm_arrivals_expected(&arrivals, times[i]);

		gaps[i] = at - last;
		last = at;
	}
	qsort(gaps, COUNT, sizeof *gaps, compare);
	for (size_t i = 0; i < COUNT; i++) {
		double law = -expm1(-gaps[i]), at = (double)i / COUNT;

		most = fmax(most, fmax(fabs(law - at), fabs(law - at - 1.0 / COUNT)));
	}
	ck_assert_double_le(most * sqrt(COUNT), 2.69);
	free(gaps);
	free(times);
}
END_TEST

START_TEST(what_is_skipped_is_counted)
{
	struct nm_arrivals arrivals = arrivals_of("const(1M)");
	struct nm_schedule schedule;

	ck_assert_int_eq(nm_schedule_init(&schedule, 1, 2, NM_LANES), 0);
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
	tcase_add_test(tcase, a_load_has_the_rate_of_its_bytes);
	tcase_add_test(tcase, const_arrivals_have_one_distance);
	tcase_add_test(tcase, the_number_of_workers_changes_no_time);
	tcase_add_test(tcase, an_arrival_has_one_number_with_any_worker);
	tcase_add_test(tcase, poisson_arrivals_are_independent);
	tcase_add_test(tcase, uniform_arrivals_stay_in_their_part_of_a_slot);
	tcase_add_loop_test(tcase, arrivals_come_when_they_are_expected, 0,
			    sizeof changing / sizeof *changing);
	tcase_add_test(tcase, steps_are_held);
	tcase_add_test(tcase, times_belong_to_steps);
	tcase_add_loop_test(tcase, a_step_may_last_for_ever, 0, 2);
	tcase_add_test(tcase, steps_are_shuffled);
	tcase_add_test(tcase, a_trace_is_replayed);
	tcase_add_test(tcase, bursts_are_followed_by_silence);
	tcase_add_test(tcase, poisson_around_a_rate_that_changes);
	tcase_add_test(tcase, what_is_skipped_is_counted);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
