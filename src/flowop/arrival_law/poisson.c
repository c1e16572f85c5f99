/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals as many independent users make them: a Poisson process, which is the union of one on
 * each lane. */
#include "flowop/arrival_law/arrival_law.h"

const struct nm_arrival_law nm_arrival_law_poisson = {
	.name = "poisson",
	.form = "poisson(RATE)",
	.args = {NM_ARRIVAL_RATE},
	.place = nm_lane_poisson,
};
