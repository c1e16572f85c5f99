/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, feeds and closes the logs, whatever they write, and notes the first error of each. */
#include "cli/log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BUFFER (1u << 20)

size_t nm_log_count(void)
{
	size_t count = 0;

	while (nm_logs[count])
		count++;
	return count;
}

static int fail(size_t index, const char *path, int error, struct nm_diags *diags)
{
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = nm_logs[index]->arg.opt.name, .value = path};

	error = error ? error : EIO;
	nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject, ": cannot be written: %s",
		    strerror(error));
	return -error;
}

/* The first error is the reason: what is written after it may succeed, or fail without one. */
static void check(struct nm_log_file *file)
{
	if (!file->error && ferror(file->stream))
		file->error = errno ? errno : EIO;
}

int nm_logs_open(struct nm_logs *logs, const struct nm_args *args, struct nm_diags *diags)
{
	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_log_file *file = &logs->files[i];
		const char *path = args->output.logs[i];

		*file = (struct nm_log_file){.args = args, .path = path};
		if (!path)
			continue;
		file->stream = fopen(path, "we");
		if (!file->stream)
			return fail(i, path, errno, diags);
		(void)setvbuf(file->stream, NULL, _IOFBF, BUFFER);
		if (nm_logs[i]->head)
			nm_logs[i]->head(file);
	}
	return 0;
}

int nm_logs_close(struct nm_logs *logs, uint64_t lost, struct nm_diags *diags)
{
	int error = 0;

	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_log_file *file = &logs->files[i];

		if (!file->stream)
			continue;
		if (nm_logs[i]->end && !file->error)
			nm_logs[i]->end(file, lost);
		check(file);
		if (fclose(file->stream) != 0 && !file->error)
			file->error = errno;
		file->stream = NULL;
		int failed = file->error ? fail(i, file->path, file->error, diags) : 0;

		error = error ? error : failed;
	}
	return error;
}

/* Calls a function of each log that has it and may be written. */
#define EACH(logs, function, ...)                                                                  \
	do {                                                                                       \
		for (size_t i = 0; nm_logs[i]; i++) {                                              \
			struct nm_log_file *file = &(logs)->files[i];                              \
                                                                                                   \
			if (!nm_logs[i]->function || !file->stream || file->error)                 \
				continue;                                                          \
			nm_logs[i]->function(file, __VA_ARGS__);                                   \
			check(file);                                                               \
		}                                                                                  \
	} while (0)

void nm_logs_ask(const struct nm_logs *logs, const struct nm_args *args,
		 struct nm_run_options *options)
{
	for (size_t i = 0; nm_logs[i]; i++)
		if (logs->files[i].stream && nm_logs[i]->ask)
			nm_logs[i]->ask(args, options);
}

bool nm_logs_take_times(const struct nm_logs *logs)
{
	bool taken = false;

	for (size_t i = 0; nm_logs[i]; i++)
		taken |= logs->files[i].stream && nm_logs[i]->times;
	return taken;
}

void nm_logs_interval(struct nm_logs *logs, const struct nm_result_interval *row)
{
	EACH(logs, interval, row);
}

void nm_logs_times(struct nm_logs *logs, const struct nm_interval_times *times)
{
	EACH(logs, times, times);
}

void nm_logs_flows(struct nm_logs *logs, const struct nm_flow_rows *rows)
{
	EACH(logs, flows, rows);
}

void nm_logs_tcp(struct nm_logs *logs, const struct nm_tcp_rows *rows)
{
	EACH(logs, tcp, rows);
}

void nm_logs_responses(struct nm_logs *logs, const struct nm_response_row *rows, size_t count)
{
	for (size_t k = 0; k < count; k++)
		EACH(logs, response, &rows[k]);
}

void nm_log_put_name(FILE *stream, const char *name)
{
	for (; *name; name++)
		putc((unsigned char)*name < ' ' ? ' ' : *name, stream);
}

/* What comes from a profile stays in its field. */
static void put_quoted(FILE *stream, const char *name)
{
	putc('"', stream);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', stream);
		putc((unsigned char)*name < ' ' ? ' ' : *name, stream);
	}
	putc('"', stream);
}

void nm_log_put_flow(FILE *stream, const char *host, const struct nm_plan *plan, uint32_t group,
		     uint32_t flow)
{
	const struct nm_group *g = &plan->groups[group];

	put_quoted(stream, host);
	putc(',', stream);
	put_quoted(stream, g->name);
	/* A flow runs on the worker that is its number modulo the workers. */
	fprintf(stream, ",%" PRIu32 ",%" PRIu32 ",", g->n_workers ? flow % g->n_workers : 0, flow);
}

void nm_log_put_time(FILE *stream, uint64_t ns)
{
	fprintf(stream, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}
