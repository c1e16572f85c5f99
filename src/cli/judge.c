/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requirements for a profile, and judges what was run by them. */
#include "cli/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* option: with its dashes. */
static int read_required(struct nm_judge *judge, const char *option, const char *text, bool negated,
			 const struct nm_loaded *loaded, struct nm_diags *diags)
{
	char why[512];

	if (nm_requirements_add(&judge->requirements, text, option, negated, loaded->plan, why,
				sizeof(why)) == 0)
		return 0;
	nm_cli_refuse(diags, option + 2, text, "%s", why);
	return -EINVAL;
}

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

/* The figure of a verb, whose name may have dots; else all of it. */
static const char *behind_verb(const struct nm_plan *plan, const char *figure)
{
	const char *behind = figure;

	for (uint32_t v = 0; v < plan->n_verbs && begins_with(figure, "verb."); v++) {
		const char *name = plan->verbs[v].name, *end = figure + 5 + strlen(name);

		if (begins_with(figure + 5, name) && *end == '.' && end >= behind)
			behind = end + 1;
	}
	return behind;
}

/* What the plan lacks for a figure of the whole run, or of a verb in it; NULL: nothing that is
 * known before it runs. */
static const char *lacks_for(const struct nm_plan *plan, const char *figure)
{
	bool datagrams = false, rate = false;

	figure = behind_verb(plan, figure);
	for (uint32_t i = 0; i < plan->n_groups; i++) {
		const struct nm_group *group = &plan->groups[i];

		datagrams |= group->messages.moves_datagrams;
		for (uint32_t k = 0; k < group->n_phases; k++)
			rate |= group->phases[k].measured &&
				nm_phase_planned_per_s(group, &group->phases[k]) > 0;
	}
	if (!datagrams && (strcmp(figure, "loss") == 0 || begins_with(figure, "messages.")))
		return "nothing is sent over a transport that may lose messages";
	if (!rate && begins_with(figure, "response."))
		return "no measured transaction has a rate or arrivals";
	return NULL;
}

/* Warns of requirements that no run of the plan can meet, before one is spent. */
static void warn_of_unmeasured(const struct nm_requirements *requirements,
			       const struct nm_plan *plan, struct nm_diags *diags)
{
	for (size_t i = 0; i < requirements->count; i++) {
		const struct nm_requirement *one = &requirements->items[i];

		for (size_t k = 0; k < one->n_terms; k++) {
			const char *why = lacks_for(plan, one->terms[k].figure);

			if (why)
				nm_diag_warn(diags, NULL, 0,
					     "%s: %s: %s will not be measured, and what is not "
					     "measured is not met: %s",
					     one->origin, one->text, one->terms[k].figure, why);
		}
	}
}

int nm_judge_read(struct nm_judge *judge, const struct nm_args *args,
		  const struct nm_loaded *loaded, struct nm_diags *diags)
{
	struct nm_percentiles percentiles = args->run.percentiles;
	const char *objective = args->run.sweep.objective;
	int error = nm_loaded_requirements(loaded, &judge->requirements, diags);

	if (objective && read_required(judge, "--objective", objective, false, loaded, diags) != 0)
		error = -EINVAL;
	for (size_t i = 0; i < args->run.judge.n_required; i++) {
		const struct nm_required *one = &args->run.judge.required[i];

		if (read_required(judge, one->negated ? "--fail-if" : "--require", one->text,
				  one->negated, loaded, diags) != 0)
			error = -EINVAL;
	}
	warn_of_unmeasured(&judge->requirements, loaded->plan, diags);
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
	char why[512];

	if (!path || nm_baseline_read(path, &judge->baseline, why, sizeof(why)) == 0)
		return 0;
	nm_cli_refuse(diags, "compare", path, "%s", why);
	return -EINVAL;
}

static int judge_requirements(struct nm_judge *judge, const struct nm_runs *series, bool closely)
{
	const struct nm_requirements *requirements = &judge->requirements;

	free(judge->confidence);
	judge->confidence =
		closely ? calloc(requirements->count, sizeof(*judge->confidence)) : NULL;
	if (closely && !judge->confidence)
		return -ENOMEM;
	return nm_requirements_judge(requirements, series, &judge->verdicts, judge->confidence);
}

int nm_judge_series(struct nm_judge *judge, const struct nm_runs *series, bool closely,
		    struct nm_view *view, struct nm_diags *diags)
{
	int error = 0;

	if (!series->n_runs)
		return 0;
	nm_verdicts_fini(&judge->verdicts);
	if (judge->requirements.count) {
		error = judge_requirements(judge, series, closely);
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

bool nm_judge_is_strictly_met(const struct nm_args *args, const struct nm_runs *series,
			      struct nm_diags *diags)
{
	for (size_t r = 0; args->run.judge.strict && r < series->n_runs; r++) {
		const struct nm_result *run = series->runs[r];

		if (!run->warnings.count)
			continue;
		nm_diag_error(diags, NULL, 0, "--strict: run %zu has a warning: %s", r + 1,
			      run->warnings.items[0]);
		return false;
	}
	return true;
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
	free(judge->confidence);
	judge->confidence = NULL;
	nm_requirements_fini(&judge->requirements);
}
