/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of steps, of a run and of several. */
#include "report/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "report/common.h"
#include "result/pool.h"

bool nm_step_row(const struct nm_result *result, const struct nm_result_group *group,
		 const struct nm_result_step *step, struct nm_step_row *ret_row)
{
	ret_row->step = *step;
	return nm_step_load(result, group, step, &ret_row->load);
}

bool nm_has_step_rows(const struct nm_result *result)
{
	struct nm_step_row row;

	for (size_t g = 0; g < result->n_groups; g++)
		for (size_t k = 0; k < result->groups[g].n_phases; k++)
			for (size_t i = 0; i < result->groups[g].phases[k].n_steps; i++)
				if (nm_step_row(result, &result->groups[g],
						&result->groups[g].phases[k].steps[i], &row))
					return true;
	return false;
}

int nm_steps_pool(const struct nm_runs *series, struct nm_result *ret_pool)
{
	struct nm_result **complete = calloc(series->n_runs + 1, sizeof(struct nm_result *));
	size_t n = 0;
	int error = 0;

	*ret_pool = (struct nm_result){.n_groups = 0};
	if (!complete)
		return -ENOMEM;
	for (size_t i = 0; i < series->n_runs; i++)
		if (series->runs[i]->complete)
			complete[n++] = series->runs[i];
	if (n)
		error = nm_pool_runs(complete, n, ret_pool);
	free((void *)complete);
	return error;
}
