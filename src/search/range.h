/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a parameter is to have: FROM..TO, FROM..TO:STEP or FROM..TO:*FACTOR, as the whole
 * value or within it, as in poisson(1k/s..50k/s:5k/s). */
#ifndef NM_SEARCH_RANGE_H
#define NM_SEARCH_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"

#define NM_RANGE_MAX 1000 /* values of a range with steps */

struct nm_range {
	char *text;		  /* owned: the value with the range in it */
	size_t before, after;	  /* where the range begins and ends in that */
	const char *suffix;	  /* of values as they are written; static */
	double from, to, step;	  /* whole numbers in the base unit: 1, bytes, ns, 1/s, b/s */
	bool has_step, is_factor; /* the step is a number to multiply with */
};

/* Reads the value for a parameter of such a type; in a string it is a rate. 0, -EINVAL with a
 * phrase in why, or -ENOMEM, with a phrase, too. To be given to nm_range_fini in any case. */
int nm_range_parse(const char *text, enum nm_type type, enum nm_reading reading,
		   struct nm_range *ret_range, char *why, size_t why_size);
/* How many values a range with steps has; TO is one of them only where the steps meet it. */
size_t nm_range_count(const struct nm_range *range);
double nm_range_value(const struct nm_range *range, size_t index);
/* The whole value of the parameter for a number in the base unit. Owned; NULL: out of memory. */
char *nm_range_text(const struct nm_range *range, double value);
void nm_range_fini(struct nm_range *range);

#endif
