/* SPDX-License-Identifier: Apache-2.0 */
/* The stream (--stream): a JSON object a line for each interval as soon as it is over, for programs
 * that follow a run. */
#include "cli/log/log.h"
#include "report/stream.h"

/* A reader may wait for the line. */
static void tell(struct nm_log_file *file, int error)
{
	if (error)
		file->error = file->sink.error ? file->sink.error : -error;
	else
		(void)nm_sink_flush(&file->sink);
}

static void begin(struct nm_log_file *file, const struct nm_result *result)
{
	int error = nm_sink_begin_part(&file->sink);

	tell(file, error ? error : nm_stream_begin(result, file->stream));
}

static void interval(struct nm_log_file *file, const struct nm_result_interval *row)
{
	tell(file, nm_stream_interval(file->result, row, file->stream));
}

static void host_interval(struct nm_log_file *file, const char *host,
			  const struct nm_host_interval *row)
{
	tell(file, nm_stream_host_interval(file->result, host, row, file->stream));
}

static void note_dropped(const struct nm_log_file *file, struct nm_result *result)
{
	struct nm_result_stream *stream = &result->stream;

	if (stream->is_asked_for)
		stream->dropped = nm_sink_part_dropped(&file->sink, stream->part);
}

/* Of a reader that is behind the last line is kept, if other last lines have left it room. */
static void finish(struct nm_log_file *file, struct nm_result *result)
{
	size_t room = file->sink.room;

	result->stream =
		(struct nm_result_stream){.is_asked_for = true, .part = file->sink.n_parts - 1};
	note_dropped(file, result);
	file->sink.room = 2 * room;
	tell(file, nm_stream_end(result, file->stream));
	file->sink.room = room;
}

const struct nm_log nm_log_stream = {
	.arg = {.opt = {.name = "stream",
			.type = NM_TYPE_STRING,
			.help = "write each interval of each host as soon as it is over, as a JSON "
				"object a line; with - on standard output, where the report is "
				"not then"},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN},
	.takes_stdout = true,
	.is_followed = true,
	.begin = begin,
	.interval = interval,
	.host_interval = host_interval,
	.finish = finish,
	.note = note_dropped,
};
