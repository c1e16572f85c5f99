/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cpus.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"

/* A CPU that this process may use. */
static unsigned some_cpu(void)
{
	int cpu = sched_getcpu();

	ck_assert_int_ge(cpu, 0);
	return (unsigned)cpu;
}

static const char *const good_forms[] = {
	"0",	 "00",	"7",	   "0-3",	    "3-3",  "0-3,8",
	"8,0-3", "1,1", "0,2,4,6", "0-1,4-5,10-11", "4095", "nodes",
};

START_TEST(forms_that_are_lists)
{
	ck_assert_int_eq(nm_cpu_list_check_form(good_forms[_i]), 0);
}
END_TEST

static const char *const bad_forms[] = {
	"",    ",",	"0,",	 ",0",	"0,,1",	 "-",	    "0-",	    "-3",
	"3-0", "0-3-5", " 0",	 "0 ",	"0, 1",	 "a",	    "+1",	    "0x1",
	"1.5", "0:3",	"0-3;8", "0\n", "8192x", "0-8191x", "99999999999-", "all",
};

START_TEST(forms_that_are_not_lists)
{
	struct nm_cpu_list list = {.count = 77};

	ck_assert_int_eq(nm_cpu_list_check_form(bad_forms[_i]), -EINVAL);
	ck_assert_int_eq(nm_cpu_list_parse(bad_forms[_i], &list), -EINVAL);
	ck_assert_uint_eq(list.count, 77);
	ck_assert_ptr_null(list.cpus);
}
END_TEST

START_TEST(a_list_keeps_its_order)
{
	struct nm_cpu_list list = {.count = 0};
	unsigned cpu = some_cpu();
	char text[64];

	(void)snprintf(text, sizeof text, "%u,%u-%u,%u", cpu, cpu, cpu, cpu);
	ck_assert_int_eq(nm_cpu_list_parse(text, &list), 0);
	ck_assert_uint_eq(list.count, 3);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_uint_eq(list.cpus[i], cpu);
	nm_cpu_list_fini(&list);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_ptr_null(list.cpus);
}
END_TEST

/* All usable CPUs, one by one. */
START_TEST(every_usable_cpu_may_be_named)
{
	cpu_set_t set;
	char text[16];

	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return; /* more CPUs than a set of fixed size holds */
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct nm_cpu_list list = {.count = 0};

		(void)snprintf(text, sizeof text, "%u", cpu);
		ck_assert_int_eq(nm_cpu_list_parse(text, &list),
				 CPU_ISSET(cpu, &set) ? 0 : -ERANGE);
		nm_cpu_list_fini(&list);
	}
}
END_TEST

static const char *const absent[] = {"8191", "0-8191", "4294967295", "4294967296",
				     "99999999999999999999999"};

START_TEST(a_cpu_that_is_not_there_is_out_of_range)
{
	struct nm_cpu_list list = {.count = 77};

	ck_assert_int_eq(nm_cpu_list_parse(absent[_i], &list), -ERANGE);
	ck_assert_uint_eq(list.count, 77);
}
END_TEST

START_TEST(binding_moves_the_thread_and_is_refused_for_absent_cpus)
{
	unsigned cpu = some_cpu();
	cpu_set_t set;

	ck_assert_int_eq(nm_cpu_bind_self(cpu), 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	ck_assert_int_eq(CPU_COUNT(&set), 1);
	ck_assert(CPU_ISSET(cpu, &set));
	ck_assert_int_eq(nm_cpu_bind_self(8191), -EINVAL);
	ck_assert_int_eq(nm_cpu_bind_self(UINT_MAX), -EINVAL);
	ck_assert_int_eq(sched_getcpu(), (int)cpu);
}
END_TEST

START_TEST(what_a_bound_thread_may_not_use_is_out_of_range)
{
	struct nm_cpu_list list = {.count = 0};
	unsigned cpu = some_cpu();
	char text[16];

	ck_assert_int_eq(nm_cpu_bind_self(cpu), 0);
	(void)snprintf(text, sizeof text, "%u", cpu ? cpu - 1 : cpu + 1);
	ck_assert_int_eq(nm_cpu_list_parse(text, &list), -ERANGE);
	(void)snprintf(text, sizeof text, "%u", cpu);
	ck_assert_int_eq(nm_cpu_list_parse(text, &list), 0);
	nm_cpu_list_fini(&list);
}
END_TEST

START_TEST(a_refusal_names_the_cpu_and_those_allowed)
{
	unsigned cpu = some_cpu(), other = cpu ? cpu - 1 : cpu + 1;
	char text[32], why[256], expected[256];

	ck_assert_int_eq(nm_cpu_bind_self(cpu), 0);
	(void)snprintf(text, sizeof text, "%u,%u,8000", cpu, other);
	nm_cpu_list_explain(text, -ERANGE, why, sizeof why);
	(void)snprintf(expected, sizeof expected,
		       "there is no CPU %u here, or it may not be used; allowed are %u", other,
		       cpu);
	ck_assert_str_eq(why, expected);
	nm_cpu_list_explain("0-", -EINVAL, why, sizeof why);
	ck_assert_str_eq(why, "not a list of CPUs: numbers and ranges, as 0-3,8; or nodes");
}
END_TEST

START_TEST(allowed_cpus_are_told_as_ranges)
{
	cpu_set_t set;
	char why[256], *allowed;
	struct nm_cpu_list list = {.count = 0};

	nm_cpu_list_explain("8191", -ERANGE, why, sizeof why);
	allowed = strstr(why, "allowed are ");
	ck_assert_ptr_nonnull(allowed);
	/* They are a list like the one that may be given, and of all. */
	ck_assert_int_eq(nm_cpu_list_parse(allowed + strlen("allowed are "), &list), 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	ck_assert_uint_eq(list.count, (size_t)CPU_COUNT(&set));
	nm_cpu_list_fini(&list);
}
END_TEST

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fprintf(file, "%s\n", text), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void put_node(const char *dir, unsigned node, const char *cpus)
{
	char path[128];

	(void)snprintf(path, sizeof path, "%s/node%u", dir, node);
	if (cpus) {
		ck_assert_int_eq(mkdir(path, 0700), 0);
		put(path, "cpulist", cpus);
		return;
	}
	char file[256];

	(void)snprintf(file, sizeof file, "%s/cpulist", path);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(rmdir(path), 0);
}

/* Of those that the process may use: an absent one, and a node without any, are left out. */
START_TEST(cpus_of_nodes_take_turns)
{
	char dir[] = "/tmp/nodesXXXXXX", one[32], both[32], online[64];
	struct nm_cpu_list list = {.count = 0};
	unsigned cpus[2] = {0}, found = 0;
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[found++] = cpu;
	if (found < 2)
		cpus[1] = cpus[0];
	(void)snprintf(one, sizeof one, "%u,8000", cpus[1]);
	(void)snprintf(both, sizeof both, "%u,%u", cpus[0], cpus[1]);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	put(dir, "online", "0,2-4");
	put_node(dir, 0, one);
	put_node(dir, 2, "");
	put_node(dir, 3, "8000-8191");
	put_node(dir, 4, both);
	ck_assert_int_eq(nm_cpu_list_of_nodes(dir, &list), 0);
	ck_assert_uint_eq(list.count, 4);
	ck_assert_uint_eq(list.cpus[0], cpus[1]);
	ck_assert_uint_eq(list.cpus[1], cpus[0]);
	ck_assert_uint_eq(list.cpus[2], cpus[1]);
	ck_assert_uint_eq(list.cpus[3], cpus[1]);
	nm_cpu_list_fini(&list);
	for (unsigned node = 0; node < 5; node++)
		if (node != 1)
			put_node(dir, node, NULL);
	(void)snprintf(online, sizeof online, "%s/online", dir);
	ck_assert_int_eq(unlink(online), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(without_nodes_all_cpus_are_of_one)
{
	struct nm_cpu_list list = {.count = 0};
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	ck_assert_int_eq(nm_cpu_list_of_nodes("/nonexistent", &list), 0);
	ck_assert_uint_eq(list.count, (size_t)CPU_COUNT(&set));
	for (size_t i = 1; i < list.count; i++)
		ck_assert_uint_gt(list.cpus[i], list.cpus[i - 1]);
	nm_cpu_list_fini(&list);
	ck_assert_int_eq(nm_cpu_list_parse("nodes", &list), 0);
	ck_assert_uint_ge(list.count, (size_t)CPU_COUNT(&set));
	nm_cpu_list_fini(&list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpus");
	/* Each test is a process of its own (check forks): binding ends with it. */
	TCase *tc = tcase_create("cpus");

	tcase_add_loop_test(tc, forms_that_are_lists, 0, sizeof good_forms / sizeof *good_forms);
	tcase_add_loop_test(tc, forms_that_are_not_lists, 0, sizeof bad_forms / sizeof *bad_forms);
	tcase_add_test(tc, a_list_keeps_its_order);
	tcase_add_test(tc, every_usable_cpu_may_be_named);
	tcase_add_loop_test(tc, a_cpu_that_is_not_there_is_out_of_range, 0,
			    sizeof absent / sizeof *absent);
	tcase_add_test(tc, binding_moves_the_thread_and_is_refused_for_absent_cpus);
	tcase_add_test(tc, what_a_bound_thread_may_not_use_is_out_of_range);
	tcase_add_test(tc, a_refusal_names_the_cpu_and_those_allowed);
	tcase_add_test(tc, allowed_cpus_are_told_as_ranges);
	tcase_add_test(tc, cpus_of_nodes_take_turns);
	tcase_add_test(tc, without_nodes_all_cpus_are_of_one);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
