/* SPDX-License-Identifier: Apache-2.0 */
/* What flows still do when the time of their transaction is over: each ends the pass that it is in.
 * Mostly all of them are busy until the last has left, and what they do then belongs to the window.
 * But where some passes take far longer than others, as where packets are lost, most flows have
 * nothing to do any more while the last are waited for. Rates over all of that time would tell of
 * the length of a few passes.
 *
 * The master decides, for each group, and tells its slaves. */
#ifndef NM_CONTROL_TAIL_H
#define NM_CONTROL_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/counters.h"

/* What a group had counted when its time was over. */
struct nm_tail {
	uint64_t at_ns; /* 0: it is not over, or nobody has looked */
	struct nm_counts counts;
};

/* The window of a group whose last flow has left. */
struct nm_tail_window {
	uint64_t from_ns, end_ns;
	uint64_t from_passes;	 /* before it has opened */
	struct nm_counts counts; /* in all, at its end */
	uint32_t n_flows;
	bool queues; /* passes are due by themselves, and may have to wait for a flow */
};

/* Whether the window closes with its time, and not with the last flow. It does where it would be
 * longer than its time by more than 100 ms and more than 5 %, where there is a pass for each flow
 * in it, and where passes ended less often after its time than in it: so a flow's last pass has
 * taken longer than its passes on average; where passes queue, less than half as often, as a queue
 * that is served on keeps the flows busy. Data that go one way move on to the end, at the rate of
 * the path, whenever a pass ends. */
bool nm_tail_is_cut(const struct nm_tail *tail, const struct nm_tail_window *window);
/* Sets the counts at the end back to those when the time was over, but for what has failed. */
void nm_tail_cut(const struct nm_tail *tail, struct nm_counts *counts);

#endif
