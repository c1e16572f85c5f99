/* SPDX-License-Identifier: Apache-2.0 */
/* --search-resume: a search goes on where an earlier one was interrupted. */
#ifndef NM_CLI_RESUME_H
#define NM_CLI_RESUME_H

#include "cli/runner.h"
#include "report/sweep_read.h"
#include "search/range.h"
#include "search/search.h"

/* Reads the file, and tells a search that has just begun the verdicts on its trials, which are
 * added to `told`: 0; or an exit code with an error in diags, of a file of another search for one.
 * What the trials borrow is in *ret_earlier, to be given to nm_earlier_search_fini in any case. */
int nm_cli_resume(const struct nm_runner *runner, const struct nm_range *range,
		  struct nm_search *search, struct nm_sweep *told,
		  struct nm_earlier_search *ret_earlier, struct nm_diags *diags);

#endif
