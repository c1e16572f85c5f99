/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals as many independent users make them: a Poisson process, which is the union of one on
 * each lane. */
#include "flowop/arrival_law/arrival_law.h"

static double place(const struct nm_lane *lane, const struct nm_arrivals *arrivals)
{
	(void)arrivals;
	return nm_lane_poisson(lane);
}

const struct nm_arrival_law nm_arrival_law_poisson = {
	.name = "poisson",
	.form = "poisson(RATE)",
	.args = {NM_ARRIVAL_RATE},
	.place = place,
};
