/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of random numbers, as users write them. Draws are made of whole numbers alone, so that two
 * hosts draw the same numbers on any two machines, compilers and C libraries. */
#ifndef NM_BASE_LAW_H
#define NM_BASE_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum nm_law_kind {
	NM_LAW_CONST,	  /* always `min`, which is `max` */
	NM_LAW_UNIFORM,	  /* the whole numbers from min to max */
	NM_LAW_EXP,	  /* mean */
	NM_LAW_NORMAL,	  /* mean, standard deviation */
	NM_LAW_LOGNORMAL, /* median, standard deviation of the logarithm */
	NM_LAW_PARETO,	  /* least value, shape */
	NM_LAW_GPARETO,	  /* location, scale, shape: the generalised Pareto law */
	NM_LAW_GEV,	  /* location, scale, shape: the generalised law of extreme values */
	NM_LAW_ZIPF,	  /* exponent, largest rank; the table has a point for each octave */
	NM_LAW_BIMODAL,	  /* two values, probability of the first */
	NM_LAW_DISCRETE,  /* values with weights: the table */
	NM_LAW_CDF,	  /* points of its distribution function: the table */
};
#define NM_LAW_PARAMS 3

/* What is drawn, and so how the values of a law are written. */
enum nm_law_of { NM_LAW_OF_BYTES, NM_LAW_OF_NS, NM_LAW_OF_COUNTS };

struct nm_law_table;

struct nm_law {
	enum nm_law_kind kind;
	enum nm_law_of of;
	uint64_t min, max; /* no draw is outside: it is drawn again */
	/* in the order of the text: values, and real numbers with 32 bits behind the point */
	uint64_t params[NM_LAW_PARAMS];
	const struct nm_law_table *table; /* of some kinds; else NULL */
	bool owns_table;
	bool steps; /* of NM_LAW_CDF: no value lies between two points of the table */
};

/* Parses a law: "NAME(...)" with a name of any case. `least` is the smallest draw unless the text
 * says another. Returns 0; or, with one phrase in why, -EINVAL or -ENOMEM, and *ret is as before.
 * nm_law_fini gives up what the law has. */
int nm_law_parse(const char *text, enum nm_law_of of, enum nm_reading reading, uint64_t least,
		 struct nm_law *ret, char *why, size_t why_size);
/* A law of zeros has nothing to give up. */
void nm_law_fini(struct nm_law *law);

/* The name of the n-th law; NULL: the one before was the last. */
const char *nm_law_name(size_t n);

/* How the n-th law is written, with its arguments, into buf, which it returns; NULL: there are no
 * more. */
const char *nm_law_form(size_t n, enum nm_law_of of, char *buf, size_t size);

/* As it can be written in a profile, but for long tables, which end with dots; returns buf. */
char *nm_law_text(const struct nm_law *law, char *buf, size_t size);

/* Whether both draw the same numbers from each stream. */
bool nm_law_equals(const struct nm_law *a, const struct nm_law *b);

/* The n-th draw of the stream of a key (base/rng.h), on any thread. */
uint64_t nm_law_draw(const struct nm_law *law, uint64_t key, uint64_t n);

/* The value that the n-th of so many draws has, from 0 on, where the draws of a law of a table are
 * spread evenly and stand in the order of the table. */
uint64_t nm_law_in_order(const struct nm_law *law, uint64_t n, uint64_t n_draws);

/* The mean of the draws, those outside of min and max made again. It takes milliseconds: not for
 * the hot path. */
double nm_law_mean(const struct nm_law *law);

#endif
