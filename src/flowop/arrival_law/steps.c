/* SPDX-License-Identifier: Apache-2.0 */
/* A rate that is held for a time, and then another: from the first to the last, in a mixed order,
 * or there and back; and again, as long as the transaction goes on. */
#include <math.h>

#include "base/rng.h"
#include "flowop/arrival_law/arrival_law.h"

/* Of the mixed order, which is the same in all runs, so that they can be compared. */
#define SHUFFLE_KEY 0x73746570 /* "step" */

/* Rates as users write them are rounded: the last step may miss the last rate by that. */
#define ROUNDING 1e-6

enum { FROM, TO, STEP, EACH };

static unsigned count_up(const struct nm_arrivals *arrivals)
{
	const double *args = arrivals->args;

	return (unsigned)fmin(fabs(args[TO] - args[FROM]) / args[STEP] + ROUNDING,
			      NM_ARRIVAL_STEPS - 1) +
	       1;
}

static unsigned count(const struct nm_arrivals *arrivals)
{
	return count_up(arrivals) * (arrivals->words & NM_ARRIVAL_MIRRORED ? 2 : 1);
}

static double rate(const struct nm_arrivals *arrivals, uint32_t step)
{
	const double *args = arrivals->args;
	unsigned up = count_up(arrivals);

	step = arrivals->order[step < up ? step : 2 * up - 1 - step];
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
	double least = rate(arrivals, 0);

	for (unsigned i = 1; i < count_up(arrivals); i++)
		least = fmin(least, rate(arrivals, i));
	return places * 1e9 / least;
}

static const char *check(struct nm_arrivals *arrivals)
{
	const double *args = arrivals->args;
	unsigned char *order = arrivals->order;
	unsigned up = count_up(arrivals);

	if (fabs(args[TO] - args[FROM]) / args[STEP] > NM_ARRIVAL_STEPS - 1)
		return "more than 100 steps lead from the first rate to the second";
	if (arrivals->length_ns / args[EACH] > NM_ARRIVAL_STEPS_MAX)
		return "more than 1000000 steps are in the time of the transaction";
	arrivals->n_steps = count(arrivals);
	arrivals->step_ns = (uint64_t)fmin(args[EACH], 0x1p62);
	for (unsigned i = 0; i < up; i++) {
		unsigned at = i;

		if (arrivals->words & NM_ARRIVAL_SHUFFLED)
			at = (unsigned)(nm_rng(SHUFFLE_KEY, i) % (i + 1));
		order[i] = order[at];
		order[at] = (unsigned char)i;
	}
	return NULL;
}

const struct nm_arrival_law nm_arrival_law_steps = {
	.name = "steps",
	.form = "steps(FROM,TO,STEP,TIME[,mirrored][,shuffled][,poisson])",
	.args = {NM_ARRIVAL_RATE, NM_ARRIVAL_RATE, NM_ARRIVAL_RATE, NM_ARRIVAL_TIME},
	.words = NM_ARRIVAL_POISSON | NM_ARRIVAL_MIRRORED | NM_ARRIVAL_SHUFFLED,
	.expected = expected,
	.when_ns = when_ns,
	.quiet_ns = quiet_ns,
	.step_per_s = rate,
	.check = check,
};
