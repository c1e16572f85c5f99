/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include "cli/arg_accept.h"
#include "lib/settings.h"

#define FIELD(field) offsetof(struct nm_args, field)

#define MAIN	   "What to do"
#define TRAFFIC	   "Profile and measurement"
#define OUTPUT	   "Output"
#define STATISTICS "Statistics"
#define SLAVE	   "Slave"
#define ABOUT	   "About profiles and netmodel"

#define RUN_OR_LOOK   (NM_MODE_RUN | NM_MODE_LOOK)
#define RUN_SLAVE_TOO (NM_MODE_RUN | NM_MODE_SLAVE_TOO)
#define RUN_OR_SLAVE  (NM_MODE_RUN | NM_MODE_SLAVE)

const struct nm_arg nm_arg_table[] = {
	{
		.opt =
			{
				.name = "master",
				.type = NM_TYPE_STRING,
				.offset = FIELD(master),
				.help = "run a profile and report: the name of a stock profile, or "
					"a file",
			},
		.letter = 'm',
		.argument = "PROFILE",
		.heading = MAIN,
		.modes = RUN_OR_LOOK,
	},
	{
		.opt =
			{
				.name = "slave",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(slave),
				.help = "be a slave: wait for masters and run their traffic with "
					"them",
			},
		.letter = 's',
		.heading = MAIN,
		.modes = NM_MODE_SLAVE,
		.action = NM_ACTION_SLAVE,
	},
	{
		.opt =
			{
				NM_SETTING_PORT,
				.offset = FIELD(port),
				.help = "port on which slaves listen for masters; 0 lets a slave "
					"take a free one",
			},
		.letter = 'P',
		.argument = "PORT",
		.heading = MAIN,
		.modes = RUN_OR_SLAVE,
	},
	{
		.opt = {NM_SETTING_CONTROL, .offset = FIELD(control)},
		.letter = 'S',
		.argument = "PROTO",
		.heading = MAIN,
		.modes = RUN_OR_SLAVE,
	},
	{
		.opt =
			{
				.name = "define",
				.type = NM_TYPE_STRING,
				.offset = FIELD(define),
				.help = "set a parameter of the profile; may be given many times",
			},
		.letter = 'D',
		.argument = "NAME=VALUE",
		.heading = TRAFFIC,
		.modes = RUN_OR_LOOK,
		.accept = nm_accept_define,
	},
	{
		.opt = {NM_SETTING_INTERVAL, .offset = FIELD(interval_ns)},
		.letter = 'i',
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = RUN_SLAVE_TOO,
		.accept = nm_accept_interval,
	},
	{
		.opt = {NM_SETTING_WARMUP, .offset = FIELD(warmup_ns)},
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
	},
	{
		.opt = {NM_SETTING_COOLDOWN, .offset = FIELD(cooldown_ns)},
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "repeat",
				.type = NM_TYPE_COUNT,
				.offset = FIELD(repeat),
				.min = 1,
				.max = 10000,
				.def = "1",
				.help = "run so many times; report mean, standard deviation and 95 "
					"% interval",
			},
		.argument = "N",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
	},
	{
		.opt = {NM_SETTING_PERCENTILES, .offset = FIELD(percentiles_text)},
		.argument = "LIST",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
		.accept = nm_accept_percentiles,
	},
	{
		.opt = {NM_SETTING_SEED, .offset = FIELD(seed)},
		.argument = "N",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
		.accept = nm_accept_seed,
	},
	{
		.opt = {NM_SETTING_CPUS, .offset = FIELD(cpus)},
		.argument = "LIST",
		.heading = TRAFFIC,
		.modes = RUN_OR_SLAVE,
		.accept = nm_accept_cpus,
	},
	{
		.opt = {NM_SETTING_SLAVE_CPUS, .offset = FIELD(slave_cpus)},
		.argument = "LIST",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
		.accept = nm_accept_slave_cpus,
	},
	{
		.opt =
			{
				NM_SETTING_WAIT_START,
				.offset = FIELD(wait_start_ns),
			},
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				NM_SETTING_WAIT_SLAVES,
				.offset = FIELD(wait_slaves_ns),
			},
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "max-duration",
				.type = NM_TYPE_DURATION,
				.offset = FIELD(max_duration_ns),
				.help = "end a run, or as a slave a session, that takes longer "
					"than this; 0 for no limit",
			},
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = RUN_OR_SLAVE,
	},
	{
		.opt = {NM_SETTING_TIMEOUT, .offset = FIELD(timeout_ns)},
		.argument = "TIME",
		.heading = TRAFFIC,
		.modes = RUN_OR_SLAVE,
	},
	{
		.opt =
			{
				.name = "lenient",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(lenient),
				.help = "leave out, with a warning, what the profile has and "
					"netmodel does not know: elements, flowops, attributes, "
					"options",
			},
		.heading = TRAFFIC,
		.modes = RUN_OR_LOOK,
	},
	{
		.opt =
			{
				.name = "format",
				.type = NM_TYPE_STRING,
				.offset = FIELD(format),
				.def = "text",
				.help = "form of the report: text, json, kv (key=value), neper "
					"(key=value as neper prints it) or csv (intervals)",
			},
		.argument = "FORMAT",
		.heading = OUTPUT,
		.modes = NM_MODE_RUN,
		.accept = nm_accept_format,
	},
	{
		.opt =
			{
				.name = "output",
				.type = NM_TYPE_STRING,
				.offset = FIELD(output),
				.help = "write the report to a file instead of standard output",
			},
		.letter = 'o',
		.argument = "FILE",
		.heading = OUTPUT,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "throughput-opt",
				.type = NM_TYPE_STRING,
				.offset = FIELD(throughput_unit),
				.help = "unit of the throughput of a stream in the reports neper "
					"and kv: "
					"Mb, GiB, auto-b and others of neper's",
			},
		.argument = "UNIT",
		.heading = OUTPUT,
		.modes = NM_MODE_RUN,
		.accept = nm_accept_throughput,
	},
	{
		.opt =
			{
				.name = "stime-use-proc",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(stime_use_proc),
				.help = "stime in the report neper is the time that the whole host "
					"spends in the system",
			},
		.heading = OUTPUT,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				NM_SETTING_IOSTAT,
				.offset = FIELD(iostat_ns),
				.help = "print a line of what was sent and received to standard "
					"output, in the form of neper, each time so much has "
					"passed; 0 for none",
			},
		.argument = "TIME",
		.heading = OUTPUT,
		.modes = NM_MODE_RUN,
		.accept = nm_accept_interval,
	},
	{
		.opt =
			{
				.name = "quiet",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(quiet),
				.help = "no live line and no log; errors are still told",
			},
		.letter = 'q',
		.heading = OUTPUT,
		.modes = NM_MODE_ALL,
	},
	{
		.opt =
			{
				.name = "verbose",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(verbose),
				.help = "tell on standard error what happens",
			},
		.letter = 'v',
		.heading = OUTPUT,
		.modes = NM_MODE_ALL,
	},
	{
		.opt =
			{
				.name = "all-statistics",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(all_statistics),
				.help = "-f, -t, -g, -T and -k together",
			},
		.letter = 'a',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "flowops",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(flowops),
				.help = "add a table of flowops: how often, how long, and the "
					"percentiles of that",
			},
		.letter = 'f',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "transactions",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(transactions),
				.help = "add a table of transactions, the same for whole passes",
			},
		.letter = 't',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "groups",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(groups),
				.help = "add a table of groups: bytes, time, rate, operations",
			},
		.letter = 'g',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "strands",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(strands),
				.help = "add a table of strands (flows): bytes, time, rate, "
					"operations",
			},
		.letter = 'T',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "interfaces",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(interfaces),
				.help = "add a table of what the network interfaces have carried",
			},
		.letter = 'k',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "flowop-cpu",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(flowop_cpu),
				.help = "measure the CPU time of each flowop too; with -f",
			},
		.letter = 'p',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "default-counters",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(default_counters),
				.help = "count cycles, instructions, cache-misses and "
					"context-switches of netmodel on each host",
			},
		.letter = 'e',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "counters",
				.type = NM_TYPE_STRING,
				.offset = FIELD(counters),
				.help = "count these events of the hardware or the kernel, by the "
					"names of libpfm4",
			},
		.letter = 'E',
		.argument = "LIST",
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
		.accept = nm_accept_counters,
	},
	{
		.opt =
			{
				.name = "raw",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(raw),
				.help = "print lines of progress for programs on standard output, "
					"in the form of uperf",
			},
		.letter = 'R',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "response-log",
				.type = NM_TYPE_STRING,
				.offset = FIELD(response_log),
				.help = "write a line for every single execution of a flowop on "
					"this host",
			},
		.letter = 'X',
		.argument = "FILE",
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "log-rtt",
				.type = NM_TYPE_STRING,
				.offset = FIELD(log_rtt),
				.help = "write how long each of the first passes of each flow "
					"took, "
					"in the columns of neper",
			},
		.argument = "FILE",
		.heading = STATISTICS,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				NM_SETTING_LOG_RTT_ENTRIES,
				.offset = FIELD(log_rtt_entries),
				.help = "how many passes of each flow --log-rtt writes",
			},
		.argument = "N",
		.heading = STATISTICS,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "all-samples",
				.type = NM_TYPE_STRING,
				.offset = FIELD(all_samples),
				.help = "write what each flow of each host has done in each "
					"interval, as CSV; with --percentiles these of its passes, "
					"too",
			},
		.argument = "FILE",
		.heading = STATISTICS,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "tcp-info",
				.type = NM_TYPE_STRING,
				.offset = FIELD(tcp_info),
				.help = "write what the kernel knows of each TCP connection of "
					"each host in each interval, as CSV",
			},
		.argument = "FILE",
		.heading = STATISTICS,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "hdr-log",
				.type = NM_TYPE_STRING,
				.offset = FIELD(hdr_log),
				.help = "write the histogram of each interval and of the whole, "
					"for "
					"the tools of HdrHistogram",
			},
		.argument = "FILE",
		.heading = STATISTICS,
		.modes = NM_MODE_RUN,
	},
	{
		.opt =
			{
				.name = "no-statistics",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(no_statistics),
				.help = "no report, and no lines of -R either: only the exit code "
					"and errors",
			},
		.letter = 'n',
		.heading = STATISTICS,
		.modes = RUN_SLAVE_TOO,
	},
	{
		.opt =
			{
				.name = "bind",
				.type = NM_TYPE_HOST,
				.offset = FIELD(bind),
				.help = "listen on this address only",
			},
		.argument = "ADDRESS",
		.heading = SLAVE,
		.modes = NM_MODE_SLAVE,
	},
	{
		.opt =
			{
				.name = "no-auth",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(no_auth),
				.help = "take masters from other hosts without proof of who they "
					"are",
			},
		.heading = SLAVE,
		.modes = NM_MODE_SLAVE,
	},
	{
		.opt =
			{
				.name = "once",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(once),
				.help = "serve one session, refuse others meanwhile, and end",
			},
		.heading = SLAVE,
		.modes = NM_MODE_SLAVE,
	},
	{
		.opt =
			{
				.name = "sessions",
				.type = NM_TYPE_INTEGER,
				.offset = FIELD(sessions),
				.max = 1000000000,
				.help = "serve so many sessions and end; 0 goes on until it is "
					"interrupted",
			},
		.argument = "N",
		.heading = SLAVE,
		.modes = NM_MODE_SLAVE,
	},
	{
		.opt =
			{
				.name = "max-lifetime",
				.type = NM_TYPE_DURATION,
				.offset = FIELD(max_lifetime_ns),
				.help = "end after this time, whether it waits or serves, with "
					"exit code 2; 0 for no limit",
			},
		.argument = "TIME",
		.heading = SLAVE,
		.modes = NM_MODE_SLAVE,
	},
	{
		.opt =
			{
				.name = "max-flows",
				.type = NM_TYPE_COUNT,
				.offset = FIELD(max_flows),
				.min = 1,
				.max = NM_PLAN_MAX_FLOWS,
				.help = "refuse sessions with more flows than this",
			},
		.argument = "N",
		.heading = SLAVE,
		.modes = NM_MODE_SLAVE,
	},
	{
		.opt =
			{
				.name = "check",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(check),
				.help = "check the profile given with -m and run nothing",
			},
		.heading = ABOUT,
		.modes = NM_MODE_LOOK,
		.action = NM_ACTION_CHECK,
	},
	{
		.opt =
			{
				.name = "params",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(params),
				.help = "list the parameters of the profile given with -m",
			},
		.heading = ABOUT,
		.modes = NM_MODE_LOOK,
		.action = NM_ACTION_PARAMS,
	},
	{
		.opt =
			{
				.name = "dump-plan",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(dump_plan),
				.help = "print what the master and each slave would run",
			},
		.heading = ABOUT,
		.modes = NM_MODE_LOOK,
		.action = NM_ACTION_DUMP_PLAN,
	},
	{
		.opt =
			{
				.name = "list",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(list),
				.help = "list the stock profiles",
			},
		.heading = ABOUT,
		.modes = NM_MODE_TELL,
		.action = NM_ACTION_LIST,
	},
	{
		.opt =
			{
				.name = "describe",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(describe),
				.help = "describe the profile language: all of it, or the element, "
					"flowop, transport, type or option named after it",
			},
		.heading = ABOUT,
		.modes = NM_MODE_TELL,
		.action = NM_ACTION_DESCRIBE,
	},
	{
		.opt =
			{
				.name = "generate",
				.type = NM_TYPE_STRING,
				.offset = FIELD(generate),
				.help = "print a text made from the option tables, for packagers: "
					"man-options, man-language, man-library, schema, "
					"result-schema or completion",
			},
		.argument = "WORD",
		.heading = ABOUT,
		.modes = NM_MODE_TELL,
		.action = NM_ACTION_GENERATE,
	},
	{
		.opt =
			{
				.name = "version",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(version),
				.help = "print the version",
			},
		.letter = 'V',
		.heading = ABOUT,
		.modes = NM_MODE_TELL,
		.action = NM_ACTION_VERSION,
	},
	{
		.opt =
			{
				.name = "help",
				.type = NM_TYPE_FLAG,
				.offset = FIELD(help),
				.help = "print this help",
			},
		.letter = 'h',
		.heading = ABOUT,
		.modes = NM_MODE_TELL,
		.action = NM_ACTION_HELP,
	},
	{.opt = {.name = NULL}},
};
