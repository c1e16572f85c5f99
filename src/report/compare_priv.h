/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the comparison share. */
#ifndef NM_REPORT_COMPARE_PRIV_H
#define NM_REPORT_COMPARE_PRIV_H

#include "report/compare.h"
#include "result/result.h"

/* Notes in what the profile, its parameters and the ends of the runs differ: 0 or -ENOMEM. */
int nm_comparison_note(struct nm_comparison *comparison, const json_t *document,
		       const struct nm_result *result);

#endif
