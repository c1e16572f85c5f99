/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a streaming output: --interval-log FILE writes a line for each interval as soon as
 * it is over, so that another program can follow a run. */
#include <inttypes.h>

#include "cli/log/log.h"

static void head(struct nm_log_file *file)
{
	fputs("to_s\ttransactions\tbytes_sent\tbytes_received\n", file->stream);
}

static void interval(struct nm_log_file *file, const struct nm_result_interval *row)
{
	const struct nm_counts *counts = &row->window.counts;

	fprintf(file->stream, "%.3f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", row->to_s,
		counts->iterations, counts->bytes_sent, counts->bytes_received);
	fflush(file->stream);
}

const struct nm_log nm_log_intervals = {
	.arg = {.opt = {.name = "interval-log",
			.type = NM_TYPE_STRING,
			.help = "write what was done in each interval, a line each"},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN},
	.head = head,
	.interval = interval,
};
