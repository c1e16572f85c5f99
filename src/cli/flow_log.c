/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flow_log.h"

#include <inttypes.h>

/* The columns that neper has too have its names; ours come first and between. */
static const char flow_columns[] =
	"host,group,tid,flow_id,time,transactions,transactions/s,bytes_sent,bytes_sent/s,"
	"bytes_read,bytes_read/s,errors,utime,stime,maxrss,minflt,majflt,nvcsw,nivcsw,"
	"latency_min,latency_mean,latency_max,latency_stddev";

/* What comes from a profile stays in its field. */
static void put_name(FILE *stream, const char *name)
{
	putc('"', stream);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', stream);
		putc((unsigned char)*name < ' ' ? ' ' : *name, stream);
	}
	putc('"', stream);
}

/* Who and where: a flow runs on the worker that is its number modulo the workers. */
static void put_place(FILE *stream, const char *host, const struct nm_plan *plan, uint32_t group,
		      uint32_t flow)
{
	const struct nm_group *g = &plan->groups[group];

	put_name(stream, host);
	putc(',', stream);
	put_name(stream, g->name);
	fprintf(stream, ",%" PRIu32 ",%" PRIu32 ",", g->n_workers ? flow % g->n_workers : 0, flow);
}

static void put_time(FILE *stream, uint64_t ns)
{
	fprintf(stream, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
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

void nm_flow_log_head(struct nm_log_file *log, const struct nm_percentiles *percentiles)
{
	if (!log->stream)
		return;
	fputs(flow_columns, log->stream);
	for (size_t i = 0; percentiles && i < percentiles->count; i++)
		fprintf(log->stream, ",latency_p%.10g", percentiles->pct[i]);
	putc('\n', log->stream);
}

static void put_percentiles(FILE *stream, size_t count, const double *pct_s)
{
	for (size_t i = 0; i < count; i++)
		if (pct_s)
			fprintf(stream, ",%.9f", pct_s[i]);
		else
			putc(',', stream);
	putc('\n', stream);
}

void nm_flow_log_add(struct nm_log_file *log, const struct nm_percentiles *percentiles,
		     const struct nm_flow_rows *rows)
{
	FILE *stream = log->stream;

	for (size_t i = 0; stream && !log->error && i < rows->count; i++) {
		const struct nm_flow_row *row = &rows->rows[i];

		put_place(stream, rows->host, rows->plan, row->group, row->flow);
		put_time(stream, rows->at_ns);
		put_count(stream, row->total.passes, row->delta.passes, rows->seconds);
		put_count(stream, row->total.bytes_sent, row->delta.bytes_sent, rows->seconds);
		put_count(stream, row->total.bytes_received, row->delta.bytes_received,
			  rows->seconds);
		fprintf(stream, ",%" PRIu64, row->total.errors);
		put_usage(stream, &rows->usage);
		if (row->has_latency)
			fprintf(stream, ",%.9f,%.9f,%.9f,%.9f", row->min_s, row->mean_s, row->max_s,
				row->stddev_s);
		else
			fputs(",,,,", stream);
		put_percentiles(stream, percentiles ? percentiles->count : 0, row->pct_s);
		nm_log_file_check(log);
	}
}

void nm_tcp_log_head(struct nm_log_file *log)
{
#define COLUMN(name, member) "," #name
	if (log->stream)
		fputs("host,group,tid,flow_id,connection,time" NM_TCP_FIELDS(COLUMN) "\n",
		      log->stream);
#undef COLUMN
}

void nm_tcp_log_add(struct nm_log_file *log, const struct nm_tcp_rows *rows)
{
	FILE *stream = log->stream;

	for (size_t i = 0; stream && !log->error && i < rows->count; i++) {
		const struct nm_tcp_sample *row = &rows->rows[i];

		put_place(stream, rows->host, rows->plan, row->group, row->flow);
		fprintf(stream, "%" PRIu32 ",", row->slot);
		put_time(stream, row->at_ns);
		for (size_t k = 0; k < NM_TCP_N_FIELDS; k++)
			fprintf(stream, ",%" PRIu64, row->values[k]);
		putc('\n', stream);
		nm_log_file_check(log);
	}
}
