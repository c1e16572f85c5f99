/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, feeds and closes the logs of all kinds, and notes the first error of each. */
#include "cli/log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output_paths.h"

#define ROOM	      (4u << 20)  /* for lines that the reader of a pipe has not taken yet */
#define FOLLOWER_ROOM (1u << 20)  /* the same, for a reader that follows the run */
#define FOLLOWER_NS   1000000000u /* for a reader that follows: to come, and at the end to go on */

size_t nm_log_count(void)
{
	size_t count = 0;

	while (nm_logs[count])
		count++;
	return count;
}

static int fail(size_t index, const char *path, int error, struct nm_diags *diags)
{
	error = error ? error : EIO;
	nm_cli_refuse(diags, nm_logs[index]->arg.opt.name, path, "cannot be written: %s",
		      nm_output_error_text(-error));
	return -error;
}

/* The first error is the reason: later writes may succeed, or fail without an error of their
 * own. */
static void check(struct nm_log_file *file)
{
	if (!file->error && ferror(file->stream))
		file->error = file->sink.error ? file->sink.error : EIO;
}

static int open_special(struct nm_log_file *file, const struct nm_log *log, uint64_t patience_ns)
{
	if (log->is_followed)
		return nm_sink_open_for_follower(&file->sink, file->path, FOLLOWER_ROOM,
						 patience_ns);
	return nm_sink_open_path(&file->sink, file->path, ROOM, patience_ns);
}

static int open_file(struct nm_log_file *file, const struct nm_log *log)
{
	uint64_t patience_ns =
		log->is_followed ? FOLLOWER_NS : nm_sink_patience_ns(file->args->timeout_ns);
	struct stat st;
	int error;

	if (log->takes_stdout && strcmp(file->path, "-") == 0) {
		error = nm_sink_open_fd(&file->sink, STDOUT_FILENO,
					log->is_followed ? FOLLOWER_ROOM : ROOM);
		file->sink.patience_ns = patience_ns;
		file->sink.forgives = log->is_followed;
		file->stream = error ? NULL : file->sink.stream;
		return error;
	}
	/* A device or pipe is written as it is. */
	if (nm_output_path_is_safe(file->path) && stat(file->path, &st) == 0 &&
	    !S_ISREG(st.st_mode)) {
		error = S_ISDIR(st.st_mode) ? -EISDIR : open_special(file, log, patience_ns);
	} else {
		error = nm_output_path_create(file->path);
		if (error >= 0)
			error = nm_sink_take_fd(&file->sink, error, ROOM);
	}
	file->stream = error ? NULL : file->sink.stream;
	return error;
}

/* Closes a log: 0, or -errno with an error in diags. */
static int close_file(size_t index, struct nm_log_file *file, uint64_t lost,
		      const struct nm_runs *series, struct nm_diags *diags)
{
	if (nm_logs[index]->end && !file->error)
		nm_logs[index]->end(file, lost);
	check(file);
	file->sink.waits = true;
	(void)nm_sink_finish(&file->sink);
	for (size_t i = 0; nm_logs[index]->note && series && i < series->n_runs; i++)
		nm_logs[index]->note(file, series->runs[i]);
	int error = nm_sink_close(&file->sink);

	file->stream = NULL;
	file->error = file->error ? file->error : -error;
	if (file->sink.dropped)
		nm_diag_warn(diags, NULL, 0,
			     "%" PRIu64 " lines of --%s %s were dropped: it was not read in time",
			     file->sink.dropped, nm_logs[index]->arg.opt.name, file->path);
	return file->error ? fail(index, file->path, file->error, diags) : 0;
}

int nm_logs_open(struct nm_logs *logs, const struct nm_args *args, struct nm_diags *diags)
{
	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_log_file *file = &logs->files[i];
		/* A slave takes the words of a master; most logs are none of its own. */
		bool is_own = !args->slave || (nm_logs[i]->arg.modes & NM_MODE_SLAVE);
		const char *path = is_own ? args->output.logs[i] : NULL;

		*file = (struct nm_log_file){.args = args, .path = path};
		if (!path)
			continue;
		int error = open_file(file, nm_logs[i]);
		if (error)
			return fail(i, path, -error, diags);
		if (file->sink.fd < 0)
			nm_diag_warn(diags, NULL, 0,
				     "--%s %s: nobody reads it yet: the run goes on, and its lines "
				     "wait for a reader",
				     nm_logs[i]->arg.opt.name, path);
		if (nm_logs[i]->head)
			nm_logs[i]->head(file);
	}
	return 0;
}

int nm_logs_close(struct nm_logs *logs, uint64_t lost, const struct nm_runs *series,
		  struct nm_diags *diags)
{
	int error = 0;

	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_log_file *file = &logs->files[i];

		if (!file->stream)
			continue;
		int failed = close_file(i, file, lost, series, diags);

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

int nm_logs_flush(struct nm_logs *logs)
{
	int error = 0;

	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_log_file *file = &logs->files[i];

		if (!file->stream || file->error)
			continue;
		file->error = -nm_sink_flush(&file->sink);
		error = file->error ? -file->error : error;
	}
	return error;
}

bool nm_logs_are_followed(const struct nm_logs *logs)
{
	bool followed = false;

	for (size_t i = 0; nm_logs[i]; i++)
		followed |= logs->files[i].stream && nm_logs[i]->is_followed;
	return followed;
}

bool nm_logs_push(struct nm_logs *logs, int *ret_fd)
{
	bool waits = false;

	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_log_file *file = &logs->files[i];
		struct nm_sink *sink = &file->sink;

		if (!nm_logs[i]->is_followed || !file->stream || file->error ||
		    sink->from == sink->to)
			continue;
		file->error = -nm_sink_flush(sink);
		if (sink->from == sink->to)
			continue;
		waits = true;
		*ret_fd = sink->fd;
	}
	return waits;
}

bool nm_logs_take_flows(const struct nm_logs *logs)
{
	bool taken = false;

	for (size_t i = 0; nm_logs[i]; i++)
		taken |= logs->files[i].stream && nm_logs[i]->flows;
	return taken;
}

void nm_logs_ask(const struct nm_logs *logs, const struct nm_args *args,
		 struct nm_run_options *options)
{
	for (size_t i = 0; nm_logs[i]; i++)
		if (logs->files[i].stream && nm_logs[i]->ask)
			nm_logs[i]->ask(args, options);
}

bool nm_logs_take_stdout(const struct nm_args *args)
{
	for (size_t i = 0; nm_logs[i]; i++)
		if (nm_logs[i]->takes_stdout && args->output.logs[i] &&
		    strcmp(args->output.logs[i], "-") == 0)
			return true;
	return false;
}

bool nm_logs_take_times(const struct nm_logs *logs)
{
	bool taken = false;

	for (size_t i = 0; nm_logs[i]; i++)
		taken |= logs->files[i].stream && nm_logs[i]->times;
	return taken;
}

void nm_logs_begin(struct nm_logs *logs, const struct nm_result *result)
{
	for (size_t i = 0; nm_logs[i]; i++)
		logs->files[i].result = result;
	EACH(logs, begin, result);
}

void nm_logs_finish(struct nm_logs *logs, struct nm_result *result)
{
	if (logs->files[0].result != result)
		nm_logs_begin(logs, result);
	EACH(logs, finish, result);
	for (size_t i = 0; nm_logs[i]; i++)
		logs->files[i].result = NULL;
}

void nm_logs_host_interval(struct nm_logs *logs, const char *host,
			   const struct nm_host_interval *row)
{
	EACH(logs, host_interval, host, row);
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

bool nm_logs_have_room(struct nm_logs *logs)
{
	bool room = true;

	for (size_t i = 0; nm_logs[i]; i++) {
		struct nm_sink *sink = &logs->files[i].sink;

		if (!nm_logs[i]->response || !logs->files[i].stream || logs->files[i].error)
			continue;
		(void)nm_sink_flush(sink);
		room &= 2 * (sink->to - sink->from) < sink->room || sink->way == NM_SINK_REGULAR;
	}
	return room;
}

void nm_log_put_name(FILE *stream, const char *name)
{
	for (; *name; name++)
		putc((unsigned char)*name < ' ' ? ' ' : *name, stream);
}

/* Quotes a name of the profile, which so stays in its field. */
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

void nm_log_put_group(FILE *stream, const char *host, const struct nm_plan *plan, uint32_t group)
{
	put_quoted(stream, host);
	putc(',', stream);
	put_quoted(stream, plan->groups[group].name);
	putc(',', stream);
}

void nm_log_put_flow(FILE *stream, const struct nm_plan *plan, uint32_t group, uint32_t flow)
{
	uint32_t workers = plan->groups[group].n_workers;

	/* A flow runs on the worker that is its number modulo the workers. */
	fprintf(stream, "%" PRIu32 ",%" PRIu32 ",", workers ? flow % workers : 0, flow);
}

void nm_log_put_time(FILE *stream, uint64_t ns)
{
	fprintf(stream, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}
