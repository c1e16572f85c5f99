/* SPDX-License-Identifier: Apache-2.0 */
/* key=value lines under neper's names and in its order, as a client of neper prints them. Every
 * value covers the measured window. Times are those of the monotonic clock. The writer of a stream
 * shows the throughput of the reader. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "report/common.h"
#include "report/end_totals.h"
#include "report/keys.h"

/* The unit in which neper has a parameter that is a time. */
static uint64_t unit_ns(const char *name)
{
	static const struct {
		const char *param;
		uint64_t unit_ns;
	} units[] = {{"delay", 1}, {"noburst", 1}, {"tcp_tx_delay", 1000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(name, units[i].param) == 0)
			return units[i].unit_ns;
	return 1000000000;
}

static void print_param(const struct nm_param *param, FILE *out)
{
	char text[32];
	bool number = nm_keys_number(param, unit_ns(param->name), text, sizeof(text));

	nm_keys_param(out, param->name, number ? text : param->value);
}

/* neper has one option for the time and, below 0, for a number of transactions. */
static void print_length(const char *asked, enum nm_reading reading, FILE *out)
{
	uint64_t count = 0;

	if (nm_parse_count(asked, reading, &count) >= 0)
		fprintf(out, "test_length=-%" PRIu64 "\n", count);
}

/* The parameters of a profile that is no workload of neper's. */
static void print_params(const struct nm_result *result, FILE *out)
{
	const char *asked = nm_keys_count_asked(result);

	for (size_t i = 0; i < result->params.count; i++) {
		const struct nm_param *param = &result->params.items[i];

		if (asked && strcmp(param->name, "test_length") == 0)
			print_length(asked, param->reading, out);
		else if (param->value)
			print_param(param, out);
	}
	nm_keys_run_options(out, result);
}

static void print_options(const struct nm_result *result, const struct nm_view *view, FILE *out)
{
	if (!view->n_tool_options)
		print_params(result, out);
	for (size_t i = 0; i < view->n_tool_options; i++)
		nm_keys_neper_option(out, &view->tool_options[i], result);
}

void nm_report_neper_options(const struct nm_result *asked, const struct nm_view *view, FILE *out)
{
	bool by_count = nm_keys_count_asked(asked) != NULL;
	const char *name = by_count ? "num_transactions" : "test_length";

	nm_print_line(out, "VERSION=%s", asked->id.version);
	print_options(asked, view, out);
	for (size_t i = 0; i < asked->params.count; i++) {
		const struct nm_param *param = &asked->params.items[i];
		uint64_t length = 0;

		if (!param->value || strcmp(param->name, name) != 0)
			continue;
		if (by_count && nm_parse_count(param->value, param->reading, &length) >= 0)
			fprintf(out, "total_transactions=%" PRIu64 "\n", length);
		else if (nm_parse_duration(param->value, param->reading, &length) >= 0)
			fprintf(out, "total_run_time=%.9g\n", (double)length / 1e9);
	}
}

static void print_seconds(FILE *out, const char *key, uint64_t start_ns, uint64_t used_ns)
{
	fprintf(out, "%s_start=%.6f\n%s_end=%.6f\n", key, (double)start_ns / 1e9, key,
		(double)(start_ns + used_ns) / 1e9);
}

static void print_count(FILE *out, const char *key, uint64_t start, uint64_t used)
{
	fprintf(out, "%s_start=%" PRIu64 "\n%s_end=%" PRIu64 "\n", key, start, key, start + used);
}

static void print_usage(const struct nm_result_host *host, const struct nm_view *view, FILE *out)
{
	const struct nm_rusage *start = &host->usage.process_start, *used = &host->usage.process;
	const struct nm_cpu_times *cpu = &host->usage.cpu;

	if (!host->has_usage)
		return;
	print_seconds(out, "utime", start->utime_ns, used->utime_ns);
	if (!view->stime_use_proc)
		print_seconds(out, "stime", start->stime_ns, used->stime_ns);
	else if (cpu->n_cpus)
		print_seconds(out, "stime", 0, cpu->system_ns + cpu->irq_ns + cpu->softirq_ns);
	/* The high-water mark is no sum. */
	fprintf(out, "maxrss_start=%" PRIu64 "\nmaxrss_end=%" PRIu64 "\n", start->maxrss_kb,
		used->maxrss_kb);
	print_count(out, "minflt", start->minflt, used->minflt);
	print_count(out, "majflt", start->majflt, used->majflt);
	print_count(out, "nvcsw", start->nvcsw, used->nvcsw);
	print_count(out, "nivcsw", start->nivcsw, used->nivcsw);
}

static void print_linearity(const struct nm_result *result, const struct nm_view *view, FILE *out)
{
	struct nm_linearity linearity = nm_linearity_of(result, NULL);

	if (!view->of_slave)
		fprintf(out, "num_samples=%zu\n", linearity.samples);
	if (result->to_ns)
		nm_keys_time(out, "time_end", result->to_ns);
	if (linearity.known && !view->of_slave)
		fprintf(out, "correlation_coefficient=%.6f\n", linearity.correlation);
}

/* The length that was asked for, as in neper: whole seconds have no fraction. False: there is no
 * such parameter. */
static bool print_asked_time(const struct nm_params *params, FILE *out)
{
	char text[32];

	for (size_t i = 0; i < params->count; i++) {
		const struct nm_param *param = &params->items[i];

		if (!param->value || strcmp(param->name, "test_length") != 0 ||
		    !nm_keys_number(param, unit_ns(param->name), text, sizeof(text)))
			continue;
		fprintf(out, "total_run_time=%s\n", text);
		return true;
	}
	return false;
}

/* A server does not know the length that its client has asked for, and neper's always prints whole
 * seconds. */
static void print_run_time(const struct nm_result *result, const struct nm_view *view, FILE *out)
{
	if (nm_keys_count_asked(result))
		nm_keys_total(out, result);
	else if (!print_asked_time(&result->params, out) && result->totals.seconds > 0)
		fprintf(out, "total_run_time=%.*f\n", view->of_slave ? 0 : 6,
			result->totals.seconds);
}

static int write_neper(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *result = nm_runs_last(series);

	if (!result)
		return -EINVAL;
	const struct nm_view *view = nm_runs_view(series);
	bool stream = nm_is_stream(result), is_measured = nm_master_totals(result).known;

	if (result->id.version)
		nm_print_line(out, "VERSION=%s", result->id.version);
	if (!view->of_slave)
		print_options(result, view, out);
	print_run_time(result, view, out);
	nm_keys_cores(out, "", view->cpus);
	if (!view->of_slave)
		fputs("invalid_secret_count=0\n", out);
	if (result->from_ns)
		nm_keys_time(out, "time_start", result->from_ns);
	if (result->n_hosts)
		print_usage(&result->hosts[0], view, out);
	/* What was not measured is absent: a script would take 0 for a measurement. */
	if (!stream && is_measured) {
		fprintf(out, "num_transactions=%" PRIu64 "\n", result->totals.counts.iterations);
		if (result->responses.passes)
			fprintf(out, "rtt_transactions_logged=%" PRIu64 "\n",
				result->responses.passes);
		nm_keys_latency(out, "latency", &result->totals.latency, &result->percentiles);
	}
	if (is_measured)
		print_linearity(result, view, out);
	nm_keys_ends(out, result, view, stream);
	return nm_stream_status(out);
}

const struct nm_report nm_report_neper = {
	.name = "neper",
	.help = "key=value as neper prints it",
	.takes = NM_REPORT_TAKES_UNIT | NM_REPORT_TAKES_STIME,
	.lacks_warnings = true,
	.write = write_neper,
};
