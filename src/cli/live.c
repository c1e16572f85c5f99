/* SPDX-License-Identifier: Apache-2.0 */
/* Each event of a run goes to the terminal, to programs and to the logs that are told of it. */
#include "cli/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/uperf_lines.h"
#include "report/report.h"

void nm_live_init(struct nm_live *live, bool quiet, bool verbose)
{
	*live = (struct nm_live){
		.line = !quiet && isatty(STDERR_FILENO),
		.log = verbose && !quiet,
		.quiet = quiet,
		.run = 1,
		.runs = 1,
	};
}

/* A line that is longer than the terminal could not be erased. */
static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		return size.ws_col - 1;
	return 79;
}

void nm_live_interval(void *arg, const struct nm_result *so_far,
		      const struct nm_result_interval *row)
{
	struct nm_live *live = arg;
	char line[256];
	int used = 0, width = terminal_width();

	(void)so_far;
	nm_logs_interval(&live->logs, row);
	if (!live->line)
		return;
	if (live->runs > 1)
		used = snprintf(line, sizeof(line), "[%" PRIu64 "/%" PRIu64 "] ", live->run,
				live->runs);
	if (width >= (int)sizeof(line))
		width = (int)sizeof(line) - 1;
	if (used > width)
		used = 0;
	nm_report_live_line(row, line + used, (size_t)(width - used) + 1);
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	live->shown = true;
}

void nm_live_progress(void *arg, const struct nm_plan *plan, const struct nm_progress *progress)
{
	(void)arg;
	nm_uperf_lines_progress(plan, progress);
}

/* In columns, for programs that look for them. */
static void print_way(const char *name, uint64_t operations, uint64_t bytes, double seconds)
{
	printf(" %s: %6" PRIu64 " ops, %10" PRIu64 " bytes, %8.1f Mbps;", name, operations, bytes,
	       (double)bytes * 8 / seconds / 1e6);
}

void nm_live_traffic(void *arg, const struct nm_traffic *traffic)
{
	const struct nm_counts *counts = &traffic->counts;

	(void)arg;
	printf("t=%-10.3f", traffic->at_s);
	print_way("TX", counts->bytes_sent ? counts->iterations : 0, counts->bytes_sent,
		  traffic->seconds);
	print_way("RX", counts->bytes_received ? counts->iterations : 0, counts->bytes_received,
		  traffic->seconds);
	putchar('\n');
	fflush(stdout);
}

void nm_live_responses(void *arg, const struct nm_response_row *rows, size_t count)
{
	struct nm_live *live = arg;

	nm_logs_responses(&live->logs, rows, count);
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

void nm_live_log(void *arg, const char *text)
{
	struct nm_live *live = arg;

	if (!live->log)
		return;
	nm_live_erase(live);
	fprintf(stderr, "netmodel: %s\n", text);
}

void nm_live_waits(void *arg, const char *text)
{
	struct nm_live *live = arg;

	if (live->quiet)
		return;
	nm_live_erase(live);
	fprintf(stderr, "netmodel: %s\n", text);
}

void nm_live_erase(struct nm_live *live)
{
	if (live->shown)
		fputs("\r\033[K", stderr);
	live->shown = false;
}
