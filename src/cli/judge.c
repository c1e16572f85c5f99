/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requirements for a profile, and judges what was run by them. */
#include "cli/judge.h"

#include <errno.h>

static int read_required(struct nm_judge *judge, const struct nm_required *required,
			 const struct nm_loaded *loaded, struct nm_diags *diags)
{
	const char *name = required->negated ? "fail-if" : "require";
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = name, .value = required->text};
	char why[512];

	if (nm_requirements_add(&judge->requirements, required->text,
				required->negated ? "--fail-if" : "--require", required->negated,
				loaded->plan, why, sizeof(why)) == 0)
		return 0;
	nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject, ": %s", why);
	return -EINVAL;
}

int nm_judge_read(struct nm_judge *judge, const struct nm_args *args,
		  const struct nm_loaded *loaded, struct nm_diags *diags)
{
	struct nm_percentiles percentiles = args->run.percentiles;
	int error = nm_loaded_requirements(loaded, &judge->requirements, diags);

	for (size_t i = 0; i < args->run.judge.n_required; i++)
		if (read_required(judge, &args->run.judge.required[i], loaded, diags) != 0)
			error = -EINVAL;
	if (nm_requirements_percentiles(&judge->requirements, &percentiles) != 0) {
		nm_diag_error(diags, NULL, 0,
			      "the requirements and --percentiles together need more than %d "
			      "percentiles",
			      NM_RESULT_MAX_PERCENTILES);
		error = -EINVAL;
	}
	return error;
}

int nm_judge_read_baseline(struct nm_judge *judge, const struct nm_args *args,
			   struct nm_diags *diags)
{
	const char *path = args->run.judge.baseline;
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = "compare", .value = path};
	char why[512];

	if (!path || nm_baseline_read(path, &judge->baseline, why, sizeof(why)) == 0)
		return 0;
	nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject, ": %s", why);
	return -EINVAL;
}

int nm_judge_series(struct nm_judge *judge, const struct nm_runs *series, struct nm_view *view,
		    struct nm_diags *diags)
{
	int error = 0;

	if (!series->n_runs)
		return 0;
	if (judge->requirements.count) {
		error = nm_requirements_judge(&judge->requirements, series, &judge->verdicts);
		view->verdicts = &judge->verdicts;
	}
	if (judge->baseline.path && !error) {
		error = nm_compare(&judge->baseline, series, &judge->comparison);
		view->comparison = &judge->comparison;
	}
	if (error)
		nm_diag_error(diags, NULL, 0, "out of memory");
	return error;
}

bool nm_judge_is_met(const struct nm_judge *judge)
{
	return judge->verdicts.n_met == judge->verdicts.count;
}

void nm_judge_tell(const struct nm_judge *judge, struct nm_diags *diags)
{
	for (size_t i = 0; i < judge->verdicts.count; i++) {
		const struct nm_verdict *verdict = &judge->verdicts.items[i];

		if (!verdict->met)
			nm_diag_error(diags, NULL, 0, "%s %s: not met: %s", verdict->origin,
				      verdict->text, verdict->reason);
	}
}

void nm_judge_fini(struct nm_judge *judge)
{
	nm_comparison_fini(&judge->comparison);
	nm_baseline_fini(&judge->baseline);
	nm_verdicts_fini(&judge->verdicts);
	nm_requirements_fini(&judge->requirements);
}
