/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals as many independent users make them: a Poisson process, which is the union of one on
 * each lane. */
#include <math.h>

#include "flowop/arrival_law/arrival_law.h"

static double due_ns(const struct nm_lane *lane, double period_ns)
{
	return lane->at_ns - log(nm_lane_draw(lane)) * period_ns * NM_LANES;
}

const struct nm_arrival_law nm_arrival_law_poisson = {
	.name = "poisson",
	.due_ns = due_ns,
	.longest = 40,
};
