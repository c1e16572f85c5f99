/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses among the hardware's counters of time in which CPUs were not halted. APERF, MPERF and TSC
 * are told in chapter 16 of Intel's manual of the system programmer, and in AMD's. */
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

#define PMUS "/sys/bus/event_source/devices"
#define CPUS "/sys/devices/system/cpu"

#define EVENTS	    3 /* in the order of struct host__group */
#define SPARE_SHARE 8 /* of the descriptors that the process may have, this part at most */

struct event {
	const char *name; /* of the PMU msr; NULL: the event of the hardware */
	uint64_t hardware;
};

struct source {
	const char *name;
	struct event events[EVENTS];
};

/* MPERF runs with the clock of TSC while the CPU is awake; so do reference cycles. */
static const struct source sources[] = {
	{"msr", {{.name = "mperf"}, {.name = "aperf"}, {.name = "tsc"}}},
	{"ref-cycles",
	 {{.hardware = PERF_COUNT_HW_REF_CPU_CYCLES},
	  {.hardware = PERF_COUNT_HW_CPU_CYCLES},
	  {.name = "tsc"}}},
};

struct nm_unhalted_window {
	const char *source; /* of the groups */
	size_t n_groups;
	int (*groups)[EVENTS];		/* descriptors, of each CPU; the first leads */
	struct nm_residency *residency; /* instead of these */
};

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
	char path[PATH_MAX], text[64];
	uint64_t config = 0;

	(void)snprintf(path, sizeof path, "%s/msr/type", pmus);
	if (nm_procfile_read(path, text, sizeof text) <= 0)
		return -ENOENT;
	attr->type = (uint32_t)strtoul(text, NULL, 10);
	(void)snprintf(path, sizeof path, "%s/msr/events/%s", pmus, name);
	if (nm_procfile_read(path, text, sizeof text) <= 0)
		return -ENOENT;
	int r = host__parse_event(text, &config);

	attr->config = config;
	return r;
}

static int open_event(const char *pmus, const struct event *event, unsigned cpu, int leader)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_HARDWARE,
				       .config = event->hardware,
				       .pinned = leader < 0,
				       .read_format = PERF_FORMAT_GROUP |
						      PERF_FORMAT_TOTAL_TIME_ENABLED |
						      PERF_FORMAT_TOTAL_TIME_RUNNING};
	int r = event->name ? find_event(pmus, event->name, &attr) : 0;

	if (r < 0)
		return r;
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int open_group(const char *pmus, const struct source *source, unsigned cpu, int *group)
{
	for (size_t i = 0; i < EVENTS; i++) {
		group[i] = open_event(pmus, &source->events[i], cpu, i ? group[0] : -1);
		if (group[i] >= 0)
			continue;
		int error = group[i];

		while (i > 0)
			(void)close(group[--i]);
		return error;
	}
	return 0;
}

static void close_groups(struct nm_unhalted_window *window)
{
	for (size_t i = 0; i < window->n_groups; i++)
		for (size_t k = 0; k < EVENTS; k++)
			(void)close(window->groups[i][k]);
	window->n_groups = 0;
}

static int open_groups(struct nm_unhalted_window *window, const char *pmus,
		       const struct source *source, const struct nm_cpu_list *cpus)
{
	for (size_t i = 0; i < cpus->count; i++) {
		int r = open_group(pmus, source, cpus->cpus[i], window->groups[i]);

		if (r < 0) {
			close_groups(window);
			return r;
		}
		window->n_groups++;
	}
	window->source = source->name;
	return 0;
}

/* The descriptors are the flows' first of all. */
static bool has_room(const struct nm_cpu_list *cpus)
{
	struct rlimit most;

	return getrlimit(RLIMIT_NOFILE, &most) == 0 &&
	       cpus->count * EVENTS <= most.rlim_cur / SPARE_SHARE;
}

static const char *reason(int error)
{
	return error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV ? "not offered"
	       : error == -EACCES || error == -EPERM			    ? "not permitted"
									    : strerror(-error);
}

static bool begin_groups(struct nm_unhalted_window *window, const char *pmus,
			 const struct nm_cpu_list *cpus, char *why, size_t why_size)
{
	size_t used = 0;

	window->groups = calloc(cpus->count, sizeof *window->groups);
	for (size_t i = 0; window->groups && i < sizeof sources / sizeof *sources; i++) {
		int r = has_room(cpus) ? open_groups(window, pmus, &sources[i], cpus) : -EMFILE;

		if (r == 0)
			return true;
		if (used < why_size)
			used += (size_t)snprintf(why + used, why_size - used, "%s: %s; ",
						 sources[i].name, reason(r));
	}
	return false;
}

struct nm_unhalted_window *host__unhalted_begin(const char *pmus, const char *cpus, char *why,
						size_t why_size)
{
	struct nm_unhalted_window *window = calloc(1, sizeof *window);
	struct nm_cpu_list list = {.count = 0};
	char path[PATH_MAX], text[4096];

	(void)snprintf(why, why_size, "out of memory");
	(void)snprintf(path, sizeof path, "%s/online", cpus);
	if (window && nm_procfile_read(path, text, sizeof text) <= 0) {
		(void)snprintf(why, why_size, "%s cannot be read", path);
	} else if (window) {
		text[strcspn(text, "\n")] = '\0';
		int r = nm_cpu_list_parse(text, &list);

		if (r < 0)
			(void)snprintf(why, why_size, "this process may not use all CPUs");
	}
	if (list.count && !begin_groups(window, pmus, &list, why, why_size)) {
		size_t used = strlen(why);

		window->residency = nm_residency_begin(cpus, &list, why + used, why_size - used);
	}
	nm_cpu_list_fini(&list);
	if (window && (window->n_groups || window->residency))
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
	if (group->count != EVENTS || group->enabled_ns == 0)
		return -EINVAL;
	if (group->running_ns < group->enabled_ns)
		return -EBUSY;
	sum->n_cpus++;
	sum->awake += group->values[0];
	sum->cycles += group->values[1];
	sum->all += group->values[2];
	return 0;
}

static int read_groups(const struct nm_unhalted_window *window, struct nm_unhalted *ret_unhalted)
{
	struct host__group group;

	for (size_t i = 0; i < window->n_groups; i++) {
		/* A pinned group that did not get the hardware gives nothing. */
		if (read(window->groups[i][0], &group, sizeof group) != (ssize_t)sizeof group)
			return -EBUSY;
		int r = host__add_group(&group, ret_unhalted);

		if (r < 0)
			return r;
	}
	return 0;
}

int nm_unhalted_end(struct nm_unhalted_window *window, struct nm_unhalted *ret_unhalted, char *why,
		    size_t why_size)
{
	struct nm_unhalted sum = {.n_cpus = 0};
	const char *source = window->residency ? "cpuidle" : window->source;
	int r = window->residency ? nm_residency_end(window->residency, &sum)
				  : read_groups(window, &sum);

	(void)snprintf(sum.source, sizeof sum.source, "%s", source);
	if (r == 0 && sum.all)
		*ret_unhalted = sum;
	else
		(void)snprintf(why, why_size, "%s: %s", source,
			       r == -EBUSY ? "other counters took the hardware"
			       : r < 0	   ? strerror(-r)
					   : "nothing was counted");
	nm_unhalted_drop(window);
	return r == 0 && sum.all ? 0 : r < 0 ? r : -ENODATA;
}

void nm_unhalted_drop(struct nm_unhalted_window *window)
{
	if (!window)
		return;
	close_groups(window);
	free(window->groups);
	(void)nm_residency_free(window->residency);
	free(window);
}
