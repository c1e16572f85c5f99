/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals at equal distances. The lanes take turns. */
#include "flowop/arrival_law/arrival_law.h"

static double due_ns(const struct nm_lane *lane, double period_ns)
{
	return ((double)(lane->number * NM_LANES + lane->index) + 0.5) * period_ns;
}

const struct nm_arrival_law nm_arrival_law_const = {
	.name = "const",
	.due_ns = due_ns,
	.longest = 1,
};
