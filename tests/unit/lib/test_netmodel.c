/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netmodel.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"

/* A daemon has them closed: what it later writes to its standard error must not stop runs. */
START_TEST(standard_descriptors_are_left_alone)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)close(fd);
	struct netmodel *nm = netmodel_new();
	ck_assert_ptr_nonnull(nm);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
		ck_assert_int_eq(errno, EBADF);
	}
	netmodel_free(nm);
}
END_TEST

START_TEST(nothing_is_left_open)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(before, 0);
	close(before);
	netmodel_free(netmodel_new());
	int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(after, before);
	close(after);
}
END_TEST

#define PROFILE(require)                                                                           \
	"<profile name='t'><require that='" require "'/><group>"                                   \
	"<transaction><flowop type='connect' options='remotehost=local'/></transaction>"           \
	"<transaction iterations='20'><flowop type='write' options='size=100'/>"                   \
	"<flowop type='read' options='size=100'/></transaction></group></profile>"

/* Also by a percentile that nobody else has asked for. */
START_TEST(the_document_has_the_requirements_of_the_profile)
{
	static const char text[] = PROFILE("errors == 0 latency.p12.5 == 0");
	struct netmodel *nm = netmodel_new();

	ck_assert_int_eq(netmodel_load_text(nm, "t", text, strlen(text)), 0);
	ck_assert_int_eq(netmodel_run(nm), NETMODEL_COMPLETE);
	char *json = netmodel_result_json(nm);

	ck_assert_ptr_nonnull(json);
	ck_assert_ptr_nonnull(strstr(json, "\"text\": \"errors == 0\""));
	ck_assert_ptr_nonnull(strstr(json, "\"from\": \"t:1\""));
	ck_assert_ptr_nonnull(strstr(json, "\"reason\": \"latency.p12.5 is "));
	free(json);
	netmodel_free(nm);
}
END_TEST

START_TEST(a_wrong_requirement_is_an_error_of_the_profile)
{
	static const char text[] = PROFILE("errors == 1ms");
	struct netmodel *nm = netmodel_new();

	ck_assert_int_eq(netmodel_load_text(nm, "t", text, strlen(text)), 0);
	ck_assert_int_eq(netmodel_check(nm), -EINVAL);
	ck_assert_uint_eq(netmodel_n_diagnostics(nm), 1);
	ck_assert_ptr_nonnull(strstr(netmodel_diagnostic(nm, 0), "errors is a count"));
	ck_assert_int_eq(netmodel_run(nm), NETMODEL_REFUSED);
	netmodel_free(nm);
}
END_TEST

/* A program may ask for diagnostics once, at the end. */
START_TEST(a_run_without_a_profile_says_why_there_is_none)
{
	struct netmodel *nm = netmodel_new();

	ck_assert_int_eq(netmodel_run(nm), NETMODEL_REFUSED);
	ck_assert_str_eq(netmodel_diagnostic(nm, 0), "error: no profile is loaded");
	ck_assert_int_eq(netmodel_load_file(nm, "/nowhere.xml"), -EINVAL);
	for (int again = 0; again < 2; again++) {
		ck_assert_int_eq(netmodel_run(nm), NETMODEL_REFUSED);
		ck_assert_str_eq(netmodel_diagnostic(nm, 0),
				 "error: no profile is loaded: /nowhere.xml: error: cannot be "
				 "opened: No such file or directory");
	}
	netmodel_free(nm);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("netmodel");
	TCase *tc = tcase_create("netmodel");

	tcase_add_test(tc, standard_descriptors_are_left_alone);
	tcase_add_test(tc, nothing_is_left_open);
	tcase_add_test(tc, the_document_has_the_requirements_of_the_profile);
	tcase_add_test(tc, a_wrong_requirement_is_an_error_of_the_profile);
	tcase_add_test(tc, a_run_without_a_profile_says_why_there_is_none);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
