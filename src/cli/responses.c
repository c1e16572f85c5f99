/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/responses.h"

#include <inttypes.h>

int nm_responses_open(struct nm_responses *log, const char *path, struct nm_diags *diags)
{
	int error = nm_log_file_open(&log->file, "response-log", path, diags);

	if (log->file.stream)
		fputs("time_s\tgroup\tstrand\ttransaction\tflowop\telapsed_ns\tresult\n",
		      log->file.stream);
	return error;
}

/* A name neither parts columns nor ends the line. */
static void put_name(FILE *stream, const char *name)
{
	for (; *name; name++)
		putc((unsigned char)*name < ' ' ? ' ' : *name, stream);
}

void nm_responses_add(struct nm_responses *log, const struct nm_response_row *rows, size_t count)
{
	FILE *stream = log->file.stream;

	for (size_t i = 0; stream && !log->file.error && i < count; i++) {
		const struct nm_response_row *row = &rows[i];

		if (!row->flowop)
			continue;
		fprintf(stream, "%" PRIu64 ".%09" PRIu64 "\t", row->wall_ns / 1000000000u,
			row->wall_ns % 1000000000u);
		put_name(stream, row->group);
		fprintf(stream, "\t%" PRIu32 "\t", row->flow);
		if (*row->transaction)
			put_name(stream, row->transaction);
		else
			fprintf(stream, "Txn%" PRIu32, row->phase);
		fprintf(stream, "\t%s\t%" PRIu64 "\t%s\n", row->flowop, row->elapsed_ns,
			row->failed ? "failed" : "ok");
		nm_log_file_check(&log->file);
	}
}

int nm_responses_close(struct nm_responses *log, uint64_t lost, struct nm_diags *diags)
{
	if (log->file.stream && lost)
		fprintf(log->file.stream, "# %" PRIu64 " more were lost\n", lost);
	return nm_log_file_close(&log->file, diags);
}
