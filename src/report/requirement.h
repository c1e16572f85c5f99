/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements on the result of a run: FIGURE OP VALUE[UNIT], as "latency.p99 <= 10ms errors == 0".
 * They are read before a run starts, so that a wrong one costs no run, and judged when it is
 * over. */
#ifndef NM_REPORT_REQUIREMENT_H
#define NM_REPORT_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/quantity.h"
#include "result/runs.h"

struct nm_confidence;
struct nm_plan;

enum nm_relation {
	NM_RELATION_LESS,
	NM_RELATION_AT_MOST,
	NM_RELATION_MORE,
	NM_RELATION_AT_LEAST,
	NM_RELATION_EQUAL,
	NM_RELATION_UNEQUAL,
};

struct nm_requirement_term {
	char *figure; /* its name, as written */
	enum nm_relation relation;
	enum nm_quantity quantity; /* of the figure */
	double percentile;	   /* that the figure needs; NaN: none */
	bool is_of_errors;	   /* which may be required as a share of all passes, too */
	/* Then the figures of the passes, of which some failed, and of those that are none, since
	 * their answer was lost; NULL: it is a count. */
	char *passes, *unanswered;
	double limit; /* in the unit of the document: seconds, bits a second, 0 to 1 */
};

/* All terms hold, or, negated, not all of them do. */
struct nm_requirement {
	char *text;   /* as written, in one line */
	char *origin; /* "--require", "--fail-if", or the place in the profile */
	bool negated;
	struct nm_requirement_term *terms;
	size_t n_terms;
};

/* Zero-initialised is empty. */
struct nm_requirements {
	struct nm_requirement *items;
	size_t count;
};

/* Adds the requirements of a text: one for each of its terms, or, negated, one of all of them. The
 * figures are looked up among those of the plan. 0, -EINVAL with a phrase in why, which names the
 * place in the text, or -ENOMEM, with a phrase, too. */
int nm_requirements_add(struct nm_requirements *requirements, const char *text, const char *origin,
			bool negated, const struct nm_plan *plan, char *why, size_t why_size);
/* Adds the percentiles that the requirements need. 0 or -ERANGE: there would be too many. */
int nm_requirements_percentiles(const struct nm_requirements *requirements,
				struct nm_percentiles *percentiles);
void nm_requirements_fini(struct nm_requirements *requirements);

/* "<=" */
const char *nm_relation_text(enum nm_relation relation);

/* A requirement that was judged. The figure is that of the term which has decided. */
struct nm_verdict {
	const char *text, *origin; /* borrowed from the requirement */
	bool negated;
	const char *figure, *relation, *unit; /* as written; the unit of value and limit */
	enum nm_quantity quantity;
	double limit, value;
	bool measured, met;
	char *reason; /* why it is not met; NULL: it is */
};

/* Zero-initialised is empty. */
struct nm_verdicts {
	struct nm_verdict *items;
	size_t count, n_met;
};

/* Whether the term holds of a figure with this value. */
bool nm_requirement_holds(const struct nm_requirement_term *term, double value);
/* Judges the requirements, which must outlive the verdicts, over the complete runs, or without such
 * by the last run: by the means of their figures, and percentiles over the times of all runs. A
 * figure that was not measured meets nothing. ret_confidence: how sure each is, with room for all
 * (report/confidence.h); NULL: it is not asked for. 0 or -ENOMEM; to be given to nm_verdicts_fini
 * in any case. */
int nm_requirements_judge(const struct nm_requirements *requirements, const struct nm_runs *series,
			  struct nm_verdicts *ret_verdicts, struct nm_confidence *ret_confidence);
void nm_verdicts_fini(struct nm_verdicts *verdicts);
/* The verdicts of a series; NULL: nothing was required. */
const struct nm_verdicts *nm_runs_verdicts(const struct nm_runs *series);
/* Those of a series as a section of the report for people; nothing where nothing was required. */
void nm_verdicts_print(const struct nm_runs *series, FILE *out);
/* The lines requirement=..., requirement_met=... of key=value reports. */
void nm_verdicts_keys(const struct nm_runs *series, FILE *out);

#endif
