/* SPDX-License-Identifier: Apache-2.0 */
/* Means of laws. Nothing is drawn: the value is integrated over the uniform number, so that bounds
 * and rounding are in the mean as they are in the draws. */
#include "base/law_priv.h"

#include <stdbool.h>

/* An octave is cut into so many parts, an even number. Octaves below 2^LEAST_OCTAVE / 2^64 weigh
 * nothing. */
#define PARTS	     64
#define LEAST_OCTAVE 8

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
static double integrate(const struct nm_law *law, uint64_t from, uint64_t to)
{
	uint64_t part = (to - from) / PARTS;
	double sum = (double)nm_law_value(law, from) + (double)nm_law_value(law, to);

	for (uint64_t i = 1; i < PARTS; i++)
		sum += (i % 2 ? 4 : 2) * (double)nm_law_value(law, from + i * part);
	return sum * (double)(to - from) / (3 * PARTS);
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
				sum += integrate(law, begin, end);
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

double nm_law_mean(const struct nm_law *law)
{
	switch (law->kind) {
	case NM_LAW_CONST:
	case NM_LAW_UNIFORM:
		return ((double)law->min + (double)law->max) / 2;
	case NM_LAW_BIMODAL:
		return bimodal_mean(law);
	case NM_LAW_CDF:
		return nm_law_table_mean(law->table, law->min, law->max);
	default:
		return continuous_mean(law);
	}
}
