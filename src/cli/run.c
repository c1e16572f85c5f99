/* SPDX-License-Identifier: Apache-2.0 */
/* The master: -m. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/neper.h"
#include "cli/neper_echo.h"
#include "cli/output.h"
#include "cli/places.h"
#include "cli/signals.h"
#include "cli/stock.h"
#include "lib/load.h"
#include "lib/settings.h"

static void options_from(const struct nm_args *args, struct nm_live *live, int interrupt_fd,
			 struct nm_run_options *ret_options)
{
	nm_run_options_default(ret_options);
	ret_options->control = args->control;
	ret_options->port = (uint16_t)args->port;
	ret_options->interval_ns = args->interval_ns;
	ret_options->warmup_ns = args->warmup_ns;
	ret_options->cooldown_ns = args->cooldown_ns;
	ret_options->max_duration_ns = args->max_duration_ns;
	ret_options->timeout_ns = args->timeout_ns;
	ret_options->wait_start_ns = args->wait_start_ns;
	ret_options->wait_slaves_ns = args->wait_slaves_ns;
	ret_options->traffic_ns = args->iostat_ns;
	ret_options->samples_flows = args->all_samples != NULL;
	ret_options->samples_percentiles = args->has_percentiles;
	ret_options->log_passes = args->log_rtt ? args->log_rtt_entries : 0;
	ret_options->samples_tcp = args->tcp_info != NULL;
	ret_options->percentiles = args->percentiles;
	ret_options->cpus = args->cpus;
	ret_options->slave_cpus = args->slave_cpus;
	ret_options->statistics = nm_cli_statistics(args);
	if (ret_options->statistics & NM_STAT_COUNTERS)
		ret_options->counters = args->counters ? args->counters : NM_PERF_DEFAULT;
	ret_options->seed = args->has_seed ? args->seed : nm_settings_choose_seed();
	ret_options->interrupt_fd = interrupt_fd;
	ret_options->events = (struct nm_run_events){
		.arg = live,
		.interval = nm_live_interval,
		.log = nm_live_log,
		.waits = nm_live_waits,
		.progress = nm_live_progress,
		.times = args->hdr_log ? nm_live_times : NULL,
		.flows = nm_live_flows,
		.tcp = nm_live_tcp,
		.traffic = nm_live_traffic,
		.responses = nm_live_responses,
	};
}

/* Whether an interrupt waits that no run has taken. */
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

	series->runs = calloc(args->repeat, sizeof(struct nm_result *));
	if (!series->runs) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return NM_RUN_INTERNAL;
	}
	live->runs = args->repeat;
	for (uint64_t i = 0; i < args->repeat && status == NM_RUN_COMPLETE; i++) {
		struct nm_result *result = NULL;
		live->run = i + 1;
		status = nm_run(job, options, &result, diags);
		if (result)
			series->runs[series->n_runs++] = result;
		if (status != NM_RUN_COMPLETE)
			break;
		if (nm_signals_limited())
			status = i + 1 < args->repeat ? NM_RUN_FAILED : NM_RUN_COMPLETE;
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

static int open_logs(const struct nm_args *args, struct nm_live *live, struct nm_diags *diags)
{
	int error = nm_responses_open(&live->responses, args->response_log, diags);

	if (!error)
		error = nm_log_file_open(&live->hdr_log.file, "hdr-log", args->hdr_log, diags);
	if (!error)
		error = nm_log_file_open(&live->flow_log, "all-samples", args->all_samples, diags);
	if (!error)
		error = nm_log_file_open(&live->tcp_log, "tcp-info", args->tcp_info, diags);
	if (!error)
		error = nm_log_file_open(&live->rtt_log, "log-rtt", args->log_rtt, diags);
	live->samples_percentiles = args->has_percentiles ? &args->percentiles : NULL;
	nm_flow_log_head(&live->flow_log, live->samples_percentiles);
	nm_tcp_log_head(&live->tcp_log);
	nm_rtt_log_head(&live->rtt_log);
	return error;
}

static int close_logs(struct nm_live *live, uint64_t lost, struct nm_diags *diags)
{
	int error = nm_responses_close(&live->responses, lost, diags);
	struct nm_log_file *const files[] = {&live->hdr_log.file, &live->flow_log, &live->tcp_log,
					     &live->rtt_log};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int failed = nm_log_file_close(files[i], diags);

		error = error ? error : failed;
	}
	return error;
}

/* neper's keys have no place for them. */
static void retell_warnings(const struct nm_runs *series, struct nm_diags *diags)
{
	for (size_t i = 0; i < series->n_runs; i++)
		for (size_t k = 0; k < series->runs[i]->warnings.count; k++)
			nm_diag_warn(diags, NULL, 0, "%s", series->runs[i]->warnings.items[k]);
}

static int report_all(const struct nm_args *args, struct nm_live *live,
		      const struct nm_runs *series, enum nm_run_status status,
		      struct nm_diags *diags)
{
	const struct nm_report *report = nm_report_find(args->format);
	int code = (int)status;

	if (series->n_runs == 0)
		return code;
	if (close_logs(live, lost_responses(series), diags) != 0 && code == NM_EXIT_OK)
		code = NM_EXIT_FAILED;
	if (!args->no_statistics && nm_output_write(args->output, report, series, diags) != 0 &&
	    code == NM_EXIT_OK)
		code = NM_EXIT_FAILED;
	const struct nm_result *last = series->runs[series->n_runs - 1];

	if (strcmp(report->name, "neper") == 0)
		retell_warnings(series, diags);
	if (!last->complete && !diags->n_errors)
		nm_diag_error(diags, NULL, 0, "the run is incomplete: %s",
			      last->verdict.incomplete_why ? last->verdict.incomplete_why
							   : "interrupted");
	if (last->complete && status == NM_RUN_INTERRUPTED && !diags->n_errors)
		nm_diag_error(diags, NULL, 0, "interrupted after run %zu of %" PRIu64,
			      series->n_runs, args->repeat);
	if (last->complete && status == NM_RUN_FAILED && !diags->n_errors)
		nm_diag_error(diags, NULL, 0,
			      "longer than --max-duration %.6gs after run %zu of %" PRIu64,
			      (double)args->max_duration_ns / 1e9, series->n_runs, args->repeat);
	return code;
}

/* What is no parameter may be an option: of neper's all are one or the other. */
static void hint_at_options(const struct nm_args *args, struct nm_diags *diags)
{
	for (size_t i = 0; i < args->n_defines; i++) {
		const char *name = args->defines[i].name;
		char option[64];

		snprintf(option, sizeof(option), "%s", name);
		for (char *c = option; *c; c++)
			*c = *c == '_' ? '-' : *c;
		for (const struct nm_arg *arg = nm_arg_table; arg->opt.name; arg++)
			if (strcmp(arg->opt.name, option) == 0 &&
			    !nm_cli_has_param(args->master, name))
				nm_diag_error(diags, NULL, 0,
					      "-D %s: not a parameter, but an option: did you mean "
					      "--%s %s?",
					      name, option, args->defines[i].value);
	}
}

int nm_cli_run(const struct nm_args *args, struct nm_diags *diags)
{
	struct nm_loaded loaded = {0};
	struct nm_view view = {.throughput_unit = args->throughput_unit,
			       .cpus = args->cpus,
			       .slave_cpus = args->slave_cpus,
			       .stime_use_proc = args->stime_use_proc};
	struct nm_runs series = {.view = &view};
	struct nm_neper_echo echo = {.count = 0};
	struct nm_live live;
	struct nm_run_options options;
	struct nm_param_values values = {
		.defines = args->defines,
		.n_defines = args->n_defines,
		.lookup = nm_cli_lookup,
	};
	int code = NM_EXIT_USAGE;

	nm_live_init(&live, args->quiet, args->verbose);
	char *path = nm_stock_find(args->master, diags);
	if (!path || nm_loaded_read(&loaded, path, diags) != 0)
		goto out;
	if (nm_loaded_compile(&loaded, &values, diags) != 0) {
		hint_at_options(args, diags);
		goto out;
	}
	if (nm_neper_echo_make(&echo, args, &loaded.params) < 0) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		code = NM_EXIT_INTERNAL;
		goto out;
	}
	view.neper_options = echo.items;
	view.n_neper_options = echo.count;
	if (nm_places_check(args, diags) != 0 || nm_output_check(args->output, diags) != 0 ||
	    open_logs(args, &live, diags) != 0)
		goto out;
	if (args->nepers_words)
		nm_neper_retell(args->nepers_words, diags);
	nm_cli_print_diags(diags, args->wording); /* warnings, before the run */
	int interrupt_fd = nm_signals_start();
	if (interrupt_fd < 0) {
		nm_diag_error(diags, NULL, 0, "no pipe for signals: %s", strerror(-interrupt_fd));
		code = NM_EXIT_INTERNAL;
		goto out;
	}
	if (args->max_duration_ns)
		(void)nm_signals_limit(args->max_duration_ns);
	live.line &= !args->no_statistics && !args->raw && !args->iostat_ns;
	options_from(args, &live, interrupt_fd, &options);
	struct nm_job job = nm_loaded_job(&loaded);
	enum nm_run_status status = run_all(args, &job, &live, &options, &series, diags);
	nm_live_erase(&live);
	code = report_all(args, &live, &series, status, diags);
out:
	(void)close_logs(&live, 0, diags);
	nm_runs_fini(&series);
	nm_neper_echo_fini(&echo);
	nm_loaded_fini(&loaded);
	free(path);
	return code;
}
