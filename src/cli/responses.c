/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/responses.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BUFFER (1u << 20)

static int fail(const struct nm_responses *log, int error, struct nm_diags *diags)
{
	error = error ? error : EIO;
	nm_diag_error(diags, NULL, 0, "--response-log %s: cannot be written: %s", log->path,
		      strerror(error));
	return -error;
}

int nm_responses_open(struct nm_responses *log, const char *path, struct nm_diags *diags)
{
	*log = (struct nm_responses){.path = path};
	if (!path)
		return 0;
	log->stream = fopen(path, "we");
	if (!log->stream)
		return fail(log, errno, diags);
	(void)setvbuf(log->stream, NULL, _IOFBF, BUFFER);
	fputs("time_s\tgroup\tstrand\ttransaction\tflowop\telapsed_ns\tresult\n", log->stream);
	return 0;
}

/* A name neither parts columns nor ends the line. */
static void put_name(FILE *stream, const char *name)
{
	for (; *name; name++)
		putc((unsigned char)*name < ' ' ? ' ' : *name, stream);
}

/* The first error is the reason: what is written after it may succeed, or fail without one. */
static void note_error(struct nm_responses *log)
{
	if (!log->error && ferror(log->stream))
		log->error = errno ? errno : EIO;
}

void nm_responses_add(struct nm_responses *log, const struct nm_response_row *rows, size_t count)
{
	for (size_t i = 0; log->stream && !log->error && i < count; i++) {
		const struct nm_response_row *row = &rows[i];

		fprintf(log->stream, "%" PRIu64 ".%09" PRIu64 "\t", row->wall_ns / 1000000000u,
			row->wall_ns % 1000000000u);
		put_name(log->stream, row->group);
		fprintf(log->stream, "\t%" PRIu32 "\t", row->flow);
		if (*row->transaction)
			put_name(log->stream, row->transaction);
		else
			fprintf(log->stream, "Txn%" PRIu32, row->phase);
		fprintf(log->stream, "\t%s\t%" PRIu64 "\t%s\n", row->flowop, row->elapsed_ns,
			row->failed ? "failed" : "ok");
		note_error(log);
	}
}

int nm_responses_close(struct nm_responses *log, uint64_t lost, struct nm_diags *diags)
{
	if (!log->stream)
		return 0;
	if (lost)
		fprintf(log->stream, "# %" PRIu64 " more were lost\n", lost);
	note_error(log);
	if (fclose(log->stream) != 0 && !log->error)
		log->error = errno;
	log->stream = NULL;
	return log->error ? fail(log, log->error, diags) : 0;
}
