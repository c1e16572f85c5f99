/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of CPUs as users write them, and placing threads on them. */
#include "host/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfile.h"

#define MAX_CPUS  8192
#define MAX_NODES 1024
#define BY_NODES  "nodes"

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
	return strcmp(text, BY_NODES) == 0 ? 0 : walk(text, add_none, NULL);
}

/* The CPUs that this thread may use. */
struct allowed {
	cpu_set_t *set; /* owned */
	size_t size;
};

/* 0 or -errno; *ret is to be freed by CPU_FREE in either case. */
static int find_allowed(struct allowed *ret)
{
	*ret = (struct allowed){CPU_ALLOC(MAX_CPUS), CPU_ALLOC_SIZE(MAX_CPUS)};
	if (!ret->set)
		return -ENOMEM;
	CPU_ZERO_S(ret->size, ret->set);
	return sched_getaffinity(0, ret->size, ret->set) < 0 ? -errno : 0;
}

static bool is_allowed(const struct allowed *allowed, unsigned cpu)
{
	return CPU_ISSET_S(cpu, allowed->size, allowed->set);
}

struct adding {
	struct nm_cpu_list *list;
	const struct allowed *allowed;
};

static int append(struct nm_cpu_list *list, unsigned cpu)
{
	if (list->count == MAX_CPUS)
		return -EINVAL;
	unsigned *cpus = realloc(list->cpus, (list->count + 1) * sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	list->cpus = cpus;
	cpus[list->count++] = cpu;
	return 0;
}

static int add_cpu(unsigned cpu, void *arg)
{
	struct adding *adding = arg;

	if (!is_allowed(adding->allowed, cpu))
		return -ERANGE;
	return append(adding->list, cpu);
}

static int add_allowed(unsigned cpu, void *arg)
{
	int r = add_cpu(cpu, arg);

	return r == -ERANGE ? 0 : r;
}

#define FILE_TEXT 4096 /* of a list in /sys */

/* Calls add for each number of a list, which may be empty. */
static int walk_listed(const char *text, int (*add)(unsigned number, void *arg), void *arg)
{
	return *text ? walk(text, add, arg) : 0;
}

struct nodes {
	const char *dir;
	struct allowed allowed;
	struct nm_cpu_list lists[MAX_NODES]; /* of the nodes with CPUs that may be used */
	size_t count;
};

static int add_node(unsigned node, void *arg)
{
	struct nodes *nodes = arg;

	if (nodes->count == MAX_NODES)
		return 0;
	struct nm_cpu_list *list = &nodes->lists[nodes->count];
	struct adding adding = {.list = list, .allowed = &nodes->allowed};
	char text[FILE_TEXT];

	nm_procfile_line(text, sizeof text, "%s/node%u/cpulist", nodes->dir, node);
	int r = walk_listed(text, add_allowed, &adding);

	nodes->count += list->count > 0;
	return r;
}

/* A node with fewer CPUs than another begins again with its first. */
static int deal(const struct nodes *nodes, struct nm_cpu_list *list)
{
	size_t most = 0;
	int r = 0;

	for (size_t n = 0; n < nodes->count; n++)
		if (nodes->lists[n].count > most)
			most = nodes->lists[n].count;
	for (size_t i = 0; i < most * nodes->count && i < MAX_CPUS && r == 0; i++) {
		const struct nm_cpu_list *node = &nodes->lists[i % nodes->count];

		r = append(list, node->cpus[i / nodes->count % node->count]);
	}
	return r;
}

static int find_nodes(struct nodes *nodes)
{
	struct adding all = {.list = &nodes->lists[0], .allowed = &nodes->allowed};
	char text[FILE_TEXT];

	nm_procfile_line(text, sizeof text, "%s/online", nodes->dir);
	int r = walk_listed(text, add_node, nodes);

	if (r == 0 && nodes->count == 0) {
		for (unsigned cpu = 0; cpu < MAX_CPUS && r == 0; cpu++)
			r = add_allowed(cpu, &all);
		nodes->count = 1;
	}
	return r;
}

int nm_cpu_list_of_nodes(const char *dir, struct nm_cpu_list *ret_list)
{
	struct nm_cpu_list list = {0};
	struct nodes *nodes = calloc(1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	nodes->dir = dir;
	int r = find_allowed(&nodes->allowed);

	if (r == 0)
		r = find_nodes(nodes);
	if (r == 0)
		r = deal(nodes, &list);
	for (size_t i = 0; i < MAX_NODES; i++)
		nm_cpu_list_fini(&nodes->lists[i]);
	CPU_FREE(nodes->allowed.set);
	free(nodes);
	if (r < 0)
		nm_cpu_list_fini(&list);
	else
		*ret_list = list;
	return r;
}

static int add_any(unsigned cpu, void *arg)
{
	return append(arg, cpu);
}

int nm_cpu_list_read(const char *path, struct nm_cpu_list *ret_list)
{
	const size_t size = 6 * MAX_CPUS; /* "8191," of every other CPU, and some room */
	struct nm_cpu_list list = {0};
	char *text = malloc(size);
	long n = text ? nm_procfile_read(path, text, size) : -ENOMEM;
	int r = n < 0 ? (int)n : -EINVAL;

	if (n > 0) {
		text[strcspn(text, "\n")] = '\0';
		r = walk(text, add_any, &list);
	}
	free(text);
	if (r < 0)
		nm_cpu_list_fini(&list);
	*ret_list = list;
	return r;
}

int nm_cpu_list_parse(const char *text, struct nm_cpu_list *ret_list)
{
	if (strcmp(text, BY_NODES) == 0)
		return nm_cpu_list_of_nodes(NM_CPU_NODES, ret_list);
	struct nm_cpu_list list = {0};
	struct allowed allowed;
	struct adding adding = {.list = &list, .allowed = &allowed};
	int r = find_allowed(&allowed);

	/* A wrong form is reported as such, no matter which CPUs stand before it. */
	if (r == 0)
		r = nm_cpu_list_check_form(text);
	if (r == 0)
		r = walk(text, add_cpu, &adding);
	CPU_FREE(allowed.set);
	if (r < 0)
		nm_cpu_list_fini(&list);
	else
		*ret_list = list;
	return r;
}

/* "0-3,8" */
static void print_allowed(const struct allowed *allowed, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (unsigned cpu = 0; cpu < MAX_CPUS && used < size; cpu++) {
		unsigned last = cpu;

		if (!is_allowed(allowed, cpu))
			continue;
		while (last + 1 < MAX_CPUS && is_allowed(allowed, last + 1))
			last++;
		used += (size_t)snprintf(buf + used, size - used, "%s%u", used ? "," : "", cpu);
		if (last > cpu && used < size)
			used += (size_t)snprintf(buf + used, size - used, "-%u", last);
		cpu = last;
	}
}

struct search {
	struct allowed allowed;
	unsigned missing;
};

static int find_missing(unsigned cpu, void *arg)
{
	struct search *search = arg;

	if (is_allowed(&search->allowed, cpu))
		return 0;
	search->missing = cpu;
	return -ERANGE;
}

void nm_cpu_list_explain(const char *text, int error, char *why, size_t why_size)
{
	struct search search;
	char list[256];

	if (error == -EINVAL)
		snprintf(why, why_size,
			 "not a list of CPUs: numbers and ranges, as 0-3,8; or nodes");
	else
		snprintf(why, why_size, "%s", strerror(-error));
	if (error != -ERANGE)
		return;
	if (find_allowed(&search.allowed) == 0 && walk(text, find_missing, &search) == -ERANGE) {
		print_allowed(&search.allowed, list, sizeof list);
		snprintf(why, why_size,
			 "there is no CPU %u here, or it may not be used; allowed are %s",
			 search.missing, list);
	}
	CPU_FREE(search.allowed.set);
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
