/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own command lines: each option, and each mistake. */
#include "cli/args.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/log/log.h"
#include "report/report.h"
#include "said.h"

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define MAX_WORDS	12

static struct nm_diags diags;

static int parse(const char *const *words, struct nm_args *args)
{
	char *argv[MAX_WORDS + 2] = {(char *)"netmodel"};
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	return nm_args_parse(argc, argv, NULL, args, &diags);
}

/* Options that are right, with one that shows. */
#define RIGHT(...)                                                                                 \
	struct nm_args a;                                                                          \
	ck_assert_msg(parse((const char *[]){__VA_ARGS__, NULL}, &a) == 0, "%s", said(&diags, NULL))

START_TEST(a_profile_is_run)
{
	RIGHT("-m", "tcp_rr", "-Da=1", "-D", "b=2=3", "--define", "c=");
	ck_assert_int_eq(a.action, NM_ACTION_RUN);
	ck_assert_str_eq(a.master, "tcp_rr");
	ck_assert_uint_eq(a.n_defines, 3);
	ck_assert_str_eq(a.defines[0].name, "a");
	ck_assert_str_eq(a.defines[1].value, "2=3");
	ck_assert_str_eq(a.defines[2].value, "");
	ck_assert_uint_eq(a.port, NM_DEFAULT_PORT);
	ck_assert_uint_eq(a.run.interval_ns, 1000000000);
	ck_assert_str_eq(a.output.format, "text");
	ck_assert(!a.run.has_percentiles && !a.run.has_seed && !a.line);
	nm_args_fini(&a);
	ck_assert_ptr_null(a.master);
}
END_TEST

START_TEST(how_a_run_is_measured)
{
	RIGHT("-m", "x", "--interval=500ms", "--warmup", "1s", "--cooldown", "2s", "--seed=7",
	      "--percentiles", "1,99.99", "--repeat=3", "--windows=60");
	ck_assert_uint_eq(a.run.interval_ns, 500000000);
	ck_assert_uint_eq(a.run.windows, 60);
	ck_assert_uint_eq(a.run.warmup.ns, 1000000000);
	ck_assert_uint_eq(a.run.cooldown_ns, 2000000000);
	ck_assert(a.run.has_seed && a.run.has_percentiles);
	ck_assert_uint_eq(a.run.seed, 7);
	ck_assert_uint_eq(a.run.percentiles.count, 2);
	ck_assert_uint_eq(a.run.repeat, 3);
	nm_args_fini(&a);
}
END_TEST

START_TEST(a_slave)
{
	RIGHT("-sP0", "-S", "vsock", "--once", "--no-auth", "--file-root=/", "--max-flows=9",
	      "--sessions", "4", "--max-lifetime=1min", "--bind", "127.0.0.1");
	ck_assert_int_eq(a.action, NM_ACTION_SLAVE);
	ck_assert(a.slave && a.as_slave.once && a.as_slave.no_auth);
	ck_assert_uint_eq(a.port, 0);
	ck_assert_uint_eq(a.as_slave.max_flows, 9);
	ck_assert_uint_eq(a.as_slave.sessions, 4);
	ck_assert_str_eq(a.as_slave.bind, "127.0.0.1");
	nm_args_fini(&a);
}
END_TEST

/* Flags of both, as uperf has them. */
START_TEST(a_slave_takes_flags_of_a_master)
{
	RIGHT("-s", "-aftgTkpeRn");
	ck_assert(a.statistics.all && a.statistics.raw && a.statistics.none);
	nm_args_fini(&a);
	ck_assert_int_eq(parse((const char *[]){"-sav", NULL}, &a), 0);
	ck_assert_str_eq(
		said(&diags, NULL),
		"warning: --all-statistics: has no effect on a slave: masters ask for it\n");
	nm_args_fini(&a);
}
END_TEST

/* One of each action, by its option. */
static const struct {
	const char *word;
	enum nm_action action;
} actions[] = {
	{"--check", NM_ACTION_CHECK},	    {"--params", NM_ACTION_PARAMS},
	{"--dump", NM_ACTION_DUMP_PLAN},    {"--list", NM_ACTION_LIST},
	{"--describe", NM_ACTION_DESCRIBE}, {"--generate=schema", NM_ACTION_GENERATE},
	{"-V", NM_ACTION_VERSION},	    {"-h", NM_ACTION_HELP},
};

START_TEST(each_action_has_its_option)
{
	const char *with[] = {actions[_i].word, "-m", "tcp_rr", NULL};
	struct nm_args a;

	if (actions[_i].action != NM_ACTION_CHECK && actions[_i].action != NM_ACTION_PARAMS &&
	    actions[_i].action != NM_ACTION_DUMP_PLAN)
		with[1] = NULL;
	ck_assert_msg(parse(with, &a) == 0, "%s", said(&diags, NULL));
	ck_assert_int_eq(a.action, actions[_i].action);
	nm_args_fini(&a);
}
END_TEST

START_TEST(what_is_described_may_come_first)
{
	RIGHT("flowop", "--describe", "read");
	ck_assert_uint_eq(a.n_words, 2);
	ck_assert_str_eq(a.words[0], "flowop");
	ck_assert_str_eq(a.words[1], "read");
	nm_args_fini(&a);
}
END_TEST

/* Every option of the table is found by its name and its letter, and keeps what is set. */
START_TEST(each_option_is_found)
{
	const struct nm_arg *arg;
	size_t count = 0;

	for (; (arg = nm_arg_at(count)); count++) {
		struct nm_args a = {.action = NM_ACTION_NONE};

		ck_assert_ptr_eq(nm_arg_find(arg->opt.name), arg);
		ck_assert(arg->modes && arg->heading && arg->opt.help);
		ck_assert(!arg->argument == (arg->opt.type == NM_TYPE_FLAG));
		ck_assert_ptr_nonnull(nm_arg_field(arg, &a));
	}
	ck_assert_uint_ge(count, 50 + nm_log_count());
	ck_assert_ptr_null(nm_arg_find("nothing"));
}
END_TEST

START_TEST(each_log_has_its_file)
{
	RIGHT("-m", "x", "-Xr", "--hdr-log=h", "--all-samples", "s", "--tcp-info=t", "--log-rtt=l",
	      "--stream=j", "--log-rtt-entries=5");
	for (size_t i = 0; nm_logs[i]; i++)
		ck_assert_ptr_nonnull(a.output.logs[i]);
	ck_assert_uint_eq(a.output.log_rtt_entries, 5);
	nm_args_fini(&a);
}
END_TEST

static const struct {
	const char *words[MAX_WORDS];
	const char *said;
} mistakes[] = {
	{{NULL},
	 "error: nothing to do: give -m PROFILE to run one (--list lists them), or -s to be "
	 "a slave; --help tells more\n"},
	{{"--port"}, "error: --port: PORT is missing\n"},
	{{"-m"}, "error: --master: PROFILE is missing\n"},
	{{"--check=1", "-m", "x"}, "error: --check: takes no value\n"},
	{{"-m", "x", "--port", "70000"},
	 "error: --port 70000: not a port: a number from 0 to 65535\n"},
	{{"-m", "x", "--port=0"}, "error: --port 0: must be 1 to 65535 with --master\n"},
	{{"-m", "x", "-m", "y"},
	 "error: --master y: one profile at a time, and x is given already\n"},
	{{"-m", "x", "--waterfall"}, "error: --waterfall: unknown option; --help all lists them\n"},
	{{"-m", "x", "--formatt=json"},
	 "error: --formatt: unknown option; did you mean --format?\n"},
	{{"-m", "tcp_rr", "--num_flows=3"},
	 "error: --num_flows: not an option, but a parameter of the profile: did you mean "
	 "-D num_flows=3?\n"},
	{{"-m", "tcp_rr", "--num_flows"},
	 "error: --num_flows: not an option, but a parameter of the profile: did you mean "
	 "-D num_flows=VALUE?\n"},
	{{"-m", "x", "--max=1"}, "error: --max: short for several options: write it out\n"},
	{{"-m", "x", "-quiet"}, "error: -quiet: unknown option; did you mean --quiet?\n"},
	{{"-m", "x", "-qY"}, "error: -Y: unknown option; --help all lists them\n"},
	{{"-m", "x", "-qF"},
	 "error: -F: unknown option; --help all lists them; neper's --num-flows is -D num_flows "
	 "here\n"},
	{{"-m", "x", "-D", "a"}, "error: --define a: must be NAME=VALUE\n"},
	{{"-m", "x", "-D", "=1"}, "error: --define =1: must be NAME=VALUE\n"},
	{{"-m", "x", "a=1"}, "error: a=1: not an option; parameters are set with -D\n"},
	{{"-m", "x", "more"}, "error: more: not an option\n"},
	{{"tcp_rrr"},
	 "error: tcp_rrr: neither an option nor one of neper's workloads; did you mean "
	 "tcp_rr, or -m tcp_rr?\n"},
	{{"oltp"}, "error: oltp: not an option; did you mean -m oltp?\n"},
	{{"oltpp"}, "error: oltpp: not an option; did you mean -m oltp?\n"},
	{{"qqqqqqqq"},
	 "error: qqqqqqqq: neither an option nor a profile; --help all lists options, and "
	 "--list profiles\n"},
	{{"--describe", "a", "b", "c"}, "error: c: too many words after --describe\n"},
	{{"--check", "--params", "-m", "x"}, "error: --check and --params: one at a time\n"},
	{{"--check"}, "error: --check: needs a profile: -m PROFILE\n"},
	{{"-s", "-m", "x"}, "error: --master and --slave: one at a time\n"},
	{{"--list", "-m", "x"}, "error: --master and --list: one at a time\n"},
	{{"-m", "x", "--once"}, "error: --once: only with --slave, not with --master\n"},
	{{"-m", "x", "--check", "-o", "f"},
	 "error: --output: only when a profile is run (--master), not with --check\n"},
	{{"-s", "-o", "f"},
	 "error: --output: only when a profile is run (--master), not with --slave\n"},
	{{"--list", "--port=5"},
	 "error: --port: only with --master or --slave, when something is "
	 "run, not with --list\n"},
	{{"-s", "-Da=1"}, "error: --define: only with --master, not with --slave\n"},
	{{"-m", "x", "-qv"}, "error: --quiet and --verbose: one at a time\n"},
	{{"-m", "x", "-n", "-o", "f"},
	 "error: --no-statistics and --output: one at a time: without statistics there is no "
	 "report to write\n"},
	{{"-m", "x", "-R", "--format=json"},
	 "error: --raw and --format json: both would go to standard output: give the report a file "
	 "with -o FILE\n"},
	{{"-m", "x", "-R", "--iostat=1s"},
	 "error: --iostat and --raw: one at a time: both print lines of progress\n"},
	{{"-m", "x", "--windows=0"}, "error: --windows 0: must be 1 to 1000000\n"},
	{{"-m", "x", "--windows=2", "-i0"},
	 "error: --windows 2: not with --interval 0: each window is an interval, of at least "
	 "1ms\n"},
	{{"-m", "x", "--windows=1000", "-i300000h"},
	 "error: --windows 1000: with such an interval they last more than 277777h, the most that "
	 "is allowed\n"},
	{{"-s", "--windows=2"},
	 "error: --windows: only when a profile is run (--master), not with --slave\n"},
	{{"-m", "x", "--throughput-opt=Mb"},
	 "error: --throughput-opt: only with --format neper or kv\n"},
	{{"-m", "x", "--stime-use-proc"}, "error: --stime-use-proc: only with --format neper\n"},
	{{"-m", "x", "--log-rtt-entries=5"}, "error: --log-rtt-entries: only with --log-rtt\n"},
	{{"-m", "x", "--format=xml"},
	 "error: --format xml: must be text, json, kv, neper, uperf, csv or junit\n"},
	{{"-m", "x", "--counters=,"},
	 "error: --counters ,: not a list of counters: names and commas, as "
	 "cycles,context-switches\n"},
	{{"-m", "x", "--unknown", "--help"},
	 "error: --unknown: unknown option; --help all lists "
	 "them\n"},
};

START_TEST(each_mistake_is_told)
{
	struct nm_args a;

	ck_assert_int_ne(parse(mistakes[_i].words, &a), 0);
	ck_assert_str_eq(said(&diags, NULL), mistakes[_i].said);
	nm_args_fini(&a);
}
END_TEST

/* The rest depends on the table of another room; that something is said is enough. */
static const char *const wrong_values[][2] = {
	{"--interval", "1us"},	   {"--percentiles", "101"}, {"--cpus", "x"},
	{"--slave-cpus", "x"},	   {"--seed", "-1"},	     {"--throughput-opt", "fortnights"},
	{"--timeout", "1ms"},	   {"--repeat", "0"},	     {"--control", "pigeon"},
	{"--max-duration", "two"}, {"--wait-slaves", "2d"},  {"--log-rtt-entries", "0"},
};

START_TEST(each_value_is_checked)
{
	const char *words[] = {"-m", "x", wrong_values[_i][0], wrong_values[_i][1], NULL};
	char begin[64];
	struct nm_args a;

	snprintf(begin, sizeof begin, "error: %s %s: ", wrong_values[_i][0], wrong_values[_i][1]);
	ck_assert_int_ne(parse(words, &a), 0);
	ck_assert_has(said(&diags, NULL), begin);
	nm_args_fini(&a);
}
END_TEST

START_TEST(help_comes_before_what_follows)
{
	RIGHT("--help", "--unknown");
	ck_assert_int_eq(a.action, NM_ACTION_HELP);
	nm_args_fini(&a);
}
END_TEST

START_TEST(statistics_add_up)
{
	RIGHT("-m", "x", "-fep");
	ck_assert_uint_eq(nm_cli_statistics(&a),
			  NM_STAT_FLOWOPS | NM_STAT_FLOWOP_CPU | NM_STAT_COUNTERS);
	nm_args_fini(&a);
	ck_assert_int_eq(parse((const char *[]){"-m", "x", "-an", NULL}, &a), 0);
	ck_assert_uint_eq(nm_cli_statistics(&a), 0);
	nm_args_fini(&a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("args");
	TCase *tc = tcase_create("args");

	tcase_add_test(tc, a_profile_is_run);
	tcase_add_test(tc, how_a_run_is_measured);
	tcase_add_test(tc, a_slave);
	tcase_add_test(tc, a_slave_takes_flags_of_a_master);
	tcase_add_loop_test(tc, each_action_has_its_option, 0, COUNT_OF(actions));
	tcase_add_test(tc, what_is_described_may_come_first);
	tcase_add_test(tc, each_option_is_found);
	tcase_add_test(tc, each_log_has_its_file);
	tcase_add_loop_test(tc, each_mistake_is_told, 0, COUNT_OF(mistakes));
	tcase_add_loop_test(tc, each_value_is_checked, 0, COUNT_OF(wrong_values));
	tcase_add_test(tc, help_comes_before_what_follows);
	tcase_add_test(tc, statistics_add_up);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
