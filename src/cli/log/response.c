/* SPDX-License-Identifier: Apache-2.0 */
/* The log of responses (--response-log): a line for every execution of a flowop. */
#include <inttypes.h>

#include "cli/log/log.h"

/* A file that was asked for by name is no statistic: --no-statistics leaves it. */
static void ask(const struct nm_args *args, struct nm_run_options *options)
{
	(void)args;
	options->statistics |= NM_STAT_RESPONSES;
}

static void head(struct nm_log_file *file)
{
	fputs("time_s\tgroup\tstrand\ttransaction\tflowop\telapsed_ns\tresult\n", file->stream);
}

static void response(struct nm_log_file *file, const struct nm_response_row *row)
{
	FILE *stream = file->stream;

	if (!row->flowop)
		return;
	nm_log_put_time(stream, row->wall_ns);
	putc('\t', stream);
	nm_log_put_name(stream, row->group);
	fprintf(stream, "\t%" PRIu32 "\t", row->flow);
	if (*row->transaction)
		nm_log_put_name(stream, row->transaction);
	else
		fprintf(stream, "Txn%" PRIu32, row->phase);
	fprintf(stream, "\t%s\t%" PRIu64 "\t%s\n", row->flowop, row->elapsed_ns,
		row->failed ? "failed" : "ok");
}

static void end(struct nm_log_file *file, uint64_t lost)
{
	if (lost)
		fprintf(file->stream, "# %" PRIu64 " more were lost\n", lost);
}

const struct nm_log nm_log_response = {
	.arg = {.opt = {.name = "response-log",
			.type = NM_TYPE_STRING,
			.help = "write a line for every single execution of a flowop on this host"},
		.letter = 'X',
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN | NM_MODE_SLAVE_TOO},
	.ask = ask,
	.head = head,
	.response = response,
	.end = end,
};
