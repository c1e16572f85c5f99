/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

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

void nm_cpu_list_fini(struct nm_cpu_list *list)
{
	free(list->cpus);
	*list = (struct nm_cpu_list){0};
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
