/* SPDX-License-Identifier: Apache-2.0 */
/* Results of one run or several. */
#ifndef NM_RESULT_RUNS_H
#define NM_RESULT_RUNS_H

#include <stddef.h>

#include "result/result.h"
#include "stats/summary.h"

struct nm_view;

/* Several runs of the same thing. One figure each, over the runs. */
struct nm_runs {
	struct nm_result **runs; /* owned */
	size_t n_runs;
	/* The user's choice how reports show them, see report/view.h; borrowed; NULL: nothing was
	 * asked. */
	const struct nm_view *view;
};

/* The figures of a run that are summed up, each with its key of --format kv, its label and its form
 * for people, and where a run has it: rates, and of a distribution a percentile, or its mean (0).
 * Slowdowns are those of measured flows, if any. */
#define NM_RUNS_SUMMARIES(X)                                                                       \
	X(transactions_per_s, "transactions_per_s", "transactions/s", nm_format_count,             \
	  rate_of(run, nm_window_transactions_per_s))                                              \
	X(bits_per_s, "bits_per_s", "throughput, both ways", nm_format_bitrate,                    \
	  rate_of(run, nm_window_bits_per_s))                                                      \
	X(latency_mean_s, "latency_mean", "latency mean", nm_format_duration,                      \
	  time_of(run, NM_TIME_LATENCY, 0))                                                        \
	X(latency_p50_s, "latency_p50", "latency p50", nm_format_duration,                         \
	  time_of(run, NM_TIME_LATENCY, 50))                                                       \
	X(latency_p99_s, "latency_p99", "latency p99", nm_format_duration,                         \
	  time_of(run, NM_TIME_LATENCY, 99))                                                       \
	X(slowdown_mean, "slowdown_mean", "slowdown mean", nm_format_count,                        \
	  time_of(run, NM_TIME_SLOWDOWN, 0))                                                       \
	X(slowdown_p50, "slowdown_p50", "slowdown p50", nm_format_count,                           \
	  time_of(run, NM_TIME_SLOWDOWN, 50))                                                      \
	X(slowdown_p99, "slowdown_p99", "slowdown p99", nm_format_count,                           \
	  time_of(run, NM_TIME_SLOWDOWN, 99))

/* Frees the results; the series is empty then. */
void nm_runs_fini(struct nm_runs *series);
/* Summaries over the complete runs of a series. */
struct nm_runs_summary {
#define NM_RUNS_MEMBER(member, ...) struct nm_summary member;
	NM_RUNS_SUMMARIES(NM_RUNS_MEMBER)
#undef NM_RUNS_MEMBER
};
/* Leaves out runs that are not complete; without complete runs the summaries are empty. */
void nm_runs_summarise(const struct nm_runs *series, struct nm_runs_summary *ret_summary);

#endif
