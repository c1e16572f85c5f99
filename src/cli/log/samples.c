/* SPDX-License-Identifier: Apache-2.0 */
/* The log of flows (--all-samples): the counts of each flow of each host in each interval, as
 * CSV. */
#include <inttypes.h>

#include "cli/log/log.h"

/* Columns that other tools have, too, keep the names from there; netmodel's own come first and
 * between. */
static const char columns[] =
	"host,group,tid,flow_id,time,transactions,transactions/s,bytes_sent,bytes_sent/s,"
	"bytes_read,bytes_read/s,errors,utime,stime,maxrss,minflt,majflt,nvcsw,nivcsw,"
	"latency_min,latency_mean,latency_max,latency_stddev";

static void ask(const struct nm_args *args, struct nm_run_options *options)
{
	options->samples_flows = true;
	options->samples_percentiles = args->run.has_percentiles;
}

/* How many percentiles are written: none unless the user asked for them. */
static size_t n_percentiles(const struct nm_log_file *file)
{
	return file->args->run.has_percentiles ? file->args->run.percentiles.count : 0;
}

static void head(struct nm_log_file *file)
{
	fputs(columns, file->stream);
	for (size_t i = 0; i < n_percentiles(file); i++)
		fprintf(file->stream, ",latency_p%.10g", file->args->run.percentiles.pct[i]);
	putc('\n', file->stream);
}

static void put_count(FILE *stream, uint64_t total, uint64_t delta, double seconds)
{
	fprintf(stream, ",%" PRIu64 ",", total);
	if (seconds > 0)
		fprintf(stream, "%.2f", (double)delta / seconds);
}

static void put_usage(FILE *stream, const struct nm_rusage *usage)
{
	fprintf(stream, ",%.6f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		(double)usage->utime_ns / 1e9, (double)usage->stime_ns / 1e9, usage->maxrss_kb,
		usage->minflt, usage->majflt, usage->nvcsw, usage->nivcsw);
}

static void put_latency(FILE *stream, const struct nm_flow_row *row, size_t n_pct)
{
	if (row->has_latency)
		fprintf(stream, ",%.9f,%.9f,%.9f,%.9f", row->min_s, row->mean_s, row->max_s,
			row->stddev_s);
	else
		fputs(",,,,", stream);
	for (size_t i = 0; i < n_pct; i++)
		if (row->pct_s)
			fprintf(stream, ",%.9f", row->pct_s[i]);
		else
			putc(',', stream);
	putc('\n', stream);
}

static void flows(struct nm_log_file *file, const struct nm_flow_rows *rows)
{
	FILE *stream = file->stream;

	for (size_t i = 0; i < rows->count && !ferror(stream); i++) {
		const struct nm_flow_row *row = &rows->rows[i];

		nm_log_put_flow(stream, rows->host, rows->plan, row->group, row->flow);
		nm_log_put_time(stream, rows->at_ns);
		put_count(stream, row->total.passes, row->delta.passes, rows->seconds);
		put_count(stream, row->total.bytes_sent, row->delta.bytes_sent, rows->seconds);
		put_count(stream, row->total.bytes_received, row->delta.bytes_received,
			  rows->seconds);
		fprintf(stream, ",%" PRIu64, row->total.errors);
		put_usage(stream, &rows->usage);
		put_latency(stream, row, n_percentiles(file));
	}
}

const struct nm_log nm_log_samples = {
	.arg = {.opt = {.name = "all-samples",
			.type = NM_TYPE_STRING,
			.help = "write what each flow of each host has done in each interval, as "
				"CSV; with --percentiles these of its passes, too"},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN},
	.ask = ask,
	.head = head,
	.flows = flows,
};
