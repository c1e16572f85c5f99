/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a search the trials of an earlier one, which must have asked for the same values. */
#include "cli/resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/trial.h"

#define OPTION "search-resume"

/* The parameters but for the one that is searched. */
static int check_params(const struct nm_runner *runner, const char *path,
			const struct nm_earlier_search *earlier, struct nm_diags *diags)
{
	const struct nm_params *params = &runner->loaded.params;

	for (size_t i = 0; i < params->count; i++) {
		const char *name = params->items[i].name, *now = params->items[i].value;
		const char *then = nm_earlier_search_param(earlier, name);

		if (strcmp(name, earlier->sweep.parameter) != 0 && now &&
		    (!then || strcmp(then, now) != 0))
			return nm_cli_refuse(diags, OPTION, path,
					     "its search had %s=%.60s, and this one has %.60s",
					     name, then ? then : "", now);
	}
	return NM_EXIT_OK;
}

/* What its trials were judged by, and over which part of a run. */
static int check_options(const struct nm_runner *runner, const char *path,
			 const struct nm_earlier_search *earlier, struct nm_diags *diags)
{
	const struct {
		const char *option, *member;
		uint64_t ns;
	} times[] = {{"warmup", "warmup_s", runner->args->run.warmup.ns},
		     {"cooldown", "cooldown_s", runner->args->run.cooldown_ns}};
	const char *unlike = nm_earlier_search_unlike(earlier, &runner->judge.requirements);

	if (unlike)
		return nm_cli_refuse(
			diags, OPTION, path,
			"its search had other requirements: only one of both has '%.100s'", unlike);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		double then_s = nm_earlier_search_run(earlier, times[i].member);

		if (!(fabs(then_s - (double)times[i].ns / 1e9) < 1e-9))
			return nm_cli_refuse(diags, OPTION, path, "its search had another --%s",
					     times[i].option);
	}
	return strcmp(nm_earlier_search_warmup(earlier),
		      runner->args->run.warmup.max_ns ? runner->args->run.warmup_text : "") == 0
		       ? NM_EXIT_OK
		       : nm_cli_refuse(diags, OPTION, path, "its search had another --warmup");
}

/* Whether it is of the same search, and can go on. */
static int check(const struct nm_runner *runner, const char *path,
		 const struct nm_earlier_search *earlier, const struct nm_sweep *told,
		 struct nm_diags *diags)
{
	const struct nm_sweep *then = &earlier->sweep;
	const char *profile = nm_earlier_search_profile(earlier);
	const struct nm_plan *plan = runner->loaded.plan;

	if (!profile || strcmp(profile, plan->name) != 0)
		return nm_cli_refuse(diags, OPTION, path,
				     "its search was of profile %.60s, and this one is of %.60s",
				     profile ? profile : "", plan->name);
	if (strcmp(then->parameter, told->parameter) != 0 || strcmp(then->range, told->range) != 0)
		return nm_cli_refuse(diags, OPTION, path, "its search was --search %.60s=%.60s",
				     then->parameter, then->range);
	if (strcmp(then->objective, told->objective) != 0)
		return nm_cli_refuse(diags, OPTION, path, "its search had --objective '%.200s'",
				     then->objective);
	if (strcmp(then->outcome, nm_search_outcome_name(NM_SEARCH_GOES_ON)) != 0)
		return nm_cli_refuse(diags, OPTION, path,
				     "its search has ended (%.20s): only one that was "
				     "interrupted goes on",
				     then->outcome);
	int code = check_params(runner, path, earlier, diags);

	return code == NM_EXIT_OK ? check_options(runner, path, earlier, diags) : code;
}

/* Whether the search asks for just this trial next. One that failed may have had fewer runs, and
 * one that needed more times of its percentile, or was in doubt, has had more. */
static bool is_asked(const struct nm_args_run *args, const struct nm_search *search,
		     const struct nm_range *range, const struct nm_trial *trial)
{
	struct nm_search_trial asked;

	if (!nm_search_ask(search, &asked) || (args->has_seed && asked.seed != trial->seed) ||
	    trial->n_runs > args->repeat * (asked.lengthens ? NM_SEARCH_LONGEST : asked.window) ||
	    (trial->pass && trial->n_runs < args->repeat * asked.window) ||
	    strcmp(nm_search_step_name(asked.step), trial->step) != 0)
		return false;
	if (isnan(asked.value) || !trial->value)
		return isnan(asked.value) && !trial->value;
	char *text = nm_range_text(range, asked.value);
	bool same = text && strcmp(text, trial->value) == 0;

	free(text);
	return same;
}

/* That of a figure that is required; documents do not have it. */
static enum nm_quantity quantity_of(const struct nm_requirements *requirements, const char *figure)
{
	for (size_t i = 0; i < requirements->count && figure; i++)
		if (strcmp(requirements->items[i].terms[0].figure, figure) == 0)
			return requirements->items[i].terms[0].quantity;
	return NM_QUANTITY_SECONDS;
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Adds a copy of the trial, which is the earlier search's. */
static int add_copy(struct nm_sweep *told, const struct nm_trial *trial,
		    const struct nm_requirements *requirements)
{
	struct nm_trial copy = *trial;

	copy.quantity = quantity_of(requirements, trial->percentile_of);
	copy.value = copy_of(trial->value);
	copy.reason = copy_of(trial->reason);
	copy.percentile_of = copy_of(trial->percentile_of);
	return nm_sweep_add(told, &copy);
}

int nm_cli_resume(const struct nm_runner *runner, const struct nm_range *range,
		  struct nm_search *search, struct nm_sweep *told,
		  struct nm_earlier_search *ret_earlier, struct nm_diags *diags)
{
	const char *path = runner->args->run.sweep.resume;
	struct nm_percentiles percentiles = runner->args->run.percentiles;
	const struct nm_sweep *then = &ret_earlier->sweep;
	char why[512];

	/* As nm_judge_read has seen, there are not too many. */
	(void)nm_requirements_percentiles(&runner->judge.requirements, &percentiles);
	if (nm_earlier_search_read(path, &percentiles, ret_earlier, why, sizeof why) != 0)
		return nm_cli_refuse(diags, OPTION, path, "%s", why);
	int code = check(runner, path, ret_earlier, told, diags);

	for (size_t i = 0; i < then->n_trials && code == NM_EXIT_OK; i++) {
		const struct nm_trial *trial = &then->trials[i];
		const struct nm_search_verdict verdict = nm_trial_decision(trial);

		if (!is_asked(&runner->args->run, search, range, trial))
			return nm_cli_refuse(
				diags, OPTION, path,
				"this search would not make its trial %zu (%.30s, %.60s): it "
				"was made with other options",
				i + 1, trial->step, trial->value ? trial->value : "closed loop");
		nm_search_tell(search, &verdict);
		if (add_copy(told, trial, &runner->judge.requirements) != 0) {
			nm_diag_error(diags, NULL, 0, "out of memory");
			code = NM_EXIT_INTERNAL;
		}
	}
	if (code == NM_EXIT_OK && search->outcome != NM_SEARCH_GOES_ON)
		return nm_cli_refuse(diags, OPTION, path, "nothing of its search is left to run");
	return code;
}
