/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries over several runs. */
#include "result/runs.h"

#include <math.h>
#include <stdlib.h>

void nm_runs_fini(struct nm_runs *series)
{
	for (size_t i = 0; i < series->n_runs; i++)
		nm_result_free(series->runs[i]);
	free(series->runs);
	series->runs = NULL;
	series->n_runs = 0;
}

/* One figure of a run; NaN: the run has none. */
typedef double (*figure_fn)(const struct nm_result *run);

static double percentile_of(const struct nm_result *run, const struct nm_latency *times, double pct)
{
	for (size_t i = 0; i < run->percentiles.count && times->count; i++)
		if (run->percentiles.pct[i] == pct)
			return times->pct_s[i];
	return NAN;
}

static double transactions_per_s(const struct nm_result *run)
{
	return run->totals.seconds > 0 ? nm_window_transactions_per_s(&run->totals) : NAN;
}

static double bits_per_s(const struct nm_result *run)
{
	return run->totals.seconds > 0 ? nm_window_bits_per_s(&run->totals) : NAN;
}

static double latency_mean_s(const struct nm_result *run)
{
	return run->totals.latency.count ? run->totals.latency.mean_s : NAN;
}

static double latency_p50_s(const struct nm_result *run)
{
	return percentile_of(run, &run->totals.latency, 50);
}

static double latency_p99_s(const struct nm_result *run)
{
	return percentile_of(run, &run->totals.latency, 99);
}

static double slowdown_mean(const struct nm_result *run)
{
	const struct nm_latency *times = nm_window_time(&run->totals, NM_TIME_SLOWDOWN);

	return times->count ? times->mean_s : NAN;
}

static double slowdown_p50(const struct nm_result *run)
{
	return percentile_of(run, nm_window_time(&run->totals, NM_TIME_SLOWDOWN), 50);
}

static double slowdown_p99(const struct nm_result *run)
{
	return percentile_of(run, nm_window_time(&run->totals, NM_TIME_SLOWDOWN), 99);
}

static void summarise(const struct nm_runs *series, figure_fn figure, double *values,
		      struct nm_summary *ret_summary)
{
	for (size_t i = 0; values && i < series->n_runs; i++)
		values[i] = series->runs[i]->complete ? figure(series->runs[i]) : NAN;
	nm_summary_of_known(values, values ? series->n_runs : 0, ret_summary);
}

void nm_runs_summarise(const struct nm_runs *series, struct nm_runs_summary *ret_summary)
{
	/* Out of memory: summaries of no values. */
	double *values = calloc(series->n_runs ? series->n_runs : 1, sizeof(*values));

	summarise(series, transactions_per_s, values, &ret_summary->transactions_per_s);
	summarise(series, bits_per_s, values, &ret_summary->bits_per_s);
	summarise(series, latency_mean_s, values, &ret_summary->latency_mean_s);
	summarise(series, latency_p50_s, values, &ret_summary->latency_p50_s);
	summarise(series, latency_p99_s, values, &ret_summary->latency_p99_s);
	summarise(series, slowdown_mean, values, &ret_summary->slowdown_mean);
	summarise(series, slowdown_p50, values, &ret_summary->slowdown_p50);
	summarise(series, slowdown_p99, values, &ret_summary->slowdown_p99);
	free(values);
}
