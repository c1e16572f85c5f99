/* SPDX-License-Identifier: Apache-2.0 */
/* A rate that is held for a time, and then another: from the first to the last, or there and back;
 * and again, as long as the transaction goes on. */
#include <math.h>

#include "flowop/arrival_law/arrival_law.h"

#define MOST_STEPS 100

/* Rates as users write them are rounded: the last step may miss the last rate by that. */
#define ROUNDING 1e-6

enum { FROM, TO, STEP, EACH };

static unsigned count_up(const struct nm_arrivals *arrivals)
{
	const double *args = arrivals->args;

	return (unsigned)fmin(fabs(args[TO] - args[FROM]) / args[STEP] + ROUNDING, MOST_STEPS) + 1;
}

static unsigned count(const struct nm_arrivals *arrivals)
{
	return count_up(arrivals) * (arrivals->mirrored ? 2 : 1);
}

static double rate(const struct nm_arrivals *arrivals, unsigned step)
{
	const double *args = arrivals->args;
	unsigned up = count_up(arrivals);

	step = step < up ? step : 2 * up - 1 - step;
	return args[FROM] + (args[TO] < args[FROM] ? -args[STEP] : args[STEP]) * step;
}

/* Of all steps. */
static double in_a_round(const struct nm_arrivals *arrivals)
{
	double sum = 0;

	for (unsigned i = 0; i < count(arrivals); i++)
		sum += rate(arrivals, i) * arrivals->args[EACH] / 1e9;
	return sum;
}

static double expected(const struct nm_arrivals *arrivals, double ns)
{
	double round_ns = count(arrivals) * arrivals->args[EACH], rounds = floor(ns / round_ns);
	double sum = rounds * in_a_round(arrivals), left_ns = ns - rounds * round_ns;

	for (unsigned i = 0; left_ns > 0 && i < count(arrivals); i++) {
		sum += rate(arrivals, i) * fmin(left_ns, arrivals->args[EACH]) / 1e9;
		left_ns -= arrivals->args[EACH];
	}
	return sum;
}

static double when_ns(const struct nm_arrivals *arrivals, double place)
{
	double of_round = in_a_round(arrivals), rounds = floor(place / of_round);
	double left = place - rounds * of_round, each_ns = arrivals->args[EACH];
	unsigned last = count(arrivals) - 1, i = 0;

	for (; i < last && left >= rate(arrivals, i) * each_ns / 1e9; i++)
		left -= rate(arrivals, i) * each_ns / 1e9;
	return rounds * (last + 1) * each_ns + i * each_ns + left / rate(arrivals, i) * 1e9;
}

static double quiet_ns(const struct nm_arrivals *arrivals, double places)
{
	return places * 1e9 / fmin(rate(arrivals, 0), rate(arrivals, count_up(arrivals) - 1));
}

static const char *check(const struct nm_arrivals *arrivals)
{
	const double *args = arrivals->args;

	return fabs(args[TO] - args[FROM]) / args[STEP] > MOST_STEPS - 1
		       ? "more than 100 steps lead from the first rate to the second"
		       : NULL;
}

const struct nm_arrival_law nm_arrival_law_steps = {
	.name = "steps",
	.form = "steps(FROM,TO,STEP,TIME[,mirrored][,poisson])",
	.args = {NM_ARRIVAL_RATE, NM_ARRIVAL_RATE, NM_ARRIVAL_RATE, NM_ARRIVAL_TIME},
	.takes_poisson = true,
	.takes_mirrored = true,
	.expected = expected,
	.when_ns = when_ns,
	.quiet_ns = quiet_ns,
	.check = check,
};
