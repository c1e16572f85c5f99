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

/* The lanes of a schedule, and so the most workers that it may have: usually, and at most. */
#define NM_LANES     1024u
#define NM_LANES_MAX 32768u
/* The most arguments of a law. */
#define NM_ARRIVAL_ARGS 4
/* More than the longest text between the parentheses has bytes. */
#define NM_ARRIVAL_TEXT 256

/* Arrivals have places in their order: at the place x as many are due as the law expects to be
 * after x of them. A place is no time yet: the rate may change. */
struct nm_lane {
	double place;	 /* of its present arrival */
	uint64_t number; /* of that arrival within the lane, from 0 */
	uint64_t key;	 /* of the random numbers of the lane */
	uint32_t index;	 /* of the lane, below n_lanes */
};

enum nm_arrival_arg {
	NM_ARRIVAL_NONE,
	NM_ARRIVAL_RATE, /* a second, above 0 */
	NM_ARRIVAL_RATE_OR_0,
	NM_ARRIVAL_SHARE,   /* from 0 to 1 */
	NM_ARRIVAL_TIME,    /* ns, above 0 */
	NM_ARRIVAL_BITRATE, /* bit/s, above 0 */
	NM_ARRIVAL_FILE,    /* a path: nm_arrivals.file */
};

/* Words that may stand behind the arguments. */
enum nm_arrival_word {
	NM_ARRIVAL_POISSON = 1 << 0,  /* a Poisson process with the rate of the law */
	NM_ARRIVAL_MIRRORED = 1 << 1, /* there and back */
	NM_ARRIVAL_SHUFFLED = 1 << 2, /* in a mixed order */
	NM_ARRIVAL_SPEED = 1 << 3,    /* so many times as fast: nm_arrivals.speed */
	NM_ARRIVAL_LOOP = 1 << 4,     /* again and again */
	NM_ARRIVAL_EXACT = 1 << 5,    /* times are not spread within their unit */
};

/* The most steps of a law that has some, from one rate to the other; and in a transaction, in which
 * they come again and again. */
#define NM_ARRIVAL_STEPS     100
#define NM_ARRIVAL_STEPS_MAX 1000000

/* Recorded times of arrivals, in one block of memory. */
struct nm_trace {
	uint64_t end_ns; /* when the first one comes again, if it does; at least the last time */
	uint64_t longest_ns; /* the longest time between two */
	size_t count;	     /* at least 1 */
	uint64_t at_ns[];    /* from the first one, which is at 0; none is before another */
};

/* What becomes of passes that are due and wait for a free flow. */
#define NM_BACKLOG_MAX 1000000
struct nm_backlog_rules {
	bool limited;	   /* so many may wait, of all workers together: */
	uint32_t queue;	   /* NM_BACKLOG_MAX at most */
	uint64_t late_ns;  /* one that was due longer ago is dropped; 0: however long */
	uint64_t drain_ns; /* they may begin for so long after the time of the transaction */
};

/* The attribute `arrivals` of a transaction. */
struct nm_arrivals {
	const struct nm_arrival_law *law;      /* NULL: there are none */
	double args[NM_ARRIVAL_ARGS];	       /* in the order of the text */
	unsigned words;			       /* enum nm_arrival_word: those that are given */
	double speed;			       /* above 0 */
	unsigned char order[NM_ARRIVAL_STEPS]; /* of steps */
	uint32_t n_steps;	      /* until the first one comes again; 0: the law has none */
	uint64_t step_ns;	      /* of each */
	char file[NM_ARRIVAL_TEXT];   /* "": the law has none */
	const struct nm_trace *trace; /* of laws with by_trace, as nm_arrivals_set_trace was told */
	double length_ns;	      /* of the transaction */
	double pass_bytes;	      /* of laws with by_bytes, as nm_arrivals_set_bytes was told */
	double per_s;		      /* of the whole group, on average over that time */
	uint32_t n_lanes;	      /* 1 to NM_LANES_MAX */
	bool draws;		      /* a pass draws from its arrival, not from its flow */
	struct nm_backlog_rules backlog;
};

/* The number of the present arrival in one order of those of all lanes, which take turns. */
static inline uint64_t nm_lane_slot(const struct nm_lane *lane, const struct nm_arrivals *arrivals)
{
	return lane->number * arrivals->n_lanes + lane->index;
}

struct nm_arrival_law {
	const char *name; /* in profiles: arrivals="name(RATE)" */
	const char *form; /* with its arguments, as messages show it */
	enum nm_arrival_arg args[NM_ARRIVAL_ARGS];
	unsigned words; /* enum nm_arrival_word: those that it takes behind its arguments */
	bool by_bytes;	/* the rate follows from the bytes of a pass */
	bool by_trace;	/* the times are those of a file */
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
	/* The rate of a step; NULL: the law has none. */
	double (*step_per_s)(const struct nm_arrivals *arrivals, uint32_t step);
	/* What is wrong with the arguments together; NULL: nothing, or there is no such function.
	 * It may complete what follows from them. */
	const char *(*check)(struct nm_arrivals *arrivals);
};

/* All laws; ends with NULL. */
extern const struct nm_arrival_law *const nm_arrival_laws[];

/* Reads "poisson(50k/s)", for a transaction of that length; k, M and G are powers of 1000. 0, or
 * -EINVAL with a phrase in why and no law. Where the law has by_bytes or by_trace,
 * nm_arrivals_set_bytes or nm_arrivals_set_trace must follow before anything becomes due. */
int nm_arrivals_parse(const char *text, uint64_t length_ns, struct nm_arrivals *ret, char *why,
		      size_t why_size);
/* Tells how many bytes a pass has on average, more than 0: 0, or -EINVAL with a phrase in why. Does
 * nothing for laws without by_bytes. */
int nm_arrivals_set_bytes(struct nm_arrivals *arrivals, double pass_bytes, char *why,
			  size_t why_size);
/* Tells the times, which are borrowed; returns as nm_arrivals_set_bytes does. */
int nm_arrivals_set_trace(struct nm_arrivals *arrivals, const struct nm_trace *trace, char *why,
			  size_t why_size);

/* As it can be written in a profile; returns buf. */
char *nm_arrivals_text(const struct nm_arrivals *arrivals, char *buf, size_t size);

/* For so long nothing becomes due at most, but by one chance in 10^17. */
double nm_arrivals_longest_pause_ns(const struct nm_arrivals *arrivals);

/* How many arrivals are expected in the first ns of the transaction, and the inverse. */
double nm_arrivals_expected(const struct nm_arrivals *arrivals, double ns);
double nm_arrivals_when_ns(const struct nm_arrivals *arrivals, double place);

/* Of a law with steps: that in which the time lies, from the begin of the transaction, and when
 * that one ends. */
static inline uint32_t nm_arrivals_step(const struct nm_arrivals *arrivals, uint64_t ns)
{
	return (uint32_t)(ns / arrivals->step_ns % arrivals->n_steps);
}
static inline uint64_t nm_arrivals_step_end_ns(const struct nm_arrivals *arrivals, uint64_t ns)
{
	return ns - ns % arrivals->step_ns + arrivals->step_ns;
}
/* How much of the first ns of the transaction is of the step, whenever it comes again. */
uint64_t nm_arrivals_in_step_ns(const struct nm_arrivals *arrivals, uint32_t step, uint64_t ns);

/* The next place of a lane whose arrivals are a Poisson process. */
double nm_lane_poisson(const struct nm_lane *lane, const struct nm_arrivals *arrivals);

/* For laws: a number from 0 (exclusive) to 1 (inclusive), the same each time for the lane's present
 * arrival and the same seed. */
double nm_lane_draw(const struct nm_lane *lane);

#endif
