/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what flows do after the time of their transaction belongs to the window. */
#include "control/tail.h"

#define LEAST_NS    100000000u
#define LEAST_PARTS 20u /* of the window's time: one of so many */

static bool goes_one_way(const struct nm_counts *counts)
{
	return (counts->bytes_sent == 0) != (counts->bytes_received == 0);
}

bool nm_tail_is_cut(const struct nm_tail *tail, const struct nm_tail_window *window)
{
	uint64_t at_ns = tail->at_ns, end_ns = window->end_ns;

	if (at_ns <= window->from_ns || end_ns <= at_ns + LEAST_NS ||
	    (end_ns - at_ns) * LEAST_PARTS <= at_ns - window->from_ns ||
	    goes_one_way(&window->counts))
		return false;
	uint64_t passes = tail->counts.iterations - window->from_passes;
	uint64_t late = window->counts.iterations - tail->counts.iterations;

	double often = window->queues ? 2 : 1;

	return passes >= window->n_flows &&
	       often * (double)late * (double)(at_ns - window->from_ns) <
		       (double)passes * (double)(end_ns - at_ns);
}

void nm_tail_cut(const struct nm_tail *tail, struct nm_counts *counts)
{
	nm_counts_set_back(counts, &tail->counts);
}
