/* SPDX-License-Identifier: Apache-2.0 */
/* key=value lines under neper's names and in its order, as a client of neper prints them. Every value covers the
 * measured window. Times are those of the monotonic clock. The writer of a stream shows the throughput of the reader. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/common.h"
#include "report/keys.h"
#include "report/throughput.h"

/* What one end has done in the measured window. */
struct end {
	bool known;
	double transactions_per_s, received_bits_per_s;
};

static bool is_cut(const struct nm_result *result)
{
	return result->warmup_s > 0 || result->cooldown_s > 0;
}

/* The slaves, by what they have counted in the measured transactions. */
static struct end end_of_phases(const struct nm_result *result)
{
	struct nm_counts sum = {0};

	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		for (size_t k = 0; k < group->n_phases; k++)
			if (group->phases[k].measured)
				nm_counts_add(&sum, &group->phases[k].slaves);
	}
	return (struct end){
		.known = result->totals.seconds > 0,
		.transactions_per_s = (double)sum.iterations / result->totals.seconds,
		.received_bits_per_s = (double)sum.bytes_received * 8 / result->totals.seconds,
	};
}

/* The same where only a part of them is measured: by the rows of the grid that lie in it. */
static struct end end_of_rows(const struct nm_result *result)
{
	struct end end = {.known = true};

	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];
		double seconds = 0, bits = 0, transactions = 0;

		if (host->is_master)
			continue;
		for (size_t i = 0; i < result->n_intervals; i++) {
			const struct nm_result_interval *row = &result->intervals[i];
			const struct nm_host_interval *own = nm_host_interval_at(host, row);

			if (!own || row->part != NM_PART_MEASURED)
				continue;
			seconds += own->to_s - own->from_s;
			bits += (double)own->bytes_received * 8;
			transactions += (double)own->iterations;
		}
		end.known = end.known && seconds > 0;
		end.received_bits_per_s += bits / seconds;
		end.transactions_per_s += transactions / seconds;
	}
	return end;
}

static struct end remote_end(const struct nm_result *result)
{
	bool complete = result->n_hosts > 1;
	struct end unknown = {.known = false};

	for (size_t h = 0; h < result->n_hosts; h++)
		complete = complete && result->hosts[h].complete;
	if (!complete)
		return unknown;
	return is_cut(result) ? end_of_rows(result) : end_of_phases(result);
}

/* Plain numbers, as neper has them: bytes, and seconds. */
static void print_param(const struct nm_param *param, FILE *out)
{
	static const struct nm_opt flag = {.name = "flag", .type = NM_TYPE_FLAG};
	uint64_t number = 0;
	bool on = false;
	char text[32] = "", why[64];

	switch (param->type) {
	case NM_TYPE_FLAG:
		if (nm_opt_set(&flag, &on, param->value, why, sizeof(why)) == 0)
			snprintf(text, sizeof(text), "%d", on);
		break;
	case NM_TYPE_SIZE:
		if (nm_parse_size(param->value, &number) >= 0)
			snprintf(text, sizeof(text), "%" PRIu64, number);
		break;
	case NM_TYPE_COUNT:
		if (nm_parse_count(param->value, &number) >= 0)
			snprintf(text, sizeof(text), "%" PRIu64, number);
		break;
	case NM_TYPE_DURATION:
		if (nm_parse_duration(param->value, &number) >= 0)
			snprintf(text, sizeof(text), "%.9g", (double)number / 1e9);
		break;
	default:
		break;
	}
	nm_keys_param(out, param->name, *text ? text : param->value);
}

static void print_options(const struct nm_result *result, FILE *out)
{
	for (size_t i = 0; i < result->params.count; i++)
		if (result->params.items[i].value)
			print_param(&result->params.items[i], out);
	fprintf(out, "interval=%.6f\npercentiles=", result->interval_s);
	for (size_t i = 0; i < result->percentiles.count; i++)
		fprintf(out, "%.10g,", result->percentiles.pct[i]);
	fputc('\n', out);
}

/* Whether a number of transactions was asked for, and not a time. */
static bool by_count(const struct nm_result *result)
{
	for (size_t i = 0; i < result->params.count; i++) {
		const struct nm_param *param = &result->params.items[i];

		if (strcmp(param->name, "num_transactions") == 0 && param->value)
			return strcmp(param->value, "0") != 0;
	}
	return false;
}

void nm_report_neper_options(const struct nm_result *asked, FILE *out)
{
	const char *name = by_count(asked) ? "num_transactions" : "test_length";

	nm_print_line(out, "VERSION=%s", asked->version);
	print_options(asked, out);
	for (size_t i = 0; i < asked->params.count; i++) {
		const struct nm_param *param = &asked->params.items[i];
		uint64_t length = 0;

		if (!param->value || strcmp(param->name, name) != 0)
			continue;
		if (by_count(asked) && nm_parse_count(param->value, &length) >= 0)
			fprintf(out, "total_transactions=%" PRIu64 "\n", length);
		else if (nm_parse_duration(param->value, &length) >= 0)
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
	const struct nm_rusage *start = &host->process_start, *used = &host->usage.process;
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

/* How straight the count grows over the measured time, from its begin on: Pearson's coefficient, with both means taken
 * off. */
static void print_correlation(const struct nm_result *result, bool stream, FILE *out)
{
	double x = 0, y = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
	size_t n = 1; /* the begin, where both are 0 */

	for (size_t i = 0; i < result->n_intervals; i++) {
		const struct nm_result_interval *row = &result->intervals[i];
		const struct nm_counts *counts = &row->window.counts;

		if (row->part != NM_PART_MEASURED)
			continue;
		x += row->window.seconds;
		y += stream ? (double)counts->bytes_sent + (double)counts->bytes_received
			    : (double)counts->iterations;
		double dx = x - mean_x, dy = y - mean_y;

		n++;
		mean_x += dx / (double)n;
		mean_y += dy / (double)n;
		xx += dx * (x - mean_x);
		yy += dy * (y - mean_y);
		xy += dx * (y - mean_y);
	}
	fprintf(out, "num_samples=%zu\n", n - 1);
	if (result->to_ns)
		nm_keys_time(out, "time_end", result->to_ns);
	if (n > 2 && xx > 0 && yy > 0)
		fprintf(out, "correlation_coefficient=%.6f\n", xy / sqrt(xx * yy));
}

static void print_bits(FILE *out, double bits_per_s, const struct nm_view *view)
{
	const char *word = view->throughput_unit ? view->throughput_unit : "Mb";
	const struct nm_throughput_unit *unit = nm_throughput_unit(word, bits_per_s / 8);

	if (unit)
		fprintf(out, "throughput=%.2f\nthroughput_units=%s\n",
			bits_per_s / 8 / unit->bytes_per_s, unit->printed);
}

static void print_ends(const struct nm_result *result, const struct nm_view *view, bool stream,
		       FILE *out)
{
	const struct nm_window *totals = &result->totals;
	struct end remote = remote_end(result);
	bool reads = totals->counts.bytes_received > 0;
	double local_bits = (double)totals->counts.bytes_received * 8 / totals->seconds;

	if (!stream) {
		double per_s = nm_window_transactions_per_s(totals);

		fprintf(out, "throughput=%.2f\nlocal_throughput=%.0f\n", per_s, floor(per_s));
		if (remote.known)
			fprintf(out, "remote_throughput=%.0f\n", floor(remote.transactions_per_s));
		return;
	}
	if (reads || remote.known)
		print_bits(out, reads ? local_bits : remote.received_bits_per_s, view);
	fprintf(out, "local_throughput=%.0f\n", floor(local_bits));
	if (remote.known)
		fprintf(out, "remote_throughput=%.0f\n", floor(remote.received_bits_per_s));
}

static int write_neper(const struct nm_series *series, FILE *out)
{
	const struct nm_result *result = nm_series_last(series);

	if (!result)
		return -EINVAL;
	bool stream = series->view.throughput_unit || nm_is_stream(&result->totals.counts);

	nm_print_line(out, "VERSION=%s", result->version ? result->version : "");
	print_options(result, out);
	if (by_count(result))
		fprintf(out, "total_transactions=%" PRIu64 "\n", result->totals.counts.iterations);
	else
		fprintf(out, "total_run_time=%.6f\n", result->totals.seconds);
	fputs("invalid_secret_count=0\n", out);
	if (result->from_ns)
		nm_keys_time(out, "time_start", result->from_ns);
	if (result->n_hosts)
		print_usage(&result->hosts[0], &series->view, out);
	if (!stream) {
		fprintf(out, "num_transactions=%" PRIu64 "\n", result->totals.counts.iterations);
		if (result->responses.passes)
			fprintf(out, "rtt_transactions_logged=%" PRIu64 "\n",
				result->responses.passes);
		nm_keys_latency(out, "latency", &result->totals.latency, &result->percentiles);
	}
	print_correlation(result, stream, out);
	if (result->totals.seconds > 0)
		print_ends(result, &series->view, stream, out);
	return nm_stream_status(out);
}

const struct nm_report nm_report_neper = {
	.name = "neper",
	.help = "key=value lines as a client of neper prints them",
	.write = write_neper,
};
