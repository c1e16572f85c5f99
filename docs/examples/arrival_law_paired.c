/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals in pairs, as of a user who asks once more soon after: the second of each pair comes
 * earlier than with const, by a share of the distance. Example of docs/adding-an-arrival-law.md. */
#include "flowop/arrival_law/arrival_law.h"

static double place(const struct nm_lane *lane, const struct nm_arrivals *arrivals)
{
	uint64_t number = nm_lane_slot(lane, arrivals);
	double earlier = number % 2 ? arrivals->args[1] : 0;

	return (double)number + 0.5 - earlier;
}

const struct nm_arrival_law nm_arrival_law_paired = {
	.name = "paired",
	.form = "paired(RATE,EARLIER)",
	.args = {NM_ARRIVAL_RATE, NM_ARRIVAL_SHARE},
	.place = place,
};
