/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of laws share. */
#ifndef NM_BASE_LAW_PRIV_H
#define NM_BASE_LAW_PRIV_H

#include "base/law.h"

/* Bits behind the point of a parameter that is a real number. */
#define NM_LAW_REAL_BITS 32
/* Parts of a probability in a table. */
#define NM_LAW_WHOLE UINT64_C(1000000000)

struct nm_law_point {
	uint64_t value;
	uint64_t below; /* probability of values up to this one, in parts of NM_LAW_WHOLE */
};

/* A distribution function: neither value nor probability falls from one point to the next, and the
 * last probability is NM_LAW_WHOLE. */
struct nm_law_table {
	const char *name;
	size_t count;
	const struct nm_law_point *points;
};

/* The built-in table of a name, in any case; NULL if there is none. */
const struct nm_law_table *nm_law_table_find(const char *name);
uint64_t nm_law_table_largest(const struct nm_law_table *table);
/* The value at k / 2^64. */
uint64_t nm_law_table_value(const struct nm_law_table *table, uint64_t k);
/* The mean of the values from min to max. */
double nm_law_table_mean(const struct nm_law_table *table, uint64_t min, uint64_t max);

/* The value of a law with a uniform number above 0 and below 1, times 2^64. It never falls as the
 * number grows, or never rises. */
uint64_t nm_law_value(const struct nm_law *law, uint64_t k);

#endif
