/* SPDX-License-Identifier: Apache-2.0 */
/* Means of laws. Nothing is drawn: the value is integrated over the uniform number, so that bounds
 * and rounding are in the mean as they are in the draws. */
#include "base/law_priv.h"

#include <math.h>
#include <stdbool.h>

/* An octave is cut into so many parts, an even number: the ones that weigh most, from
 * 2^FINE_OCTAVE / 2^64 on, into more. Octaves below 2^LEAST_OCTAVE / 2^64 weigh nothing. */
#define PARTS	     64
#define COARSE_PARTS 8
#define FINE_OCTAVE  50
#define LEAST_OCTAVE 8
/* So many terms of a sum are added one by one. */
#define EXACT_TERMS 10000

/* The first number whose value has come to the bound, or beyond it; UINT64_MAX if there is none. */
static uint64_t first_number(const struct nm_law *law, bool falls, uint64_t bound, bool beyond)
{
	uint64_t low = 1, high = UINT64_MAX;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2, value = nm_law_value(law, middle);
		bool past = falls ? value < bound : value > bound;

		if (past || (!beyond && value == bound))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The integral by Simpson from one number to another, times 2^64. */
static double integrate(const struct nm_law *law, uint64_t from, uint64_t to, unsigned parts)
{
	uint64_t part = (to - from) / parts;
	double sum = (double)nm_law_value(law, from) + (double)nm_law_value(law, to);

	for (uint64_t i = 1; i < parts; i++)
		sum += (i % 2 ? 4 : 2) * (double)nm_law_value(law, from + i * part);
	return sum * (double)(to - from) / (3 * parts);
}

/* Octaves become short where values become large: at both ends. */
static double integrate_octaves(const struct nm_law *law, uint64_t from, uint64_t to)
{
	double sum = 0;

	for (unsigned octave = LEAST_OCTAVE; octave < 63; octave++) {
		uint64_t low = UINT64_C(1) << octave, high = low << 1;

		for (int side = 0; side < 2; side++) {
			uint64_t begin = side ? ~high : low, end = side ? ~low : high;

			begin = begin < from ? from : begin;
			end = end > to ? to : end;
			if (begin < end)
				sum += integrate(law, begin, end,
						 octave < FINE_OCTAVE ? COARSE_PARTS : PARTS);
		}
	}
	return sum;
}

static double continuous_mean(const struct nm_law *law)
{
	bool falls = nm_law_value(law, 1) > nm_law_value(law, UINT64_MAX);
	uint64_t from = first_number(law, falls, falls ? law->max : law->min, false);
	uint64_t to = first_number(law, falls, falls ? law->min : law->max, true);

	return integrate_octaves(law, from, to) / (double)(to - from);
}

static double bimodal_mean(const struct nm_law *law)
{
	double first = (double)law->params[2] / (double)(UINT64_C(1) << NM_LAW_REAL_BITS);
	double weights[] = {first, 1 - first}, sum = 0, within = 0;

	for (size_t i = 0; i < 2; i++) {
		if (law->params[i] < law->min || law->params[i] > law->max)
			continue;
		sum += weights[i] * (double)law->params[i];
		within += weights[i];
	}
	return sum / within;
}

/* The sum of i^power from one whole number to another. */
static double power_sum(double power, uint64_t from, uint64_t to)
{
	double sum = 0, low, high;

	for (unsigned n = 0; n < EXACT_TERMS && from <= to; n++)
		sum += pow((double)from++, power);
	if (from > to)
		return sum;
	/* The rest as an integral. */
	low = (double)from - 0.5;
	high = (double)to + 0.5;
	if (fabs(power + 1) < 1e-9)
		return sum + log(high / low);
	return sum + (pow(high, power + 1) - pow(low, power + 1)) / (power + 1);
}

static double zipf_mean(const struct nm_law *law)
{
	double s = (double)law->params[0] / (double)(UINT64_C(1) << NM_LAW_REAL_BITS);
	uint64_t min = law->min ? law->min : 1;
	uint64_t max = law->max < law->params[1] ? law->max : law->params[1];

	return power_sum(1 - s, min, max) / power_sum(-s, min, max);
}

double nm_law_mean(const struct nm_law *law)
{
	switch (law->kind) {
	case NM_LAW_CONST:
	case NM_LAW_UNIFORM:
		return ((double)law->min + (double)law->max) / 2;
	case NM_LAW_BIMODAL:
		return bimodal_mean(law);
	case NM_LAW_ZIPF:
		return zipf_mean(law);
	case NM_LAW_DISCRETE:
		return nm_law_table_mean(law->table, true, law->min, law->max);
	case NM_LAW_CDF:
		return nm_law_table_mean(law->table, law->steps, law->min, law->max);
	default:
		return continuous_mean(law);
	}
}
