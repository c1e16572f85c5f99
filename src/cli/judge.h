/* SPDX-License-Identifier: Apache-2.0 */
/* What a result is held against: requirements and an earlier result, read before the run. */
#ifndef NM_CLI_JUDGE_H
#define NM_CLI_JUDGE_H

#include "cli/args.h"
#include "lib/load.h"
#include "report/compare.h"
#include "report/confidence.h"
#include "report/requirement.h"
#include "report/view.h"

/* Zero-initialised is empty. */
struct nm_judge {
	struct nm_requirements requirements;
	struct nm_verdicts verdicts;
	struct nm_confidence *confidence; /* owned: of each; NULL: not judged closely */
	struct nm_baseline baseline;
	struct nm_comparison comparison;
};

/* Reads the requirements of a compiled profile and of the command line. 0, or -EINVAL with an error
 * in diags for each that is wrong. To be given to nm_judge_fini in any case. */
int nm_judge_read(struct nm_judge *judge, const struct nm_args *args,
		  const struct nm_loaded *loaded, struct nm_diags *diags);
/* Reads the earlier result that the command line names, if it names one. 0, or -EINVAL with an
 * error in diags. */
int nm_judge_read_baseline(struct nm_judge *judge, const struct nm_args *args,
			   struct nm_diags *diags);
/* Judges the series and compares it, and has the view show that; closely: also how sure each
 * percentile is. 0, or -ENOMEM with an error in diags. */
int nm_judge_series(struct nm_judge *judge, const struct nm_runs *series, bool closely,
		    struct nm_view *view, struct nm_diags *diags);
/* Whether all requirements are met; true before they were judged. */
bool nm_judge_is_met(const struct nm_judge *judge);
/* With --strict: whether no run has a warning, such as that of a load that was not as asked for;
 * else an error is added for the first. */
bool nm_judge_is_strictly_met(const struct nm_args *args, const struct nm_runs *series,
			      struct nm_diags *diags);
/* Adds an error for each requirement that is not met. */
void nm_judge_tell(const struct nm_judge *judge, struct nm_diags *diags);
void nm_judge_fini(struct nm_judge *judge);

#endif
