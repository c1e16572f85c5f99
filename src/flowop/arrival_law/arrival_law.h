/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals: requests become due by a law, whether or not those before them have been answered.
 * The law places them on lanes, so that the same seed gives the same times for any number of
 * workers: each worker has its share of the lanes (schedule.h). A law is one file that defines one
 * const descriptor, and one word in ARRIVAL_LAWS of src/flowop/local.mk. */
#ifndef NM_FLOWOP_ARRIVAL_LAW_ARRIVAL_LAW_H
#define NM_FLOWOP_ARRIVAL_LAW_ARRIVAL_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lanes of a schedule, and so the most workers that it may have. */
#define NM_LANES 1024u
/* The most arguments of a law. */
#define NM_ARRIVAL_ARGS 4

/* Arrivals have places in their order: at the place x as many are due as the law expects to be
 * after x of them. A place is no time yet: the rate may change. */
struct nm_lane {
	double place;	 /* of its present arrival */
	uint64_t number; /* of that arrival within the lane, from 0 */
	uint64_t key;	 /* of the random numbers of the lane */
	uint32_t index;	 /* of the lane, below NM_LANES */
};

enum nm_arrival_arg {
	NM_ARRIVAL_NONE,
	NM_ARRIVAL_RATE, /* a second, above 0 */
	NM_ARRIVAL_RATE_OR_0,
	NM_ARRIVAL_SHARE,   /* from 0 to 1 */
	NM_ARRIVAL_TIME,    /* ns, above 0 */
	NM_ARRIVAL_BITRATE, /* bit/s, above 0 */
};

/* The attribute `arrivals` of a transaction. */
struct nm_arrivals {
	const struct nm_arrival_law *law; /* NULL: there are none */
	double args[NM_ARRIVAL_ARGS];	  /* in the order of the text */
	bool poisson;			  /* a Poisson process with the rate of the law */
	bool mirrored;
	double length_ns;  /* of the transaction */
	double pass_bytes; /* of laws with by_bytes, as nm_arrivals_set_bytes was told */
	double per_s;	   /* of the whole group, on average over that time */
};

struct nm_arrival_law {
	const char *name; /* in profiles: arrivals="name(RATE)" */
	const char *form; /* with its arguments, as messages show it */
	enum nm_arrival_arg args[NM_ARRIVAL_ARGS];
	bool takes_poisson, takes_mirrored; /* as words behind the arguments */
	bool by_bytes;			    /* the rate follows from the bytes of a pass */
	/* The place of the arrival lane->number of the lane; lane->place is that of the one before
	 * it, or 0. NULL: the lanes take turns, at equal distances. Pure: random numbers come from
	 * nm_lane_draw. */
	double (*place)(const struct nm_lane *lane, const struct nm_arrivals *arrivals);
	/* Both NULL: the rate is the first argument at any time. Otherwise how many arrivals are
	 * expected in the first ns of the transaction, and the time by which they are: each the
	 * other's inverse. */
	double (*expected)(const struct nm_arrivals *arrivals, double ns);
	double (*when_ns)(const struct nm_arrivals *arrivals, double place);
	/* The longest time in which no more than so many are expected; NULL: by the rate. */
	double (*quiet_ns)(const struct nm_arrivals *arrivals, double places);
	/* What is wrong with the arguments together; NULL: nothing, or there is no such function.
	 */
	const char *(*check)(const struct nm_arrivals *arrivals);
};

/* All laws; ends with NULL. */
extern const struct nm_arrival_law *const nm_arrival_laws[];

/* Reads "poisson(50k/s)", for a transaction of that length; k, M and G are powers of 1000. 0, or
 * -EINVAL with a phrase in why and no law. Where the law has by_bytes, nm_arrivals_set_bytes must
 * follow. */
int nm_arrivals_parse(const char *text, uint64_t length_ns, struct nm_arrivals *ret, char *why,
		      size_t why_size);
/* Tells how many bytes a pass has on average, more than 0: 0, or -EINVAL with a phrase in why. Does
 * nothing for laws without by_bytes. */
int nm_arrivals_set_bytes(struct nm_arrivals *arrivals, double pass_bytes, char *why,
			  size_t why_size);

/* As it can be written in a profile; returns buf. */
char *nm_arrivals_text(const struct nm_arrivals *arrivals, char *buf, size_t size);

/* For so long nothing becomes due at most, but by one chance in 10^17. */
double nm_arrivals_longest_pause_ns(const struct nm_arrivals *arrivals);

/* How many arrivals are expected in the first ns of the transaction, and the inverse. */
double nm_arrivals_expected(const struct nm_arrivals *arrivals, double ns);
double nm_arrivals_when_ns(const struct nm_arrivals *arrivals, double place);

/* The next place of a lane whose arrivals are a Poisson process. */
double nm_lane_poisson(const struct nm_lane *lane);

/* For laws: a number from 0 (exclusive) to 1 (inclusive), the same each time for the lane's present
 * arrival and the same seed. */
double nm_lane_draw(const struct nm_lane *lane);

#endif
