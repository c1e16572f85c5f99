/* SPDX-License-Identifier: Apache-2.0 */
#include "host/facts.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "../suite.h"

static struct nm_host_facts facts;

START_TEST(the_facts_of_this_host)
{
	struct utsname names;

	memset(&facts, 0xff, sizeof facts);
	nm_host_facts_read(&facts);
	ck_assert_int_eq(uname(&names), 0);
	ck_assert_str_eq(facts.hostname, names.nodename);
	ck_assert_str_eq(facts.kernel, names.release);
	ck_assert_str_eq(facts.machine, names.machine);
	ck_assert_uint_gt(facts.n_cpus, 0);
	ck_assert_uint_gt(facts.memory_bytes, 1u << 20);
}
END_TEST

static void assert_one_line(const char *text, size_t size)
{
	ck_assert_ptr_nonnull(memchr(text, '\0', size));
	ck_assert_ptr_null(strpbrk(text, "\n\t\""));
}

START_TEST(texts_are_one_line_without_quotes)
{
	memset(&facts, 0xff, sizeof facts);
	nm_host_facts_read(&facts);
	assert_one_line(facts.os, sizeof facts.os);
	assert_one_line(facts.cpu_model, sizeof facts.cpu_model);
	assert_one_line(facts.clocksource, sizeof facts.clocksource);
	assert_one_line(facts.congestion_control, sizeof facts.congestion_control);
	ck_assert(facts.cpu_model[0] != ':' && facts.cpu_model[0] != ' ');
}
END_TEST

static uint64_t soft_limit(void)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	return limit.rlim_cur;
}

static void set_limit(uint64_t soft, uint64_t hard)
{
	const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(a_limit_that_is_enough_stays)
{
	uint64_t limit = 77;

	set_limit(100, 200);
	ck_assert_int_eq(nm_raise_nofile(100, &limit), 0);
	ck_assert_uint_eq(soft_limit(), 100);
}
END_TEST

START_TEST(the_soft_limit_is_raised)
{
	uint64_t limit = 77;

	set_limit(100, 200);
	ck_assert_int_eq(nm_raise_nofile(150, &limit), 0);
	ck_assert_uint_ge(soft_limit(), 150);
	ck_assert_int_eq(nm_raise_nofile(200, &limit), 0);
	ck_assert_uint_eq(soft_limit(), 200);
}
END_TEST

START_TEST(the_hard_limit_is_raised_or_told)
{
	uint64_t limit = 77;

	set_limit(100, 200);
	int error = nm_raise_nofile(300, &limit);

	/* As this process is privileged or not. */
	if (error) {
		ck_assert_int_eq(error, -EMFILE);
		ck_assert_uint_eq(limit, 200);
	} else {
		ck_assert_uint_ge(soft_limit(), 300);
	}
}
END_TEST

START_TEST(more_than_any_kernel_gives_is_refused)
{
	uint64_t limit = 77;

	set_limit(100, 200);
	ck_assert_int_eq(nm_raise_nofile(UINT64_C(1) << 40, &limit), -EMFILE);
	ck_assert_uint_ge(limit, 200);
	ck_assert_uint_lt(limit, UINT64_C(1) << 40);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("facts");
	/* Each test is a process of its own (check forks): its limits end with it. */
	TCase *tc = tcase_create("facts");

	tcase_add_test(tc, the_facts_of_this_host);
	tcase_add_test(tc, texts_are_one_line_without_quotes);
	tcase_add_test(tc, a_limit_that_is_enough_stays);
	tcase_add_test(tc, the_soft_limit_is_raised);
	tcase_add_test(tc, the_hard_limit_is_raised_or_told);
	tcase_add_test(tc, more_than_any_kernel_gives_is_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
