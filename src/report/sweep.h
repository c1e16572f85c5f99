/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of a profile with different values of a parameter (--scan, --search), and the end of a
 * search: the member `sweep` of the document, a table for people, and one for programs. */
#ifndef NM_REPORT_SWEEP_H
#define NM_REPORT_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/quantity.h"
#include "result/runs.h"

/* What has kept a trial from passing, or a search from a higher value: with the name in documents,
 * and a sentence for people. */
#define NM_LIMITS(X)                                                                               \
	X(NONE, NULL, NULL)                                                                        \
	X(OBJECTIVE, "objective", "above it the objective is not met")                             \
	X(ERRORS, "errors", "above it too many passes fail")                                       \
	X(GENERATOR, "generator",                                                                  \
	  "above it this end sends too late: use more workers, or more CPU")                       \
	X(CONNECTIONS, "connections",                                                              \
	  "above it all connections are busy, while the other end answers as ever: use more "      \
	  "flows")                                                                                 \
	X(OVERLOAD, "overload",                                                                    \
	  "above it the other end, or the CPU of this one, does fewer than "                       \
	  "are due")                                                                               \
	X(RUN, "run", "above it runs fail")                                                        \
	X(CAPACITY, "capacity", "a closed loop does no more")                                      \
	X(RANGE, "range", "the range ends there")

enum nm_limit {
#define NM_LIMIT_MEMBER(member, ...) NM_LIMIT_##member,
	NM_LIMITS(NM_LIMIT_MEMBER)
#undef NM_LIMIT_MEMBER
		NM_LIMIT__COUNT
};

/* The limit of that name; NM_LIMIT_NONE for NULL and what is none. */
enum nm_limit nm_limit_find(const char *name);
/* The sentence; NULL: there is no limit. */
const char *nm_limit_text(enum nm_limit limit);

struct nm_trial {
	char *value;	   /* owned: of the parameter; NULL: none, the load was a closed loop */
	const char *step;  /* outlives it: of a search, why the value was tried; NULL: of a scan */
	bool judged, pass; /* whether something was required, and met */
	char *reason;	   /* owned: why it failed; NULL: it did not */
	enum nm_limit limit;
	uint64_t seed;
	uint32_t n_runs;
	double offered_per_s, achieved_per_s; /* of open arrivals; NaN: there were none */
	const char *load;	 /* outlives it: the verdict on those; NULL: there were none */
	struct nm_window totals; /* of the last run */
	bool out_of_order;	 /* it passed above a value that failed */
	/* Of a search, which compares them; NaN: not known. */
	double typical, typical_limit, reached;
	/* The percentile of the objective, and where it is with 95 %; NaN: not known. */
	double percentile, percentile_low, percentile_high;
	char *percentile_of;	   /* owned: the name of the figure; NULL: it is not known */
	enum nm_quantity quantity; /* of these */
	double beyond;		   /* times that were measured above it; NaN: there is none */
	bool in_doubt; /* the limit is between low and high: it does not count as passed */
};

struct nm_sweep {
	const char *parameter, *range; /* borrowed; the range as it was given */
	struct nm_trial *trials;       /* owned, in their order */
	size_t n_trials;
	/* Of a search, borrowed; NULL: it is a scan. */
	const char *objective, *outcome;
	double tolerance;
	uint32_t n_confirmed;
	bool at_end; /* the found value is the last one of the range */
	enum nm_limit limit;
	char *value;   /* owned: the found value; NULL: there is none */
	char *command; /* owned: runs the profile with that value; NULL: there is none */
};

/* Frees its texts. */
void nm_trial_fini(struct nm_trial *trial);
/* Adds a trial, whose texts are taken over in any case, and its totals copied. 0 or -ENOMEM. */
int nm_sweep_add(struct nm_sweep *sweep, const struct nm_trial *trial);
void nm_sweep_fini(struct nm_sweep *sweep);
/* "num_flows=4: fail: latency.p99 is 3 ms", without a line end. Returns buf. */
char *nm_trial_format(const struct nm_sweep *sweep, const struct nm_trial *trial, char *buf,
		      size_t size);
/* The sweep that the series belongs to; NULL: to none. */
const struct nm_sweep *nm_runs_sweep(const struct nm_runs *series);
/* Its trials and the end of the search, for people and for programs. */
void nm_sweep_print(const struct nm_runs *series, FILE *out);
void nm_sweep_csv(const struct nm_runs *series, FILE *out);

#endif
