/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void assert_format(const struct nm_diag *diag, const char *expected)
{
	char buf[128];

	nm_diag_format(diag, buf, sizeof buf);
	ck_assert_str_eq(buf, expected);
}

START_TEST(no_more_are_kept_than_anybody_reads)
{
	struct nm_diags d = {0};
	char *text = malloc(10001);

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', 10000);
	text[10000] = '\0';
	for (int i = 0; i < 2 * NM_DIAGS_MAX; i++) {
		nm_diag_warn(&d, "f", 1, "%d", i);
		nm_diag_error(&d, "f", 1, "%d %s", i, text);
	}
	ck_assert_uint_eq(d.n_errors, 2 * NM_DIAGS_MAX);
	ck_assert_uint_eq(d.n_warnings, 2 * NM_DIAGS_MAX);
	ck_assert_uint_eq(d.count, 2 * NM_DIAGS_MAX + 2);
	ck_assert_str_eq(d.items[d.count - 2].text,
			 "more than 500 warnings: the others are not told");
	ck_assert_str_eq(d.items[d.count - 1].text,
			 "more than 500 errors: the others are not told");
	ck_assert_uint_eq(strlen(d.items[1].text), 4096);
	ck_assert_str_eq(d.items[1].text + 4090, "xxx...");
	nm_diags_fini(&d);
	free(text);
}
END_TEST

START_TEST(empty_list)
{
	struct nm_diags d = {0};

	nm_diags_fini(&d);
	ck_assert_ptr_null(d.items);
	ck_assert_uint_eq(d.count, 0);
}
END_TEST

START_TEST(errors_and_warnings_keep_their_order)
{
	struct nm_diags d = {0};

	nm_diag_warn(&d, "a.xml", 3, "odd: %s", "x");
	nm_diag_error(&d, "a.xml", 2, "bad: %d", 7);
	nm_diag_error(&d, NULL, 0, "worse");
	ck_assert_uint_eq(d.count, 3);
	ck_assert_uint_eq(d.n_errors, 2);
	ck_assert_int_eq(d.items[0].severity, NM_SEV_WARNING);
	ck_assert_int_eq(d.items[1].severity, NM_SEV_ERROR);
	ck_assert_str_eq(d.items[1].file, "a.xml");
	ck_assert_uint_eq(d.items[1].line, 2);
	ck_assert_str_eq(d.items[1].text, "bad: 7");
	ck_assert_ptr_null(d.items[2].file);
	nm_diags_fini(&d);
	ck_assert_uint_eq(d.count, 0);
	ck_assert_uint_eq(d.n_errors, 0);
}
END_TEST

START_TEST(the_file_name_is_copied)
{
	struct nm_diags d = {0};
	char file[] = "a.xml";

	nm_diag_error(&d, file, 1, "x");
	file[0] = 'b';
	ck_assert_str_eq(d.items[0].file, "a.xml");
	nm_diags_fini(&d);
}
END_TEST

START_TEST(a_long_list)
{
	struct nm_diags d = {0};

	for (unsigned i = 0; i < 400; i++)
		nm_diag_error(&d, "f", i, "number %u", i);
	ck_assert_uint_eq(d.count, 400);
	ck_assert_uint_eq(d.n_errors, 400);
	ck_assert_str_eq(d.items[0].text, "number 0");
	ck_assert_str_eq(d.items[399].text, "number 399");
	nm_diags_fini(&d);
}
END_TEST

START_TEST(a_message_is_one_plain_line)
{
	struct nm_diags d = {0};

	nm_diag_error(&d, NULL, 0,
		      "a\nb\tc\x1b[31md\x7f"
		      "e\n\n");
	ck_assert_str_eq(d.items[0].text, "a b c [31md e");
	nm_diag_error(&d, NULL, 0, "caf\xc3\xa9");
	ck_assert_str_eq(d.items[1].text, "caf\xc3\xa9");
	nm_diag_error(&d, NULL, 0, "%s", "");
	ck_assert_str_eq(d.items[2].text, "");
	/* A control sequence introducer in UTF-8, and a letter whose code begins alike. */
	nm_diag_error(&d, NULL, 0,
		      "a\xc2\x9b"
		      "31m\xc2\xa7\xc2");
	ck_assert_str_eq(d.items[3].text, "a  31m\xc2\xa7\xc2");
	nm_diags_fini(&d);
}
END_TEST

START_TEST(a_file_of_any_name_is_one_plain_line)
{
	char file[] = "a\n\x1b[2J.xml", text[] = "wrong";
	struct nm_diag diag = {.severity = NM_SEV_ERROR, .line = 1, .file = file, .text = text};

	assert_format(&diag, "a  [2J.xml:1: error: wrong");
}
END_TEST

START_TEST(places_are_told_as_far_as_known)
{
	char file[] = "a.xml", text[] = "wrong";
	struct nm_diag diag = {.severity = NM_SEV_ERROR, .line = 12, .file = file, .text = text};

	assert_format(&diag, "a.xml:12: error: wrong");
	diag.severity = NM_SEV_WARNING;
	assert_format(&diag, "a.xml:12: warning: wrong");
	diag.line = 0;
	assert_format(&diag, "a.xml: warning: wrong");
	diag.file = NULL;
	assert_format(&diag, "warning: wrong");
}
END_TEST

START_TEST(a_small_buffer_cuts_and_terminates)
{
	char text[] = "wrong", buf[8];
	struct nm_diag diag = {.text = text};

	memset(buf, 'x', sizeof buf);
	nm_diag_format(&diag, buf, sizeof buf);
	ck_assert_str_eq(buf, "error: ");
}
END_TEST

static const char *const words[] = {"connect", "accept", "read",       "write",	   "think",
				    "nop",     "size",	 "disconnect", "duration", "s"};

static const struct {
	const char *word, *nearest;
} near[] = {
	{"connect", "connect"},	    {"conect", "connect"}, /* one gone */
	{"connnect", "connect"},			   /* one too many */
	{"cannect", "connect"},				   /* another */
	{"cnonect", "connect"},				   /* two swapped */
	{"conenct", "connect"},	    {"wriet", "write"},
	{"raed", "read"},	    {"sise", "size"},
	{"rite", "write"},	    {"np", "nop"},
	{"DURATION", "duration"}, /* case alone is no distance */
	{"Size", "size"},	    {"disconect", "disconnect"},
	{"dconnect", "connect"},    {"duraton", "duration"},
	{"dsconnec", "disconnect"},				  /* two of eight letters */
	{"reed", "read"},	    {"dizcomnekt", "disconnect"}, /* three of a long word */
};

START_TEST(typing_mistakes_are_found)
{
	const char *found = nm_nearest(near[_i].word, words, COUNT_OF(words));

	ck_assert_msg(found && strcmp(found, near[_i].nearest) == 0, "%s: %s", near[_i].word,
		      found ? found : "nothing");
}
END_TEST

static const char *const far[] = {
	"",
	"x",
	"q",
	"reset",
	"rd", /* two of a short word */
	"zz",
	"noop22",
	"listen",
	"sendfile",
	"durr",
	"duraxxxn",	  /* three of eight letters */
	"disconnectxxxx", /* four */
};

START_TEST(other_words_are_not)
{
	const char *found = nm_nearest(far[_i], words, COUNT_OF(words));

	ck_assert_msg(!found, "%s: %s", far[_i], found);
}
END_TEST

START_TEST(the_nearest_of_several_wins)
{
	static const char *const close[] = {"nthread", "nthreads", "nflows"};
	static const char *const equal[] = {"cat", "bat"};

	ck_assert_str_eq(nm_nearest("nthreds", close, COUNT_OF(close)), "nthreads");
	ck_assert_str_eq(nm_nearest("nthread", close, COUNT_OF(close)), "nthread");
	ck_assert_str_eq(nm_nearest("rat", equal, COUNT_OF(equal)), "cat");
	ck_assert_ptr_null(nm_nearest("nthreads", close, 0));
	/* One letter too many, or one wrong: what is right until there is nearer. */
	static const char *const tied[] = {"tcp_crr", "tcp_rr"};

	ck_assert_str_eq(nm_nearest("tcp_rrr", tied, COUNT_OF(tied)), "tcp_rr");
}
END_TEST

START_TEST(very_long_words_are_no_mistakes)
{
	char word[4097], other[4097];
	const char *const candidates[] = {other, "size"};

	memset(word, 'a', sizeof word - 1);
	memcpy(other, word, sizeof word - 1);
	word[sizeof word - 1] = other[sizeof other - 1] = '\0';
	ck_assert_ptr_null(nm_nearest(word, candidates, 2));
	ck_assert_str_eq(nm_nearest("sizee", candidates, 2), "size");
	word[64] = '\0';
	other[63] = '\0';
	ck_assert_ptr_eq(nm_nearest(word, candidates, 2), other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diag");
	TCase *tc = tcase_create("diag");

	tcase_add_test(tc, no_more_are_kept_than_anybody_reads);
	tcase_add_test(tc, empty_list);
	tcase_add_test(tc, errors_and_warnings_keep_their_order);
	tcase_add_test(tc, the_file_name_is_copied);
	tcase_add_test(tc, a_long_list);
	tcase_add_test(tc, a_message_is_one_plain_line);
	tcase_add_test(tc, a_file_of_any_name_is_one_plain_line);
	tcase_add_test(tc, places_are_told_as_far_as_known);
	tcase_add_test(tc, a_small_buffer_cuts_and_terminates);
	tcase_add_loop_test(tc, typing_mistakes_are_found, 0, COUNT_OF(near));
	tcase_add_loop_test(tc, other_words_are_not, 0, COUNT_OF(far));
	tcase_add_test(tc, the_nearest_of_several_wins);
	tcase_add_test(tc, very_long_words_are_no_mistakes);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
