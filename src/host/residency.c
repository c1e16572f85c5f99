/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the times of idle states. */
#include "host/residency.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/procfile.h"

#define MAX_STATES 32
#define STATE	   "%s/cpu%u/cpuidle/state%u/"

struct reading {
	uint64_t at_ns, asleep_ns;
};

struct nm_residency {
	const char *dir;
	const struct nm_cpu_list *cpus;
	struct reading *before, *now; /* of each CPU */
	int error;		      /* of the last visit */
};

/* A CPU in these states runs, and looks for work all the time; the second is POWER's. */
static bool polls(const char *name)
{
	return strncmp(name, "POLL", 4) == 0 || strncmp(name, "snooze", 6) == 0;
}

static int read_cpu(const char *dir, unsigned cpu, struct reading *ret_reading)
{
	char text[64];
	bool sleeps = false;

	*ret_reading = (struct reading){.at_ns = nm_clock_ns()};
	for (unsigned state = 0; state < MAX_STATES; state++) {
		if (nm_procfile_readf(text, sizeof text, STATE "name", dir, cpu, state) < 0)
			break;
		if (polls(text))
			continue;
		if (nm_procfile_readf(text, sizeof text, STATE "time", dir, cpu, state) < 0)
			return -ENODATA;
		sleeps = true;
		ret_reading->asleep_ns += strtoull(text, NULL, 10) * 1000;
	}
	return sleeps ? 0 : -ENODATA;
}

static void *visit(void *arg)
{
	struct nm_residency *residency = arg;

	residency->error = 0;
	for (size_t i = 0; residency->error == 0 && i < residency->cpus->count; i++) {
		unsigned cpu = residency->cpus->cpus[i];

		residency->error = nm_cpu_bind_self(cpu);
		if (residency->error == 0)
			residency->error = read_cpu(residency->dir, cpu, &residency->now[i]);
	}
	return NULL;
}

/* Where threads of a real-time policy have a CPU to themselves, a visitor would wait for ever; and
 * one of SCHED_IDLE for long where a CPU has other work. */
static int visit_all(struct nm_residency *residency)
{
	const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	pthread_t thread;

	if (policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE)
		return -EPERM;
	if (policy == SCHED_IDLE)
		return -EBUSY;
	int r = pthread_create(&thread, NULL, visit, residency);

	if (r)
		return -r;
	(void)pthread_join(thread, NULL);
	return residency->error;
}

struct nm_residency *nm_residency_begin(const char *dir, const struct nm_cpu_list *cpus, char *why,
					size_t why_size)
{
	struct nm_residency *residency = calloc(1, sizeof *residency);
	int r = -ENOMEM;

	if (residency) {
		*residency =
			(struct nm_residency){.dir = dir,
					      .cpus = cpus,
					      .before = calloc(cpus->count, sizeof(struct reading)),
					      .now = calloc(cpus->count, sizeof(struct reading))};
		/* Without a visit at first: most machines have none, and no CPU is disturbed. */
		if (residency->before && residency->now)
			r = read_cpu(dir, cpus->cpus[0], residency->now);
		if (r == 0)
			r = visit_all(residency);
	}
	if (r == 0) {
		memcpy(residency->before, residency->now, cpus->count * sizeof *residency->before);
		return residency;
	}
	(void)snprintf(why, why_size, "cpuidle: %s",
		       r == -ENODATA  ? "no idle states"
		       : r == -EINVAL ? "not on all CPUs may it run"
		       : r == -EPERM  ? "not by a real-time policy"
		       : r == -EBUSY  ? "not by SCHED_IDLE, which CPUs with other work keep waiting"
				      : strerror(-r));
	return nm_residency_free(residency);
}

int nm_residency_end(struct nm_residency *residency, struct nm_unhalted *ret_unhalted)
{
	int r = visit_all(residency);

	for (size_t i = 0; r == 0 && i < residency->cpus->count; i++) {
		const struct reading *from = &residency->before[i], *to = &residency->now[i];
		uint64_t all_ns = to->at_ns - from->at_ns;
		uint64_t asleep_ns =
			to->asleep_ns > from->asleep_ns ? to->asleep_ns - from->asleep_ns : 0;

		ret_unhalted->ns += all_ns;
		ret_unhalted->all += all_ns;
		ret_unhalted->awake += all_ns > asleep_ns ? all_ns - asleep_ns : 0;
	}
	return r;
}

struct nm_residency *nm_residency_free(struct nm_residency *residency)
{
	if (residency) {
		free(residency->before);
		free(residency->now);
	}
	free(residency);
	return NULL;
}
