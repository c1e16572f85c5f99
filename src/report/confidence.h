/* SPDX-License-Identifier: Apache-2.0 */
/* How sure the percentile of a requirement is. */
#ifndef NM_REPORT_CONFIDENCE_H
#define NM_REPORT_CONFIDENCE_H

#include <stdbool.h>

#include "report/named.h"
#include "report/requirement.h"

struct nm_confidence {
	enum nm_quantity quantity;
	double value;	  /* as it was judged; NaN: the requirement is of no percentile */
	double low, high; /* where it is with 95 %; NaN: not known */
	double beyond;	  /* how many times above the percentile all runs have; NaN: of p100 */
	bool in_doubt;	  /* the limit is between low and high */
};

/* That of a requirement which was judged by these runs, whose documents were pooled: by the rows of
 * the time grid, where the figure is one of a whole run. 0 or -ENOMEM. */
int nm_confidence_of(const struct nm_requirement *requirement, const struct nm_verdict *verdict,
		     const struct nm_runs *series, const struct nm_named_series *documents,
		     struct nm_confidence *ret);

#endif
