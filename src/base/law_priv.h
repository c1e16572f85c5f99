/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of laws share. */
#ifndef NM_BASE_LAW_PRIV_H
#define NM_BASE_LAW_PRIV_H

#include "base/law.h"

/* Bits behind the point of a parameter that is a real number, and of one that is a value with a
 * fraction. */
#define NM_LAW_REAL_BITS  32
#define NM_LAW_SCALE_BITS 12
/* Parts of a probability in a table. */
#define NM_LAW_WHOLE UINT64_C(1000000000)
/* The most points of a table that is written out. */
#define NM_LAW_MAX_POINTS 4096
/* The largest value of any law. */
#define NM_LAW_MAX (UINT64_C(1) << 50)
/* What nm_law_value answers when another number must be drawn. */
#define NM_LAW_REJECTED UINT64_MAX

struct nm_law_point {
	uint64_t value;
	uint64_t below; /* probability of values up to this one, in parts of NM_LAW_WHOLE */
};

/* A distribution function: neither value nor probability falls from one point to the next, and the
 * last probability is NM_LAW_WHOLE. */
struct nm_law_table {
	const char *name; /* what stands between the parentheses */
	size_t count;
	const struct nm_law_point *points;
	const uint64_t *taken; /* of NM_LAW_ZIPF, see nm_law_zipf_taken; otherwise NULL */
};

/* What a parameter is: a value, a value with a fraction, or a real number and what it may be. */
enum nm_law_param {
	NM_LAW_NO_PARAM,
	NM_LAW_VALUE,
	NM_LAW_SCALE,
	NM_LAW_SIGMA,
	NM_LAW_SHAPE,
	NM_LAW_TAIL,
	NM_LAW_EXPONENT,
	NM_LAW_PROBABILITY,
};

/* How a law is written. */
struct nm_law_form {
	const char *name;
	enum nm_law_kind kind;
	const char *args; /* as messages name them */
	const char *also; /* what else messages say of them */
	bool bounded;	  /* it has a largest value by itself */
	bool whole;	  /* bounds cannot be given */
	enum nm_law_param params[NM_LAW_PARAMS];
};
extern const struct nm_law_form nm_law_forms[]; /* ends with a name of NULL */

/* The built-in table of exactly that name; NULL if there is none. */
const struct nm_law_table *nm_law_table_find(const char *name);
/* A table with a copy of the points, in the order of their values; below of each is its weight, or
 * what nm_law_table says. To be freed by free; NULL when out of memory. */
struct nm_law_table *nm_law_table_new(const char *name, const struct nm_law_point *points,
				      size_t count);
/* The table of ranks from 1 to n with the exponent s: octave after octave. */
struct nm_law_table *nm_law_table_new_zipf(uint64_t s, uint64_t n);
/* How likely a rank is taken whose logarithm is by so much above that of the first of its octave,
 * times 2^62. The table has that at the begin of each of NM_ZIPF_PARTS equal parts of an octave,
 * and at its end: it falls from one to the next. */
#define NM_ZIPF_PART_BITS 6u
#define NM_ZIPF_PARTS	  (1u << NM_ZIPF_PART_BITS)
uint64_t nm_law_zipf_taken(uint64_t s, uint64_t log2);
/* How much the logarithm of a number from 1 to 2, with 63 bits behind the point, is above 0. */
uint64_t nm_law_zipf_log2(uint64_t x);
/* Makes weights probabilities: of all points up to each. The sum is below 2^64 and not 0. */
void nm_law_points_weigh(struct nm_law_point *points, size_t count);
uint64_t nm_law_table_smallest(const struct nm_law_table *table);
uint64_t nm_law_table_largest(const struct nm_law_table *table);
bool nm_law_table_equals(const struct nm_law_table *a, const struct nm_law_table *b);
/* The first point whose probability is above k / 2^64. */
size_t nm_law_table_at(const struct nm_law_table *table, uint64_t k);
/* The value at k / 2^64: on the straight line between two points, or with `steps` at the upper
 * one. */
uint64_t nm_law_table_value(const struct nm_law_table *table, bool steps, uint64_t k);
/* The mean of the values from min to max. */
double nm_law_table_mean(const struct nm_law_table *table, bool steps, uint64_t min, uint64_t max);

/* The value of a law with a uniform number above 0 and below 1, times 2^64, or NM_LAW_REJECTED. But
 * for NM_LAW_ZIPF it never falls as the number grows, or never rises. */
uint64_t nm_law_value(const struct nm_law *law, uint64_t k);

#endif
