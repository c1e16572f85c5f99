/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times of a window, and of each interval. Plain data, like all of result.h. */
#ifndef NM_RESULT_WINDOW_H
#define NM_RESULT_WINDOW_H

#include <stdint.h>

#include "result/statistics.h"
#include "stats/counters.h"

/* The counts and the times of a window. */
struct nm_window {
	double seconds;
	struct nm_counts counts;    /* iterations are the transactions */
	struct nm_latency latency;  /* service time of transactions */
	struct nm_latency response; /* with a rate: from the time planned */
};

enum nm_part { NM_PART_WARMUP, NM_PART_MEASURED, NM_PART_COOLDOWN };

/* One row of the time grid, all groups together, seen by the master. */
struct nm_result_interval {
	double from_s, to_s; /* since the phase began */
	uint32_t phase;
	enum nm_part part; /* the part in which its end lies */
	struct nm_window window;
};

#endif
