/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts have moved in their own time, and how far the slaves are from the master in that. */
#ifndef NM_RESULT_DIFFERENCE_H
#define NM_RESULT_DIFFERENCE_H

#include <stdbool.h>

#include "result/result.h"

/* The rate of bytes that a host with a report has moved in all of the run, or in one of its groups.
 * is_late: what nm_result_is_late says of the result, which callers ask once for all. Where it
 * is so and the host has a window, the rate is that of the window, of which each group has its
 * share, since the time of the run has waits in it that are of no stream. */
double nm_result_host_rate(const struct nm_result_host *host, const struct nm_counts *counts,
			   bool is_late);

/* How much less the slaves have done than the master, in per cent of the master: 0 is best. NaN:
 * the master has done nothing, but the slaves have. */
struct nm_difference {
	double time, data, throughput, operations, errors;
};

/* False when the master or a slave has delivered no report, or there is no slave. */
bool nm_result_difference(const struct nm_result *result, struct nm_difference *ret_difference);

#endif
