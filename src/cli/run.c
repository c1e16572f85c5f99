/* SPDX-License-Identifier: Apache-2.0 */
/* The master: -m. */
#include "cli/cli.h"

#include <inttypes.h>

#include "cli/judge.h"
#include "cli/output.h"
#include "cli/runner.h"

/* Repeats the warnings of runs whose report has no place for them. */
static void retell_warnings(const struct nm_runs *series, struct nm_diags *diags)
{
	for (size_t i = 0; i < series->n_runs; i++)
		for (size_t k = 0; k < series->runs[i]->warnings.count; k++)
			nm_diag_warn(diags, NULL, 0, "%s", series->runs[i]->warnings.items[k]);
}

/* Why the run is not what was asked for, unless the report says so right above. */
static void tell_end(const struct nm_args *args, const struct nm_runs *series,
		     enum nm_run_status status, bool is_told, struct nm_diags *diags)
{
	const struct nm_result *last = series->runs[series->n_runs - 1];

	if (!last->complete) {
		if (!is_told)
			nm_diag_error(diags, NULL, 0, "the run is incomplete: %s",
				      last->verdict.incomplete_why ? last->verdict.incomplete_why
								   : "interrupted");
	} else if (last->verdict.reconciled == NM_RECONCILED_NO) {
		if (!is_told)
			nm_diag_error(diags, NULL, 0, "the counts of both ends differ: %s",
				      last->verdict.reconcile_text ? last->verdict.reconcile_text
								   : "");
	} else if (status == NM_RUN_INTERRUPTED) {
		nm_diag_error(diags, NULL, 0, "interrupted after run %zu of %" PRIu64,
			      series->n_runs, args->run.repeat);
	} else if (status == NM_RUN_FAILED) {
		nm_cli_tell_limit(diags, "max-duration", args->max_duration_ns,
				  " after run %zu of %" PRIu64, series->n_runs, args->run.repeat);
	}
}

static int report_all(struct nm_runner *runner, const struct nm_runs *series,
		      enum nm_run_status status, struct nm_diags *diags)
{
	const struct nm_args *args = runner->args;
	const struct nm_report *report = nm_report_find(args->output.format);
	int code = (int)status;

	if (series->n_runs == 0)
		return code;
	int unwritten = nm_runner_report(runner, series, diags);

	if (code == NM_EXIT_OK)
		code = unwritten;
	if (report->lacks_warnings)
		retell_warnings(series, diags);
	bool is_told = nm_runner_has_report(runner) && report->tells_failure &&
		       nm_output_is_beside_errors(args->output.path);

	tell_end(args, series, status, is_told, diags);
	if (!is_told)
		nm_judge_tell(&runner->judge, diags);
	bool is_met = nm_judge_is_met(&runner->judge) &&
		      (code != NM_EXIT_OK || nm_judge_is_strictly_met(args, series, diags));

	return code == NM_EXIT_OK && !is_met ? NM_EXIT_UNMET : code;
}

int nm_cli_run(const struct nm_args *args, struct nm_diags *diags)
{
	struct nm_runner runner;
	struct nm_runs series = {.view = &runner.view};
	int code = nm_runner_begin(&runner, args, diags);

	if (code == NM_EXIT_OK)
		code = nm_runner_compile(&runner, args->defines, args->n_defines, diags);
	if (code == NM_EXIT_OK)
		code = nm_runner_open(&runner, diags);
	if (code == NM_EXIT_OK) {
		enum nm_run_status status = nm_runner_run(&runner, &series, diags);

		code = nm_judge_series(&runner.judge, &series, false, &runner.view, diags) == 0
			       ? report_all(&runner, &series, status, diags)
			       : NM_EXIT_INTERNAL;
	}
	code = nm_runner_end(&runner, code, diags);
	nm_runs_fini(&series);
	return code;
}
