/* SPDX-License-Identifier: Apache-2.0 */
#include "host/perf.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"

static const char *const good_forms[] = {"cycles", "cycles,instructions", "perf::PAGE-FAULTS:u",
					 "a.b_c=1,d"};
static const char *const bad_forms[] = {"",    ",",   "a,",   ",a",  "a,,b",
					"a b", "a;b", "a\nb", "a/b", "\xc3\xa4"};

START_TEST(forms_that_are_lists)
{
	ck_assert_int_eq(nm_perf_check_form(good_forms[_i]), 0);
}
END_TEST

START_TEST(forms_that_are_not_lists)
{
	ck_assert_int_eq(nm_perf_check_form(bad_forms[_i]), -EINVAL);
}
END_TEST

START_TEST(lists_and_names_have_a_longest_length)
{
	char many[2 * NM_PERF_MAX + 2] = "";
	char name[NM_PERF_NAME + 1] = "";

	for (int i = 0; i < NM_PERF_MAX; i++)
		memcpy(many + 2 * i, "a,", 2);
	many[2 * NM_PERF_MAX - 1] = '\0';
	ck_assert_int_eq(nm_perf_check_form(many), 0);
	memcpy(many + 2 * NM_PERF_MAX - 1, ",a", 3);
	ck_assert_int_eq(nm_perf_check_form(many), -ERANGE);
	memset(name, 'n', NM_PERF_NAME - 1);
	ck_assert_int_eq(nm_perf_check_form(name), 0);
	name[NM_PERF_NAME - 1] = 'n';
	ck_assert_int_eq(nm_perf_check_form(name), -ERANGE);
}
END_TEST

START_TEST(what_cannot_be_counted_says_why)
{
	struct nm_perf_values values;
	struct nm_perf *perf;

	ck_assert_int_eq(nm_perf_open("no-such-event,context-switches", &perf), 0);
	nm_perf_read(perf, &values);
	ck_assert_uint_eq(values.count, 2);
	ck_assert_str_eq(values.items[0].name, "no-such-event");
	ck_assert(!values.items[0].has_user && !values.items[0].has_kernel);
	ck_assert_msg(strncmp(values.items[0].why, "libpfm4: ", 9) == 0, "%s", values.items[0].why);
	ck_assert(values.items[1].has_kernel || *values.items[1].why);
	ck_assert_ptr_null(nm_perf_close(perf));
	ck_assert_ptr_null(nm_perf_close(NULL));
	nm_perf_read(NULL, &values);
	ck_assert_uint_eq(values.count, 0);
}
END_TEST

#define SLEEPS 20

static void sleep_often(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (int i = 0; i < SLEEPS; i++)
		(void)nanosleep(&moment, NULL);
}

START_TEST(what_is_started_later_is_counted)
{
	struct nm_perf_values before, after, delta;
	struct nm_perf *perf;

	ck_assert_int_eq(nm_perf_open("context-switches", &perf), 0);
	nm_perf_read(perf, &before);
	pid_t pid = fork();

	if (pid == 0) {
		sleep_often();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	nm_perf_read(perf, &after);
	nm_perf_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.count, 1);
	if (delta.items[0].has_kernel)
		ck_assert_uint_ge(delta.items[0].kernel, SLEEPS);
	else
		ck_assert(*delta.items[0].why);
	ck_assert_ptr_null(nm_perf_close(perf));
}
END_TEST

/* The kernel counts them for both sides, whichever is asked for. */
START_TEST(a_software_clock_is_one_figure)
{
	struct nm_perf_values values;
	struct nm_perf *perf;

	ck_assert_int_eq(nm_perf_open("task-clock,cpu-clock,page-faults", &perf), 0);
	nm_perf_read(perf, &values);
	for (int i = 0; i < 2; i++) {
		ck_assert(!values.items[i].has_user && !values.items[i].has_kernel);
		ck_assert(values.items[i].has_total == !*values.items[i].why);
	}
	ck_assert(values.items[2].has_total ==
		  (values.items[2].has_user && values.items[2].has_kernel));
	ck_assert_ptr_null(nm_perf_close(perf));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf");
	TCase *tc = tcase_create("perf");

	tcase_add_loop_test(tc, forms_that_are_lists, 0, sizeof good_forms / sizeof *good_forms);
	tcase_add_loop_test(tc, forms_that_are_not_lists, 0, sizeof bad_forms / sizeof *bad_forms);
	tcase_add_test(tc, lists_and_names_have_a_longest_length);
	tcase_add_test(tc, what_cannot_be_counted_says_why);
	tcase_add_test(tc, what_is_started_later_is_counted);
	tcase_add_test(tc, a_software_clock_is_one_figure);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
