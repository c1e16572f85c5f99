/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the highest value of a parameter that meets an objective, without clock and I/O:
 * it is asked for the next trial, and told the verdict on it. It expects that low values meet the
 * objective and high values do not. A trial that is in doubt goes on for longer, twice; if it still
 * is, it does not count as passed. */
#ifndef NM_SEARCH_SEARCH_H
#define NM_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_SEARCH_MAX	    120	 /* trials */
#define NM_SEARCH_TOLERANCE 0.02 /* how near the value is to the lowest one that fails */
#define NM_SEARCH_LONGEST   16	 /* times the usual length, of a trial */

struct nm_search_settings {
	double from, to;  /* whole numbers, 1 <= from <= to */
	unsigned confirm; /* how many trials confirm the value */
	uint64_t seed;	  /* from which those of the trials are derived */
	bool capacity;	  /* begin with a closed loop, which shows how much is possible */
};

/* Why a value is tried. */
enum nm_search_step {
	NM_SEARCH_CAPACITY, /* a closed loop: the trial has no value */
	NM_SEARCH_LOW,	    /* a tenth of the capacity, or the lowest value; down to that */
	NM_SEARCH_BRACKET,  /* upward, until the first value that fails */
	NM_SEARCH_BISECT,   /* between the highest that passed and the lowest that failed */
	NM_SEARCH_HALF,	    /* half of the value to confirm: does the system still behave alike? */
	NM_SEARCH_CONFIRM,
	NM_SEARCH_BORDER, /* just above the confirmed value, where the objective must fail */
};

enum nm_search_outcome {
	NM_SEARCH_GOES_ON,
	NM_SEARCH_FOUND,
	NM_SEARCH_NOT_MET,     /* not even by the lowest value */
	NM_SEARCH_UNSTABLE,    /* half of the value has given different results over time */
	NM_SEARCH_UNCONFIRMED, /* values that passed once did not pass again */
};

struct nm_search_verdict {
	bool pass;
	bool in_doubt;	/* the objective may as well be met as not: chance decides */
	double lengths; /* the times of the usual length that its figures need; 0: no more */
	/* Drift of the system shows in this figure. It counts where it matters, measured by what
	 * the objective allows of the same kind of figure. NaN: not known. */
	double typical, limit;
	double reached; /* by the trial of the capacity, as a value; 0: not known */
};

struct nm_search_trial {
	double value;	 /* NaN: none, it is that of the capacity */
	unsigned window; /* how many times the usual length, in all */
	unsigned done;	 /* as many of these it has had: it goes on */
	bool lengthens;	 /* it may go on for longer, unlike what its median alone decides */
	uint64_t seed;
	enum nm_search_step step;
	bool pass; /* once told */
};

struct nm_search {
	struct nm_search_settings settings;
	enum nm_search_outcome outcome;
	enum nm_search_step step; /* of the next trial */
	double next;		  /* value of the next trial */
	double low, high; /* the highest that passed, 0: none; the lowest that failed above it */
	double capacity;  /* 0: not measured */
	double climb;	  /* the factor from one value of the bracket to the next */
	double half;	  /* where drift is looked for; 0: not chosen yet */
	double typical_least, typical_most; /* at that value; NaN: not measured */
	unsigned n_bisected, n_confirmed, n_lowered;
	unsigned done, longer; /* of a trial that goes on: what it has had, and is to have; or 0 */
	unsigned n_doubled;    /* of the next trial, since it was in doubt */
	bool drifted;	       /* once already */
	struct nm_search_trial trials[NM_SEARCH_MAX];
	size_t n_trials; /* that were told */
};

/* Begins with the capacity, or at the lowest value. */
void nm_search_init(struct nm_search *search, const struct nm_search_settings *settings);
/* The next trial; false: the search is over. Without nm_search_tell it is the same again. */
bool nm_search_ask(const struct nm_search *search, struct nm_search_trial *ret_trial);
/* Takes the verdict on the trial that nm_search_ask gave last. False: it is not decided, and goes
 * on, longer. */
bool nm_search_tell(struct nm_search *search, const struct nm_search_verdict *verdict);
/* Whether the trial passed above one that failed, by more than the tolerance. */
bool nm_search_is_out_of_order(const struct nm_search *search, size_t index);
/* "capacity", "low", "bracket", ... */
const char *nm_search_step_name(enum nm_search_step step);
/* "found", "not met", ...; "interrupted" where it goes on. */
const char *nm_search_outcome_name(enum nm_search_outcome outcome);

#endif
