/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses among the hardware's counters of time in which CPUs were not halted. APERF, MPERF and TSC
 * are told in the chapter on power management of Intel's manual of the system programmer, and in
 * AMD's. */
#include "host/unhalted.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/cpus.h"
#include "host/procfile.h"
#include "host/residency.h"
#include "host/unhalted_priv.h"
#include "host/usage_priv.h"

#define PMUS "/sys/bus/event_source/devices"
#define CPUS "/sys/devices/system/cpu"

#define SPARE_SHARE 64 /* of the descriptors that the process may have, one of so many */

struct event {
	const char *name; /* of the PMU msr; NULL: the event of the hardware */
	uint64_t hardware;
};

struct source {
	const char *name;
	struct event events[HOST__N_EVENTS];
};

/* MPERF runs with the clock of TSC while the CPU is awake; so do reference cycles. */
static const struct source sources[] = {
	{"msr",
	 {[HOST__AWAKE] = {.name = "mperf"},
	  [HOST__CYCLES] = {.name = "aperf"},
	  [HOST__ALL] = {.name = "tsc"}}},
	{"ref-cycles",
	 {[HOST__AWAKE] = {.hardware = PERF_COUNT_HW_REF_CPU_CYCLES},
	  [HOST__CYCLES] = {.hardware = PERF_COUNT_HW_CPU_CYCLES},
	  [HOST__ALL] = {.name = "tsc"}}},
};

struct nm_unhalted_window {
	char cpus_dir[128];
	struct nm_cpu_list cpus;
	const char *source;
	int (*groups)[HOST__N_EVENTS]; /* descriptors, of each CPU; the first leads */
	size_t n_groups;
	uint64_t n_lifted;		/* of the limit of descriptors, to be given back */
	struct nm_residency *residency; /* instead of groups */
	int64_t kernel_ns;		/* busy at the begin */
};

/* The CPUs that are online, in a tree as /sys/devices/system/cpu. */
static int read_online(const char *dir, struct nm_cpu_list *ret_cpus)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s/online", dir);
	return nm_cpu_list_read(path, ret_cpus);
}

/* -1: not known. */
static int64_t kernel_busy_ns(void)
{
	char text[1024];
	struct nm_cpu_times cpu;

	/* The first line is enough, and the others may be cut. */
	if (nm_procfile_read("/proc/stat", text, sizeof text) < 0 ||
	    host__parse_stat(text, sysconf(_SC_CLK_TCK), &cpu) < 0)
		return -1;
	return (int64_t)(cpu.user_ns + cpu.nice_ns + cpu.system_ns + cpu.irq_ns + cpu.softirq_ns);
}

int host__parse_event(const char *text, uint64_t *ret_config)
{
	static const char key[] = "event=";
	char *end;

	if (strncmp(text, key, strlen(key)) != 0)
		return -ENOENT;
	*ret_config = strtoull(text + strlen(key), &end, 0);
	return end == text + strlen(key) || (*end && *end != '\n') ? -ENOENT : 0;
}

static int find_event(const char *pmus, const char *name, struct perf_event_attr *attr)
{
	char text[64];
	uint64_t config = 0;

	if (nm_procfile_readf(text, sizeof text, "%s/msr/type", pmus) <= 0)
		return -ENOENT;
	attr->type = (uint32_t)strtoul(text, NULL, 10);
	if (nm_procfile_readf(text, sizeof text, "%s/msr/events/%s", pmus, name) <= 0)
		return -ENOENT;
	int r = host__parse_event(text, &config);

	attr->config = config;
	return r;
}

static int find_events(const char *pmus, const struct source *source, struct perf_event_attr *attrs)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < HOST__N_EVENTS; i++) {
		const struct event *event = &source->events[i];

		attrs[i] = (struct perf_event_attr){.size = sizeof attrs[i],
						    .type = PERF_TYPE_HARDWARE,
						    .config = event->hardware,
						    .pinned = i == 0,
						    .read_format = PERF_FORMAT_GROUP |
								   PERF_FORMAT_TOTAL_TIME_ENABLED |
								   PERF_FORMAT_TOTAL_TIME_RUNNING};
		r = event->name ? find_event(pmus, event->name, &attrs[i]) : 0;
	}
	return r;
}

static int open_group(struct perf_event_attr *attrs, unsigned cpu, int *group)
{
	for (size_t i = 0; i < HOST__N_EVENTS; i++) {
		long fd = syscall(SYS_perf_event_open, &attrs[i], -1, cpu, i ? group[0] : -1,
				  PERF_FLAG_FD_CLOEXEC);

		group[i] = (int)fd;
		if (fd >= 0)
			continue;
		int error = errno;

		while (i > 0)
			(void)close(group[--i]);
		return -error;
	}
	return 0;
}

static void close_groups(struct nm_unhalted_window *window)
{
	for (size_t i = 0; i < window->n_groups; i++)
		for (size_t k = 0; k < HOST__N_EVENTS; k++)
			(void)close(window->groups[i][k]);
	window->n_groups = 0;
}

/* The limit of descriptors grows by what is needed, so that flows have as many as before; where it
 * may not, a small part of many is no loss to them. */
static int make_room(struct nm_unhalted_window *window, uint64_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur / SPARE_SHARE >= needed)
		return 0;
	limit.rlim_cur += needed;
	limit.rlim_max = limit.rlim_cur > limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -EMFILE;
	window->n_lifted = needed;
	return 0;
}

static void give_back(const struct nm_unhalted_window *window)
{
	struct rlimit limit;

	if (!window->n_lifted || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur -= window->n_lifted;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_groups(struct nm_unhalted_window *window, const char *pmus,
		       const struct source *source)
{
	struct perf_event_attr attrs[HOST__N_EVENTS];
	uint64_t needed = window->cpus.count * HOST__N_EVENTS;
	int r = find_events(pmus, source, attrs);

	if (r == 0 && !window->n_lifted)
		r = make_room(window, needed);
	for (size_t i = 0; r == 0 && i < window->cpus.count; i++) {
		r = open_group(attrs, window->cpus.cpus[i], window->groups[i]);
		window->n_groups += r == 0;
	}
	if (r < 0)
		close_groups(window);
	else
		window->source = source->name;
	return r;
}

static const char *reason(int error)
{
	return error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV ? "not offered"
	       : error == -EACCES || error == -EPERM			    ? "not permitted"
	       : error == -EMFILE ? "the limit of descriptors is too low"
				  : strerror(-error);
}

static void begin(struct nm_unhalted_window *window, const char *pmus, char *why, size_t why_size)
{
	size_t used = 0;

	window->groups = calloc(window->cpus.count, sizeof *window->groups);
	for (size_t i = 0; window->groups && i < sizeof sources / sizeof *sources; i++) {
		int r = open_groups(window, pmus, &sources[i]);

		if (r == 0)
			return;
		if (used < why_size)
			used += (size_t)snprintf(why + used, why_size - used, "%s: %s; ",
						 sources[i].name, reason(r));
	}
	used = used < why_size ? used : why_size;
	window->residency =
		nm_residency_begin(window->cpus_dir, &window->cpus, why + used, why_size - used);
	window->source = "cpuidle";
}

struct nm_unhalted_window *host__unhalted_begin(const char *pmus, const char *cpus, char *why,
						size_t why_size)
{
	struct nm_unhalted_window *window = calloc(1, sizeof *window);

	(void)snprintf(why, why_size, "out of memory");
	if (!window)
		return NULL;
	(void)snprintf(window->cpus_dir, sizeof window->cpus_dir, "%s", cpus);
	if (read_online(cpus, &window->cpus) == 0 && window->cpus.count)
		begin(window, pmus, why, why_size);
	else
		(void)snprintf(why, why_size, "%s/online: it does not list the CPUs", cpus);
	window->kernel_ns = kernel_busy_ns();
	if (window->n_groups || window->residency)
		return window;
	nm_unhalted_drop(window);
	return NULL;
}

struct nm_unhalted_window *nm_unhalted_begin(char *why, size_t why_size)
{
	return host__unhalted_begin(PMUS, CPUS, why, why_size);
}

int host__add_group(const struct host__group *group, struct nm_unhalted *sum)
{
	if (group->count != HOST__N_EVENTS || group->enabled_ns == 0)
		return -EINVAL;
	if (group->running_ns < group->enabled_ns)
		return -EBUSY;
	sum->awake += group->values[HOST__AWAKE];
	sum->cycles += group->values[HOST__CYCLES];
	sum->all += group->values[HOST__ALL];
	sum->ns += group->enabled_ns;
	return 0;
}

static int read_groups(const struct nm_unhalted_window *window, struct nm_unhalted *sum)
{
	struct host__group group;
	int r = 0;

	for (size_t i = 0; r == 0 && i < window->n_groups; i++) {
		/* A pinned group that did not get the hardware gives nothing. */
		if (read(window->groups[i][0], &group, sizeof group) != (ssize_t)sizeof group)
			return -EBUSY;
		r = host__add_group(&group, sum);
	}
	return r;
}

static bool are_same_cpus(const struct nm_unhalted_window *window)
{
	struct nm_cpu_list now = {.count = 0};
	bool same = read_online(window->cpus_dir, &now) == 0 && now.count == window->cpus.count &&
		    memcmp(now.cpus, window->cpus.cpus, now.count * sizeof *now.cpus) == 0;

	nm_cpu_list_fini(&now);
	return same;
}

int nm_unhalted_end(struct nm_unhalted_window *window, struct nm_unhalted *ret_unhalted, char *why,
		    size_t why_size)
{
	struct nm_unhalted sum = {.n_cpus = (uint32_t)window->cpus.count};
	int64_t kernel_ns = kernel_busy_ns();
	int r = window->residency ? nm_residency_end(window->residency, &sum)
				  : read_groups(window, &sum);

	if (!are_same_cpus(window))
		r = -ESTALE;
	else if (r == 0 && (!sum.all || !sum.ns))
		r = -ENODATA;
	sum.kernel_ns = kernel_ns < window->kernel_ns || window->kernel_ns < 0
				? -1
				: kernel_ns - window->kernel_ns;
	(void)snprintf(sum.source, sizeof sum.source, "%s", window->source);
	if (r == 0)
		*ret_unhalted = sum;
	else
		(void)snprintf(why, why_size, "%s: %s", window->source,
			       r == -EBUSY     ? "other counters took the hardware"
			       : r == -ESTALE  ? "CPUs came or went"
			       : r == -ENODATA ? "nothing was counted"
					       : strerror(-r));
	nm_unhalted_drop(window);
	return r;
}

void nm_unhalted_drop(struct nm_unhalted_window *window)
{
	if (!window)
		return;
	close_groups(window);
	give_back(window);
	free(window->groups);
	(void)nm_residency_free(window->residency);
	nm_cpu_list_fini(&window->cpus);
	free(window);
}
