/* SPDX-License-Identifier: Apache-2.0 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "lib/netmodel.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "control/run.h"
#include "host/cpus.h"
#include "lib/load.h"
#include "report/report.h"

/* The options of a run, as text sets them. */
struct settings {
	uint64_t port, interval_ns, warmup_ns, cooldown_ns, timeout_ns, seed;
	char *percentiles, *cpus, *slave_cpus;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct nm_opt settings_table[] = {
	{.name = "port", .type = NM_TYPE_PORT, .offset = FIELD(port), .min = 1, .max = 65535},
	{.name = "interval", .type = NM_TYPE_DURATION, .offset = FIELD(interval_ns)},
	{.name = "warmup", .type = NM_TYPE_DURATION, .offset = FIELD(warmup_ns)},
	{.name = "cooldown", .type = NM_TYPE_DURATION, .offset = FIELD(cooldown_ns)},
	{.name = "timeout", .type = NM_TYPE_DURATION, .offset = FIELD(timeout_ns)},
	{.name = "percentiles", .type = NM_TYPE_STRING, .offset = FIELD(percentiles)},
	{.name = "seed",
	 .type = NM_TYPE_COUNT,
	 .offset = FIELD(seed),
	 .max = (UINT64_C(1) << 53) - 1},
	{.name = "cpus", .type = NM_TYPE_STRING, .offset = FIELD(cpus)},
	{.name = "slave-cpus", .type = NM_TYPE_STRING, .offset = FIELD(slave_cpus)},
	NM_OPT_END,
};

struct netmodel {
	struct nm_loaded loaded;
	struct nm_define *defines; /* owned, and both strings of each */
	size_t n_defines;
	struct settings settings;
	bool has_seed;
	struct nm_percentiles percentiles;
	struct nm_diags diags;
	char **lines; /* diags as text, one for each */
	size_t n_lines;
	netmodel_interval_fn on_interval;
	void *interval_arg;
	netmodel_log_fn on_log;
	void *log_arg;
	int stop_read, stop_write;
	atomic_bool running;
	struct nm_result *result;
};

const char *netmodel_version(void)
{
	return PACKAGE_VERSION;
}

/* As descriptor 0 to 2, where the caller has closed those, it would get what others write to standard error. */
static int keep_off_standard(int *fd)
{
	if (*fd > STDERR_FILENO)
		return 0;
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved < 0)
		return -errno;
	close(*fd);
	*fd = moved;
	return 0;
}

struct netmodel *netmodel_new(void)
{
	struct netmodel *nm = calloc(1, sizeof(*nm));
	struct nm_run_options defaults;
	int ends[2];

	if (!nm)
		return NULL;
	/* A pipe and not an eventfd: each byte is one request, however it is read. */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
		free(nm);
		return NULL;
	}
	if (keep_off_standard(&ends[0]) != 0 || keep_off_standard(&ends[1]) != 0) {
		close(ends[0]);
		close(ends[1]);
		free(nm);
		return NULL;
	}
	nm->stop_read = ends[0];
	nm->stop_write = ends[1];
	nm_run_options_default(&defaults);
	nm->settings.port = defaults.port;
	nm->settings.interval_ns = defaults.interval_ns;
	nm->settings.warmup_ns = defaults.warmup_ns;
	nm->settings.cooldown_ns = defaults.cooldown_ns;
	nm->settings.timeout_ns = defaults.timeout_ns;
	nm->percentiles = defaults.percentiles;
	return nm;
}

static void clear_diags(struct netmodel *nm)
{
	for (size_t i = 0; i < nm->n_lines; i++)
		free(nm->lines[i]);
	free(nm->lines);
	nm->lines = NULL;
	nm->n_lines = 0;
	nm_diags_fini(&nm->diags);
	nm->diags = (struct nm_diags){.count = 0};
}

/* Text of every diagnostic, so that handing one out cannot fail. Out of memory there are fewer. */
static void format_diags(struct netmodel *nm)
{
	nm->lines = calloc(nm->diags.count ? nm->diags.count : 1, sizeof(*nm->lines));
	for (size_t i = 0; nm->lines && i < nm->diags.count; i++) {
		char line[4096];
		nm_diag_format(&nm->diags.items[i], line, sizeof(line));
		char *copy = strdup(line);
		if (copy)
			nm->lines[nm->n_lines++] = copy;
	}
}

void netmodel_free(struct netmodel *nm)
{
	if (!nm)
		return;
	clear_diags(nm);
	nm_result_free(nm->result);
	nm_loaded_fini(&nm->loaded);
	nm_opts_fini(settings_table, &nm->settings);
	for (size_t i = 0; i < nm->n_defines; i++) {
		free((char *)nm->defines[i].name);
		free((char *)nm->defines[i].value);
	}
	free(nm->defines);
	close(nm->stop_read);
	close(nm->stop_write);
	free(nm);
}

int netmodel_load_file(struct netmodel *nm, const char *path)
{
	clear_diags(nm);
	int error = nm_loaded_read(&nm->loaded, path, &nm->diags);
	format_diags(nm);
	return error;
}

int netmodel_load_text(struct netmodel *nm, const char *name, const char *text, size_t length)
{
	clear_diags(nm);
	int error = nm_loaded_copy(&nm->loaded, name, text, length, &nm->diags);
	format_diags(nm);
	return error;
}

int netmodel_set_param(struct netmodel *nm, const char *name, const char *value)
{
	clear_diags(nm);
	if (*name == '\0')
		return -EINVAL;
	char *copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < nm->n_defines; i++) {
		if (strcmp(nm->defines[i].name, name) == 0) {
			free((char *)nm->defines[i].value);
			nm->defines[i].value = copy;
			return 0;
		}
	}
	char *key = strdup(name);
	struct nm_define *defines =
		key ? realloc(nm->defines, (nm->n_defines + 1) * sizeof(*defines)) : NULL;
	if (!defines) {
		free(key);
		free(copy);
		return -ENOMEM;
	}
	nm->defines = defines;
	nm->defines[nm->n_defines++] = (struct nm_define){.name = key, .value = copy};
	return 0;
}

/* What the type of an option alone does not check. */
static int check_setting(struct netmodel *nm, const char *name, const char *value, char *why,
			 size_t why_size)
{
	struct nm_cpu_list list = {0};
	int error = 0;

	if (strcmp(name, "percentiles") == 0)
		error = nm_percentiles_parse(value, &nm->percentiles);
	else if (strcmp(name, "slave-cpus") == 0)
		error = nm_cpu_list_check_form(value);
	else if (strcmp(name, "cpus") == 0)
		error = nm_cpu_list_parse(value, &list);
	else if (strcmp(name, "seed") == 0)
		nm->has_seed = true;
	nm_cpu_list_fini(&list);
	if (!error)
		return 0;
	snprintf(why, why_size, "%s",
		 error == -ERANGE ? "out of range" : "not a list of the right form");
	return -EINVAL;
}

int netmodel_set_option(struct netmodel *nm, const char *name, const char *value)
{
	const struct nm_opt *opt = nm_opt_find(settings_table, name);
	struct settings parsed = {0};
	char why[256] = "";
	int error = -ENOENT;

	clear_diags(nm);
	if (!opt) {
		nm_diag_error(&nm->diags, NULL, 0, "%s: unknown option", name);
	} else {
		/* Tried apart first, so that a wrong value leaves what was set. */
		error = nm_opt_set(opt, &parsed, value, why, sizeof(why));
		if (!error)
			error = check_setting(nm, opt->name, value, why, sizeof(why));
		if (!error)
			error = nm_opt_set(opt, &nm->settings, value, why, sizeof(why));
		nm_opts_fini(settings_table, &parsed);
		if (error)
			nm_diag_error(&nm->diags, NULL, 0, "%s=\"%s\": %s", name, value, why);
		else if (*why)
			nm_diag_warn(&nm->diags, NULL, 0, "%s=\"%s\": %s", name, value, why);
	}
	format_diags(nm);
	return error;
}

static int compile(struct netmodel *nm)
{
	struct nm_param_values values = {.defines = nm->defines, .n_defines = nm->n_defines};

	if (nm->loaded.text)
		return nm_loaded_compile(&nm->loaded, &values, &nm->diags);
	nm_diag_error(&nm->diags, NULL, 0, "no profile is loaded");
	return -EINVAL;
}

int netmodel_check(struct netmodel *nm)
{
	clear_diags(nm);
	int error = compile(nm);
	format_diags(nm);
	return error;
}

size_t netmodel_n_diagnostics(const struct netmodel *nm)
{
	return nm->n_lines;
}

const char *netmodel_diagnostic(const struct netmodel *nm, size_t index)
{
	return index < nm->n_lines ? nm->lines[index] : NULL;
}

void netmodel_on_interval(struct netmodel *nm, netmodel_interval_fn fn, void *arg)
{
	nm->on_interval = fn;
	nm->interval_arg = arg;
}

void netmodel_on_log(struct netmodel *nm, netmodel_log_fn fn, void *arg)
{
	nm->on_log = fn;
	nm->log_arg = arg;
}

static void on_interval(void *arg, const struct nm_result *so_far,
			const struct nm_result_interval *row)
{
	struct netmodel *nm = arg;
	const struct nm_window *window = &row->window;

	(void)so_far;
	if (!nm->on_interval)
		return;
	struct netmodel_interval interval = {
		.size = sizeof(interval),
		.from_s = row->from_s,
		.to_s = row->to_s,
		.phase = row->phase,
		.measured = row->part == NM_PART_MEASURED,
		.transactions = window->counts.iterations,
		.bytes_sent = window->counts.bytes_sent,
		.bytes_received = window->counts.bytes_received,
		.errors = window->counts.errors,
		.latency_count = window->latency.count,
		.latency_min_s = window->latency.min_s,
		.latency_mean_s = window->latency.mean_s,
		.latency_max_s = window->latency.max_s,
	};
	nm->on_interval(nm->interval_arg, &interval);
}

static void on_log(void *arg, const char *line)
{
	struct netmodel *nm = arg;

	if (nm->on_log)
		nm->on_log(nm->log_arg, line);
}

static void options_from(struct netmodel *nm, struct nm_run_options *ret_options)
{
	const struct settings *settings = &nm->settings;

	nm_run_options_default(ret_options);
	ret_options->port = (uint16_t)settings->port;
	ret_options->interval_ns = settings->interval_ns;
	ret_options->warmup_ns = settings->warmup_ns;
	ret_options->cooldown_ns = settings->cooldown_ns;
	ret_options->timeout_ns = settings->timeout_ns;
	ret_options->percentiles = nm->percentiles;
	ret_options->cpus = settings->cpus;
	ret_options->slave_cpus = settings->slave_cpus;
	ret_options->seed = settings->seed;
	if (!nm->has_seed && getrandom(&ret_options->seed, sizeof(ret_options->seed), 0) > 0)
		ret_options->seed >>= 11; /* within what every reader of JSON keeps */
	ret_options->interrupt_fd = nm->stop_read;
	ret_options->events = (struct nm_run_events){
		.arg = nm,
		.interval = on_interval,
		.log = on_log,
	};
}

/* Requests to stop an earlier run are not for this one. */
static void drain(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		continue;
}

enum netmodel_status netmodel_run(struct netmodel *nm)
{
	struct nm_run_options options;
	enum nm_run_status status = NM_RUN_REFUSED;

	clear_diags(nm);
	nm->result = nm_result_free(nm->result);
	drain(nm->stop_read);
	atomic_store(&nm->running, true);
	if (compile(nm) == 0) {
		struct nm_job job = nm_loaded_job(&nm->loaded);
		options_from(nm, &options);
		status = nm_run(&job, &options, &nm->result, &nm->diags);
	}
	atomic_store(&nm->running, false);
	format_diags(nm);
	return (enum netmodel_status)status;
}

void netmodel_stop(struct netmodel *nm)
{
	int saved = errno; /* may be called by a signal handler */

	if (atomic_load(&nm->running)) {
		ssize_t written = write(nm->stop_write, "", 1);
		(void)written; /* a full pipe has requests enough */
	}
	errno = saved;
}

int netmodel_complete(const struct netmodel *nm)
{
	return nm->result ? nm->result->complete : -1;
}

char *netmodel_result_json(const struct netmodel *nm)
{
	const struct nm_report *report = nm_report_find("json");
	struct nm_result *runs[] = {nm->result};
	struct nm_series series = {.runs = runs, .n_runs = 1};
	char *text = NULL;
	size_t length;

	if (!nm->result || !report)
		return NULL;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	int error = report->write(&series, stream);
	if (fclose(stream) == 0 && !error)
		return text;
	free(text);
	return NULL;
}

double netmodel_transactions_per_s(const struct netmodel *nm)
{
	if (!nm->result || nm->result->totals.seconds <= 0)
		return NAN;
	return nm_window_transactions_per_s(&nm->result->totals);
}

double netmodel_bits_per_s(const struct netmodel *nm)
{
	if (!nm->result || nm->result->totals.seconds <= 0)
		return NAN;
	return nm_window_bits_per_s(&nm->result->totals);
}

double netmodel_seconds(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.seconds : NAN;
}

double netmodel_latency_mean_s(const struct netmodel *nm)
{
	if (!nm->result || nm->result->totals.latency.count == 0)
		return NAN;
	return nm->result->totals.latency.mean_s;
}

double netmodel_latency_percentile_s(const struct netmodel *nm, double percentile)
{
	const struct nm_result *result = nm->result;

	if (!result || result->totals.latency.count == 0)
		return NAN;
	for (size_t i = 0; i < result->percentiles.count; i++)
		if (fabs(result->percentiles.pct[i] - percentile) < 1e-9)
			return result->totals.latency.pct_s[i];
	return NAN;
}

uint64_t netmodel_transactions(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.counts.iterations : 0;
}

uint64_t netmodel_errors(const struct netmodel *nm)
{
	return nm->result ? nm->result->totals.counts.errors : 0;
}
