/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals: requests become due by a law, whether or not those before them have been answered.
 * The law places them on lanes, so that the same seed gives the same times for any number of
 * workers: each worker has its share of the lanes (schedule.h). A law is one file that defines one
 * const descriptor, and one word in ARRIVAL_LAWS of src/flowop/local.mk. */
#ifndef NM_FLOWOP_ARRIVAL_LAW_ARRIVAL_LAW_H
#define NM_FLOWOP_ARRIVAL_LAW_ARRIVAL_LAW_H

#include <stddef.h>
#include <stdint.h>

/* The lanes of a schedule, and so the most workers that it may have. */
#define NM_LANES 1024u

struct nm_lane {
	double at_ns;	 /* when its present arrival is due, from the begin of the phase */
	uint64_t number; /* of that arrival within the lane, from 0 */
	uint64_t key;	 /* of the random numbers of the lane */
	uint32_t index;	 /* of the lane, below NM_LANES */
};

struct nm_arrival_law {
	const char *name; /* in profiles: arrivals="name(RATE)" */
	/* When the arrival lane->number of the lane is due, ns from the begin of the phase; at_ns
	 * is when the one before it was, or 0. The mean distance of two arrivals of all lanes
	 * together is period_ns. Pure: random numbers come from nm_lane_draw. */
	double (*due_ns)(const struct nm_lane *lane, double period_ns);
	/* Nothing becomes due for so many times period_ns at most, but by one chance in 10^17. */
	uint32_t longest;
};

/* All laws; ends with NULL. */
extern const struct nm_arrival_law *const nm_arrival_laws[];

/* The attribute `arrivals` of a transaction. */
struct nm_arrivals {
	const struct nm_arrival_law *law; /* NULL: there are none */
	double per_s;			  /* of the whole group */
};

/* Reads "poisson(50k/s)"; k, M and G are powers of 1000. 0, or -EINVAL with a phrase in why. */
int nm_arrivals_parse(const char *text, struct nm_arrivals *ret, char *why, size_t why_size);

/* As it can be written in a profile; returns buf. */
char *nm_arrivals_text(const struct nm_arrivals *arrivals, char *buf, size_t size);

/* For laws: a number from 0 (exclusive) to 1 (inclusive), the same each time for the lane's present
 * arrival and the same seed. */
double nm_lane_draw(const struct nm_lane *lane);

#endif
