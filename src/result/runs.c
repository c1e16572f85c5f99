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

static double rate_of(const struct nm_result *run, double (*rate)(const struct nm_window *window))
{
	return run->totals.seconds > 0 ? rate(&run->totals) : NAN;
}

/* A percentile of a distribution, or with 0 its mean. */
static double time_of(const struct nm_result *run, enum nm_time time, double pct)
{
	const struct nm_latency *times = nm_window_time(&run->totals, time);

	if (pct == 0)
		return times->count ? times->mean_s : NAN;
	for (size_t i = 0; i < run->percentiles.count && times->count; i++)
		if (run->percentiles.pct[i] == pct)
			return times->pct_s[i];
	return NAN;
}

#define FIGURE(member, key, label, format, value)                                                  \
	static double member(const struct nm_result *run)                                          \
	{                                                                                          \
		return value;                                                                      \
	}
NM_RUNS_SUMMARIES(FIGURE)
#undef FIGURE

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

#define SUMMARISE(member, ...) summarise(series, member, values, &ret_summary->member);
	NM_RUNS_SUMMARIES(SUMMARISE)
#undef SUMMARISE
	free(values);
}
