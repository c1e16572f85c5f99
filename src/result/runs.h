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

/* Frees the results; the series is empty then. */
void nm_runs_fini(struct nm_runs *series);
/* Summaries over the complete runs of a series. */
struct nm_runs_summary {
	struct nm_summary transactions_per_s, bits_per_s, latency_mean_s, latency_p50_s,
		latency_p99_s, slowdown_mean, slowdown_p50, slowdown_p99; /* of flows, if any */
};
/* Leaves out runs that are not complete; without complete runs the summaries are empty. */
void nm_runs_summarise(const struct nm_runs *series, struct nm_runs_summary *ret_summary);

#endif
