/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, compiles and runs the profile of a command line, and writes the report. */
#include "cli/runner.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "cli/cli.h"
#include "cli/key.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/signals.h"
#include "cli/stock.h"
#include "lib/settings.h"

static void options_from(struct nm_runner *runner, struct nm_run_options *ret_options)
{
	const struct nm_args *args = runner->args;
	struct nm_live *live = &runner->live;

	nm_run_options_default(ret_options);
	ret_options->control = args->control;
	ret_options->port = (uint16_t)args->port;
	ret_options->interval_ns = runner->interval_ns;
	ret_options->windows = args->run.windows;
	ret_options->warmup_ns = args->run.warmup.ns;
	ret_options->cooldown_ns = args->run.cooldown_ns;
	ret_options->max_duration.ns = args->max_duration_ns;
	ret_options->max_duration.is_given = args->has_max_duration;
	ret_options->timeout_ns = args->timeout_ns;
	ret_options->wait.start_ns = args->run.wait_start_ns;
	ret_options->wait.slaves_ns = args->run.wait_slaves_ns;
	ret_options->traffic_ns = args->output.iostat_ns;
	ret_options->percentiles = args->run.percentiles;
	(void)nm_requirements_percentiles(&runner->judge.requirements, &ret_options->percentiles);
	ret_options->cpus = args->cpus;
	ret_options->slave_cpus = args->run.slave_cpus;
	ret_options->trust.yes_destroy = args->run.yes_destroy;
	ret_options->statistics = nm_cli_statistics(args);
	if (ret_options->statistics & NM_STAT_COUNTERS)
		ret_options->counters =
			args->statistics.counters ? args->statistics.counters : NM_PERF_DEFAULT;
	ret_options->seed = runner->seed;
	ret_options->interrupt_fd = runner->interrupt_fd;
	ret_options->trust.key = runner->key;
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
		.push = nm_logs_are_followed(&live->logs) ? nm_live_push : NULL,
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

/* A -D that is no parameter may be meant as an option: for other tools everything is one. */
static void hint_at_options(const struct nm_args *args, struct nm_diags *diags)
{
	for (size_t i = 0; i < args->n_defines; i++) {
		const char *name = args->defines[i].name;
		char option[64];

		snprintf(option, sizeof(option), "%s", name);
		for (char *c = option; *c; c++)
			*c = *c == '_' ? '-' : *c;
		if (nm_arg_find(option) && !nm_stock_has_param(args->master, name))
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
	if (nm_stock_has_param(args->master, "num_flows"))
		snprintf(flows, sizeof(flows),
			 "; %" PRIu64 " connections are -D num_flows=%" PRIu64, args->port,
			 args->port);
	nm_diag_warn(diags, NULL, 0, "-P is the port of slaves, and no host of this run needs it%s",
		     flows);
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
	live->windows = args->run.windows && !none && !live->quiet;
	live->line &= !none && !live->progress && !args->output.iostat_ns && !live->windows;
}

int nm_runner_begin(struct nm_runner *runner, const struct nm_args *args, struct nm_diags *diags)
{
	bool shown = nm_output_is_stdout(args->output.path);

	*runner = (struct nm_runner){
		.args = args,
		.view = {.width = shown ? nm_cli_columns(STDOUT_FILENO) : 0,
			 .intervals = args->run.has_interval || args->run.windows,
			 .throughput_unit = args->output.throughput_unit,
			 .cpus = args->cpus,
			 .slave_cpus = args->run.slave_cpus,
			 .stime_use_proc = args->output.stime_use_proc},
		.seed = args->run.has_seed ? args->run.seed : nm_settings_choose_seed(),
		.repeat = args->run.repeat,
		.parts = 1,
		.interval_ns = args->run.interval_ns,
	};
	nm_live_init(&runner->live, args->output.quiet, args->output.verbose);
	runner->path = nm_stock_find(args->master, diags);
	if (nm_cli_key(args, &runner->key, diags) != 0)
		return NM_EXIT_USAGE;
	nm_key_keep_from_children(runner->key);
	if (!runner->path || nm_loaded_read(&runner->loaded, runner->path, diags) != 0)
		return NM_EXIT_USAGE;
	return NM_EXIT_OK;
}

int nm_runner_compile(struct nm_runner *runner, const struct nm_define *defines, size_t n_defines,
		      struct nm_diags *diags)
{
	const struct nm_args *args = runner->args;
	struct nm_param_values values = {
		.defines = defines,
		.n_defines = n_defines,
		.lookup = args->run.no_env ? NULL : nm_cli_lookup,
		.as_uperf = args->run.as_uperf,
	};

	nm_judge_fini(&runner->judge);
	runner->view.verdicts = NULL;
	runner->view.comparison = NULL;
	runner->loaded.windows = args->run.windows;
	runner->loaded.interval_ns = args->run.interval_ns;
	runner->loaded.warmup = args->run.warmup;
	runner->loaded.warmup_text = args->run.warmup_text;
	if (nm_loaded_compile(&runner->loaded, &values, diags) != 0) {
		hint_at_options(args, diags);
		return NM_EXIT_USAGE;
	}
	hint_at_flows(args, runner->loaded.plan, diags);
	int error = nm_judge_read(&runner->judge, args, &runner->loaded, diags);
	int no_baseline = nm_judge_read_baseline(&runner->judge, args, diags);

	return error || no_baseline ? NM_EXIT_USAGE : NM_EXIT_OK;
}

int nm_runner_open(struct nm_runner *runner, struct nm_diags *diags)
{
	const struct nm_args *args = runner->args;
	const struct nm_plan *plan = runner->loaded.plan;
	struct nm_live *live = &runner->live;

	if (nm_dialect.options(args, &runner->loaded.params, &runner->asked) < 0) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return NM_EXIT_INTERNAL;
	}
	runner->view.tool_options = runner->asked.items;
	runner->view.n_tool_options = runner->asked.count;
	/* From here on there are files that no signal may leave half written. */
	runner->interrupt_fd = nm_signals_start();
	if (runner->interrupt_fd < 0) {
		nm_diag_error(diags, NULL, 0, "no pipe for signals: %s",
			      strerror(-runner->interrupt_fd));
		return NM_EXIT_INTERNAL;
	}
	if (nm_output_paths_check(args, runner->path, plan, diags) != 0 ||
	    nm_output_check(args->output.path, diags) != 0 ||
	    nm_logs_open(&live->logs, args, diags) != 0)
		return NM_EXIT_USAGE;
	nm_cli_print_diags(diags, &args->wording); /* warnings, before the run */
	if (args->max_duration_ns)
		(void)nm_signals_limit(args->max_duration_ns);
	choose_progress(args, live, &runner->view);
	/* Who reads progress, or speaks the language of another tool, knows how long it takes. */
	if (!live->raw && !live->progress && !args->output.iostat_ns && !args->line)
		live->length_ns = nm_plan_duration_ns(plan);
	return NM_EXIT_OK;
}

enum nm_run_status nm_runner_run(struct nm_runner *runner, struct nm_runs *series,
				 struct nm_diags *diags)
{
	const struct nm_job job = nm_loaded_job(&runner->loaded);
	enum nm_run_status status = NM_RUN_COMPLETE;
	struct nm_run_options options;
	struct nm_result **runs =
		realloc(series->runs, (series->n_runs + runner->repeat) * sizeof(*runs));

	options_from(runner, &options);
	if (!runs) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return NM_RUN_INTERNAL;
	}
	series->runs = runs;
	runner->live.runs = runner->repeat * runner->parts;
	for (uint64_t i = 0; i < runner->repeat && status == NM_RUN_COMPLETE; i++) {
		struct nm_result *result = NULL;
		runner->live.run = series->n_runs + 1;
		status = nm_run(&job, &options, &result, diags);
		if (result) {
			series->runs[series->n_runs++] = result;
			runner->lost_responses += result->responses.lost;
			nm_logs_finish(&runner->live.logs, result);
		}
		if (status != NM_RUN_COMPLETE)
			break;
		if (nm_signals_limited())
			status = i + 1 < runner->repeat ? NM_RUN_FAILED : NM_RUN_COMPLETE;
		else if (is_interrupted(runner->interrupt_fd))
			status = NM_RUN_INTERRUPTED;
	}
	nm_live_erase(&runner->live);
	return status;
}

bool nm_runner_has_report(const struct nm_runner *runner)
{
	const struct nm_args *args = runner->args;

	return !args->statistics.none && (args->output.path || !nm_logs_take_stdout(args));
}

int nm_runner_report(struct nm_runner *runner, const struct nm_runs *series, struct nm_diags *diags)
{
	const struct nm_args *args = runner->args;
	struct nm_sink *out = &runner->live.out;
	int error = nm_logs_close(&runner->live.logs, runner->lost_responses, series, diags);

	if (!nm_runner_has_report(runner))
		return error ? NM_EXIT_FAILED : NM_EXIT_OK;
	if (!out->stream) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return NM_EXIT_FAILED;
	}
	out->patience_ns = nm_sink_patience_ns(args->timeout_ns);
	if (nm_output_write(args->output.path, out->patience_ns,
			    nm_report_find(args->output.format), series, out, diags) != 0)
		error = -EIO;
	return error ? NM_EXIT_FAILED : NM_EXIT_OK;
}

int nm_runner_end(struct nm_runner *runner, int code, struct nm_diags *diags)
{
	struct nm_live *live = &runner->live;

	if (nm_live_fini(live, diags) != 0 &&
	    (code == NM_EXIT_UNMET || (code == NM_EXIT_OK && !diags->n_errors))) {
		nm_diag_error(diags, NULL, 0, "standard output cannot be written: %s",
			      strerror(live->out.error));
		code = NM_EXIT_FAILED;
	}
	nm_key_free(runner->key);
	(void)nm_logs_close(&live->logs, 0, NULL, diags);
	nm_judge_fini(&runner->judge);
	nm_dialect.free_options(&runner->asked);
	nm_loaded_fini(&runner->loaded);
	free(runner->path);
	return code;
}
