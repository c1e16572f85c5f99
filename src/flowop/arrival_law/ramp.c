/* SPDX-License-Identifier: Apache-2.0 */
/* A rate that changes by as much in each second, from the begin of the transaction to its end. */
#include <math.h>

#include "flowop/arrival_law/arrival_law.h"

static double slope(const struct nm_arrivals *arrivals)
{
	return (arrivals->args[1] - arrivals->args[0]) * 1e9 / arrivals->length_ns;
}

static double expected(const struct nm_arrivals *arrivals, double ns)
{
	double s = ns / 1e9;

	return arrivals->args[0] * s + slope(arrivals) * s * s / 2;
}

/* The solution of the quadratic equation that is stable where the slope is small. */
static double time_ns(double per_s, double slope, double places)
{
	double root = per_s * per_s + 2 * slope * places;

	return root > 0 ? 2e9 * places / (per_s + sqrt(root)) : INFINITY;
}

static double when_ns(const struct nm_arrivals *arrivals, double place)
{
	return time_ns(arrivals->args[0], slope(arrivals), place);
}

/* Where the rate is lowest. */
static double quiet_ns(const struct nm_arrivals *arrivals, double places)
{
	return time_ns(fmin(arrivals->args[0], arrivals->args[1]), fabs(slope(arrivals)), places);
}

const struct nm_arrival_law nm_arrival_law_ramp = {
	.name = "ramp",
	.form = "ramp(FROM,TO[,poisson])",
	.args = {NM_ARRIVAL_RATE_OR_0, NM_ARRIVAL_RATE_OR_0},
	.words = NM_ARRIVAL_POISSON,
	.expected = expected,
	.when_ns = when_ns,
	.quiet_ns = quiet_ns,
};
