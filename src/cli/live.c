/* SPDX-License-Identifier: Apache-2.0 */
/* Passes each event of a run to the terminal, to programs and to the logs that take it. */
#include "cli/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "report/report.h"
#include "report/uperf.h"

#define ROOM	  16384u		/* for lines that their reader has not taken yet */
#define LINGER_NS 1000000000u		/* for their reader at the end */
#define LONG_NS	  UINT64_C(10000000000) /* runs beyond that tell their length */

void nm_live_init(struct nm_live *live, bool quiet, bool verbose)
{
	*live = (struct nm_live){
		.line = !quiet && isatty(STDERR_FILENO),
		.log = verbose && !quiet,
		.quiet = quiet,
		.run = 1,
		.runs = 1,
	};
	(void)nm_sink_open_fd(&live->out, STDOUT_FILENO, ROOM);
	(void)nm_sink_open_fd(&live->err, STDERR_FILENO, ROOM);
}

/* The stream for lines: that of the sink or, where the sink could not be opened, the usual one. */
static FILE *stream_of(const struct nm_sink *sink, FILE *stream)
{
	return sink->stream ? sink->stream : stream;
}

/* Closes a sink: how many of its lines have been lost. */
static uint64_t close_lines(struct nm_sink *sink)
{
	sink->patience_ns = LINGER_NS;
	if (!sink->error && nm_sink_flush(sink) == 0)
		(void)nm_sink_drain(sink);
	(void)nm_sink_close(sink);
	return sink->dropped;
}

int nm_live_fini(struct nm_live *live, struct nm_diags *diags)
{
	int error = live->out.error == ETIMEDOUT || live->out.error == EINTR ? 0 : live->out.error;
	uint64_t lost = close_lines(&live->out);

	if (lost)
		nm_diag_warn(diags, NULL, 0,
			     "%" PRIu64 " lines of progress were dropped: standard output was not "
			     "read in time",
			     lost);
	lost = close_lines(&live->err);
	if (lost)
		nm_diag_warn(diags, NULL, 0,
			     "%" PRIu64 " lines of the log were dropped: standard error was not "
			     "read in time",
			     lost);
	return -error;
}

/* "[2/3] ": the run, where there are several; its length. */
static int print_run(const struct nm_live *live, char *line, size_t size)
{
	*line = '\0';
	return live->runs > 1
		       ? snprintf(line, size, "[%" PRIu64 "/%" PRIu64 "] ", live->run, live->runs)
		       : 0;
}

static void print_window(struct nm_live *live, const struct nm_result *so_far,
			 const struct nm_result_interval *row)
{
	char run[48], line[NM_WINDOW_LINE_BYTES];

	(void)print_run(live, run, sizeof(run));
	nm_report_window_line(so_far, row, line, sizeof(line));
	fprintf(stream_of(&live->err, stderr), "%s%s\n", run, line);
	(void)nm_sink_flush(&live->err);
}

void nm_live_interval(void *arg, const struct nm_result *so_far,
		      const struct nm_result_interval *row)
{
	struct nm_live *live = arg;
	char line[256];
	int columns = (int)nm_cli_columns(STDERR_FILENO);

	nm_logs_interval(&live->logs, row);
	if (live->windows)
		print_window(live, so_far, row);
	if (!live->line)
		return;
	int used = print_run(live, line, sizeof(line));
	/* A line that is longer than the terminal could not be erased. */
	int width = (columns ? columns : 80) - 1;

	if (width >= (int)sizeof(line))
		width = (int)sizeof(line) - 1;
	if (used > width)
		used = 0;
	nm_report_live_line(row, line + used, (size_t)(width - used) + 1);
	fprintf(stream_of(&live->err, stderr), "\r%s\033[K", line);
	(void)nm_sink_flush(&live->err);
	live->shown = true;
}

void nm_live_begin(void *arg, const struct nm_result *so_far)
{
	struct nm_live *live = arg;
	char length[32], line[96];

	nm_logs_begin(&live->logs, so_far);
	/* A terminal shows how it goes. */
	if (live->line || live->run > 1 || live->length_ns * live->runs <= LONG_NS)
		return;
	nm_format_duration((double)live->length_ns / 1e9, length, sizeof(length));
	if (live->runs > 1)
		snprintf(line, sizeof(line), "%" PRIu64 " runs of %s each", live->runs, length);
	else
		snprintf(line, sizeof(line), "this takes %s", length);
	nm_live_waits(live, line);
}

void nm_live_host_interval(void *arg, const char *host, const struct nm_host_interval *row)
{
	struct nm_live *live = arg;

	nm_logs_host_interval(&live->logs, host, row);
}

static void print_start(const struct nm_plan *plan, FILE *out)
{
	uint64_t strands[2] = {0};

	for (uint32_t g = 0; g < plan->n_groups; g++)
		strands[plan->groups[g].processes] += plan->groups[g].n_flows;
	nm_uperf_print_start(out, strands[false], strands[true], plan->name);
}

void nm_live_progress(void *arg, const struct nm_plan *plan, const struct nm_progress *progress)
{
	struct nm_live *live = arg;
	FILE *out = stream_of(&live->out, stdout);
	bool ends = progress->event == NM_PROGRESS_END || progress->event == NM_PROGRESS_FINISH;
	char name[32] = "Total";

	if (progress->event == NM_PROGRESS_START) {
		print_start(plan, out);
		live->run_wall_ns = progress->wall_ns;
		return;
	}
	if (progress->event == NM_PROGRESS_BEGIN)
		live->phase_wall_ns = progress->wall_ns;
	struct nm_uperf_line line = {.name = name,
				     .wall_ns = progress->wall_ns,
				     .bytes = progress->bytes,
				     .operations = progress->operations};

	if (progress->event == NM_PROGRESS_FINISH) {
		line.seconds = (double)(line.wall_ns - live->run_wall_ns) / 1e9;
		if (live->in_row) /* of a transaction that did not come to its end */
			putc('\n', out);
		nm_uperf_print_rule(out);
		nm_uperf_print_line(out, &line, live->raw);
	} else {
		line.seconds = (double)(line.wall_ns - live->phase_wall_ns) / 1e9;
		snprintf(name, sizeof(name), "Txn%" PRIu32, progress->phase + 1);
		nm_uperf_print_over(out, &line, live->raw);
	}
	live->in_row = !live->raw && !ends;
	if (live->raw || ends)
		putc('\n', out);
	if (live->raw && ends && (progress->event == NM_PROGRESS_END || !live->report_is_uperfs))
		putc('\n', out);
	(void)nm_sink_flush(&live->out);
}

/* In columns, which other programs look for. */
static void print_way(FILE *out, const char *name, uint64_t operations, uint64_t bytes,
		      double seconds)
{
	fprintf(out, " %s: %6" PRIu64 " ops, %10" PRIu64 " bytes, %8.1f Mbps;", name, operations,
		bytes, (double)bytes * 8 / seconds / 1e6);
}

void nm_live_traffic(void *arg, const struct nm_traffic *traffic)
{
	const struct nm_counts *counts = &traffic->counts;

	struct nm_live *live = arg;
	FILE *out = stream_of(&live->out, stdout);

	fprintf(out, "t=%-10.3f", traffic->at_s);
	print_way(out, "TX", counts->bytes_sent ? counts->iterations : 0, counts->bytes_sent,
		  traffic->seconds);
	print_way(out, "RX", counts->bytes_received ? counts->iterations : 0,
		  counts->bytes_received, traffic->seconds);
	putc('\n', out);
	(void)nm_sink_flush(&live->out);
}

void nm_live_responses(void *arg, const struct nm_response_row *rows, size_t count)
{
	struct nm_live *live = arg;

	nm_logs_responses(&live->logs, rows, count);
}

bool nm_live_has_room(void *arg)
{
	struct nm_live *live = arg;

	return nm_logs_have_room(&live->logs);
}

bool nm_live_push(void *arg, int *ret_fd)
{
	struct nm_live *live = arg;

	return nm_logs_push(&live->logs, ret_fd);
}

void nm_live_flows(void *arg, const struct nm_flow_rows *rows)
{
	struct nm_live *live = arg;

	nm_logs_flows(&live->logs, rows);
}

void nm_live_tcp(void *arg, const struct nm_tcp_rows *rows)
{
	struct nm_live *live = arg;

	nm_logs_tcp(&live->logs, rows);
}

void nm_live_times(void *arg, const struct nm_interval_times *times)
{
	struct nm_live *live = arg;

	nm_logs_times(&live->logs, times);
}

/* A line of text that stands by itself. */
static void print_text(struct nm_live *live, const char *text)
{
	nm_live_erase(live);
	fprintf(stream_of(&live->err, stderr), "netmodel: %s\n", text);
	(void)nm_sink_flush(&live->err);
}

void nm_live_log(void *arg, const char *text)
{
	struct nm_live *live = arg;

	if (live->log)
		print_text(live, text);
}

void nm_live_waits(void *arg, const char *text)
{
	struct nm_live *live = arg;

	if (!live->quiet)
		print_text(live, text);
}

void nm_live_erase(struct nm_live *live)
{
	if (live->shown) {
		fputs("\r\033[K", stream_of(&live->err, stderr));
		(void)nm_sink_flush(&live->err);
	}
	live->shown = false;
}
