/* SPDX-License-Identifier: Apache-2.0 */
/* The log of flows (--all-samples): the counts of each flow of each host in each interval, as
 * CSV. */
#include <inttypes.h>
#include <string.h>

#include "cli/dialect.h"
#include "cli/log/log.h"

/* The other tool's columns come first, as it has them, so that its scripts may count columns: of
 * transactions, or of the bytes that the reader of a stream has got. Behind them are netmodel's. */
#define FLOW	"tid,flow_id,time,"
#define PASSES	"transactions,transactions/s"
#define READ	"bytes_read,bytes_read/s"
#define SENT	"bytes_sent,bytes_sent/s"
#define USAGE	",utime,stime,maxrss,minflt,majflt,nvcsw,nivcsw"
#define LATENCY ",latency_min,latency_mean,latency_max,latency_stddev"
#define OWN	",host,group,"

static bool is_stream(const struct nm_log_file *file)
{
	return nm_dialect.is_stream(file->args);
}

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

static void put_percentile_names(struct nm_log_file *file)
{
	for (size_t i = 0; i < n_percentiles(file); i++)
		fprintf(file->stream, ",latency_p%.10g", file->args->run.percentiles.pct[i]);
}

static void head(struct nm_log_file *file)
{
	bool stream = is_stream(file);

	fputs(stream ? FLOW READ USAGE : FLOW PASSES USAGE LATENCY, file->stream);
	if (!stream)
		put_percentile_names(file);
	fputs(stream ? OWN PASSES "," SENT ",errors" LATENCY : OWN SENT "," READ ",errors",
	      file->stream);
	if (stream)
		put_percentile_names(file);
	putc('\n', file->stream);
}

static void put_count(FILE *stream, uint64_t total, uint64_t delta, double seconds)
{
	fprintf(stream, "%" PRIu64 ",", total);
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
}

/* What a flow has done, in one direction or as transactions. */
enum what { IN_PASSES, IN_SENT, IN_READ };

static void put_done(FILE *stream, const struct nm_flow_rows *rows, const struct nm_flow_row *row,
		     enum what what)
{
	if (what == IN_PASSES)
		put_count(stream, row->total.passes, row->delta.passes, rows->seconds);
	else if (what == IN_SENT)
		put_count(stream, row->total.bytes_sent, row->delta.bytes_sent, rows->seconds);
	else
		put_count(stream, row->total.bytes_received, row->delta.bytes_received,
			  rows->seconds);
}

/* A row of the slave's own log, in its session, has no host. */
static const char *host_of(const struct nm_flow_rows *rows)
{
	return rows->host ? rows->host : "slave";
}

static void put_row(struct nm_log_file *file, const struct nm_flow_rows *rows,
		    const struct nm_flow_row *row)
{
	FILE *stream = file->stream;
	bool is_read = is_stream(file);

	nm_log_put_flow(stream, rows->plan, row->group, row->flow);
	nm_log_put_time(stream, rows->at_ns);
	putc(',', stream);
	put_done(stream, rows, row, is_read ? IN_READ : IN_PASSES);
	put_usage(stream, &rows->usage);
	if (!is_read)
		put_latency(stream, row, n_percentiles(file));
	putc(',', stream);
	nm_log_put_group(stream, host_of(rows), rows->plan, row->group);
	put_done(stream, rows, row, is_read ? IN_PASSES : IN_SENT);
	putc(',', stream);
	put_done(stream, rows, row, is_read ? IN_SENT : IN_READ);
	fprintf(stream, ",%" PRIu64, row->total.errors);
	if (is_read)
		put_latency(stream, row, n_percentiles(file));
	putc('\n', stream);
}

/* Whether the rows are of the other end. The other tool has a file of each end's own. */
static bool is_remote(const struct nm_log_file *file, const struct nm_flow_rows *rows)
{
	return rows->host && strcmp(rows->host, file->result->hosts[0].name) != 0;
}

static void flows(struct nm_log_file *file, const struct nm_flow_rows *rows)
{
	if (file->args->line && is_remote(file, rows))
		return;
	for (size_t i = 0; i < rows->count && !ferror(file->stream); i++)
		put_row(file, rows, &rows->rows[i]);
}

const struct nm_log nm_log_samples = {
	.arg = {.opt = {.name = "all-samples",
			.type = NM_TYPE_STRING,
			.help = "write what each flow of each host has done in each interval, as "
				"CSV; with --percentiles, latency percentiles per flow as well; a "
				"slave writes what its own flows have done, in the intervals of "
				"its masters"},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN | NM_MODE_SLAVE},
	.ask = ask,
	.head = head,
	.flows = flows,
};
