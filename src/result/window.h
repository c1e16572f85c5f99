/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times of a window, and of each interval. Plain data, like all of result.h. */
#ifndef NM_RESULT_WINDOW_H
#define NM_RESULT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/statistics.h"

struct nm_host_interval;
struct nm_result;
struct nm_result_host;

/* A span of time by one clock; both 0: there is none. */
struct nm_span {
	uint64_t from_ns, to_ns;
};
/* Makes the span reach over the other, too, where there is one. */
void nm_span_cover(struct nm_span *span, struct nm_span other);
double nm_span_s(struct nm_span span);

/* What ended too long after the time of its transaction to be in the window. */
struct nm_result_after {
	uint64_t transactions;
	uint64_t unanswered; /* passes that have ended then as failures: those are in the window */
	double seconds; /* how long after that the last flow has left, at most; 0: nothing did */
};
void nm_result_after_add(struct nm_result_after *after, struct nm_result_after more);

enum nm_part { NM_PART_WARMUP, NM_PART_MEASURED, NM_PART_COOLDOWN };

#define NM_INTERVAL_GROUPS 16 /* rows have those of each group, where there are no more */

/* One row of the time grid, seen by the master. */
struct nm_result_interval {
	double from_s, to_s; /* since the phase began */
	uint32_t phase;
	enum nm_part part;	 /* the part in which its end lies */
	struct nm_window window; /* all groups together */
	struct nm_window *groups;
	size_t n_groups; /* 0: there is one group, or there are too many */
};

/* Fills the window from what workers have done in that time. 0, or -ENOMEM: then it lacks measured
 * flows or verbs. */
int nm_window_fill(struct nm_window *ret_window, const struct nm_tally_snap *sample, uint64_t ns,
		   const struct nm_percentiles *percentiles);
/* 0, or -ENOMEM: then the copy lacks measured flows or verbs. It has no distributions. */
int nm_window_copy(struct nm_window *ret_copy, const struct nm_window *window);
/* Keeps the distributions themselves, of the sample from which the window was filled. 0, or
 * -ENOMEM: some may lack. */
int nm_window_keep(struct nm_window *window, const struct nm_tally_snap *sample);
void nm_window_fini(struct nm_window *window);
/* A distribution, also one that has no values. */
const struct nm_latency *nm_window_time(const struct nm_window *window, enum nm_time time);
/* The distribution of whole passes: where nobody thinks their latency. */
const struct nm_latency *nm_window_passes(const struct nm_window *window);
double nm_window_transactions_per_s(const struct nm_window *window);
double nm_window_bits_per_s(const struct nm_window *window); /* both directions */

#define NM_GRID_ROUNDING_S 1e-6 /* times of the grid that differ by less are equal */
/* Rows are those of result->intervals. Whether it is the last of its phase. */
bool nm_interval_is_last(const struct nm_result *result, const struct nm_result_interval *row);
/* The host's row that begins with the master's, or NULL: it has none. */
const struct nm_host_interval *nm_host_interval_at(const struct nm_result *result,
						   const struct nm_result_host *host,
						   const struct nm_result_interval *row);
/* Whether the host's rows of the phase end by then. */
bool nm_host_done_by(const struct nm_result_host *host, uint32_t phase, double seconds);

#endif
