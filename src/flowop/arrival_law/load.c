/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals that use a share of a link on average: a Poisson process, whose rate follows from the
 * bytes of a pass. */
#include "flowop/arrival_law/arrival_law.h"

static double per_ns(const struct nm_arrivals *arrivals)
{
	return arrivals->args[0] * arrivals->args[1] / 8 / arrivals->pass_bytes / 1e9;
}

static double expected(const struct nm_arrivals *arrivals, double ns)
{
	return per_ns(arrivals) * ns;
}

static double when_ns(const struct nm_arrivals *arrivals, double place)
{
	return place / per_ns(arrivals);
}

const struct nm_arrival_law nm_arrival_law_load = {
	.name = "load",
	.form = "load(SHARE,LINK)",
	.args = {NM_ARRIVAL_SHARE, NM_ARRIVAL_BITRATE},
	.by_bytes = true,
	.place = nm_lane_poisson,
	.expected = expected,
	.when_ns = when_ns,
	.quiet_ns = when_ns,
};
