/* SPDX-License-Identifier: Apache-2.0 */
/* A series of runs beside an earlier result, which is the JSON document of any netmodel and may
 * come from a stranger. */
#ifndef NM_REPORT_COMPARE_H
#define NM_REPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/quantity.h"
#include "result/runs.h"

typedef struct json_t json_t; /* as jansson has it */

/* An earlier result. Zero-initialised is empty. */
struct nm_baseline {
	char *path;
	json_t *document;
};

/* Reads a file. 0, or -EINVAL with a phrase in why: it cannot be read, or is no result of this
 * schema. */
int nm_baseline_read(const char *path, struct nm_baseline *ret_baseline, char *why,
		     size_t why_size);
/* The same of a text; the path is that of messages. */
int nm_baseline_parse(const char *path, const char *text, size_t length,
		      struct nm_baseline *ret_baseline, char *why, size_t why_size);
void nm_baseline_fini(struct nm_baseline *baseline);

/* One figure of both. With several complete runs the values are means, and have intervals. */
struct nm_compared {
	char *figure; /* its name */
	enum nm_quantity quantity;
	const char *unit;
	bool has_now, has_before, has_change;
	bool has_now_ci, has_before_ci;
	bool overlap; /* both have intervals, and these overlap: the change may be chance */
	double now, before, now_ci95, before_ci95;
	double change; /* in per cent of before */
};

struct nm_comparison {
	const char *path;		/* borrowed from the baseline */
	char *version, *run_id, *start; /* of the earlier run; NULL: not known */
	size_t n_before, n_now;		/* complete runs */
	char **notes;			/* differences of what was run, a line each */
	size_t n_notes;
	struct nm_compared *figures;
	size_t n_figures;
};

/* Compares, in the figures of the whole run, and of each group where there are several. The
 * baseline must outlive the comparison. 0 or -ENOMEM; to be given to nm_comparison_fini in any
 * case. */
int nm_compare(const struct nm_baseline *baseline, const struct nm_runs *series,
	       struct nm_comparison *ret_comparison);
void nm_comparison_fini(struct nm_comparison *comparison);
/* The comparison of a series; NULL: there is none. */
const struct nm_comparison *nm_runs_comparison(const struct nm_runs *series);
/* That of a series as a section of the report for people; nothing where there is none. */
void nm_comparison_print(const struct nm_runs *series, FILE *out);

#endif
