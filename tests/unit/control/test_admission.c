/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a slave takes, case by case. */
#include "control/slave/admission.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

static const struct {
	enum nm_admission admission;
	bool own, proved;	 /* the master */
	bool may_connect, enter; /* what it may */
} cases[] = {
	{NM_ADMIT_OWN_HOST, true, false, true, true},
	{NM_ADMIT_OWN_HOST, false, false, false, false},
	{NM_ADMIT_ALL, true, false, true, true},
	{NM_ADMIT_ALL, false, false, true, true},
	{NM_ADMIT_KEY, true, false, true, false},
	{NM_ADMIT_KEY, false, false, true, false},
	{NM_ADMIT_KEY, true, true, true, true},
	{NM_ADMIT_KEY, false, true, true, true},
	{NM_ADMIT_KEY_OR_OWN, true, false, true, true},
	{NM_ADMIT_KEY_OR_OWN, false, false, true, false},
	{NM_ADMIT_KEY_OR_OWN, true, true, true, true},
	{NM_ADMIT_KEY_OR_OWN, false, true, true, true},
};

START_TEST(each_master_is_taken_or_not)
{
	enum nm_admission admission = cases[_i].admission;

	ck_assert_int_eq(nm_admission_may_connect(admission, cases[_i].own), cases[_i].may_connect);
	ck_assert_int_eq(nm_admission_may_enter(admission, cases[_i].own, cases[_i].proved),
			 cases[_i].enter);
}
END_TEST

START_TEST(who_is_not_taken_is_told_all_ways_out)
{
	char text[512];

	nm_admission_explain(cases[_i].admission, "10.0.0.7", text, sizeof text);
	ck_assert_uint_lt(strlen(text), sizeof text - 1);
	ck_assert_ptr_nonnull(strstr(text, "10.0.0.7"));
	ck_assert_ptr_nonnull(strstr(text, "--key-file FILE"));
	ck_assert_ptr_nonnull(strstr(text, "NETMODEL_KEY"));
	ck_assert_ptr_nonnull(strstr(text, "--no-auth"));
	ck_assert_ptr_nonnull(strstr(text, "NETMODEL_AUTH=none"));
}
END_TEST

int main(void)
{
	int count = (int)(sizeof cases / sizeof cases[0]);
	Suite *suite = suite_create("admission");
	TCase *tc = tcase_create("admission");

	tcase_add_loop_test(tc, each_master_is_taken_or_not, 0, count);
	tcase_add_loop_test(tc, who_is_not_taken_is_told_all_ways_out, 0, count);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
