/* SPDX-License-Identifier: Apache-2.0 */
/* The attribute `until` of a transaction: it ends as soon as a figure has settled. */
#ifndef NM_PLAN_PLATEAU_H
#define NM_PLAN_PLATEAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nm_plateau_figure {
	NM_PLATEAU_NONE, /* there is no such attribute */
	NM_PLATEAU_TRANSACTIONS,
	NM_PLATEAU_BITS,
	NM_PLATEAU_LATENCY,
	NM_PLATEAU_RESPONSE,
};

struct nm_plateau {
	enum nm_plateau_figure figure;
	double percentile; /* of times; NaN: their mean */
	double share;	   /* so near to their mean must the values be, above 0 */
	char name[32];	   /* of the figure, as written */
};

/* For messages. */
#define NM_PLATEAU_FIGURES                                                                         \
	"FIGURE is transactions_per_s, bits_per_s, latency.mean, latency.pN, response.mean or "    \
	"response.pN"

/* So many intervals, one after the other, must be alike. */
#define NM_PLATEAU_ROWS 5
/* The length of an interval, of a run that has none. */
#define NM_PLATEAU_INTERVAL_NS UINT64_C(1000000000)

/* The last values of the figure. Zero-initialised there are none. */
struct nm_plateau_seen {
	double values[NM_PLATEAU_ROWS];
	unsigned count; /* of all values */
};

/* Reads "plateau(latency.p50,5%)". 0, or -EINVAL with a phrase in why, and *ret is as before. */
int nm_plateau_parse(const char *text, struct nm_plateau *ret, char *why, size_t why_size);
/* Takes the value of the next interval, NaN where nothing was done in it. Whether the figure has
 * settled. */
bool nm_plateau_add(const struct nm_plateau *plateau, struct nm_plateau_seen *seen, double value);

#endif
