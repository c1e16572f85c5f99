/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals at a random place in intervals of equal length: as many a second as with const, and in
 * no fixed distance. Example of docs/adding-an-arrival-law.md. */
#include "flowop/arrival_law/arrival_law.h"

static double due_ns(const struct nm_lane *lane, double period_ns)
{
	uint64_t interval = lane->number * NM_LANES + lane->index;

	return ((double)interval + nm_lane_draw(lane)) * period_ns;
}

const struct nm_arrival_law nm_arrival_law_jittered = {
	.name = "jittered",
	.due_ns = due_ns,
	.longest = 2,
};
