/* SPDX-License-Identifier: Apache-2.0 */
/* The log of passes (--log-rtt): the time of each of the first passes of a flow, in columns of
 * fixed width. */
#include <inttypes.h>
#include <string.h>

#include "cli/log/log.h"
#include "report/help.h"

/* Comma or blank, by the name of the file. */
static char separator(const struct nm_log_file *file)
{
	size_t length = strlen(file->path);

	return length > 4 && strcmp(file->path + length - 4, ".csv") == 0 ? ',' : ' ';
}

static void ask(const struct nm_args *args, struct nm_run_options *options)
{
	options->log_passes = args->output.log_rtt_entries;
}

static void head(struct nm_log_file *file)
{
	char c = separator(file);

	fprintf(file->stream, "%15s%c%10s%c%10s%c%12s\n", "timestamp", c, "thread_id", c, "flow_id",
		c, "rtt");
}

static void response(struct nm_log_file *file, const struct nm_response_row *row)
{
	char c = separator(file);

	if (!row->flowop)
		fprintf(file->stream, "%15.9f%c%10" PRIu32 "%c%10" PRIu32 "%c%12.9f\n",
			(double)row->since_ns / 1e9, c, row->worker, c, row->flow, c,
			(double)row->elapsed_ns / 1e9);
}

const struct nm_log nm_log_rtt = {
	.arg = {.opt = {.name = "log-rtt", .type = NM_TYPE_STRING, .help = NM_REPORT_RTT_HELP},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN},
	.ask = ask,
	.head = head,
	.response = response,
};
