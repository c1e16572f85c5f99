/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../suite.h"
#include "host/clock.h"
#include "host/cpus.h"
#include "host/procfile.h"
#include "host/residency.h"
#include "host/unhalted_priv.h"
#include "host/usage_priv.h"

static char tree[64], why[96];

static void start(void)
{
	strcpy(tree, "/tmp/netmodel-unhalted.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tree));
	*why = '\0';
}

static void stop(void)
{
	char command[128];

	(void)snprintf(command, sizeof command, "rm -rf %s", tree);
	ck_assert_int_eq(system(command), 0);
}

/* Writes a file of the tree, with its folders. */
static void write_file(const char *text, const char *format, ...)
{
	char path[256], command[300];
	va_list args;
	int used = snprintf(path, sizeof path, "%s/", tree);

	va_start(args, format);
	(void)vsnprintf(path + used, sizeof path - (size_t)used, format, args);
	va_end(args);
	(void)snprintf(command, sizeof command, "mkdir -p $(dirname %s)", path);
	ck_assert_int_eq(system(command), 0);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

/* A CPU on which this test may run. */
static unsigned some_cpu(void)
{
	struct nm_cpu_list list;

	ck_assert_int_eq(nm_cpu_list_parse("nodes", &list), 0);
	unsigned cpu = list.cpus[0];

	nm_cpu_list_fini(&list);
	return cpu;
}

static struct nm_unhalted_window *begin(void)
{
	return host__unhalted_begin(tree, tree, why, sizeof why);
}

static void write_state(unsigned cpu, unsigned state, const char *name, const char *us)
{
	write_file(name, "cpu%u/cpuidle/state%u/name", cpu, state);
	write_file(us, "cpu%u/cpuidle/state%u/time", cpu, state);
}

START_TEST(time_in_idle_states_is_not_awake)
{
	unsigned cpu = some_cpu();
	struct nm_unhalted got = {.awake = 7};
	char online[16];

	(void)snprintf(online, sizeof online, "%u\n", cpu);
	write_file(online, "online");
	write_state(cpu, 0, "POLL\n", "5\n");
	write_state(cpu, 1, "C1\n", "100\n");
	write_state(cpu, 2, "C6\n", "18446744073709551\n");
	struct nm_unhalted_window *window = begin();

	ck_assert_msg(window != NULL, "%s", why);
	write_state(cpu, 0, "POLL\n", "999999\n"); /* it runs, and looks for work */
	write_state(cpu, 1, "C1\n", "101\n");
	ck_assert_int_eq(nm_unhalted_end(window, &got, why, sizeof why), 0);
	ck_assert_str_eq(got.source, "cpuidle");
	ck_assert_uint_eq(got.n_cpus, 1);
	ck_assert_uint_gt(got.all, 1000);
	ck_assert_uint_eq(got.all - got.awake, 1000);
	ck_assert_uint_eq(got.cycles, 0);
}
END_TEST

START_TEST(more_sleep_than_time_is_no_time_awake)
{
	unsigned cpu = some_cpu();
	const struct nm_cpu_list list = {.cpus = &cpu, .count = 1};
	struct nm_unhalted got = {.awake = 0};

	write_state(cpu, 0, "C1\n", "0\n");
	struct nm_residency *residency = nm_residency_begin(tree, &list, why, sizeof why);

	ck_assert_ptr_nonnull(residency);
	write_state(cpu, 0, "C1\n", "999999999\n");
	ck_assert_int_eq(nm_residency_end(residency, &got), 0);
	ck_assert_uint_gt(got.all, 0);
	ck_assert_uint_eq(got.awake, 0);
	(void)nm_residency_free(residency);
}
END_TEST

static const struct {
	int policy, priority;
	const char *why; /* NULL: CPUs are visited */
} policies[] = {
	{.policy = SCHED_BATCH, .priority = 0, .why = NULL},
	{.policy = SCHED_BATCH | SCHED_RESET_ON_FORK, .priority = 0, .why = NULL},
	{.policy = SCHED_IDLE,
	 .priority = 0,
	 .why = "cpuidle: not by SCHED_IDLE, which CPUs with other work keep waiting"},
	{.policy = SCHED_FIFO, .priority = 1, .why = "cpuidle: not by a real-time policy"},
	{.policy = SCHED_RR | SCHED_RESET_ON_FORK,
	 .priority = 1,
	 .why = "cpuidle: not by a real-time policy"},
};

START_TEST(some_policies_visit_no_cpu)
{
	const struct sched_param param = {.sched_priority = policies[_i].priority};
	unsigned cpu = some_cpu();
	const struct nm_cpu_list list = {.cpus = &cpu, .count = 1};

	write_state(cpu, 0, "C1\n", "0\n");
	if (sched_setscheduler(0, policies[_i].policy, &param) < 0) {
		ck_assert_int_eq(errno, EPERM); /* real-time policies need a right */
		ck_assert_int_eq(policies[_i].priority, 1);
		return;
	}
	struct nm_residency *residency = nm_residency_begin(tree, &list, why, sizeof why);

	ck_assert_int_eq(!residency, policies[_i].why != NULL);
	if (!residency)
		ck_assert_str_eq(why, policies[_i].why);
	(void)nm_residency_free(residency);
}
END_TEST

START_TEST(idle_states_that_went_away_leave_no_figure)
{
	unsigned cpu = some_cpu();
	struct nm_unhalted got = {.awake = 7};
	char online[16], command[128];

	(void)snprintf(online, sizeof online, "%u\n", cpu);
	write_file(online, "online");
	write_state(cpu, 0, "C1\n", "0\n");
	struct nm_unhalted_window *window = begin();

	(void)snprintf(command, sizeof command, "rm -r %s/cpu%u", tree, cpu);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(nm_unhalted_end(window, &got, why, sizeof why), -ENODATA);
	ck_assert_uint_eq(got.awake, 7);
	ck_assert_msg(strncmp(why, "cpuidle: ", 9) == 0, "%s", why);
}
END_TEST

START_TEST(each_source_says_why_it_has_nothing)
{
	char online[16];

	ck_assert_ptr_null(begin());
	ck_assert_msg(strstr(why, "/online: it does not list the CPUs") != NULL, "%s", why);
	write_file("8191\n", "online");
	write_state(8191, 0, "C1\n", "0\n");
	ck_assert_ptr_null(begin());
	ck_assert_str_eq(
		why,
		"msr: not offered; ref-cycles: not offered; cpuidle: not on all CPUs may it run");
	(void)snprintf(online, sizeof online, "%u\n", some_cpu());
	write_file(online, "online");
	ck_assert_ptr_null(begin());
	ck_assert_str_eq(why, "msr: not offered; ref-cycles: not offered; cpuidle: no idle states");
	write_state(some_cpu(), 0, "POLL\n", "5\n"); /* a CPU that never sleeps */
	ck_assert_ptr_null(begin());
}
END_TEST

START_TEST(cpus_that_came_or_went_leave_no_figure)
{
	unsigned cpu = some_cpu();
	struct nm_unhalted got = {.awake = 7};
	char online[16];

	(void)snprintf(online, sizeof online, "%u\n", cpu);
	write_file(online, "online");
	write_state(cpu, 0, "C1\n", "0\n");
	struct nm_unhalted_window *window = begin();

	ck_assert_ptr_nonnull(window);
	write_file("0-7\n", "online");
	ck_assert_int_eq(nm_unhalted_end(window, &got, why, sizeof why), -ESTALE);
	ck_assert_str_eq(why, "cpuidle: CPUs came or went");
}
END_TEST

static size_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	ck_assert_ptr_nonnull(folder);
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

/* The kernel's software events in the place of the hardware's: a clock of each CPU, and context
 * switches for its cycles. */
START_TEST(counters_of_each_cpu_are_opened_read_and_closed)
{
	struct nm_unhalted got = {.awake = 0};
	struct nm_cpu_list cpus;
	size_t before = count_descriptors();
	struct rlimit limit, after;
	char online[4096];

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = before + 4; /* fewer than the counters take */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(nm_cpu_list_read("/sys/devices/system/cpu/online", &cpus), 0);
	ck_assert_int_gt(nm_procfile_read("/sys/devices/system/cpu/online", online, sizeof online),
			 0);
	write_file(online, "online");
	write_file("1\n", "msr/type"); /* PERF_TYPE_SOFTWARE */
	write_file("event=0x0\n", "msr/events/mperf");
	write_file("event=0x3\n", "msr/events/aperf");
	write_file("event=0x0\n", "msr/events/tsc");
	uint64_t from_ns = nm_clock_ns();
	struct nm_unhalted_window *window = begin();

	if (window) {
		const struct timespec pause = {.tv_nsec = 20000000};

		ck_assert_uint_eq(count_descriptors(), before + 3 * cpus.count);
		ck_assert_int_eq(nanosleep(&pause, NULL), 0);
		ck_assert_int_eq(nm_unhalted_end(window, &got, why, sizeof why), 0);
		uint64_t most_ns = (nm_clock_ns() - from_ns) * cpus.count;

		ck_assert_str_eq(got.source, "msr");
		ck_assert_uint_eq(got.n_cpus, cpus.count);
		ck_assert_uint_ge(got.ns, 20000000 * cpus.count);
		ck_assert_uint_le(got.ns, most_ns);
		ck_assert_uint_ge(got.all, 20000000 * cpus.count);
		ck_assert_uint_ge(got.awake, 20000000 * cpus.count);
		ck_assert_uint_lt(got.cycles, 20000000); /* no clock */
		ck_assert_int_ge(got.kernel_ns, 0);
	} else {
		ck_assert_msg(strncmp(why, "msr: not permitted", 18) == 0 ||
				      strncmp(why, "msr: the limit of desc", 22) == 0 ||
				      strncmp(why, "msr: not offered", 16) == 0,
			      "%s", why);
	}
	ck_assert_uint_eq(count_descriptors(), before);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &after), 0);
	ck_assert_uint_eq(after.rlim_cur, limit.rlim_cur);
	nm_cpu_list_fini(&cpus);
}
END_TEST

START_TEST(events_have_numbers_of_the_machine)
{
	static const struct {
		const char *text;
		int error;
		uint64_t config;
	} cases[] = {
		{"event=0x02\n", 0, 2},
		{"event=17", 0, 17},
		{"event=\n", -ENOENT, 0},
		{"umask=0x1\n", -ENOENT, 0},
		{"event=0x2,umask=3\n", -ENOENT, 0},
		{"", -ENOENT, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t config = 0;

		ck_assert_int_eq(host__parse_event(cases[i].text, &config), cases[i].error);
		if (cases[i].error == 0)
			ck_assert_uint_eq(config, cases[i].config);
	}
}
END_TEST

/* MPERF, APERF and TSC of two CPUs over 10 s: one of 2.9 GHz that is awake for a quarter of it at
 * 3.48 GHz, and one that is idle. */
START_TEST(groups_of_counters_are_summed)
{
	static const struct host__group
		busy = {3, 10000000000, 10000000000, {7250000000, 8700000000, 29000000000}},
		idle = {3, 10000000000, 10000000000, {29000000, 29000000, 29000000000}},
		shared = {3, 10000000000, 9999999999, {1, 1, 1}}, none = {3, 0, 0, {0, 0, 0}},
		short_one = {2, 5, 5, {1, 1, 1}};
	struct nm_unhalted sum = {.n_cpus = 0};

	ck_assert_int_eq(host__add_group(&busy, &sum), 0);
	ck_assert_int_eq(host__add_group(&idle, &sum), 0);
	ck_assert_int_eq(host__add_group(&shared, &sum), -EBUSY);
	ck_assert_int_eq(host__add_group(&none, &sum), -EINVAL);
	ck_assert_int_eq(host__add_group(&short_one, &sum), -EINVAL);
	ck_assert_uint_eq(sum.ns, 20000000000);
	ck_assert_uint_eq(sum.awake, 7279000000);
	ck_assert_uint_eq(sum.cycles, 8729000000);
	ck_assert_uint_eq(sum.all, 58000000000);
}
END_TEST

/* On any Linux: either there, or with a reason; and the thread is where it was. */
START_TEST(this_host_is_read)
{
	static struct nm_usage before, after, delta;
	unsigned cpus = nm_cpu_count();
	struct nm_unhalted_window *window = nm_usage_unhalted_begin(&before);

	ck_assert_uint_eq(nm_cpu_count(), cpus);
	ck_assert(before.has_unhalted == (window != NULL));
	ck_assert((*before.unhalted_why == '\0') == (window != NULL));
	nm_usage_unhalted_end(window, &after);
	ck_assert_uint_eq(nm_cpu_count(), cpus);
	nm_usage_delta(&before, &after, &delta);
	ck_assert(delta.has_unhalted == (*delta.unhalted_why == '\0'));
	if (delta.has_unhalted)
		ck_assert_uint_gt(delta.unhalted.all, 0);
	nm_unhalted_drop(nm_usage_unhalted_begin(&before));
	nm_unhalted_drop(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unhalted");
	TCase *tc = tcase_create("unhalted");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60); /* one test is of SCHED_IDLE, and the machine may be busy */
	tcase_add_test(tc, time_in_idle_states_is_not_awake);
	tcase_add_test(tc, more_sleep_than_time_is_no_time_awake);
	tcase_add_loop_test(tc, some_policies_visit_no_cpu, 0, sizeof policies / sizeof *policies);
	tcase_add_test(tc, idle_states_that_went_away_leave_no_figure);
	tcase_add_test(tc, each_source_says_why_it_has_nothing);
	tcase_add_test(tc, cpus_that_came_or_went_leave_no_figure);
	tcase_add_test(tc, counters_of_each_cpu_are_opened_read_and_closed);
	tcase_add_test(tc, events_have_numbers_of_the_machine);
	tcase_add_test(tc, groups_of_counters_are_summed);
	tcase_add_test(tc, this_host_is_read);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
