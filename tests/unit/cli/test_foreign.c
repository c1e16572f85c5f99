/* SPDX-License-Identifier: Apache-2.0 */
/* Words of other tools: each row of their table, as a user meets it. */
#include "cli/foreign.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/stock.h"
#include "said.h"

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static struct nm_diags diags;

static const char *parse(const char *const *words)
{
	char *argv[16] = {(char *)"netmodel"};
	struct nm_args args;
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	(void)nm_args_parse(argc, argv, NULL, &args, &diags);
	nm_args_fini(&args);
	return said(&diags, NULL);
}

#define LINE(...) parse((const char *[]){__VA_ARGS__, NULL})

static size_t count_rows(void)
{
	size_t count = 0;

	while (nm_foreign_at(count))
		count++;
	return count;
}

static const struct nm_arg *find_letter(char letter)
{
	const struct nm_arg *arg;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		if (arg->letter == letter)
			return arg;
	return NULL;
}

/* What means something here keeps its meaning; only the number behind a flag has none. */
START_TEST(no_word_is_an_option)
{
	const struct nm_foreign *row = nm_foreign_at((size_t)_i);

	if (row->word[1] == '-') {
		ck_assert_msg(!nm_arg_find(row->word + 2), "%s", row->word);
		ck_assert(nm_foreign_has_name(row->word + 2, strlen(row->word + 2)));
		return;
	}
	const struct nm_arg *arg = find_letter(row->word[1]);

	ck_assert_uint_eq(strlen(row->word), 2);
	ck_assert_msg(
		!arg || (!arg->argument && !(row->forms & (NM_FOREIGN_NOTHING | NM_FOREIGN_TEXT))),
		"%s", row->word);
}
END_TEST

/* With a value of each form that it may have. */
START_TEST(each_word_says_what_to_type)
{
	static const struct {
		unsigned form;
		const char *value;
	} values[] = {{NM_FOREIGN_NOTHING, NULL},
		      {NM_FOREIGN_NUMBER, "7"},
		      {NM_FOREIGN_UNIT, "30s"},
		      {NM_FOREIGN_TEXT, "lab"}};
	const struct nm_foreign *row = nm_foreign_at((size_t)_i);

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		const char *text = LINE(row->word, values[i].value);
		char meaning[80];

		snprintf(meaning, sizeof meaning, "; %s ", row->meaning->words);
		if (row->forms & values[i].form)
			ck_assert_has(text, meaning);
	}
}
END_TEST

static const char *const profiles[] = {"tcp_rr", "tcp_stream", "backup_tx", "http_get", "iperf"};

static bool is_of_a_profile(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(profiles); i++)
		if (nm_stock_has_param(profiles[i], name))
			return true;
	return false;
}

/* One form of what to type, with the example in it. */
static void check_form(const struct nm_foreign *row, const char *form, size_t length)
{
	char text[160], line[256] = "";
	const char *words[16] = {"-m", "tcp_rr"};
	size_t count = 2;

	snprintf(text, sizeof text, "%.*s", (int)length, form);
	for (const char *c = text; *c; c++)
		snprintf(line + strlen(line), sizeof line - strlen(line), "%.*s",
			 *c == '%' ? (int)strlen(row->meaning->example) : 1,
			 *c == '%' ? row->meaning->example : c);
	if (strncmp(line, "-s", 2) == 0 || strncmp(line, "-m", 2) == 0)
		words[0] = words[1] = NULL, count = 0;
	for (char *at = strtok(line, " "); at && *text == '-'; at = strtok(NULL, " ")) {
		if (strcmp(at, "or") == 0)
			break;
		words[count++] = at;
		char *equals = strchr(at, '=');

		if (!equals || strcmp(words[count - 2], "-D") != 0)
			continue;
		*equals = '\0';
		ck_assert_msg(is_of_a_profile(at), "%s: %s", row->word, at);
		*equals = '=';
	}
	if (*text == '-')
		ck_assert_str_eq(parse(words), "");
}

START_TEST(what_to_type_is_understood)
{
	const struct nm_foreign *row = nm_foreign_at((size_t)_i);

	for (const char *form = row->meaning->here; *form;) {
		size_t length = strcspn(form, "|");

		check_form(row, form, length);
		form += length + (form[length] == '|');
	}
}
END_TEST

static const struct {
	const char *words[8], *said;
} lines[] = {
	{{"-m", "tcp_rr", "--duration", "3"},
	 "error: --duration: unknown option; the duration is -D test_length=3s\n"},
	{{"--duration=500ms", "-m", "tcp_rr"},
	 "error: --duration: unknown option; the duration is -D test_length=500ms\n"},
	{{"-m", "tcp_rr", "--time", "3"},
	 "error: --time: unknown option; the duration is -D test_length=3s\n"},
	{{"-m", "tcp_rr", "--json"}, "error: --json: unknown option; JSON is --format json\n"},
	{{"-m", "tcp_rr", "-c", "10"},
	 "error: -c: unknown option; the number of connections (-c of wrk, ab) is "
	 "-D num_flows=10\n"},
	{{"-m", "tcp_rr", "-c400"},
	 "error: -c: unknown option; the number of connections (-c of wrk, ab) is "
	 "-D num_flows=400\n"},
	{{"-c", "10.0.0.7"},
	 "error: -c: unknown option; the other host (-c of iperf3) is -D host=10.0.0.7\n"},
	{{"-m", "tcp_rr", "-t", "10"},
	 "error: 10: not an option, and -t takes no value; the duration (-t of iperf3, ab) is "
	 "-D test_length=10s; the number of threads (-t of wrk) is -D num_threads=10\n"},
	{{"-m", "tcp_rr", "-t12"},
	 "error: 12: not an option, and -t takes no value; the duration (-t of iperf3, ab) is "
	 "-D test_length=12s; the number of threads (-t of wrk) is -D num_threads=12\n"},
	{{"-m", "tcp_rr", "-q", "5"}, "error: 5: not an option, and -q takes no value\n"},
	{{"-m", "tcp_rr", "--quiet", "5"}, "error: 5: not an option, and --quiet takes no value\n"},
	{{"-m", "http_get", "--vus", "10"},
	 "error: --vus: unknown option; the number of connections is -D nth=10\n"},
	{{"-m", "backup_tx", "--bs", "64k"},
	 "error: --bs: unknown option; the size of a message is -D block_size=64k\n"},
	{{"-m", "tcp_rr", "--rw", "read"},
	 "error: --rw: unknown option; which end sends is -m tcp_stream, or -m tcp_rr for "
	 "requests and responses\n"},
	{{"-m", "http_get", "--bidir"},
	 "error: --bidir: unknown option; both directions at once is -D split_bidir=yes where a "
	 "profile has that parameter (-m http_get --params lists them)\n"},
	{{"-m", "tcp_rr", "--num-flows", "10"},
	 "error: --num-flows: not an option, but a parameter of the profile: did you mean "
	 "-D num_flows=10?\n"},
	{{"-m", "tcp_rr", "--parallel", "many"},
	 "error: --parallel: unknown option; the number of connections is -D num_flows=10\n"},
};

START_TEST(a_line_of_another_tool)
{
	ck_assert_str_eq(parse(lines[_i].words), lines[_i].said);
}
END_TEST

START_TEST(the_table_is_long)
{
	ck_assert_uint_gt(count_rows(), 80);
}
END_TEST

/* As iperf3 and wrk are typed: each word is told, and none is hidden by another. */
START_TEST(several_words)
{
	ck_assert_str_eq(
		LINE("-m", "tcp_rr", "-t", "3", "-c", "10"),
		"error: 3: not an option, and -t takes no value; the duration (-t of iperf3, ab) "
		"is -D test_length=3s; the number of threads (-t of wrk) is -D num_threads=3\n"
		"error: -c: unknown option; the number of connections (-c of wrk, ab) is "
		"-D num_flows=10\n");
	ck_assert_str_eq(LINE("-m", "tcp_rr", "-q", "-c", "10"),
			 "error: -c: unknown option; the number of connections (-c of wrk, ab) is "
			 "-D num_flows=10\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("foreign");
	TCase *tc = tcase_create("foreign");
	int count = (int)count_rows();

	tcase_add_test(tc, the_table_is_long);
	tcase_add_loop_test(tc, no_word_is_an_option, 0, count);
	tcase_add_loop_test(tc, each_word_says_what_to_type, 0, count);
	tcase_add_loop_test(tc, what_to_type_is_understood, 0, count);
	tcase_add_loop_test(tc, a_line_of_another_tool, 0, COUNT_OF(lines));
	tcase_add_test(tc, several_words);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
