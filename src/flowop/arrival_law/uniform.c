/* SPDX-License-Identifier: Apache-2.0 */
/* One arrival in each of the slots of equal length, at a random place in a part of it. */
#include "flowop/arrival_law/arrival_law.h"

static double place(const struct nm_lane *lane, const struct nm_arrivals *arrivals)
{
	double slot = (double)nm_lane_slot(lane, arrivals);

	return slot + 0.5 + arrivals->args[1] * (nm_lane_draw(lane) - 0.5);
}

const struct nm_arrival_law nm_arrival_law_uniform = {
	.name = "uniform",
	.form = "uniform(RATE,WIDTH)",
	.args = {NM_ARRIVAL_RATE, NM_ARRIVAL_SHARE},
	.place = place,
};
