/* SPDX-License-Identifier: Apache-2.0 */
/* The master: -m. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "cli/dialect.h"
#include "cli/judge.h"
#include "cli/key.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/signals.h"
#include "cli/stock.h"
#include "lib/load.h"
#include "lib/settings.h"

static void options_from(const struct nm_args *args, const struct nm_judge *judge,
			 struct nm_live *live, int interrupt_fd, struct nm_run_options *ret_options)
{
	nm_run_options_default(ret_options);
	ret_options->control = args->control;
	ret_options->port = (uint16_t)args->port;
	ret_options->interval_ns = args->run.interval_ns;
	ret_options->warmup_ns = args->run.warmup_ns;
	ret_options->cooldown_ns = args->run.cooldown_ns;
	ret_options->max_duration.ns = args->max_duration_ns;
	ret_options->max_duration.is_given = args->has_max_duration;
	ret_options->timeout_ns = args->timeout_ns;
	ret_options->wait_start_ns = args->run.wait_start_ns;
	ret_options->wait_slaves_ns = args->run.wait_slaves_ns;
	ret_options->traffic_ns = args->output.iostat_ns;
	ret_options->percentiles = args->run.percentiles;
	(void)nm_requirements_percentiles(&judge->requirements, &ret_options->percentiles);
	ret_options->cpus = args->cpus;
	ret_options->slave_cpus = args->run.slave_cpus;
	ret_options->statistics = nm_cli_statistics(args);
	if (ret_options->statistics & NM_STAT_COUNTERS)
		ret_options->counters =
			args->statistics.counters ? args->statistics.counters : NM_PERF_DEFAULT;
	ret_options->seed = args->run.has_seed ? args->run.seed : nm_settings_choose_seed();
	ret_options->interrupt_fd = interrupt_fd;
	ret_options->events = (struct nm_run_events){
		.arg = live,
		.begin = nm_live_begin,
		.interval = nm_live_interval,
		.host_interval = nm_live_host_interval,
		.log = nm_live_log,
		.waits = nm_live_waits,
		.progress = live->progress ? nm_live_progress : NULL,
		.times = nm_logs_take_times(&live->logs) ? nm_live_times : NULL,
		.flows = nm_live_flows,
		.tcp = nm_live_tcp,
		.traffic = nm_live_traffic,
		.responses = nm_live_responses,
		.has_room = nm_live_has_room,
	};
	if (args->terms)
		ret_options->words = *args->terms;
	nm_logs_ask(&live->logs, args, ret_options);
}

/* Whether an interrupt has come that no run has taken. */
static bool is_interrupted(int interrupt_fd)
{
	struct pollfd pfd = {.fd = interrupt_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0;
}

/* Runs until all repetitions are done, one is not complete, or there was an interrupt, also one
 * between two. */
static enum nm_run_status run_all(const struct nm_args *args, const struct nm_job *job,
				  struct nm_live *live, const struct nm_run_options *options,
				  struct nm_runs *series, struct nm_diags *diags)
{
	enum nm_run_status status = NM_RUN_COMPLETE;

	series->runs = calloc(args->run.repeat, sizeof(struct nm_result *));
	if (!series->runs) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return NM_RUN_INTERNAL;
	}
	live->runs = args->run.repeat;
	for (uint64_t i = 0; i < args->run.repeat && status == NM_RUN_COMPLETE; i++) {
		struct nm_result *result = NULL;
		live->run = i + 1;
		status = nm_run(job, options, &result, diags);
		if (result) {
			series->runs[series->n_runs++] = result;
			nm_logs_finish(&live->logs, result);
		}
		if (status != NM_RUN_COMPLETE)
			break;
		if (nm_signals_limited())
			status = i + 1 < args->run.repeat ? NM_RUN_FAILED : NM_RUN_COMPLETE;
		else if (is_interrupted(options->interrupt_fd))
			status = NM_RUN_INTERRUPTED;
	}
	return status;
}

static uint64_t lost_responses(const struct nm_runs *series)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < series->n_runs; i++)
		lost += series->runs[i]->responses.lost;
	return lost;
}

/* Repeats the warnings of runs whose report has no place for them. */
static void retell_warnings(const struct nm_runs *series, struct nm_diags *diags)
{
	for (size_t i = 0; i < series->n_runs; i++)
		for (size_t k = 0; k < series->runs[i]->warnings.count; k++)
			nm_diag_warn(diags, NULL, 0, "%s", series->runs[i]->warnings.items[k]);
}

static int write_report(const struct nm_args *args, struct nm_live *live,
			const struct nm_report *report, const struct nm_runs *series,
			struct nm_diags *diags)
{
	uint64_t patience_ns = nm_sink_patience_ns(args->timeout_ns);

	if (!live->out.stream) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return -ENOMEM;
	}
	live->out.patience_ns = patience_ns;
	return nm_output_write(args->output.path, patience_ns, report, series, &live->out, diags);
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

static int report_all(const struct nm_args *args, struct nm_live *live,
		      const struct nm_runs *series, const struct nm_judge *judge,
		      enum nm_run_status status, struct nm_diags *diags)
{
	const struct nm_report *report = nm_report_find(args->output.format);
	int code = (int)status;

	if (series->n_runs == 0)
		return code;
	if (nm_logs_close(&live->logs, lost_responses(series), diags) != 0 && code == NM_EXIT_OK)
		code = NM_EXIT_FAILED;
	bool wanted = !args->statistics.none && (args->output.path || !nm_logs_take_stdout(args));

	if (wanted && write_report(args, live, report, series, diags) != 0 && code == NM_EXIT_OK)
		code = NM_EXIT_FAILED;
	if (report->lacks_warnings)
		retell_warnings(series, diags);
	bool is_told =
		wanted && report->tells_failure && nm_output_is_beside_errors(args->output.path);

	tell_end(args, series, status, is_told, diags);
	if (!is_told)
		nm_judge_tell(judge, diags);
	bool is_met = nm_judge_is_met(judge) &&
		      (code != NM_EXIT_OK || nm_judge_is_strictly_met(args, series, diags));

	return code == NM_EXIT_OK && !is_met ? NM_EXIT_UNMET : code;
}

/* A -D that is no parameter may be meant as an option: for other tools everything is one. */
static void hint_at_options(const struct nm_args *args, struct nm_diags *diags)
{
	for (size_t i = 0; i < args->n_defines; i++) {
		const char *name = args->defines[i].name;
		char option[64];

		snprintf(option, sizeof(option), "%s", name);
		for (char *c = option; *c; c++)
			*c = *c == '_' ? '-' : *c;
		if (nm_arg_find(option) && !nm_cli_has_param(args->master, name))
			nm_diag_error(diags, NULL, 0,
				      "-D %s: not a parameter, but an option: did you mean "
				      "--%s %s?",
				      name, option, args->defines[i].value);
	}
}

#define LIKE_A_COUNT 1000 /* smaller ports are taken for what iperf3's -P is */

/* For iperf3 -P is a number of connections, and here a port, which only other hosts need. */
static void hint_at_flows(const struct nm_args *args, const struct nm_plan *plan,
			  struct nm_diags *diags)
{
	bool needed = args->line || args->run.as_uperf || args->port >= LIKE_A_COUNT;
	char flows[64] = "";

	for (uint32_t i = 0; i < plan->n_hosts; i++)
		needed |= !nm_ascii_equals(plan->hosts[i], "local");
	if (needed)
		return;
	if (nm_cli_has_param(args->master, "num_flows"))
		snprintf(flows, sizeof(flows),
			 "; %" PRIu64 " connections are -D num_flows=%" PRIu64, args->port,
			 args->port);
	nm_diag_warn(diags, NULL, 0, "-P is the port of slaves, and no host of this run needs it%s",
		     flows);
}

/* The profile that was read, and what its result is held against: 0, or -EINVAL with errors in
 * diags. */
static int compile(const struct nm_args *args, struct nm_loaded *loaded, struct nm_judge *judge,
		   struct nm_diags *diags)
{
	struct nm_param_values values = {
		.defines = args->defines,
		.n_defines = args->n_defines,
		.lookup = args->run.no_env ? NULL : nm_cli_lookup,
		.as_uperf = args->run.as_uperf,
	};

	if (nm_loaded_compile(loaded, &values, diags) != 0) {
		hint_at_options(args, diags);
		return -EINVAL;
	}
	hint_at_flows(args, loaded->plan, diags);
	int error = nm_judge_read(judge, args, loaded, diags);
	int no_baseline = nm_judge_read_baseline(judge, args, diags);

	return error ? error : no_baseline;
}

/* Lines of progress on standard output are asked for, or are the first ones of the report. */
static void choose_progress(const struct nm_args *args, struct nm_live *live, struct nm_view *view)
{
	const struct nm_report *report = nm_report_find(args->output.format);
	bool above = nm_output_is_stdout(args->output.path);
	bool none = args->statistics.none;

	live->raw = args->statistics.raw;
	live->report_is_uperfs = report->has_lines;
	live->progress =
		!none && (live->raw || (report->has_lines && above && !args->output.iostat_ns &&
					!nm_logs_take_stdout(args)));
	view->has_lines = live->progress && above;
	live->line &= !none && !live->progress && !args->output.iostat_ns;
}

int nm_cli_run(const struct nm_args *args, struct nm_diags *diags)
{
	struct nm_loaded loaded = {0};
	bool shown = nm_output_is_stdout(args->output.path);
	struct nm_view view = {.width = shown ? nm_cli_columns(STDOUT_FILENO) : 0,
			       .intervals = args->run.has_interval,
			       .throughput_unit = args->output.throughput_unit,
			       .cpus = args->cpus,
			       .slave_cpus = args->run.slave_cpus,
			       .stime_use_proc = args->output.stime_use_proc};
	struct nm_runs series = {.view = &view};
	struct nm_tool_options asked = {.count = 0};
	struct nm_judge judge = {.requirements = {.count = 0}};
	struct nm_live live;
	struct nm_run_options options;
	struct nm_key *key = NULL;
	int code = NM_EXIT_USAGE;

	nm_live_init(&live, args->output.quiet, args->output.verbose);
	char *path = nm_stock_find(args->master, diags);
	if (nm_cli_key(args, &key, diags) != 0)
		goto out;
	nm_key_keep_from_children(key);
	if (!path || nm_loaded_read(&loaded, path, diags) != 0)
		goto out;
	if (compile(args, &loaded, &judge, diags) != 0)
		goto out;
	if (nm_dialect.options(args, &loaded.params, &asked) < 0) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		code = NM_EXIT_INTERNAL;
		goto out;
	}
	view.tool_options = asked.items;
	view.n_tool_options = asked.count;
	/* From here on there are files that no signal may leave half written. */
	int interrupt_fd = nm_signals_start();
	if (interrupt_fd < 0) {
		nm_diag_error(diags, NULL, 0, "no pipe for signals: %s", strerror(-interrupt_fd));
		code = NM_EXIT_INTERNAL;
		goto out;
	}
	if (nm_output_paths_check(args, path, loaded.plan, diags) != 0 ||
	    nm_output_check(args->output.path, diags) != 0 ||
	    nm_logs_open(&live.logs, args, diags) != 0)
		goto out;
	nm_cli_print_diags(diags, &args->wording); /* warnings, before the run */
	if (args->max_duration_ns)
		(void)nm_signals_limit(args->max_duration_ns);
	choose_progress(args, &live, &view);
	/* Who reads progress, or speaks the language of another tool, knows how long it takes. */
	if (!live.raw && !live.progress && !args->output.iostat_ns && !args->line)
		live.length_ns = nm_plan_duration_ns(loaded.plan);
	options_from(args, &judge, &live, interrupt_fd, &options);
	options.key = key;
	struct nm_job job = nm_loaded_job(&loaded);
	enum nm_run_status status = run_all(args, &job, &live, &options, &series, diags);
	nm_live_erase(&live);
	code = nm_judge_series(&judge, &series, &view, diags) == 0
		       ? report_all(args, &live, &series, &judge, status, diags)
		       : NM_EXIT_INTERNAL;
out:
	if (nm_live_fini(&live, diags) != 0 &&
	    (code == NM_EXIT_UNMET || (code == NM_EXIT_OK && !diags->n_errors))) {
		nm_diag_error(diags, NULL, 0, "standard output cannot be written: %s",
			      strerror(live.out.error));
		code = NM_EXIT_FAILED;
	}
	nm_key_free(key);
	(void)nm_logs_close(&live.logs, 0, diags);
	nm_judge_fini(&judge);
	nm_runs_fini(&series);
	nm_dialect.free_options(&asked);
	nm_loaded_fini(&loaded);
	free(path);
	return code;
}
