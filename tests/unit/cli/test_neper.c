/* SPDX-License-Identifier: Apache-2.0 */
/* neper's command lines: what each option becomes, how values read, and in whose words mistakes are
 * told. */
#include "cli/neper/neper.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "said.h"

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define MAX_WORDS	10

static struct nm_diags diags;

static int parse(const char *const *words, struct nm_args *args)
{
	char *argv[MAX_WORDS + 2] = {(char *)"netmodel"};
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	return nm_dialect.parse(argc, argv, args, &diags);
}

static void fini(struct nm_args *args)
{
	nm_dialect.free_line(args->line);
	nm_args_fini(args);
}

/* "a=1 b=2": the parameters that were set. */
static const char *defines(const struct nm_args *args)
{
	static char text[1024];
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < args->n_defines; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? " " : "",
					 args->defines[i].name, args->defines[i].value);
	return text;
}

/* A line, and the parameters that it sets besides where there is no client to name a host. */
static const struct {
	const char *words[MAX_WORDS];
	const char *defines;
} lines[] = {
	{{"tcp_rr", "-c"}, "host=127.0.0.1 test_length=10s"},
	{{"tcp_rr", "-c", "-6"}, "host=::1 test_length=10s"},
	{{"tcp_rr", "-c", "-Hh"}, "host=h test_length=10s"},
	{{"tcp_rr", "-cH", "h", "-F", "10", "-T2"},
	 "host=h num_flows=10 num_threads=2 test_length=10s"},
	{{"tcp_rr", "-cHh", "-l5"}, "host=h test_length=5s"},
	{{"tcp_rr", "-cHh", "-l", "500ms"}, "host=h test_length=500ms"},
	{{"tcp_rr", "-cHh", "-l-1000"}, "host=h num_transactions=1000 test_length=86400s"},
	{{"tcp_rr", "-cHh", "-l1", "--test-length=2"}, "host=h test_length=2s"},
	{{"tcp_rr", "-cHh", "--num-ports", "0"}, "host=h num_ports=1 test_length=10s"},
	{{"tcp_rr", "-cHh", "-D", "a=1"}, "host=h a=1 test_length=10s"},
	{{"tcp_rr", "-cHh", "-D5"}, "host=h delay=5ns test_length=10s"},
	{{"tcp_rr", "-cHh", "-m", "1M"}, "host=h max_pacing_rate=8388608 test_length=10s"},
	{{"tcp_rr", "-cHh", "-m5"}, "host=h max_pacing_rate=40 test_length=10s"},
	{{"tcp_rr", "-cHh", "-Q1k", "-R2k", "-B3k"},
	 "host=h request_size=1k response_size=2k buffer_size=3k test_length=10s"},
	{{"tcp_rr", "-cHh", "--freebind", "-X"},
	 "host=h freebind=yes tcp_fastopen=yes test_length=10s"},
	{{"tcp_crr", "-cHh", "--time-wait"}, "host=h time_wait=yes test_length=10s"},
	{{"udp_stream", "-cHh", "-B", "1000"}, "host=h message_size=1000 test_length=10s"},
	{{"udp_stream", "-cHh", "-D1000"}, "host=h delay=1000ns test_length=10s batch_size=1"},
	{{"udp_stream", "-cHh", "-D1000", "-D", "batch_size=4"},
	 "host=h delay=1000ns batch_size=4 test_length=10s"},
	{{"tcp_stream", "-cHh", "-rw", "-M"},
	 "host=h enable_read=yes enable_write=yes enable_tcp_maerts=yes test_length=10s"},
	{{"tcp_rr", "-cHh", "-P", "5", "--port=6"}, "host=h port=5 port=6 test_length=10s"},
	{{"tcp_rr", "-cH127.0.0.1", "-L127.0.0.2"},
	 "host=127.0.0.1 local_hosts=127.0.0.2 test_length=10s"},
	{{"tcp_rr", "-c", "--control=vsock", "-H3"}, "host=3 test_length=10s"},
	{{"tcp_rr", "-cHh", "-t", "7"}, "host=h tcp_tx_delay=7us test_length=10s"},
};

START_TEST(parameters_of_a_client)
{
	struct nm_args a;

	ck_assert_msg(parse(lines[_i].words, &a) == 0, "%s", said(&diags, NULL));
	ck_assert_str_eq(defines(&a), lines[_i].defines);
	ck_assert_int_eq(a.action, NM_ACTION_RUN);
	ck_assert_str_eq(a.output.format, "neper");
	ck_assert_uint_eq(a.run.wait_slaves_ns, 30000000000u);
	ck_assert_uint_eq(a.port, NM_NEPER_CONTROL_PORT);
	fini(&a);
}
END_TEST

START_TEST(options_of_a_client)
{
	struct nm_args a;

	ck_assert_msg(parse((const char *[]){"tcp_rr", "-cC5", "--iostat-ms=20", "-I0.5",
					     "-p50 999", "-A", "--log-rtt=r", "-s3", NULL},
			    &a) == 0,
		      "%s", said(&diags, NULL));
	ck_assert_uint_eq(a.port, 5);
	ck_assert_uint_eq(a.output.iostat_ns, 20000000);
	ck_assert_uint_eq(a.run.interval_ns, 500000000);
	ck_assert_str_eq(a.run.percentiles_text, "50,99.9");
	ck_assert_str_eq(*(char **)nm_arg_field(nm_arg_find("all-samples"), &a), "samples.csv");
	ck_assert_str_eq(*(char **)nm_arg_field(nm_arg_find("log-rtt"), &a), "r");
	ck_assert_str_eq(a.terms->limit, "--suicide-length 3");
	fini(&a);
}
END_TEST

START_TEST(short_names_are_nepers_first)
{
	struct nm_args a;

	/* --cont is short for --control-port and --control; the whole of the latter is itself. */
	ck_assert_int_eq(parse((const char *[]){"tcp_rr", "--client", "--cont=7", NULL}, &a), 0);
	ck_assert_uint_eq(a.port, 7);
	fini(&a);
	ck_assert_int_eq(parse((const char *[]){"tcp_rr", "-c", "--control=9", NULL}, &a), 0);
	ck_assert_uint_eq(a.port, 9);
	fini(&a);
	ck_assert_int_eq(parse((const char *[]){"tcp_rr", "-c", "--format=kv", "--pin", NULL}, &a),
			 0);
	ck_assert_str_eq(a.output.format, "kv");
	ck_assert_str_ne(a.cpus, "nodes");
	fini(&a);
	ck_assert_int_eq(parse((const char *[]){"tcp_rr", "-cN", NULL}, &a), 0);
	ck_assert_str_eq(a.cpus, "nodes");
	fini(&a);
}
END_TEST

START_TEST(a_server)
{
	struct nm_args a;

	ck_assert_msg(parse((const char *[]){"tcp_rr", "-F10", "-Da=1", "--num-clients=3", "-4",
					     "-s5", "--logtostderr", NULL},
			    &a) == 0,
		      "%s", said(&diags, NULL));
	ck_assert_int_eq(a.action, NM_ACTION_SLAVE);
	ck_assert_uint_eq(a.n_defines, 0);
	ck_assert_uint_eq(a.as_slave.sessions, 3);
	ck_assert_str_eq(a.as_slave.bind, "0.0.0.0");
	ck_assert_uint_eq(a.as_slave.max_lifetime_ns, 5000000000u);
	ck_assert(a.output.verbose);
	fini(&a);
}
END_TEST

static const struct {
	const char *words[MAX_WORDS];
	enum nm_action action;
} asks[] = {
	{{"tcp_rr", "-h"}, NM_ACTION_HELP},	    {{"tcp_rr", "-v"}, NM_ACTION_VERSION},
	{{"tcp_rr", "-hv"}, NM_ACTION_VERSION},	    {{"tcp_rr", "-cn"}, NM_ACTION_OPTIONS},
	{{"tcp_rr", "-n"}, NM_ACTION_OPTIONS},	    {{"tcp_rr", "-c", "--check"}, NM_ACTION_CHECK},
	{{"tcp_rr", "--params"}, NM_ACTION_PARAMS},
};

START_TEST(nothing_is_run)
{
	struct nm_args a;

	ck_assert_msg(parse(asks[_i].words, &a) == 0, "%s", said(&diags, NULL));
	ck_assert_int_eq(a.action, asks[_i].action);
	fini(&a);
}
END_TEST

static const struct {
	const char *words[MAX_WORDS];
	const char *said;
} mistakes[] = {
	{{"tcp_rr", "-c", "-Fx"}, "error: --num-flows x: not a number of 0 or more\n"},
	{{"tcp_rr", "-c", "-Bx"},
	 "error: --buffer-size x: not a size: a number and an optional k, m, g or t\n"},
	{{"tcp_rr", "-c", "-lx"},
	 "error: --test-length x: not a time: a number, and ns, us, ms or s\n"},
	{{"tcp_rr", "-c", "-l-x"},
	 "error: --test-length -x: seconds, or a number below 0: transactions\n"},
	{{"tcp_rr", "-c", "-mx"},
	 "error: --max-pacing-rate x: not a rate: a number of bytes/s, or with a unit of "
	 "--throughput-opt, as 100Mb\n"},
	{{"tcp_rr", "-c", "-m0.01"},
	 "error: --max-pacing-rate 0.01: less than 1 byte/s, which is the least that the kernel "
	 "knows; 0: no limit\n"},
	{{"tcp_rr", "-c", "-px"},
	 "error: --percentiles x: not a list of percentiles: numbers from 0 to 100, as 50,99.9\n"},
	{{"tcp_rr", "-c", "-F"}, "error: --num-flows: its value is missing\n"},
	{{"tcp_rr", "-c", "--seed"}, "error: --seed: its value is missing\n"},
	{{"tcp_rr", "-c", "--no-delay=1"}, "error: --no-delay=1: takes no value\n"},
	{{"tcp_rr", "-c", "-Z"},
	 "error: -Z: no option of tcp_rr, but of tcp_stream, udp_stream, psp_stream; netmodel "
	 "tcp_rr -h lists those it has\n"},
	{{"tcp_rr", "-c", "--zerocopy", "x"},
	 "error: --zerocopy: no option of tcp_rr, but of tcp_stream, udp_stream, psp_stream; "
	 "netmodel tcp_rr -h lists those it has\n"},
	{{"tcp_rr", "-c", "--nothing"},
	 "error: --nothing: no option of tcp_rr, or short for several; netmodel tcp_rr -h lists "
	 "them\n"},
	{{"tcp_rr", "-c", "-?"}, "error: -?: no option of tcp_rr; netmodel tcp_rr -h lists them\n"},
	{{"tcp_crr", "-c", "-Dx"},
	 "error: -D: no option of tcp_crr, but of tcp_rr, tcp_stream, udp_rr, udp_stream, psp_rr, "
	 "psp_stream; netmodel tcp_crr -h lists those it has\n"},
	{{"tcp_rr", "-c", "word"}, "error: word: not an option\n"},
	{{"tcp_rr", "-c", "--delay=5", "--noburst=5"},
	 "error: --delay and --noburst: only one of them can be\n"},
	{{"tcp_rr", "-cn", "--check"}, "error: --dry-run and --check: one at a time\n"},
	{{"tcp_rr", "-L127.0.0.1"}, "error: --local-hosts: only a client has it: with --client\n"},
	{{"tcp_rr", "--wait-start=1"},
	 "error: --wait-start: only a client has it: with --client\n"},
	{{"tcp_rr", "--listen-backlog=2000000000"},
	 "error: --listen-backlog 2000000000: more than "
	 "net.core.somaxconn, which is "},
	{{"tcp_rr", "-c", "-L,"},
	 "error: --local-hosts ,: not a list of addresses: one is missing beside a comma\n"},
	{{"tcp_rr", "-4cH::1"}, "error: --host ::1: has no address of IPv4: "},
	{{"tcp_rr", "-cH::1", "-L127.0.0.1"},
	 "error: --local-hosts 127.0.0.1: \"127.0.0.1\" has no "
	 "address of IPv6: "},
	{{"udp_rr", "-c", "-C70000"},
	 "error: --control-port 70000: not a port: a number from 0 to 65535\n"},
	{{"tcp_rr", "-c", "--throughput-opt=Mb", "--format=json"},
	 "error: --throughput-opt: only with --format neper or kv\n"},
	{{"tcp_rr", "-c", "-I", "0.0001"}, "error: --interval 0.0001: must be "},
};

START_TEST(each_mistake_is_told_as_it_was_typed)
{
	struct nm_args a;

	ck_assert_int_ne(parse(mistakes[_i].words, &a), 0);
	const char *text = said(&diags, &a.wording);

	ck_assert_msg(strncmp(text, mistakes[_i].said, strlen(mistakes[_i].said)) == 0, "%s", text);
	fini(&a);
}
END_TEST

START_TEST(what_has_no_effect_is_told)
{
	struct nm_args a;

	ck_assert_int_eq(parse((const char *[]){"tcp_rr", "-c", "--magic", "5", NULL}, &a), 0);
	ck_assert_str_eq(
		said(&diags, NULL),
		"warning: --magic: has no effect: each run has a random number of its own\n");
	fini(&a);
	ck_assert_int_eq(
		parse((const char *[]){"tcp_rr", "-c", "--magic", "5", "--nolog", NULL}, &a), 0);
	ck_assert_str_eq(said(&diags, NULL), "");
	ck_assert(a.output.quiet);
	fini(&a);
}
END_TEST

START_TEST(words_of_messages)
{
	const struct nm_missing_slave own = {
		.port = NM_NEPER_CONTROL_PORT, .own_host = true, .key_words = ""};
	const struct nm_missing_slave other = {.port = 7, .vsock = true, .key_words = " and a key"};
	const struct nm_subject flows = {NM_SUBJECT_DEFINE, "num_flows", "0", NULL};
	const struct nm_subject typed = {NM_SUBJECT_DEFINE, "num_threads", "0", NULL};
	char buf[200];
	struct nm_args a;

	ck_assert_int_eq(parse((const char *[]){"tcp_rr", "-c", "-F0", "-P9", "-L127.0.0.1", "-D",
						"num_threads=0", NULL},
			       &a),
			 0);
	a.terms->start(a.terms->arg, &own, buf, sizeof buf);
	ck_assert_str_eq(buf,
			 "start a server with \"netmodel tcp_rr\", or have both ends here with "
			 "-H local");
	a.terms->start(a.terms->arg, &other, buf, sizeof buf);
	ck_assert_str_eq(buf, "start a server with \"netmodel tcp_rr --control vsock -C 7\" and a "
			      "key, or have both ends here with -H local");
	ck_assert_str_eq(a.terms->localhost, "--local-hosts 127.0.0.1");
	ck_assert_str_eq(a.terms->port_taken, "; clients at the same time need a --port each");
	ck_assert_ptr_null(a.terms->limit);
	struct nm_diag *diag = nm_diag_add(&diags, NM_SEV_ERROR, "a.xml", 1, NULL, "wrong");

	nm_diag_add_origin(diag, &flows);
	nm_diag_add_origin(diag, &typed);
	ck_assert_str_eq(said(&diags, &a.wording),
			 "a.xml:1: error: wrong (from --num-flows 0, -D num_threads=0)\n");
	fini(&a);
}
END_TEST

/* A client's line of each workload with each of its options is taken, or told to be wrong. */
START_TEST(each_option_of_each_workload)
{
	static const char *const values[] = {
		[NM_NEPER_FLAG] = "",	       [NM_NEPER_TEXT] = "=127.0.0.1",
		[NM_NEPER_COUNT] = "=3",       [NM_NEPER_SIZE] = "=3k",
		[NM_NEPER_LENGTH] = "=3",      [NM_NEPER_S] = "=3",
		[NM_NEPER_REAL_S] = "=3",      [NM_NEPER_MS] = "=3",
		[NM_NEPER_US] = "=3",	       [NM_NEPER_NS] = "=3",
		[NM_NEPER_BYTE_RATE] = "=300", [NM_NEPER_PERCENTILES] = "=3",
		[NM_NEPER_FILE] = "=/tmp/x"};

	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		for (unsigned bit = 1; bit < NM_NEPER_ALL; bit <<= 1) {
			char word[64];
			bool entries = strcmp(opt->name, "logrtt-entries-per-flow") == 0;
			const char *words[] = {nm_neper_program(bit), "--client", word,
					       entries ? "--log-rtt=x" : NULL, NULL};
			struct nm_args a;

			if (!(opt->workloads & bit))
				continue;
			snprintf(word, sizeof word, "--%s%s", opt->name,
				 strcmp(opt->name, "throughput-opt") == 0 ? "=Mb"
									  : values[opt->value]);
			ck_assert_msg(parse(words, &a) == 0, "%s %s: %s", words[0], word,
				      said(&diags, &a.wording));
			nm_diags_fini(&diags);
			fini(&a);
		}
	}
}
END_TEST

START_TEST(help_lists_each_option)
{
	for (unsigned bit = 1; bit < NM_NEPER_ALL; bit <<= 1) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		nm_dialect.help(nm_neper_program(bit), out);
		ck_assert_int_eq(fclose(out), 0);
		for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
			if (opt->workloads & bit)
				ck_assert_has(text, opt->name);
		free(text);
	}
	ck_assert(nm_dialect.knows("tcp_rr"));
	ck_assert(!nm_dialect.knows("tcp"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("neper");
	TCase *tc = tcase_create("neper");

	tcase_add_loop_test(tc, parameters_of_a_client, 0, COUNT_OF(lines));
	tcase_add_test(tc, options_of_a_client);
	tcase_add_test(tc, short_names_are_nepers_first);
	tcase_add_test(tc, a_server);
	tcase_add_loop_test(tc, nothing_is_run, 0, COUNT_OF(asks));
	tcase_add_loop_test(tc, each_mistake_is_told_as_it_was_typed, 0, COUNT_OF(mistakes));
	tcase_add_test(tc, what_has_no_effect_is_told);
	tcase_add_test(tc, words_of_messages);
	tcase_add_test(tc, each_option_of_each_workload);
	tcase_add_test(tc, help_lists_each_option);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
