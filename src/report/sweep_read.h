/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of a search that has written its document, for one that goes on from there. */
#ifndef NM_REPORT_SWEEP_READ_H
#define NM_REPORT_SWEEP_READ_H

#include "report/compare.h"
#include "report/requirement.h"
#include "report/sweep.h"

struct nm_earlier_search {
	struct nm_baseline document; /* the texts of the search that are borrowed are in it */
	struct nm_sweep sweep;
};

/* Reads the document of a search, whose latencies must have these percentiles. 0; or -EINVAL with a
 * phrase in why. To be given to nm_earlier_search_fini in any case. */
int nm_earlier_search_read(const char *path, const struct nm_percentiles *percentiles,
			   struct nm_earlier_search *ret_search, char *why, size_t why_size);
/* The same of a text. */
int nm_earlier_search_parse(const char *path, const char *text, size_t length,
			    const struct nm_percentiles *percentiles,
			    struct nm_earlier_search *ret_search, char *why, size_t why_size);
/* The profile, and the value of one of its parameters; NULL: the document has none. */
const char *nm_earlier_search_profile(const struct nm_earlier_search *search);
const char *nm_earlier_search_param(const struct nm_earlier_search *search, const char *name);
/* A number of its member `run`; NaN: there is none. */
double nm_earlier_search_run(const struct nm_earlier_search *search, const char *name);
/* The plateau of its warm-up, borrowed from the document; "": there was none. */
const char *nm_earlier_search_warmup(const struct nm_earlier_search *search);
/* The first of --require and --fail-if that only one of both has; NULL: they have the same. */
const char *nm_earlier_search_unlike(const struct nm_earlier_search *search,
				     const struct nm_requirements *now);
void nm_earlier_search_fini(struct nm_earlier_search *search);

#endif
