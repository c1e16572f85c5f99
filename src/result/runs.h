/* SPDX-License-Identifier: Apache-2.0 */
/* Results of one run or several, and how the user wants to see them. */
#ifndef NM_RESULT_RUNS_H
#define NM_RESULT_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "result/result.h"
#include "stats/summary.h"

/* An option of neper's as it was in force. */
struct nm_neper_option {
	char *name;  /* with underscores, as neper prints it */
	char *value; /* NULL: the number of the run */
};

/* How the user wants to see it. */
struct nm_view {
	/* a word of neper's, see report/throughput.h; NULL: none was asked for */
	const char *throughput_unit;
	const char *cpus;	/* on which the master's workers were to be; NULL: anywhere */
	const char *slave_cpus; /* the same of the slaves'; NULL: as each of them was told */
	bool of_slave;		/* a slave's own: there are no intervals to speak of */
	bool stime_use_proc;	/* neper's stime is that of the whole host */
	/* Those of the workload, in neper's order; borrowed. None: it is no workload of neper's. */
	const struct nm_neper_option *neper_options;
	size_t n_neper_options;
};

/* Several runs of the same thing. One figure each, over the runs. */
struct nm_runs {
	struct nm_result **runs; /* owned */
	size_t n_runs;
	struct nm_view view;
};

void nm_runs_fini(struct nm_runs *series);
/* Summaries over the complete runs of a series. */
struct nm_runs_summary {
	struct nm_summary transactions_per_s, bits_per_s, latency_mean_s, latency_p50_s,
		latency_p99_s;
};
void nm_runs_summarise(const struct nm_runs *series, struct nm_runs_summary *ret_summary);

#endif
