/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what flows do after the time of their transaction belongs to the window. */
#include "control/tail.h"

#define LEAST_NS    100000000u
#define LEAST_PARTS 20u /* of the window's time: one of so many */

bool nm_tail_is_of_stream(const struct nm_counts *counts)
{
	return (counts->bytes_sent == 0) != (counts->bytes_received == 0);
}

uint64_t nm_tail_allowed_ns(uint64_t window_ns)
{
	return window_ns / LEAST_PARTS > LEAST_NS ? window_ns / LEAST_PARTS : LEAST_NS;
}

bool nm_tail_is_cut(const struct nm_tail *tail, const struct nm_tail_window *window)
{
	uint64_t at_ns = tail->at_ns, end_ns = window->end_ns;

	if (at_ns <= window->from_ns ||
	    end_ns <= at_ns + nm_tail_allowed_ns(at_ns - window->from_ns))
		return false;
	const double in_ns = (double)(at_ns - window->from_ns), late_ns = (double)(end_ns - at_ns);

	if (nm_tail_is_of_stream(&window->counts))
		return (double)window->received.late * in_ns <
		       (double)window->received.in_time * late_ns;
	uint64_t passes = tail->counts.iterations - window->from_passes;
	uint64_t late = window->counts.iterations - tail->counts.iterations;
	double often = window->queues ? 2 : 1;

	return passes >= window->n_flows && often * (double)late * in_ns < (double)passes * late_ns;
}

void nm_tail_cut(const struct nm_tail *tail, struct nm_counts *counts)
{
	uint64_t errors = counts->errors;

	*counts = tail->counts;
	counts->errors = errors;
}
