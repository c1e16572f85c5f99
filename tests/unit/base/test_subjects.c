/* SPDX-License-Identifier: Apache-2.0 */
/* What diagnostics are about, and in whose words that is printed. */
#include "base/diag.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"

static void assert_printed(const struct nm_diags *d, const struct nm_wording *wording,
			   const char *expected)
{
	char buf[256];

	ck_assert_uint_eq(d->count, 1);
	nm_diag_format_in(&d->items[0], wording, buf, sizeof buf);
	ck_assert_str_eq(buf, expected);
}

/* Options under another name; those without a value keep their words. */
static bool say_other(const struct nm_diag_subject *subject, void *arg, char *buf, size_t size)
{
	if (!subject->value)
		return false;
	snprintf(buf, size, "%s %s", (const char *)arg, subject->value);
	return true;
}

static const struct nm_wording other = {.words = say_other, .arg = (char[]){"--other"}};

START_TEST(a_subject_leads_unless_the_format_places_it)
{
	const struct nm_subject port = {NM_SUBJECT_OPTION, "port", "70000", NULL};
	struct nm_diags d = {0};

	nm_diag_add(&d, NM_SEV_ERROR, NULL, 0, &port, ": at most %d", 65535);
	assert_printed(&d, NULL, "error: --port 70000: at most 65535");
	assert_printed(&d, &other, "error: --other 70000: at most 65535");
	nm_diags_fini(&d);

	nm_diag_add(&d, NM_SEV_WARNING, NULL, 0, &port, "%s then " NM_THE_SUBJECT ", %s", "first",
		    "last");
	assert_printed(&d, NULL, "warning: first then --port 70000, last");
	assert_printed(&d, &other, "warning: first then --other 70000, last");
	ck_assert_uint_eq(d.n_errors, 0);
	nm_diags_fini(&d);
}
END_TEST

START_TEST(arguments_are_no_places)
{
	const struct nm_subject flag = {NM_SUBJECT_OPTION, "raw", NULL, NULL};
	struct nm_diags d = {0};

	nm_diag_add(&d, NM_SEV_ERROR, NULL, 0, &flag, "%s" NM_THE_SUBJECT "%s", "a\x1f", "\x1f");
	assert_printed(&d, &other, "error: a --raw ");
	nm_diags_fini(&d);
}
END_TEST

START_TEST(words_of_its_own_stand_in_the_text)
{
	const struct nm_subject size = {NM_SUBJECT_DEFINE, "size", "12q", "-D"};
	struct nm_diags d = {0};

	nm_diag_add(&d, NM_SEV_ERROR, "a.xml", 3, &size,
		    "value \"%s\" (from " NM_THE_SUBJECT "): no", "12q");
	assert_printed(&d, NULL, "a.xml:3: error: value \"12q\" (from -D): no");
	assert_printed(&d, &other, "a.xml:3: error: value \"12q\" (from --other 12q): no");
	ck_assert_ptr_nonnull(nm_diag_find_subject(&d.items[0], NM_SUBJECT_DEFINE));
	ck_assert_ptr_null(nm_diag_find_subject(&d.items[0], NM_SUBJECT_OPTION));
	nm_diags_fini(&d);
}
END_TEST

START_TEST(origins_are_told_behind)
{
	const struct nm_subject here = {NM_SUBJECT_ELEMENT, "write", NULL, "<flowop write>"};
	const struct nm_subject one = {NM_SUBJECT_DEFINE, "a", "1", NULL};
	const struct nm_subject two = {NM_SUBJECT_ENVIRONMENT, "b", "2", NULL};
	struct nm_diags d = {0};

	struct nm_diag *diag = nm_diag_add(&d, NM_SEV_ERROR, "a.xml", 3, &here, ": a and b");

	nm_diag_add_origin(diag, &one);
	nm_diag_add_origin(diag, &two);
	nm_diag_add_origin(NULL, &two);
	assert_printed(
		&d, NULL,
		"a.xml:3: error: <flowop write>: a and b (from -D a=1, the environment, b=2)");
	assert_printed(&d, &other,
		       "a.xml:3: error: <flowop write>: a and b (from --other 1, --other 2)");
	nm_diags_fini(&d);
}
END_TEST

static void complain(struct nm_diags *d, unsigned line, const char *element, const char *value)
{
	const struct nm_subject here = {NM_SUBJECT_ELEMENT, element, NULL, element};
	const struct nm_subject define = {NM_SUBJECT_DEFINE, "a", value, NULL};

	nm_diag_add_origin(
		nm_diag_add(d, NM_SEV_ERROR, "a.xml", line, &here, " size=\"%s\": no", value),
		&define);
}

START_TEST(what_is_repeated_has_the_same_origin_and_complaint)
{
	const struct nm_subject here = {NM_SUBJECT_ELEMENT, "<x>", NULL, "<x>"};
	struct nm_diags d = {0};

	complain(&d, 1, "<flowop write>", "1q");
	complain(&d, 2, "<flowop read>", "1q");
	complain(&d, 3, "<flowop read>", "2q");
	nm_diag_add(&d, NM_SEV_ERROR, "a.xml", 4, &here, " size=\"1q\": no");
	ck_assert(nm_diag_is_repeated(&d.items[1], &d.items[0]));
	ck_assert(!nm_diag_is_repeated(&d.items[2], &d.items[0]));
	ck_assert(!nm_diag_is_repeated(&d.items[3], &d.items[0]));
	ck_assert(!nm_diag_is_repeated(&d.items[3], &d.items[3])); /* the profile itself is wrong */
	nm_diags_fini(&d);
}
END_TEST

START_TEST(a_copy_has_its_subjects)
{
	struct nm_diags d = {0}, copy = {0};

	complain(&d, 1, "<flowop write>", "1q");
	nm_diag_copy(&copy, &d.items[0]);
	nm_diags_fini(&d);
	assert_printed(&copy, NULL,
		       "a.xml:1: error: <flowop write> size=\"1q\": no (from -D a=1q)");
	ck_assert_uint_eq(copy.n_errors, 1);
	nm_diags_fini(&copy);
}
END_TEST

START_TEST(what_does_not_fit_is_cut)
{
	char buf[24];
	struct nm_diags d = {0};

	complain(&d, 1, "<flowop write>", "1q");
	nm_diag_format(&d.items[0], buf, sizeof buf);
	ck_assert_str_eq(buf, "a.xml:1: error: <flowop");
	nm_diags_fini(&d);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("subjects");
	TCase *tc = tcase_create("subjects");

	tcase_add_test(tc, a_subject_leads_unless_the_format_places_it);
	tcase_add_test(tc, arguments_are_no_places);
	tcase_add_test(tc, words_of_its_own_stand_in_the_text);
	tcase_add_test(tc, origins_are_told_behind);
	tcase_add_test(tc, what_is_repeated_has_the_same_origin_and_complaint);
	tcase_add_test(tc, a_copy_has_its_subjects);
	tcase_add_test(tc, what_does_not_fit_is_cut);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
