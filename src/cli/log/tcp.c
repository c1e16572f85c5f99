/* SPDX-License-Identifier: Apache-2.0 */
/* The log of TCP connections (--tcp-info): the kernel's counts and times of each connection in each
 * interval, as CSV. */
#include <inttypes.h>

#include "cli/log/log.h"

static void ask(const struct nm_args *args, struct nm_run_options *options)
{
	(void)args;
	options->samples_tcp = true;
}

static void head(struct nm_log_file *file)
{
#define COLUMN(name, member) "," #name
	fputs("host,group,tid,flow_id,connection,time" NM_TCP_FIELDS(COLUMN) "\n", file->stream);
#undef COLUMN
}

static void tcp(struct nm_log_file *file, const struct nm_tcp_rows *rows)
{
	FILE *stream = file->stream;

	for (size_t i = 0; i < rows->count && !ferror(stream); i++) {
		const struct nm_tcp_sample *row = &rows->rows[i];

		nm_log_put_group(stream, rows->host, rows->plan, row->group);
		nm_log_put_flow(stream, rows->plan, row->group, row->flow);
		fprintf(stream, "%" PRIu32 ",", row->slot);
		nm_log_put_time(stream, row->at_ns);
		for (size_t k = 0; k < NM_TCP_N_FIELDS; k++)
			fprintf(stream, ",%" PRIu64, row->values[k]);
		putc('\n', stream);
	}
}

const struct nm_log nm_log_tcp = {
	.arg = {.opt = {.name = "tcp-info",
			.type = NM_TYPE_STRING,
			.help = "write what the kernel knows of each TCP connection of each host "
				"in "
				"each interval, as CSV"},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN},
	.ask = ask,
	.head = head,
	.tcp = tcp,
};
