/* SPDX-License-Identifier: Apache-2.0 */
/* All arrivals of a period in the first part of it. */
#include <math.h>

#include "flowop/arrival_law/arrival_law.h"

enum { RATE, ON, PERIOD };

static double in_a_burst(const struct nm_arrivals *arrivals)
{
	return arrivals->args[RATE] * arrivals->args[PERIOD] / 1e9;
}

static double expected(const struct nm_arrivals *arrivals, double ns)
{
	const double *args = arrivals->args;
	double periods = floor(ns / args[PERIOD]), left_ns = ns - periods * args[PERIOD];

	return in_a_burst(arrivals) * (periods + fmin(left_ns / args[ON], 1));
}

static double when_ns(const struct nm_arrivals *arrivals, double place)
{
	const double *args = arrivals->args;
	double bursts = place / in_a_burst(arrivals), whole = floor(bursts);

	return whole * args[PERIOD] + (bursts - whole) * args[ON];
}

static double quiet_ns(const struct nm_arrivals *arrivals, double places)
{
	return arrivals->args[PERIOD] * (1 + ceil(places / in_a_burst(arrivals)));
}

static const char *check(struct nm_arrivals *arrivals)
{
	return arrivals->args[ON] > arrivals->args[PERIOD]
		       ? "a burst cannot last longer than from one to the next"
		       : NULL;
}

const struct nm_arrival_law nm_arrival_law_burst = {
	.name = "burst",
	.form = "burst(RATE,LENGTH,PERIOD[,poisson])",
	.args = {NM_ARRIVAL_RATE, NM_ARRIVAL_TIME, NM_ARRIVAL_TIME},
	.words = NM_ARRIVAL_POISSON,
	.expected = expected,
	.when_ns = when_ns,
	.quiet_ns = quiet_ns,
	.check = check,
};
