/* SPDX-License-Identifier: Apache-2.0 */
/* How the user wants to see results. */
#ifndef NM_REPORT_VIEW_H
#define NM_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>

/* An option of neper's with the value in force. */
struct nm_tool_option {
	char *name;  /* with underscores, as neper prints it */
	char *value; /* NULL: the number of the run */
};

struct nm_comparison;
struct nm_sweep;
struct nm_verdicts;

struct nm_view {
	unsigned width;		     /* the columns of the terminal; 0: it is none */
	const char *throughput_unit; /* a word of neper's, see throughput.h; NULL: none */
	const char *cpus;	     /* for the master's workers; NULL: anywhere */
	const char *slave_cpus;	     /* for the slaves' workers; NULL: as each slave's own */
	bool intervals;		     /* the user has asked for rows of them */
	bool has_lines;		     /* the lines of progress have been printed above the report */
	bool of_slave;		     /* a slave's own result: it has no intervals to show */
	bool stime_use_proc;	     /* neper's stime is that of the whole host */
	/* The options of the workload, in neper's order; borrowed. None: it is no workload of
	 * neper's. */
	const struct nm_tool_option *tool_options;
	size_t n_tool_options;
	/* What was required of the series, as judged; borrowed; NULL: nothing. */
	const struct nm_verdicts *verdicts;
	const struct nm_comparison *comparison; /* with an earlier result; borrowed; NULL: none */
	const struct nm_sweep *sweep; /* the trials of which it is one; borrowed; NULL: none */
};

#endif
