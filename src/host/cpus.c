/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPUS 8192

static int parse_cpu(const char **text, unsigned *ret_cpu)
{
	unsigned cpu = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	/* Too large stays too large, so that a wrong form after it is still seen. */
	for (; *p >= '0' && *p <= '9'; p++) {
		cpu = cpu * 10 + (unsigned)(*p - '0');
		if (cpu > MAX_CPUS)
			cpu = MAX_CPUS;
	}
	*text = p;
	*ret_cpu = cpu;
	return 0;
}

/* Calls add for each CPU of the list, in its order. */
static int walk(const char *text, int (*add)(unsigned cpu, void *arg), void *arg)
{
	for (;;) {
		unsigned first, last;
		int r = parse_cpu(&text, &first);

		last = first;
		if (r == 0 && *text == '-') {
			text++;
			r = parse_cpu(&text, &last);
		}
		if (r == 0 && last < first)
			r = -EINVAL;
		for (unsigned cpu = first; r == 0 && cpu <= last; cpu++)
			r = add(cpu, arg);
		if (r < 0)
			return r;
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

static int add_none(unsigned cpu, void *arg)
{
	(void)cpu;
	(void)arg;
	return 0;
}

int nm_cpu_list_check_form(const char *text)
{
	return walk(text, add_none, NULL);
}

struct adding {
	struct nm_cpu_list *list;
	const cpu_set_t *allowed;
	size_t allowed_size;
};

static int add_cpu(unsigned cpu, void *arg)
{
	struct adding *adding = arg;
	struct nm_cpu_list *list = adding->list;

	if (!CPU_ISSET_S(cpu, adding->allowed_size, adding->allowed))
		return -ERANGE;
	if (list->count == MAX_CPUS)
		return -EINVAL;
	unsigned *cpus = realloc(list->cpus, (list->count + 1) * sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	list->cpus = cpus;
	cpus[list->count++] = cpu;
	return 0;
}

int nm_cpu_list_parse(const char *text, struct nm_cpu_list *ret_list)
{
	struct nm_cpu_list list = {0};
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *allowed = CPU_ALLOC(MAX_CPUS);

	if (!allowed)
		return -ENOMEM;
	CPU_ZERO_S(size, allowed);
	int r = sched_getaffinity(0, size, allowed) < 0 ? -errno : 0;
	struct adding adding = {.list = &list, .allowed = allowed, .allowed_size = size};

	/* A wrong form is that, whatever CPUs stand before it. */
	if (r == 0)
		r = nm_cpu_list_check_form(text);
	if (r == 0)
		r = walk(text, add_cpu, &adding);
	CPU_FREE(allowed);
	if (r < 0) {
		nm_cpu_list_fini(&list);
		return r;
	}
	*ret_list = list;
	return 0;
}

/* "0-3,8": the CPUs of a set. */
static void print_set(const cpu_set_t *set, size_t set_size, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (unsigned cpu = 0; cpu < MAX_CPUS && used < size; cpu++) {
		unsigned last = cpu;

		if (!CPU_ISSET_S(cpu, set_size, set))
			continue;
		while (last + 1 < MAX_CPUS && CPU_ISSET_S(last + 1, set_size, set))
			last++;
		used += (size_t)snprintf(buf + used, size - used, "%s%u", used ? "," : "", cpu);
		if (last > cpu && used < size)
			used += (size_t)snprintf(buf + used, size - used, "-%u", last);
		cpu = last;
	}
}

struct search {
	const cpu_set_t *allowed;
	size_t allowed_size;
	unsigned missing;
};

static int find_missing(unsigned cpu, void *arg)
{
	struct search *search = arg;

	if (CPU_ISSET_S(cpu, search->allowed_size, search->allowed))
		return 0;
	search->missing = cpu;
	return -ERANGE;
}

void nm_cpu_list_explain(const char *text, int error, char *why, size_t why_size)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *allowed = error == -ERANGE ? CPU_ALLOC(MAX_CPUS) : NULL;
	char list[256];

	if (error == -EINVAL)
		snprintf(why, why_size, "not a list of CPUs: numbers and ranges, as 0-3,8");
	else
		snprintf(why, why_size, "%s", strerror(-error));
	if (!allowed)
		return;
	CPU_ZERO_S(size, allowed);
	struct search search = {.allowed = allowed, .allowed_size = size};

	if (sched_getaffinity(0, size, allowed) == 0 &&
	    walk(text, find_missing, &search) == -ERANGE) {
		print_set(allowed, size, list, sizeof list);
		snprintf(why, why_size,
			 "there is no CPU %u here, or it may not be used; allowed are %s",
			 search.missing, list);
	}
	CPU_FREE(allowed);
}

void nm_cpu_list_fini(struct nm_cpu_list *list)
{
	free(list->cpus);
	*list = (struct nm_cpu_list){0};
}

unsigned nm_cpu_count(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;

	return count > 0 ? (unsigned)count : 1;
}

int nm_cpu_bind_self(unsigned cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	int r = sched_setaffinity(0, size, set) < 0 ? -errno : 0;

	CPU_FREE(set);
	return r;
}
