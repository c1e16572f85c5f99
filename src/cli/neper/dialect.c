/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which the command understands neper's lines (struct nm_dialect). */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/neper/neper.h"
#include "control/address.h"
#include "report/report.h"
#include "report/view.h"

static bool knows(const char *word)
{
	return nm_neper_workload(word);
}

static bool is_stream(const struct nm_args *args)
{
	const struct nm_neper_line *line = args->line;
	const char *program = line ? line->program : args->master;

	return program && (nm_neper_workload(program) &
			   (NM_NEPER_TCP_STREAM | NM_NEPER_UDP_STREAM | NM_NEPER_PSP_STREAM));
}

static uint64_t threads(const struct nm_args *args)
{
	return ((const struct nm_neper_line *)args->line)->threads;
}

static bool hint_at_letter(char letter, char *buf, size_t size)
{
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		if (opt->letter != letter || opt->means != NM_NEPER_PARAM ||
		    strpbrk(opt->here, "|="))
			continue;
		snprintf(buf, size, "neper's --%s is -D %s here", opt->name, opt->here);
		return true;
	}
	return false;
}

/* Without a run nothing else is known of a result. */
static int print_options(const struct nm_args *args, const struct nm_params *params, FILE *out)
{
	const struct nm_result asked = {
		.id.version = (char *)nm_cli_version(),
		.params = *params,
		.grid.interval_s = (double)args->run.interval_ns / 1e9,
		.percentiles = args->run.percentiles,
	};
	struct nm_tool_options options = {.count = 0};
	int error = nm_neper_options(args, params, &options);
	const struct nm_view view = {.tool_options = options.items,
				     .n_tool_options = options.count};

	if (!error)
		nm_report_neper_options(&asked, &view, out);
	nm_neper_free_options(&options);
	return error;
}

static int write_slave(const struct nm_args *args, struct nm_result *result, FILE *out)
{
	struct nm_result *runs[] = {result};
	const struct nm_view view = {.of_slave = true,
				     .cpus = args->cpus,
				     .stime_use_proc = args->output.stime_use_proc};
	const struct nm_runs series = {.runs = runs, .n_runs = 1, .view = &view};

	fprintf(out, "VERSION=%s\n", nm_cli_version());
	return nm_report_find("neper")->write(&series, out);
}

static void print_master_line(const struct nm_args *args, const char *address, uint16_t port,
			      char *buf, size_t size)
{
	const struct nm_neper_line *line = args->line;
	char option[24] = "";

	if (port != NM_NEPER_CONTROL_PORT)
		snprintf(option, sizeof option, " -C %u", (unsigned)port);
	snprintf(buf, size, "netmodel %s -c -H %s%s%s", line->program, address,
		 args->control == NM_CONTROL_VSOCK ? " --control vsock" : "", option);
}

static void say_waits(const struct nm_args *args, bool has_client_line, uint16_t port, char *buf,
		      size_t size)
{
	const struct nm_neper_line *line = args->line;
	const char *address = args->as_slave.bind ? args->as_slave.bind : "HOST";
	char client[200] = "";

	if (!has_client_line)
		print_master_line(args, address, port, client, sizeof client);
	snprintf(buf, size, "%s%s%sfor a result from this host alone: netmodel -m %s",
		 *client ? "waiting for a client: " : "", client, *client ? "; " : "",
		 line->program);
}

const struct nm_dialect nm_dialect = {
	.kind = "one of neper's workloads",
	.strangers = "neper's clients need a server of neper's",
	.sessions = "--num-clients",
	.knows = knows,
	.parse = nm_neper_parse,
	.free_line = nm_neper_free_line,
	.example = "  netmodel tcp_rr -c -H 10.0.0.7 -F 10     as neper is typed; -h after tcp_rr\n"
		   "                                           lists its options\n",
	.help = nm_neper_help,
	.print_table = nm_neper_print_table,
	.letter = hint_at_letter,
	.is_stream = is_stream,
	.options = nm_neper_options,
	.free_options = nm_neper_free_options,
	.print_options = print_options,
	.threads = threads,
	.waits = say_waits,
	.master_line = print_master_line,
	.write_slave = write_slave,
};
