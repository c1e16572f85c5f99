/* SPDX-License-Identifier: Apache-2.0 */
/* What the command prints about itself and about profiles, and how diagnostics are printed. */
#include "cli/cli.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/dialect.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/stock.h"
#include "flowop/flowop.h"
#include "report/report.h"
#include "said.h"
#include "transport/transport.h"

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static struct nm_diags diags;

/* A stream whose text is asked for at the end. */
static char *text;
static size_t text_size;

static FILE *begin(void)
{
	FILE *out = open_memstream(&text, &text_size);

	ck_assert_ptr_nonnull(out);
	return out;
}

/* Until the next one begins. */
static const char *end(FILE *out)
{
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

/* Standard output or error goes to a file from here on. */
static FILE *capture(FILE *stream)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	fflush(stream);
	ck_assert_int_ge(dup2(fileno(file), fileno(stream)), 0);
	return file;
}

static const char *captured(FILE *file, FILE *stream)
{
	static char buf[16384];

	fflush(stream);
	rewind(file);
	buf[fread(buf, 1, sizeof buf - 1, file)] = '\0';
	fclose(file);
	return buf;
}

START_TEST(help_has_every_option)
{
	const struct nm_arg *arg;
	FILE *out = begin();

	nm_cli_help_all(out);
	end(out);
	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		ck_assert_has(text, arg->opt.name);
	ck_assert_has(text, "\nWhat to do:\n  -m, --master PROFILE");
	ck_assert_has(text, "(default 1s)");
	free(text);
}
END_TEST

START_TEST(texts_are_generated)
{
	const struct nm_arg *arg;

	for (size_t k = 0; nm_cli_generate_words[k]; k++) {
		FILE *out = begin();

		ck_assert_int_eq(nm_cli_generate(nm_cli_generate_words[k], out, &diags),
				 NM_EXIT_OK);
		end(out);
		ck_assert_uint_gt(text_size, 500);
		for (size_t i = 0; k == 0 && (arg = nm_arg_at(i)); i++)
			if (!strchr(arg->opt.name, '-'))
				ck_assert_has(text, arg->opt.name);
		free(text);
	}
	ck_assert_int_eq(nm_cli_generate("nothing", stdout, &diags), NM_EXIT_USAGE);
	ck_assert_uint_eq(diags.n_errors, 1);
	nm_diags_fini(&diags);
}
END_TEST

static int describe(const char *one, const char *two)
{
	const char *words[] = {one, two};
	FILE *out = begin();
	int code = nm_cli_describe(words, two ? 2 : one ? 1 : 0, out, &diags);

	end(out);
	return code;
}

START_TEST(each_part_of_profiles_is_described)
{
	ck_assert_int_eq(describe(NULL, NULL), NM_EXIT_OK);
	free(text);
	for (size_t i = 0; nm_flowops[i]; i++) {
		ck_assert_int_eq(describe("flowop", nm_flowops[i]->name), NM_EXIT_OK);
		ck_assert_has(text, nm_flowops[i]->help);
		free(text);
	}
	for (size_t i = 0; nm_transports[i]; i++) {
		ck_assert_int_eq(describe(nm_transports[i]->name, NULL), NM_EXIT_OK);
		free(text);
	}
	for (int i = 0; i < NM_TYPE__COUNT; i++) {
		ck_assert_int_eq(describe(nm_type_name((enum nm_type)i), NULL), NM_EXIT_OK);
		free(text);
	}
	for (size_t i = 0; i < 3; i++) {
		static const char *const wrong[][2] = {
			{"nothing", NULL}, {"flowop", "nothing"}, {"interval", NULL}};

		ck_assert_int_eq(describe(wrong[i][0], wrong[i][1]), NM_EXIT_USAGE);
		ck_assert_uint_eq(diags.n_errors, 1);
		nm_diags_fini(&diags);
		free(text);
	}
	ck_assert_int_eq(describe("sizes", NULL), NM_EXIT_OK);
	ck_assert_has(text, "lognormal(MEDIAN,S;..MAX)");
	free(text);
	ck_assert_int_eq(describe("lognormal", NULL), NM_EXIT_OK);
	ck_assert_has(text, "law lognormal, type durations: lognormal(MEDIAN,S) with durations");
	free(text);
	ck_assert_int_eq(describe("laws", NULL), NM_EXIT_OK);
	ck_assert_has(text, "bimodal(A,B,P)");
	free(text);
	ck_assert_int_eq(describe("size", NULL), NM_EXIT_OK);
	free(text);
	ck_assert_int_eq(describe("group", NULL), NM_EXIT_OK);
	free(text);
}
END_TEST

static int inspect(enum nm_action action, const char *profile, const char *define)
{
	const char *equals = define ? strchr(define, '=') : NULL;
	char *name = equals ? strndup(define, (size_t)(equals - define)) : NULL;
	struct nm_define defines[] = {{.name = name, .value = equals ? equals + 1 : NULL}};
	const struct nm_args args = {.action = action,
				     .master = (char *)profile,
				     .defines = defines,
				     .n_defines = name ? 1 : 0};
	FILE *out = begin();
	int code = nm_cli_inspect(&args, out, &diags);

	end(out);
	free(name);
	return code;
}

START_TEST(profiles_are_inspected)
{
	ck_assert_int_eq(inspect(NM_ACTION_CHECK, "tcp_rr", "num_flows=4"), NM_EXIT_OK);
	ck_assert_has(text, ": ok: tcp_rr: 1 group, 4 flows on 1 worker");
	free(text);
	ck_assert_int_eq(inspect(NM_ACTION_PARAMS, "tcp_rr", "num_flows=4"), NM_EXIT_OK);
	ck_assert_has(text, "num_flows");
	free(text);
	ck_assert_int_eq(inspect(NM_ACTION_DUMP_PLAN, "tcp_rr", NULL), NM_EXIT_OK);
	ck_assert_has(text, "=== slave local\n");
	free(text);
	ck_assert_int_eq(inspect(NM_ACTION_OPTIONS, "tcp_rr", "num_flows=4"), NM_EXIT_OK);
	ck_assert_has(text, "num_flows=4\n");
	free(text);
	ck_assert_uint_eq(diags.count, 0);
}
END_TEST

START_TEST(what_is_wrong_with_a_profile)
{
	ck_assert_int_eq(inspect(NM_ACTION_CHECK, "tcp_rr", "num_flows=0"), NM_EXIT_USAGE);
	ck_assert_has(said(&diags, NULL),
		      "nflows=\"0\": must be 1 to 4000000 (from -D num_flows=0)\n");
	free(text);
	ck_assert_int_eq(inspect(NM_ACTION_PARAMS, "tcp_rr", "num_flow=1"), NM_EXIT_USAGE);
	ck_assert_has(said(&diags, NULL), ": error: -D num_flow=1: the profile has no parameter "
					  "\"num_flow\"; did you mean \"num_flows\"?\n");
	free(text);
	ck_assert_int_eq(inspect(NM_ACTION_CHECK, "tcp_r", NULL), NM_EXIT_USAGE);
	ck_assert_has(said(&diags, NULL), "tcp_rr");
	free(text);
	ck_assert(nm_stock_has_param("tcp_rr", "num_flows"));
	ck_assert(!nm_stock_has_param("tcp_rr", "num_flow"));
	ck_assert(!nm_stock_has_param("/no/such", "num_flow"));
}
END_TEST

START_TEST(stock_profiles_are_listed)
{
	FILE *out = begin();

	ck_assert_int_eq(nm_stock_list(out, &diags), NM_EXIT_OK);
	ck_assert_has(end(out), "tcp_crr");
	free(text);
	ck_assert(nm_stock_has("tcp_rr"));
	ck_assert(!nm_stock_has("tcp"));
	char *near = nm_stock_near("tcp_rrr");

	ck_assert_str_eq(near, "tcp_rr");
	free(near);
}
END_TEST

/* An option is called something else by who has typed it. */
static bool call_other(const struct nm_diag_subject *subject, void *arg, char *buf, size_t size)
{
	(void)arg;
	snprintf(buf, size, "--other %s", subject->value);
	return subject->kind == NM_SUBJECT_OPTION;
}

START_TEST(diagnostics_are_printed_once_and_in_the_words_of_the_user)
{
	const struct nm_wording wording = {.words = call_other};
	const struct nm_subject here = {NM_SUBJECT_ELEMENT, "group", NULL, "<group>"};
	const struct nm_subject define = {NM_SUBJECT_DEFINE, "a", "1", NULL};
	FILE *file = capture(stderr);

	for (unsigned line = 1; line < 3; line++)
		nm_diag_add_origin(
			nm_diag_add(&diags, NM_SEV_ERROR, "a.xml", line, &here, " n=\"1\": no"),
			&define);
	nm_diag_warn(&diags, NULL, 0, "odd");
	nm_cli_tell_limit(&diags, "max-lifetime", 1500000000, ": the %s ends", "slave");
	nm_cli_print_diags(&diags, NULL);
	nm_cli_tell_limit(&diags, "max-lifetime", 1500000000, ": the %s ends", "slave");
	nm_cli_print_diags(&diags, &wording);
	diags.n_errors = 1; /* as after an error that had no memory */
	nm_cli_print_diags(&diags, NULL);
	ck_assert_str_eq(captured(file, stderr),
			 "a.xml:1: error: <group> n=\"1\": no (from -D a=1)\n"
			 "netmodel: warning: odd\n"
			 "netmodel: longer than --max-lifetime 1.5s: the slave ends\n"
			 "netmodel: longer than --other 1.5s: the slave ends\n"
			 "netmodel: out of memory\n");
	ck_assert_uint_eq(diags.n_errors, 0);
}
END_TEST

static const struct {
	const char *words[6];
	int code;
	const char *out;
} commands[] = {
	{{"--version"}, NM_EXIT_OK, "netmodel "},
	{{"--help"}, NM_EXIT_OK, "Usage: netmodel -m PROFILE"},
	{{"--help", "all"}, NM_EXIT_OK, "--log-rtt-entries N"},
	{{"tcp_rr", "-h"}, NM_EXIT_OK, "Usage: netmodel tcp_rr"},
	{{"tcp_rr", "-v"}, NM_EXIT_OK, "netmodel "},
	{{"tcp_rr", "-cn"}, NM_EXIT_OK, "num_flows=1\n"},
	{{"tcp_rr", "-n"}, NM_EXIT_OK, "client=0\n"},
	{{"tcp_stream", "-cn", "--split-bidir", "-F3"}, NM_EXIT_OK, "num_flows=6\n"},
	{{"tcp_stream", "-cn", "-M"}, NM_EXIT_OK, "enable_read=1\n"},
	{{"udp_rr", "-cn", "-l-5"}, NM_EXIT_OK, "test_length=-5\n"},
	{{"--list"}, NM_EXIT_OK, "tcp_crr"},
	{{"--describe", "size"}, NM_EXIT_OK, "size"},
	{{"--generate=schema"}, NM_EXIT_OK, "<grammar"},
	{{"-m", "tcp_rr", "--check"}, NM_EXIT_OK, ": ok: tcp_rr"},
	{{"-m", "tcp_rr", "--check", "--once"}, NM_EXIT_USAGE, ""},
	{{"-m", "/no/such"}, NM_EXIT_USAGE, ""},
	{{"-m", "tcp_rr", "-o", "/no/such/x"}, NM_EXIT_USAGE, ""},
	{{"-m", "tcp_rr", "-Dinterval=1"}, NM_EXIT_USAGE, ""},
};

START_TEST(commands_answer)
{
	char *argv[8] = {(char *)"netmodel"};
	int argc = 1;

	for (const char *const *word = commands[_i].words; *word; word++)
		argv[argc++] = (char *)*word;
	FILE *out = capture(stdout), *err = capture(stderr);
	int code = nm_cli_main(argc, argv);

	ck_assert_has(captured(out, stdout), commands[_i].out);
	const char *said_so = captured(err, stderr);

	ck_assert_int_eq(*said_so == '\0', code == NM_EXIT_OK);
	ck_assert_int_eq(code, commands[_i].code);
}
END_TEST

/* By its path or not; the words are those of that tool from the first on. */
static const struct {
	const char *words[6];
	int code;
	const char *out;
} names[] = {
	{{"tcp_rr", "-cnF7"}, NM_EXIT_OK, "num_flows=7\n"},
	{{"/usr/local/bin/tcp_stream", "-h"}, NM_EXIT_OK, "Usage: netmodel tcp_stream"},
	{{"./udp_stream", "tcp_rr", "-c"}, NM_EXIT_USAGE, ""},
	{{"psp_rr", "-n"}, NM_EXIT_OK, "client=0\n"},
	{{"/opt/uperf", "-V"}, NM_EXIT_OK, "netmodel "},
	{{"netmodel", "uperf", "-m", "tcp_rr", "--check"}, NM_EXIT_OK, ": ok: tcp_rr"},
	{{"uperf", "uperf", "-V"}, NM_EXIT_USAGE, ""},
};

START_TEST(the_name_of_the_program_is_a_tool)
{
	char *argv[8] = {NULL};
	FILE *out = capture(stdout), *err = capture(stderr);

	for (int i = 0; names[_i].words[i]; i++)
		argv[i] = (char *)names[_i].words[i];
	ck_assert_int_eq(nm_cli_main(count_words(names[_i].words), argv), names[_i].code);
	ck_assert_has(captured(out, stdout), names[_i].out);
	ck_assert_int_eq(*captured(err, stderr) == '\0', names[_i].code == NM_EXIT_OK);
}
END_TEST

START_TEST(help_fits_two_screens)
{
	FILE *out = begin();
	size_t lines = 0;

	nm_cli_help(out);
	end(out);
	for (const char *c = text; *c; c += strcspn(c, "\n") + 1, lines++)
		ck_assert_uint_le(strcspn(c, "\n"), 80);
	ck_assert_uint_le(lines, 60);
	ck_assert(strstr(text, "\nExamples:\n") < strstr(text, "--master"));
	free(text);
}
END_TEST

/* What the events of a run print on standard output: for programs, and above uperf's report. */
static const char *progress_of(const enum nm_progress_event *events, size_t count, bool raw,
			       bool uperfs)
{
	struct nm_group groups[2] = {{.n_flows = 2}, {.n_flows = 1, .processes = true}};
	const struct nm_plan plan = {.name = (char *)"p\n", .groups = groups, .n_groups = 2};
	FILE *out = capture(stdout);
	struct nm_live live;

	nm_live_init(&live, true, false);
	live.raw = raw;
	live.report_is_uperfs = uperfs;
	for (size_t i = 0; i < count; i++) {
		const struct nm_progress progress = {.event = events[i],
						     .wall_ns = 1234500 + i * 500000000,
						     .bytes = i * 100,
						     .operations = i};

		nm_live_progress(&live, &plan, &progress);
	}
	ck_assert_int_eq(nm_live_fini(&live, &diags), 0);
	return captured(out, stdout);
}

#define OVER "\r%79s\r"
#define RULE "-------------------------------------------------------------------------------\n"

static const enum nm_progress_event whole[] = {NM_PROGRESS_START, NM_PROGRESS_BEGIN,
					       NM_PROGRESS_TICK, NM_PROGRESS_END,
					       NM_PROGRESS_FINISH};

START_TEST(progress_for_people)
{
	char expected[1024];

	snprintf(expected, sizeof(expected),
		 "Starting 2 threads, 1 processes running profile:p  ...   0.00 seconds\n" OVER
		 "Txn1      100.00B /   0.00(s) =            0           0op/s " OVER
		 "Txn1      200.00B /   0.50(s) =     3.20Kb/s           4op/s " OVER
		 "Txn1      300.00B /   1.00(s) =     2.40Kb/s           3op/s \n" RULE
		 "Total     400.00B /   2.00(s) =     1.60Kb/s           2op/s \n",
		 "", "", "");
	ck_assert_str_eq(progress_of(whole, COUNT_OF(whole), false, true), expected);
}
END_TEST

/* A row that has begun is ended before the rule. */
START_TEST(progress_of_a_run_that_failed)
{
	static const enum nm_progress_event events[] = {NM_PROGRESS_START, NM_PROGRESS_BEGIN,
							NM_PROGRESS_FINISH};

	ck_assert_has(progress_of(events, COUNT_OF(events), false, true), "op/s \n" RULE "Total ");
}
END_TEST

/* netmodel's own report stands apart, and uperf's begins with an empty line itself. */
START_TEST(progress_for_programs)
{
	char *own = strdup(progress_of(whole, COUNT_OF(whole), true, false));

	ck_assert_ptr_nonnull(own);
	ck_assert_str_eq(own,
			 "Starting 2 threads, 1 processes running profile:p  ...   0.00 seconds\n"
			 "timestamp_ms:501.2345 name:Txn1 nr_bytes:100 nr_ops:1\n"
			 "timestamp_ms:1001.2345 name:Txn1 nr_bytes:200 nr_ops:2\n"
			 "timestamp_ms:1501.2345 name:Txn1 nr_bytes:300 nr_ops:3\n\n" RULE
			 "timestamp_ms:2001.2345 name:Total nr_bytes:400 nr_ops:4\n\n");
	own[strlen(own) - 1] = '\0';
	ck_assert_str_eq(progress_of(whole, COUNT_OF(whole), true, true), own);
	free(own);
}
END_TEST

START_TEST(lines_of_a_run)
{
	const struct nm_traffic traffic = {
		.at_s = 1, .seconds = 1, .counts = {.iterations = 2, .bytes_sent = 3}};
	FILE *out = capture(stdout), *err = capture(stderr);
	struct nm_live live;

	nm_live_init(&live, false, true);
	nm_live_traffic(&live, &traffic);
	const char *printed = captured(out, stdout);

	ck_assert_has(printed, "t=1.000      TX:      2 ops,          3 bytes,");
	live.line = true;
	live.runs = 2;
	const struct nm_result_interval row = {.to_s = 1};

	nm_live_interval(&live, NULL, &row);
	nm_live_log(&live, "happens");
	nm_live_waits(&live, "waits");
	live.quiet = true;
	live.log = false;
	nm_live_log(&live, "no");
	nm_live_waits(&live, "no");
	ck_assert_int_eq(nm_live_fini(&live, &diags), 0);
	ck_assert_uint_eq(diags.count, 0);
	printed = captured(err, stderr);
	ck_assert_has(printed, "\r[1/2]    1.0 s");
	ck_assert_has(printed, "\r\033[Knetmodel: happens\nnetmodel: waits\n");
	ck_assert_ptr_null(strstr(printed, "no\n"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("texts");
	TCase *tc = tcase_create("texts");

	tcase_add_test(tc, help_has_every_option);
	tcase_add_test(tc, texts_are_generated);
	tcase_add_test(tc, each_part_of_profiles_is_described);
	tcase_add_test(tc, profiles_are_inspected);
	tcase_add_test(tc, what_is_wrong_with_a_profile);
	tcase_add_test(tc, stock_profiles_are_listed);
	tcase_add_test(tc, diagnostics_are_printed_once_and_in_the_words_of_the_user);
	tcase_add_loop_test(tc, commands_answer, 0, COUNT_OF(commands));
	tcase_add_loop_test(tc, the_name_of_the_program_is_a_tool, 0, COUNT_OF(names));
	tcase_add_test(tc, help_fits_two_screens);
	tcase_add_test(tc, progress_for_people);
	tcase_add_test(tc, progress_of_a_run_that_failed);
	tcase_add_test(tc, progress_for_programs);
	tcase_add_test(tc, lines_of_a_run);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
