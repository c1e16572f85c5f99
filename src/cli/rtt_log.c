/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rtt_log.h"

#include <inttypes.h>
#include <string.h>

/* Comma or blank, by the name of the file. */
static char separator(const struct nm_log_file *log)
{
	size_t length = strlen(log->path);

	return length > 4 && strcmp(log->path + length - 4, ".csv") == 0 ? ',' : ' ';
}

void nm_rtt_log_head(struct nm_log_file *log)
{
	if (!log->stream)
		return;
	char c = separator(log);

	fprintf(log->stream, "%15s%c%10s%c%10s%c%12s\n", "timestamp", c, "thread_id", c, "flow_id",
		c, "rtt");
}

void nm_rtt_log_add(struct nm_log_file *log, const struct nm_response_row *rows, size_t count)
{
	char c = log->stream ? separator(log) : ' ';

	for (size_t i = 0; log->stream && !log->error && i < count; i++) {
		const struct nm_response_row *row = &rows[i];

		if (row->flowop)
			continue;
		fprintf(log->stream, "%15.9f%c%10" PRIu32 "%c%10" PRIu32 "%c%12.9f\n",
			(double)row->since_ns / 1e9, c, row->worker, c, row->flow, c,
			(double)row->elapsed_ns / 1e9);
		nm_log_file_check(log);
	}
}
