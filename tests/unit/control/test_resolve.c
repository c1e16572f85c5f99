/* SPDX-License-Identifier: Apache-2.0 */
#include "control/resolve.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static struct nm_resolved resolved;
static char why[256];

static int resolve(const char *name, int interrupt_fd, uint64_t until_ns)
{
	why[0] = '\0';
	return nm_resolve(name, 20000, interrupt_fd, until_ns, &resolved, why, sizeof why);
}

static const struct sockaddr_in *first(void)
{
	ck_assert_int_eq(resolved.list[0].ai_family, AF_INET);
	ck_assert_uint_eq(resolved.list[0].ai_addrlen, sizeof(struct sockaddr_in));
	return (const struct sockaddr_in *)(const void *)resolved.list[0].ai_addr;
}

START_TEST(numbers_need_no_time)
{
	ck_assert_int_eq(resolve("192.0.2.7", -1, 0), 0);
	ck_assert_uint_eq(ntohl(first()->sin_addr.s_addr), 0xc0000207);
	ck_assert_uint_eq(ntohs(first()->sin_port), 20000);
	ck_assert_ptr_null(resolved.list[0].ai_next);
	ck_assert_int_eq(resolve("2001:db8::1", -1, 0), 0);
	ck_assert_int_eq(resolved.list[0].ai_family, AF_INET6);
}
END_TEST

START_TEST(a_name_of_this_host)
{
	ck_assert_int_eq(resolve("localhost", -1, UINT64_MAX / 2), 0);
	for (const struct addrinfo *at = resolved.list; at; at = at->ai_next) {
		ck_assert_ptr_nonnull(at->ai_addr);
		ck_assert_int_eq(at->ai_addr->sa_family, at->ai_family);
	}
}
END_TEST

START_TEST(time_that_is_over_is_an_error)
{
	ck_assert_int_eq(resolve("localhost", -1, 0), -ETIMEDOUT);
	ck_assert_ptr_eq(strstr(why, "its name cannot be resolved: no answer for "), why);
	/* No process is left. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(an_interrupt_ends_it)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "", 1), 1);
	ck_assert_int_eq(resolve("localhost", ends[0], UINT64_MAX / 2), -ECANCELED);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	/* It is left for who asks next. */
	char byte;
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resolve");
	TCase *tc = tcase_create("resolve");

	tcase_add_test(tc, numbers_need_no_time);
	tcase_add_test(tc, a_name_of_this_host);
	tcase_add_test(tc, time_that_is_over_is_an_error);
	tcase_add_test(tc, an_interrupt_ends_it);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
