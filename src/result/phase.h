/* SPDX-License-Identifier: Apache-2.0 */
/* A transaction in the result, and the steps of its arrivals. Plain data, like all of result.h. */
#ifndef NM_RESULT_PHASE_H
#define NM_RESULT_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/statistics.h"
#include "result/window.h"
#include "stats/counters.h"

/* A rate that arrivals hold for a time, and what came of the passes that were due then, in the
 * measured window. */
struct nm_result_step {
	uint32_t number; /* from 0, in the order of time; the same when it comes again */
	double begin_s;	 /* when it first begins, from the begin of the transaction */
	double planned_per_s;
	/* its time in the measured window, added up; of overdue and tardy passes those that were
	 * begun, and that ended, after the step */
	struct nm_window window;
};

/* One transaction of one group. */
struct nm_result_phase {
	char *name;
	unsigned line;
	bool measured;
	double begin_s, seconds; /* since the run began; how long it took */
	double planned_per_s;	 /* by its rate or arrivals, for all flows together; 0: none */
	char *arrivals;	   /* the law of its open arrivals, as the profile has it; NULL: none */
	uint32_t pipeline; /* requests that a connection may have outstanding; 0: one */
	struct {
		uint64_t lines, left_out; /* see struct nm_replayed */
		uint64_t total;		  /* passes after which the transaction ends; 0: no limit */
	} recorded;
	struct nm_idle_path idle;     /* by which its flows were judged; empty: they were not */
	struct nm_window whole, due;  /* all; of the passes due in the window, if others are not */
	struct nm_result_step *steps; /* of its arrivals, if it is measured */
	size_t n_steps;
	struct nm_counts slaves; /* the counts of all slaves in it */
	/* from the first flow of a slave that entered it to the last that left, by the master's
	 * clock */
	struct nm_span slaves_span;
	bool slaves_known; /* the phase came to its end, and the slaves have told */
};

#endif
