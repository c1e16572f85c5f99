/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the times of idle states. */
#include "host/residency.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/procfile.h"

#define MAX_STATES 32
#define MAX_CPUS   8192

struct reading {
	uint64_t at_ns, asleep_ns;
};

struct nm_residency {
	char dir[128];
	struct nm_cpu_list cpus;
	struct reading readings[];
};

static long read_state(const char *dir, unsigned cpu, unsigned state, const char *what, char *text,
		       size_t size)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s/cpu%u/cpuidle/state%u/%s", dir, cpu, state, what);
	return nm_procfile_read(path, text, size);
}

/* A CPU in the state POLL runs, and looks for work all the time. */
static int read_cpu(const char *dir, unsigned cpu, struct reading *ret_reading)
{
	char text[64];
	bool sleeps = false;

	*ret_reading = (struct reading){.at_ns = nm_clock_ns()};
	for (unsigned state = 0; state < MAX_STATES; state++) {
		if (read_state(dir, cpu, state, "name", text, sizeof text) < 0)
			break;
		if (strncmp(text, "POLL", 4) == 0)
			continue;
		if (read_state(dir, cpu, state, "time", text, sizeof text) < 0)
			return -ENODATA;
		sleeps = true;
		ret_reading->asleep_ns += strtoull(text, NULL, 10) * 1000;
	}
	return sleeps ? 0 : -ENODATA;
}

/* Visits all CPUs, and comes back to those where the thread may run. */
static int read_all(const struct nm_residency *residency, struct reading *readings)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *home = CPU_ALLOC(MAX_CPUS);
	int r = home ? 0 : -ENOMEM;

	if (r == 0) {
		CPU_ZERO_S(size, home);
		r = sched_getaffinity(0, size, home) < 0 ? -errno : 0;
	}
	for (size_t i = 0; r == 0 && i < residency->cpus.count; i++) {
		r = nm_cpu_bind_self(residency->cpus.cpus[i]);
		if (r == 0)
			r = read_cpu(residency->dir, residency->cpus.cpus[i], &readings[i]);
		(void)sched_setaffinity(0, size, home);
	}
	CPU_FREE(home);
	return r;
}

struct nm_residency *nm_residency_begin(const char *dir, const struct nm_cpu_list *cpus, char *why,
					size_t why_size)
{
	struct nm_residency *residency =
		calloc(1, sizeof *residency + cpus->count * sizeof *residency->readings);
	unsigned *numbers = calloc(cpus->count, sizeof *numbers);
	int r = residency && numbers ? 0 : -ENOMEM;

	if (r == 0) {
		(void)snprintf(residency->dir, sizeof residency->dir, "%s", dir);
		memcpy(numbers, cpus->cpus, cpus->count * sizeof *numbers);
		residency->cpus = (struct nm_cpu_list){numbers, cpus->count};
		numbers = NULL;
		r = read_all(residency, residency->readings);
	}
	free(numbers);
	if (r == 0)
		return residency;
	(void)snprintf(why, why_size, "cpuidle: %s",
		       r == -ENODATA ? "no idle states" : strerror(-r));
	return nm_residency_free(residency);
}

int nm_residency_end(struct nm_residency *residency, struct nm_unhalted *ret_unhalted)
{
	size_t count = residency->cpus.count;
	struct reading *after = calloc(count, sizeof *after);
	int r = after ? read_all(residency, after) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct reading *from = &residency->readings[i], *to = &after[i];
		uint64_t all_ns = to->at_ns - from->at_ns;
		uint64_t asleep_ns =
			to->asleep_ns > from->asleep_ns ? to->asleep_ns - from->asleep_ns : 0;

		ret_unhalted->all += all_ns;
		ret_unhalted->awake += all_ns > asleep_ns ? all_ns - asleep_ns : 0;
	}
	free(after);
	ret_unhalted->n_cpus = (uint32_t)count;
	return r;
}

struct nm_residency *nm_residency_free(struct nm_residency *residency)
{
	if (residency)
		nm_cpu_list_fini(&residency->cpus);
	free(residency);
	return NULL;
}
