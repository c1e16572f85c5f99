/* SPDX-License-Identifier: Apache-2.0 */
/* Reads options into struct nm_args, one after the other, and then checks them together. */
#include "cli/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/log/log.h"
#include "cli/output.h"
#include "plan/plan.h"
#include "report/report.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static size_t index_of(const struct nm_arg *arg)
{
	size_t i = 0;

	while (nm_arg_at(i) != arg)
		i++;
	return i;
}

static bool is_given(const struct nm_args_reading *reading, const char *name)
{
	return reading->given[index_of(nm_arg_find(name))];
}

static int set(const struct nm_arg *arg, struct nm_args *args, const char *value, char *why,
	       size_t why_size)
{
	char *base = (char *)nm_arg_field(arg, args) - arg->opt.offset;

	return nm_opt_set(&arg->opt, base, value, why, why_size);
}

int nm_args_begin(struct nm_args_reading *reading, struct nm_args *args, struct nm_diags *diags)
{
	const struct nm_arg *arg;
	char why[256];

	*args = (struct nm_args){.action = NM_ACTION_NONE};
	*reading = (struct nm_args_reading){.args = args, .diags = diags};
	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (!arg->opt.def || set(arg, args, arg->opt.def, why, sizeof(why)) == 0)
			continue;
		nm_diag_error(diags, NULL, 0, "--%s: default %s: %s", arg->opt.name, arg->opt.def,
			      why);
		return -EINVAL;
	}
	nm_percentiles_default(&args->run.percentiles);
	return 0;
}

static const char *action_option(enum nm_action action)
{
	const struct nm_arg *arg;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		if (arg->action == action)
			return arg->opt.name;
	return "master";
}

/* Takes the action that an option asks for; a second one is an error. */
static void choose_action(struct nm_args_reading *reading, const struct nm_arg *arg)
{
	struct nm_args *args = reading->args;

	if (args->action && arg->action && arg->action != args->action)
		nm_diag_error(reading->diags, NULL, 0, "--%s and --%s: one at a time",
			      action_option(args->action), arg->opt.name);
	else if (arg->action)
		args->action = arg->action;
}

void nm_args_take(struct nm_args_reading *reading, const struct nm_arg *arg, const char *value)
{
	struct nm_args *args = reading->args;
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = arg->opt.name, .value = value};
	bool *given = &reading->given[index_of(arg)];
	char why[256] = "";

	if (*given && nm_arg_field(arg, args) == &args->master) {
		nm_cli_refuse(reading->diags, "master", value,
			      "one profile at a time, and %s is given already",
			      args->master ? args->master : "another");
		return;
	}
	int error = set(arg, args, value, why, sizeof(why));

	if (!error && arg->validate)
		error = arg->validate(args, value, why, sizeof(why));
	if (error || *why)
		nm_diag_add(reading->diags, error ? NM_SEV_ERROR : NM_SEV_WARNING, NULL, 0,
			    &subject, ": %s", why);
	*given = true;
	choose_action(reading, arg);
}

/* --- together --- */

static unsigned mode_of(enum nm_action action)
{
	switch (action) {
	case NM_ACTION_RUN:
		return NM_MODE_RUN;
	case NM_ACTION_SLAVE:
		return NM_MODE_SLAVE;
	case NM_ACTION_CHECK:
	case NM_ACTION_PARAMS:
	case NM_ACTION_DUMP_PLAN:
	case NM_ACTION_OPTIONS:
		return NM_MODE_LOOK;
	default:
		return NM_MODE_TELL;
	}
}

static const char *modes_text(unsigned modes)
{
	switch (modes & NM_MODE_ALL) {
	case NM_MODE_SLAVE:
		return "only with --slave";
	case NM_MODE_RUN:
		return "only when a profile is run (--master)";
	case NM_MODE_RUN | NM_MODE_SLAVE:
		return "only with --master or --slave, when something is run";
	default:
		return "only with --master";
	}
}

/* An option that was given, but has no meaning for the action. */
static void check_mode(const struct nm_args_reading *reading, const struct nm_arg *arg)
{
	const struct nm_args *args = reading->args;
	const char *action = action_option(args->action);
	unsigned mode = mode_of(args->action);

	if (mode == NM_MODE_SLAVE && (arg->modes & NM_MODE_SLAVE_TOO)) {
		if (args->output.verbose)
			nm_diag_warn(reading->diags, NULL, 0,
				     "--%s: has no effect on a slave: masters ask for it",
				     arg->opt.name);
	} else if (strcmp(arg->opt.name, "master") == 0) {
		nm_diag_error(reading->diags, NULL, 0, "--master and --%s: one at a time", action);
	} else {
		nm_cli_refuse(reading->diags, arg->opt.name, NULL, "%s, not with --%s",
			      modes_text(arg->modes), action);
	}
}

static void check_modes(const struct nm_args_reading *reading)
{
	const struct nm_arg *arg;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		bool told = arg->action && arg->action != reading->args->action; /* as one of two */

		if (reading->given[i] && !told && !(arg->modes & mode_of(reading->args->action)))
			check_mode(reading, arg);
	}
}

/* "a or b": the reports that such an option concerns. */
static void list_reports(unsigned takes, char *buf, size_t size)
{
	size_t count = 0, used = 0;

	while (nm_reports[count])
		count++;
	*buf = '\0';
	while (count--)
		if ((nm_reports[count]->takes & takes) && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s",
						 used ? " or " : "", nm_reports[count]->name);
}

/* Outputs that have nothing but intervals, of a run without any. */
static void check_intervals(const struct nm_args_reading *reading)
{
	const struct nm_args *args = reading->args;
	const struct nm_report *report = nm_report_find(args->output.format);

	if (args->run.interval_ns || !is_given(reading, "interval"))
		return;
	if (report->takes & NM_REPORT_TAKES_INTERVALS)
		nm_diag_error(reading->diags, NULL, 0,
			      "--format %s and --interval 0: one at a time: without intervals "
			      "nothing would be written but a header line",
			      report->name);
	for (size_t i = 0; nm_logs[i]; i++)
		if ((nm_logs[i]->flows || nm_logs[i]->tcp) && args->output.logs[i])
			nm_diag_error(reading->diags, NULL, 0,
				      "--%s and --interval 0: one at a time: without intervals "
				      "nothing would be written but a header line",
				      nm_logs[i]->arg.opt.name);
}

static void check_windows(const struct nm_args *args, struct nm_diags *diags)
{
	uint64_t interval_ns = args->run.interval_ns;
	char windows[24];

	if (!args->run.windows)
		return;
	snprintf(windows, sizeof(windows), "%" PRIu64, args->run.windows);
	if (!interval_ns)
		nm_cli_refuse(diags, "windows", windows,
			      "not with --interval 0: each window is an interval, of at least 1ms");
	else if (args->run.windows > NM_PLAN_MAX_WAIT_NS / interval_ns)
		nm_cli_refuse(diags, "windows", windows,
			      "with such an interval they last more than %" PRIu64 "h, the most "
			      "that is allowed",
			      NM_PLAN_MAX_WAIT_NS / UINT64_C(3600000000000));
}

static void check_sweep(const struct nm_args_reading *reading)
{
	static const char *const of_search[] = {"objective", "confirm", "search-resume"};
	const struct nm_args_sweep *sweep = &reading->args->run.sweep;

	if (sweep->scan && sweep->search)
		nm_diag_error(reading->diags, NULL, 0, "--scan and --search: one at a time");
	if ((sweep->scan || sweep->search) && reading->args->run.judge.baseline)
		nm_diag_error(reading->diags, NULL, 0, "--%s and --compare: one at a time",
			      sweep->scan ? "scan" : "search");
	if (sweep->search && !sweep->objective)
		nm_cli_refuse(reading->diags, "search", sweep->search,
			      "needs an objective, as --objective 'latency.p99 <= 1ms'");
	for (size_t i = 0; i < COUNT_OF(of_search); i++)
		if (is_given(reading, of_search[i]) && !sweep->search)
			nm_cli_refuse(reading->diags, of_search[i], NULL, "only with --search");
}

/* Options that have an effect only with another option, or with certain reports. */
static void check_company(const struct nm_args_reading *reading)
{
	static const struct {
		const char *option;
		unsigned takes;
	} of_reports[] = {{"throughput-opt", NM_REPORT_TAKES_UNIT},
			  {"stime-use-proc", NM_REPORT_TAKES_STIME},
			  {"compare", NM_REPORT_TAKES_COMPARISON},
			  {"scan", NM_REPORT_TAKES_SWEEP},
			  {"search", NM_REPORT_TAKES_SWEEP}};
	const struct nm_report *report = nm_report_find(reading->args->output.format);
	char names[64];

	for (size_t i = 0; i < COUNT_OF(of_reports); i++) {
		if (!is_given(reading, of_reports[i].option) ||
		    (report->takes & of_reports[i].takes))
			continue;
		list_reports(of_reports[i].takes, names, sizeof(names));
		nm_cli_refuse(reading->diags, of_reports[i].option, NULL, "only with --format %s",
			      names);
	}
	check_sweep(reading);
	if (is_given(reading, "log-rtt-entries") && !is_given(reading, "log-rtt"))
		nm_cli_refuse(reading->diags, "log-rtt-entries", NULL, "only with --log-rtt");
}

/* Outputs that exclude each other. */
static void check_output(const struct nm_args *args, struct nm_diags *diags)
{
	const struct nm_args_output *output = &args->output;
	const struct nm_report *report = nm_report_find(output->format);
	const struct {
		const char *option;
		bool is_given;
	} to_stdout[] = {{"output -", output->path && nm_output_is_stdout(output->path)},
			 {"raw", args->statistics.raw && !args->statistics.none},
			 {"iostat", output->iostat_ns}};

	if (args->statistics.none && output->path)
		nm_diag_error(diags, NULL, 0,
			      "--no-statistics and --output: one at a time: without statistics "
			      "there is no report to write");
	if (args->statistics.raw && !args->statistics.none && nm_output_is_stdout(output->path) &&
	    !(report->takes & NM_REPORT_TAKES_RAW))
		nm_diag_error(diags, NULL, 0,
			      "--raw and --format %s: both would go to standard output: give the "
			      "report a file with -o FILE",
			      output->format);
	for (size_t i = 0; i < COUNT_OF(to_stdout) && nm_logs_take_stdout(args); i++)
		if (to_stdout[i].is_given)
			nm_diag_error(
				diags, NULL, 0,
				"--stream - and --%s: one at a time: both would go to standard "
				"output",
				to_stdout[i].option);
	if (output->iostat_ns && args->statistics.raw)
		nm_diag_error(diags, NULL, 0,
			      "--iostat and --raw: one at a time: both print lines of progress");
}

/* Whether the line asks for an action. */
static bool check_action(struct nm_args_reading *reading)
{
	struct nm_args *args = reading->args;

	if (args->action == NM_ACTION_NONE && args->master)
		args->action = NM_ACTION_RUN;
	if (args->action == NM_ACTION_NONE && args->key.guard_ns)
		args->action = NM_ACTION_GUARD;
	if (args->action == NM_ACTION_NONE) {
		if (!reading->diags->n_errors)
			nm_diag_error(reading->diags, NULL, 0,
				      "nothing to do: give -m PROFILE to run one (--list lists "
				      "them), or -s to be a slave; --help tells more");
		return false;
	}
	if (mode_of(args->action) == NM_MODE_LOOK && !args->master)
		nm_diag_error(reading->diags, NULL, 0, "--%s: needs a profile: -m PROFILE",
			      action_option(args->action));
	if (args->slave && args->master)
		nm_diag_error(reading->diags, NULL, 0, "--master and --slave: one at a time");
	return !args->slave || !args->master;
}

int nm_args_end(struct nm_args_reading *reading)
{
	const struct nm_args *args = reading->args;
	struct nm_diags *diags = reading->diags;

	if (!check_action(reading))
		return -EINVAL;
	bool runs = mode_of(args->action) == NM_MODE_RUN;

	reading->args->run.has_interval = is_given(reading, "interval");
	check_modes(reading);
	check_output(args, diags);
	if (runs && !diags->n_errors) {
		check_company(reading);
		check_intervals(reading);
		check_windows(args, diags);
	}
	if (args->as_slave.no_auth && args->key.file)
		nm_diag_error(diags, NULL, 0, "--no-auth and --key-file: one at a time");
	if (args->output.quiet && args->output.verbose)
		nm_diag_error(diags, NULL, 0, "--quiet and --verbose: one at a time");
	if (runs && args->port == 0)
		nm_cli_refuse(diags, "port", "0", "must be 1 to 65535 with --master");
	return diags->n_errors ? -EINVAL : 0;
}

void nm_args_fini(struct nm_args *args)
{
	const struct nm_arg *arg;

	for (size_t i = 0; i < args->n_defines; i++)
		free((char *)args->defines[i].name); /* the value is its second part */
	free(args->defines);
	for (size_t i = 0; i < args->run.judge.n_required; i++)
		free(args->run.judge.required[i].text);
	free(args->run.judge.required);
	free(args->as_slave.allowed);
	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		if (arg->opt.type == NM_TYPE_STRING || arg->opt.type == NM_TYPE_HOST)
			free(*(char **)nm_arg_field(arg, args));
	*args = (struct nm_args){.action = NM_ACTION_NONE};
}
