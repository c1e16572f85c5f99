/* SPDX-License-Identifier: Apache-2.0 */
/* The search against queues whose theory is known, and whose percentiles are measured: each trial
 * is a draw of arrivals and services, so that chance has its part in every verdict. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "search/search.h"
#include "stats/hist.h"
#include "stats/summary.h"

#include "../suite.h"

#define SERVICE_S 500e-6
#define LENGTH_S  20 /* of a trial of the usual length */
#define PARTS	  10 /* of that, by which the interval of a percentile is known */
#define TOLERANCE (0.05 + NM_SEARCH_TOLERANCE)
#ifndef SEEDS
#define SEEDS 12
#endif

struct queue {
	const char *name;
	bool exponential; /* services; otherwise they are all alike */
	double limit_s;	  /* of the 99th percentile of the response */
	double (*p99)(double rate);
};

/* M/M/1. */
static double p99_exponential(double rate)
{
	return log(100) / (1 / SERVICE_S - rate);
}

/* M/D/1: the tail of the wait is as exp(-theta t) with theta the root of rho (e^x - 1) = x. */
static double p99_constant(double rate)
{
	double rho = rate * SERVICE_S, theta = 2 * (1 / rho - 1);

	for (int i = 0; i < 50; i++)
		theta -= (rho * expm1(theta) - theta) / (rho * exp(theta) - 1);
	return SERVICE_S * (1 + log(100 * (1 - rho) / (rho * exp(theta) - 1)) / theta);
}

static const struct queue queues[] = {
	{.name = "M/M/1", .exponential = true, .limit_s = 10e-3, .p99 = p99_exponential},
	{.name = "M/M/1", .exponential = true, .limit_s = 5e-3, .p99 = p99_exponential},
	{.name = "M/D/1", .limit_s = 5e-3, .p99 = p99_constant},
};

/* The highest rate at which the queue meets its limit. */
static double true_rate(const struct queue *queue)
{
	double low = 0.1 / SERVICE_S, high = 0.999 / SERVICE_S;

	while (high - low > 0.01) {
		double middle = (low + high) / 2;

		*(queue->p99(middle) <= queue->limit_s ? &low : &high) = middle;
	}
	return low;
}

/* What a trial has measured so far. */
struct measured {
	struct nm_hist_snap whole, part;
	double parts[PARTS * NM_SEARCH_LONGEST];
	size_t n_parts;
	double p99_s, low_s, high_s; /* p99_s: of all that was measured */
};

static double exponential(uint64_t key, uint64_t n)
{
	return -log((double)((nm_rng(key, n) >> 11) + 1) * 0x1p-53);
}

static void take(struct nm_hist_snap *hist, double seconds)
{
	uint64_t ns = (uint64_t)(seconds * 1e9);

	hist->bucket[nm_hist_index(ns)]++;
	hist->count++;
	hist->min_ns = ns < hist->min_ns ? ns : hist->min_ns;
	hist->max_ns = ns > hist->max_ns ? ns : hist->max_ns;
}

static void end_part(struct measured *measured)
{
	if (measured->part.count)
		measured->parts[measured->n_parts++] = nm_hist_percentile_s(&measured->part, 99);
	nm_hist_snap_merge(&measured->whole, &measured->part);
	nm_hist_snap_init(&measured->part);
}

/* One usual length of the queue, which is empty at its begin. */
static void measure_length(struct measured *measured, const struct queue *queue, double rate,
			   uint64_t seed)
{
	double now = 0, free_at = 0, part_end = (double)LENGTH_S / PARTS;

	nm_hist_snap_init(&measured->part);
	for (uint64_t n = 0; now < LENGTH_S; n++) {
		double service = queue->exponential ? exponential(seed, 2 * n + 1) : 1;

		now += exponential(seed, 2 * n) / rate;
		for (; now >= part_end && part_end <= LENGTH_S;
		     part_end += (double)LENGTH_S / PARTS)
			end_part(measured);
		free_at = fmax(free_at, now) + service * SERVICE_S;
		take(&measured->part, free_at - now);
	}
	measured->p99_s = nm_hist_percentile_s(&measured->whole, 99);
}

static void begin(struct measured *measured)
{
	memset(measured, 0, sizeof(*measured));
	nm_hist_snap_init(&measured->whole);
}

/* A search for the rate of the queue. */
static void run(struct nm_search *search, const struct queue *queue, uint64_t seed,
		unsigned *ret_lengths)
{
	const struct nm_search_settings settings = {
		.from = 100, .to = 1900, .confirm = 3, .seed = seed};
	struct measured *measured = calloc(1, sizeof(*measured));
	struct nm_search_trial trial;

	ck_assert_ptr_nonnull(measured);
	nm_search_init(search, &settings);
	while (nm_search_ask(search, &trial)) {
		if (!trial.done)
			begin(measured);
		for (unsigned i = trial.done; i < trial.window; i++)
			measure_length(measured, queue, trial.value, nm_rng(trial.seed, i));
		nm_confidence(measured->p99_s, measured->parts, measured->n_parts, &measured->low_s,
			      &measured->high_s);
		*ret_lengths += trial.window - trial.done;
		nm_search_tell(search, &(struct nm_search_verdict){
					       .pass = measured->p99_s <= queue->limit_s,
					       .in_doubt = measured->low_s <= queue->limit_s &&
							   measured->high_s > queue->limit_s,
					       .typical = NAN,
					       .limit = queue->limit_s,
				       });
	}
	free(measured);
}

START_TEST(a_noisy_queue_is_found_where_theory_says)
{
	const struct queue *queue = &queues[_i];
	double expected = true_rate(queue), least = INFINITY, most = 0, sum = 0;
	unsigned n_false = 0, n_trials = 0, n_lengths = 0;
	struct nm_search search;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		run(&search, queue, seed, &n_lengths);
		n_false += search.outcome != NM_SEARCH_FOUND ||
			   fabs(search.low / expected - 1) > TOLERANCE;
		n_trials += (unsigned)search.n_trials;
		least = fmin(least, search.low / expected);
		most = fmax(most, search.low / expected);
		sum += search.low / expected;
	}
	ck_assert_msg(n_false <= SEEDS / 12,
		      "%s, %g ms: %.1f/s; found %.3f..%.3f of it, mean %.3f; %u of %u false; %.1f "
		      "trials, %.1f lengths",
		      queue->name, queue->limit_s * 1e3, expected, least, most, sum / SEEDS,
		      n_false, (unsigned)SEEDS, (double)n_trials / SEEDS,
		      (double)n_lengths / SEEDS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("noise");
	TCase *tc = tcase_create("noise");

	tcase_add_loop_test(tc, a_noisy_queue_is_found_where_theory_says, 0,
			    sizeof(queues) / sizeof(queues[0]));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
