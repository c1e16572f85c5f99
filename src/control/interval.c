/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the points of a grid. Pure: time comes in. */
#include "control/interval.h"

static void skip_stop(struct nm_interval *grid)
{
	uint64_t stop_ns = grid->begin_ns + grid->stop_ns;

	if (grid->stop_ns && grid->next_ns >= stop_ns &&
	    grid->next_ns - stop_ns < grid->interval_ns / 2 + 1)
		grid->next_ns += grid->interval_ns;
}

void nm_interval_begin(struct nm_interval *grid, uint64_t begin_ns, uint64_t interval_ns,
		       uint64_t stop_ns)
{
	*grid = (struct nm_interval){.begin_ns = begin_ns,
				     .interval_ns = interval_ns,
				     .stop_ns = stop_ns,
				     .next_ns = UINT64_MAX};
	if (interval_ns) {
		grid->next_ns = begin_ns + interval_ns;
		skip_stop(grid);
	}
}

uint64_t nm_interval_pass(struct nm_interval *grid, uint64_t now_ns)
{
	uint64_t passed_ns = (now_ns - grid->begin_ns) / grid->interval_ns * grid->interval_ns;

	grid->next_ns = grid->begin_ns + passed_ns + grid->interval_ns;
	skip_stop(grid);
	return passed_ns;
}
