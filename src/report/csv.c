/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals: a header line, then a row for each interval of each run. What is not known is an
 * empty cell. */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "report/common.h"
#include "result/datagram_stats.h"

/* RFC 4180: quotes only where they are needed. No cell has a line end or another control
 * character. */
static void print_name(FILE *out, const char *host, const char *column)
{
	bool quoted = strpbrk(host, ",\"") != NULL;

	fputs(quoted ? ",\"" : ",", out);
	while (*host) {
		size_t control = nm_control_length(host);

		if (*host == '"')
			fputc('"', out);
		if (control)
			fprintf(out, "%*s", (int)control, "");
		else
			fputc(*host, out);
		host += control ? control : 1;
	}
	fprintf(out, "_%s%s", column, quoted ? "\"" : "");
}

static const char *const cpu_columns[] = {"cpu_user", "cpu_system", "cpu_softirq", "cpu_idle"};
#define N_CPU_COLUMNS (sizeof(cpu_columns) / sizeof(cpu_columns[0]))

static void print_latency_names(const struct nm_result *shape, const char *prefix, FILE *out)
{
	char key[32];

	fprintf(out, ",%s_count,%s_min_s,%s_mean_s,%s_max_s,%s_stddev_s", prefix, prefix, prefix,
		prefix, prefix);
	for (size_t i = 0; i < shape->percentiles.count; i++)
		fprintf(out, ",%s_%s_s", prefix,
			nm_percentile_key(shape->percentiles.pct[i], key, sizeof(key)));
}

/* Columns that not all results have. */
struct extra {
	bool response, messages;
};

static struct extra extra_of(const struct nm_runs *series)
{
	struct extra extra = {.response = false};

	for (size_t r = 0; r < series->n_runs; r++) {
		struct nm_datagram_stats messages;

		nm_result_datagrams(series->runs[r], &messages);
		extra.response = extra.response || nm_result_has_response(series->runs[r]);
		extra.messages = extra.messages || messages.any;
	}
	return extra;
}

static void print_direction_names(const char *prefix, FILE *out)
{
	static const char *const names[] = {"sent", "received",	 "bits_received_per_s",
					    "lost", "reordered", "duplicates",
					    "late", "jitter_s"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		fprintf(out, ",%s_%s", prefix, names[i]);
}

static void print_header(const struct nm_result *shape, struct extra extra, FILE *out)
{
	fputs("run,from_s,to_s,phase,part,transactions,transactions_per_s,bits_sent_per_s,"
	      "bits_received_per_s,errors",
	      out);
	print_latency_names(shape, "latency", out);
	if (extra.response)
		print_latency_names(shape, "response", out);
	for (size_t h = 0; h < shape->n_hosts; h++)
		for (size_t c = 0; c < N_CPU_COLUMNS; c++)
			print_name(out, shape->hosts[h].name ? shape->hosts[h].name : "",
				   cpu_columns[c]);
	/* What is new comes last, so that the others keep their places. */
	fputs(",seconds", out);
	if (extra.messages) {
		print_direction_names("to_slaves", out);
		print_direction_names("to_master", out);
	}
	fputc('\n', out);
}

static void print_latency(const struct nm_result *shape, const struct nm_latency *latency,
			  FILE *out)
{
	if (latency->count == 0) {
		fputs(",0,,,,", out);
		for (size_t i = 0; i < shape->percentiles.count; i++)
			fputc(',', out);
		return;
	}
	fprintf(out, ",%llu,%.9f,%.9f,%.9f,%.9f", (unsigned long long)latency->count,
		latency->min_s, latency->mean_s, latency->max_s, latency->stddev_s);
	for (size_t i = 0; i < shape->percentiles.count; i++)
		fprintf(out, ",%.9f", latency->pct_s[i]);
}

static void print_cpu(const struct nm_cpu_times *cpu, FILE *out)
{
	fprintf(out, ",%.4f,%.4f,%.4f,%.4f", nm_cpu_share(cpu, cpu->user_ns + cpu->nice_ns),
		nm_cpu_share(cpu, cpu->system_ns + cpu->irq_ns), nm_cpu_share(cpu, cpu->softirq_ns),
		nm_cpu_share(cpu, cpu->idle_ns + cpu->iowait_ns));
}

static void print_rate(double amount, double seconds, FILE *out)
{
	if (seconds > 0)
		fprintf(out, ",%.3f", amount / seconds);
	else
		fputc(',', out);
}

static void print_count(bool known, int64_t value, FILE *out)
{
	if (known)
		fprintf(out, ",%lld", (long long)value);
	else
		fputc(',', out);
}

static void print_direction(const struct nm_datagram_direction *way, FILE *out)
{
	print_count(way->sent_known, (int64_t)way->sent, out);
	print_count(way->received_known, (int64_t)way->received, out);
	print_rate(way->received_bits_per_s, way->received_known, out);
	print_count(way->lost_known, way->lost, out);
	print_count(way->order_known, (int64_t)way->reordered, out);
	print_count(way->order_known, (int64_t)way->duplicates, out);
	print_count(way->order_known, (int64_t)way->late, out);
	if (way->has_jitter)
		fprintf(out, ",%.9f", way->jitter_s);
	else
		fputc(',', out);
}

static void print_messages(const struct nm_result *run, size_t row, FILE *out)
{
	struct nm_datagram_stats messages;

	nm_interval_datagrams(run, row, &messages);
	print_direction(&messages.to_slaves, out);
	print_direction(&messages.to_master, out);
}

static void print_row(const struct nm_result *shape, const struct nm_result *run, size_t number,
		      const struct nm_result_interval *row, struct extra extra, FILE *out)
{
	const struct nm_window *window = &row->window;
	const struct nm_counts *counts = &window->counts;

	fprintf(out, "%zu,%.6f,%.6f,%u,%s,%llu", number, row->from_s, row->to_s,
		(unsigned)row->phase, nm_part_name(row->part),
		(unsigned long long)counts->iterations);
	print_rate((double)counts->iterations, window->seconds, out);
	print_rate((double)counts->bytes_sent * 8, window->seconds, out);
	print_rate((double)counts->bytes_received * 8, window->seconds, out);
	fprintf(out, ",%llu", (unsigned long long)counts->errors);
	print_latency(shape, &window->latency, out);
	if (extra.response)
		print_latency(shape, &window->response, out);
	for (size_t h = 0; h < shape->n_hosts; h++) {
		const struct nm_host_interval *own =
			h < run->n_hosts ? nm_host_interval_at(run, &run->hosts[h], row) : NULL;
		if (own && own->cpu.n_cpus)
			print_cpu(&own->cpu, out);
		else
			fputs(",,,,", out);
	}
	fprintf(out, ",%.9f", window->seconds);
	if (extra.messages)
		print_messages(run, (size_t)(row - run->intervals), out);
	fputc('\n', out);
}

static int write_csv(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *shape = nm_runs_last(series);
	struct extra extra = extra_of(series);

	if (!shape)
		return -EINVAL;
	print_header(shape, extra, out);
	for (size_t r = 0; r < series->n_runs; r++) {
		const struct nm_result *run = series->runs[r];
		for (size_t i = 0; i < run->n_intervals; i++)
			print_row(shape, run, r + 1, &run->intervals[i], extra, out);
	}
	return nm_stream_status(out);
}

const struct nm_report nm_report_csv = {
	.name = "csv",
	.help = "the intervals, one a row",
	.write = write_csv,
};
