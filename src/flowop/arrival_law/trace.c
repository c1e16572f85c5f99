/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded times of arrivals: once, or again and again. */
#include <math.h>

#include "flowop/arrival_law/arrival_law.h"

/* How many of one round are due in its first ns. */
static double count_until(const struct nm_trace *trace, double ns)
{
	size_t low = 0, high = trace->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((double)trace->at_ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (double)low;
}

static double expected(const struct nm_arrivals *arrivals, double ns)
{
	const struct nm_trace *trace = arrivals->trace;
	double at_ns = ns * arrivals->speed, rounds = 0;

	if (arrivals->words & NM_ARRIVAL_LOOP)
		rounds = floor(at_ns / (double)trace->end_ns);
	return rounds * (double)trace->count +
	       count_until(trace, at_ns - rounds * (double)trace->end_ns);
}

/* Arrival i is at the places from i to i + 1. */
static double when_ns(const struct nm_arrivals *arrivals, double place)
{
	const struct nm_trace *trace = arrivals->trace;
	double rounds = floor(place / (double)trace->count);
	double left = place - rounds * (double)trace->count;

	if (rounds > 0 && !(arrivals->words & NM_ARRIVAL_LOOP))
		return INFINITY;
	return (rounds * (double)trace->end_ns + (double)trace->at_ns[(size_t)left]) /
	       arrivals->speed;
}

static double quiet_ns(const struct nm_arrivals *arrivals, double places)
{
	const struct nm_trace *trace = arrivals->trace;
	double longest = places * (double)trace->longest_ns / arrivals->speed;

	if (arrivals->words & NM_ARRIVAL_LOOP)
		return longest;
	return fmax(longest,
		    arrivals->length_ns - (double)trace->at_ns[trace->count - 1] / arrivals->speed);
}

const struct nm_arrival_law nm_arrival_law_trace = {
	.name = "trace",
	.form = "trace(FILE[,speed=FACTOR][,loop][,exact])",
	.args = {NM_ARRIVAL_FILE},
	.words = NM_ARRIVAL_SPEED | NM_ARRIVAL_LOOP | NM_ARRIVAL_EXACT,
	.by_trace = true,
	.expected = expected,
	.when_ns = when_ns,
	.quiet_ns = quiet_ns,
};
