/* SPDX-License-Identifier: Apache-2.0 */
/* Each CPU's time, frequencies of cpufreq, and whether the kernel measures interrupts. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../suite.h"
#include "host/facts_priv.h"
#include "host/usage_priv.h"

static struct nm_cpu_loads before, after, delta;
static char tree[64], path[160];

static void start(void)
{
	strcpy(tree, "/tmp/netmodel-cpu-loads.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tree));
}

static void stop(void)
{
	char command[128];

	(void)snprintf(command, sizeof command, "rm -rf %s", tree);
	ck_assert_int_eq(system(command), 0);
}

/* "wT" is transparent: plain text. */
static const char *write_file(const char *name, const char *how, const char *text)
{
	(void)snprintf(path, sizeof path, "%s/%s", tree, name);
	gzFile file = gzopen(path, how);

	ck_assert_ptr_nonnull(file);
	ck_assert_int_gt(gzputs(file, text), 0);
	ck_assert_int_eq(gzclose(file), Z_OK);
	return path;
}

START_TEST(each_cpu_has_a_line)
{
	static const char text[] = "cpu  30 0 0 0 0 0 0 0 0 0\n"
				   "cpu0 1 2 3 4 5 6 7 8 9 10\n"
				   "cpu7 11 12 13 14 15 16 17 4294967300\n"
				   "intr 5 0\n";

	ck_assert_int_eq(host__parse_cpu_loads(text, &after), 0);
	ck_assert_uint_eq(after.count, 2);
	ck_assert_str_eq(after.why, "");
	ck_assert_uint_eq(after.items[0].cpu, 0);
	ck_assert_uint_eq(after.items[0].user, 1);
	ck_assert_uint_eq(after.items[0].steal, 8);
	ck_assert_uint_eq(nm_cpu_load_ticks(&after.items[0]), 36);
	ck_assert_uint_eq(after.items[1].cpu, 7);
	ck_assert_uint_eq(after.items[1].softirq, 17);
	ck_assert_uint_eq(after.items[1].steal, 4); /* the rest of 32 bits */
}
END_TEST

START_TEST(other_text_is_none)
{
	ck_assert_int_eq(host__parse_cpu_loads("", &after), -EINVAL);
	ck_assert_int_eq(host__parse_cpu_loads("cpu  1 2 3 4 5 6 7 8\n", &after), -EINVAL);
	ck_assert_int_eq(host__parse_cpu_loads("cpu  1\ncpu0 1 2 3 4 5 6 7\n", &after), -EINVAL);
	ck_assert_int_eq(host__parse_cpu_loads("cpu  1\ncpux 1 2 3 4 5 6 7 8\n", &after), -EINVAL);
}
END_TEST

START_TEST(more_cpus_than_there_is_room_for)
{
	static char text[64 * (NM_CPU_LOADS_MAX + 2)];
	int used = snprintf(text, sizeof text, "cpu  0 0 0 0 0 0 0 0\n");

	for (int cpu = 0; cpu < NM_CPU_LOADS_MAX; cpu++)
		used += snprintf(text + used, sizeof text - (size_t)used, "cpu%d 1 1 1 1 1 1 1 1\n",
				 cpu);
	ck_assert_int_eq(host__parse_cpu_loads(text, &after), 0);
	ck_assert_uint_eq(after.count, NM_CPU_LOADS_MAX);
	(void)snprintf(text + used, sizeof text - (size_t)used, "cpu9999 1 1 1 1 1 1 1 1\n");
	ck_assert_int_eq(host__parse_cpu_loads(text, &after), -E2BIG);
}
END_TEST

START_TEST(a_window_has_cpus_that_were_there_all_the_time)
{
	before = (struct nm_cpu_loads){.count = 3,
				       .items = {{.cpu = 0, .user = 100, .idle = UINT32_MAX},
						 {.cpu = 1, .user = 50},
						 {.cpu = 2, .idle = 500}}};
	after = (struct nm_cpu_loads){
		.count = 4,
		/* the first began at 0 again, the last but one was idle for less than was told */
		.items = {{.cpu = 0, .user = 103, .idle = 8},
			  {.cpu = 1, .user = 50, .system = NM_CPU_TICKS_MIN - 1},
			  {.cpu = 2, .idle = 499, .user = NM_CPU_TICKS_MIN},
			  {.cpu = 3, .user = 99}}};
	nm_cpu_loads_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.count, 2);
	ck_assert_str_eq(delta.why, "");
	ck_assert_uint_eq(delta.items[0].cpu, 0);
	ck_assert_uint_eq(delta.items[0].user, 3);
	ck_assert_uint_eq(delta.items[0].idle, 9);
	ck_assert_uint_eq(delta.items[1].cpu, 2);
	ck_assert_uint_eq(delta.items[1].user, NM_CPU_TICKS_MIN);
	ck_assert_uint_eq(delta.items[1].idle, 0);
}
END_TEST

START_TEST(a_window_without_cpus_says_why)
{
	before = (struct nm_cpu_loads){.count = 1, .items = {{.cpu = 0}}};
	after = (struct nm_cpu_loads){.count = 1, .items = {{.cpu = 0, .user = 3}}};
	nm_cpu_loads_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.count, 0);
	ck_assert_str_eq(delta.why,
			 "the window is shorter than 10 ticks of the kernel's accounting");
	before = (struct nm_cpu_loads){.why = "/proc/stat: unknown form"};
	nm_cpu_loads_delta(&before, &after, &delta);
	ck_assert_str_eq(delta.why, "/proc/stat: unknown form");
}
END_TEST

/* Two machines, each before and behind five seconds in which a loop on its last CPU worked for
 * about a third of the time, by its own clock: one that was full of other work, and has no time of
 * interrupts; and an emulated one that was idle but for that, and measures them. */
static const struct {
	const char *before, *after;
	struct nm_cpu_load cpus[2];
} recorded[] = {
	{.before = "cpu  1630934 1288935 1833004 987852 17977 0 239680 4195 0 0\n"
		   "cpu0 805483 636555 905737 527652 5573 0 117712 2117 0 0\n"
		   "cpu1 825450 652379 927267 460200 12403 0 121968 2078 0 0\n",
	 .after = "cpu  1631305 1289253 1833314 987852 17977 0 239691 4196 0 0\n"
		  "cpu0 805554 636802 905925 527652 5573 0 117712 2117 0 0\n"
		  "cpu1 825751 652451 927389 460200 12403 0 121978 2078 0 0\n",
	 .cpus = {{.cpu = 0, .user = 71, .nice = 247, .system = 188},
		  {.cpu = 1, .user = 301, .nice = 72, .system = 122, .softirq = 10}}},
	{.before = "cpu  3350 0 1983 9872 930 1207 506 0 0 0\n"
		   "cpu0 1312 0 848 5643 331 859 247 0 0 0\n"
		   "cpu1 2037 0 1135 4228 599 347 259 0 0 0\n",
	 .after = "cpu  3444 0 1986 10720 930 1213 508 0 0 0\n"
		  "cpu0 1312 0 849 6159 331 859 247 0 0 0\n"
		  "cpu1 2131 0 1136 4560 599 353 261 0 0 0\n",
	 .cpus = {{.cpu = 0, .system = 1, .idle = 516},
		  {.cpu = 1, .user = 94, .system = 1, .idle = 332, .irq = 6, .softirq = 2}}},
};

START_TEST(windows_of_two_machines)
{
	ck_assert_int_eq(host__parse_cpu_loads(recorded[_i].before, &before), 0);
	ck_assert_int_eq(host__parse_cpu_loads(recorded[_i].after, &after), 0);
	nm_cpu_loads_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.count, 2);
	ck_assert_str_eq(delta.why, "");
	ck_assert_mem_eq(delta.items, recorded[_i].cpus, sizeof recorded[_i].cpus);
}
END_TEST

START_TEST(this_host_is_read)
{
	static struct nm_usage usage;
	uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	uint32_t idle = 0;

	nm_usage_read_with_cpus(&usage, &after);
	ck_assert_uint_eq(after.count, usage.cpu.n_cpus);
	/* Both are of one text, in which the kernel has added the CPUs up, and cut off each. */
	for (size_t i = 0; i < after.count; i++)
		idle += after.items[i].idle;
	ck_assert_uint_le((uint32_t)(usage.cpu.idle_ns / tick_ns) - idle, after.count);
	ck_assert_str_eq(after.why, "");
	nm_usage_read_cpufreq(&usage);
	ck_assert(usage.has_cpufreq == (*usage.cpufreq_why == '\0'));
}
END_TEST

static void write_frequency(const char *cpu, const char *khz)
{
	char name[80];

	(void)snprintf(path, sizeof path, "%s/%s", tree, cpu);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	(void)snprintf(path, sizeof path, "%s/%s/cpufreq", tree, cpu);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	(void)snprintf(name, sizeof name, "%s/cpufreq/scaling_cur_freq", cpu);
	write_file(name, "wT", khz);
}

START_TEST(frequencies_are_summed)
{
	struct nm_cpufreq cpufreq;

	ck_assert(!host__read_cpufreq(tree, &cpufreq));
	write_frequency("cpu0", "2000000\n");
	write_frequency("cpu11", "3000000\n");
	write_frequency("cpu2", "<unknown>\n"); /* as of one that is offline */
	write_frequency("cpufreq", "9000000\n");
	ck_assert(host__read_cpufreq(tree, &cpufreq));
	ck_assert_uint_eq(cpufreq.n_cpus, 2);
	ck_assert_uint_eq(cpufreq.begin_khz, 5000000);
	ck_assert_uint_eq(cpufreq.end_khz, 5000000);
	ck_assert(!host__read_cpufreq("/nowhere", &cpufreq));
}
END_TEST

/* Some kernels take 10 ms for each. */
START_TEST(frequencies_of_a_few_cpus_are_read)
{
	struct nm_cpufreq cpufreq;
	char cpu[16];

	for (int i = 0; i < HOST__CPUFREQ_MAX + 4; i++) {
		(void)snprintf(cpu, sizeof cpu, "cpu%d", i);
		write_frequency(cpu, "2000000\n");
	}
	ck_assert(host__read_cpufreq(tree, &cpufreq));
	ck_assert_uint_eq(cpufreq.n_cpus, HOST__CPUFREQ_MAX);
}
END_TEST

START_TEST(a_window_of_frequencies_is_of_the_same_cpus)
{
	static struct nm_usage first, last, between;

	first = (struct nm_usage){.has_cpufreq = true, .cpufreq = {2, 4000000, 4000000}};
	last = (struct nm_usage){.has_cpufreq = true, .cpufreq = {2, 6000000, 6000000}};
	nm_usage_delta(&first, &last, &between);
	ck_assert(between.has_cpufreq);
	ck_assert_uint_eq(between.cpufreq.begin_khz, 4000000);
	ck_assert_uint_eq(between.cpufreq.end_khz, 6000000);
	last.cpufreq.n_cpus = 3;
	nm_usage_delta(&first, &last, &between);
	ck_assert(!between.has_cpufreq);
	ck_assert_str_eq(between.cpufreq_why, "CPUs came or went");
}
END_TEST

START_TEST(a_kernel_says_what_it_was_built_with)
{
	static const char with[] = "CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\n"
				   "CONFIG_IRQ_TIME_ACCOUNTING=y\n";
	static const char without[] = "CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\n"
				      "# CONFIG_IRQ_TIME_ACCOUNTING is not set\n";

	ck_assert_int_eq(host__irq_time_built_in(write_file("a.gz", "w", with)), HOST__BUILT_IN);
	ck_assert_int_eq(host__irq_time_built_in(write_file("b", "wT", with)), HOST__BUILT_IN);
	ck_assert_int_eq(host__irq_time_built_in(write_file("c.gz", "w", without)), HOST__LEFT_OUT);
	ck_assert_int_eq(host__irq_time_built_in(write_file("d", "wT", "CONFIG_SMP=y\n")),
			 HOST__NOT_KNOWN);
	/* All kinds of time are measured, and there is nothing to choose. */
	ck_assert_int_eq(host__irq_time_built_in(
				 write_file("e", "wT", "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y\n")),
			 HOST__BUILT_IN);
	ck_assert_int_eq(host__irq_time_built_in("/nowhere"), HOST__NOT_KNOWN);
}
END_TEST

START_TEST(interrupts_are_measured_or_not)
{
	static const char some[] = "cpu  1 2 3 4 5 6 7 8 0 0\n", none[] = "cpu  1 2 3 4 5 0 7 8\n";

	ck_assert_str_eq(host__irq_accounting(HOST__BUILT_IN, "quiet", some), "on");
	/* The clock may not be good enough for it. */
	ck_assert_str_eq(host__irq_accounting(HOST__BUILT_IN, "quiet", none), "");
	ck_assert_str_eq(host__irq_accounting(HOST__BUILT_IN, "quiet tsc=noirqtime", some), "off");
	ck_assert_str_eq(host__irq_accounting(HOST__LEFT_OUT, "", some), "off");
	ck_assert_str_eq(host__irq_accounting(HOST__NOT_KNOWN, "", some), "on");
	/* None were found, which may be by chance. */
	ck_assert_str_eq(host__irq_accounting(HOST__NOT_KNOWN, "", none), "");
	ck_assert_str_eq(host__irq_accounting(HOST__NOT_KNOWN, "", ""), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpu_loads");
	TCase *tc = tcase_create("cpu_loads");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, each_cpu_has_a_line);
	tcase_add_test(tc, other_text_is_none);
	tcase_add_test(tc, more_cpus_than_there_is_room_for);
	tcase_add_test(tc, a_window_has_cpus_that_were_there_all_the_time);
	tcase_add_test(tc, a_window_without_cpus_says_why);
	tcase_add_loop_test(tc, windows_of_two_machines, 0, sizeof recorded / sizeof *recorded);
	tcase_add_test(tc, this_host_is_read);
	tcase_add_test(tc, frequencies_are_summed);
	tcase_add_test(tc, frequencies_of_a_few_cpus_are_read);
	tcase_add_test(tc, a_window_of_frequencies_is_of_the_same_cpus);
	tcase_add_test(tc, a_kernel_says_what_it_was_built_with);
	tcase_add_test(tc, interrupts_are_measured_or_not);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
