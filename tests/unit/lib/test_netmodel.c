/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netmodel.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
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

int main(void)
{
	Suite *suite = suite_create("netmodel");
	TCase *tc = tcase_create("netmodel");

	tcase_add_test(tc, standard_descriptors_are_left_alone);
	tcase_add_test(tc, nothing_is_left_open);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
