/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of transactions whose arrivals hold a rate in steps: what came of the passes that were
 * due in each, and whether its rate was reached. */
#ifndef NM_REPORT_STEPS_H
#define NM_REPORT_STEPS_H

#include <stdbool.h>

#include "result/load.h"
#include "result/result.h"

struct nm_runs;

struct nm_step_row {
	struct nm_result_step step; /* what it owns is borrowed */
	struct nm_load load;
};

/* False: the step was not held in the measured window, or the run has failed. */
bool nm_step_row(const struct nm_result *result, const struct nm_result_group *group,
		 const struct nm_result_step *step, struct nm_step_row *ret_row);
/* Whether the result has any such row. */
bool nm_has_step_rows(const struct nm_result *result);

/* Adds up the steps of all complete runs of a series with several: 0, or -ENOMEM; to be given to
 * nm_pool_fini in any case. */
int nm_steps_pool(const struct nm_runs *series, struct nm_result *ret_pool);

#endif
