/* SPDX-License-Identifier: Apache-2.0 */
/* How often the limits of CPU of this process's control groups have held it back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfile.h"
#include "host/usage_priv.h"

#define ROOT "/sys/fs/cgroup"
#define MOST 4096 /* bytes of a file, and of a path */

static bool has_word(const char *list, size_t length, const char *word)
{
	size_t size = strlen(word);

	for (const char *end = list + length; list < end; list++) {
		size_t one = strcspn(list, ",:");

		if (one == size && strncmp(list, word, size) == 0)
			return true;
		list += one;
	}
	return false;
}

size_t host__parse_cgroup(const char *text, char *ret_path, size_t size)
{
	size_t root = 0;

	for (const char *line = text; *line; line += *line == '\n') {
		const char *list = strchr(line, ':'), *end = line + strcspn(line, "\n");
		const char *path = list ? strchr(list + 1, ':') : NULL;
		bool is_v2 = list && path == list + 1;

		line = end;
		if (!path || path > end)
			continue;
		list++;
		if (!is_v2 && !has_word(list, (size_t)(path - list), "cpu"))
			continue;
		root = strlen(ROOT) + (is_v2 ? 0 : 1 + (size_t)(path - list));
		if (path + 1 < end && end[-1] == '/') /* the root itself, which is read once */
			end--;
		snprintf(ret_path, size, ROOT "%s%.*s%.*s", is_v2 ? "" : "/", (int)(path - list),
			 list, (int)(end - path - 1), path + 1);
		if (!is_v2) /* where both are there, this one limits the CPU */
			break;
	}
	return root;
}

void host__parse_cpu_stat(const char *text, struct nm_throttling *add)
{
	char name[32];
	unsigned long long value;

	for (int used; sscanf(text, "%31s %llu%n", name, &value, &used) == 2; text += used) {
		if (strcmp(name, "nr_periods") == 0)
			add->periods += value;
		else if (strcmp(name, "nr_throttled") == 0)
			add->throttled += value;
		else if (strcmp(name, "throttled_time") == 0)
			add->throttled_ns += value;
		else if (strcmp(name, "throttled_usec") == 0)
			add->throttled_ns += value * 1000;
	}
}

/* The limit may be that of any group around this one; where the path is that of another namespace
 * the root alone is there. */
void host__read_throttling(struct nm_throttling *ret_throttling)
{
	char text[MOST], path[MOST];

	*ret_throttling = (struct nm_throttling){.periods = 0};
	if (nm_procfile_read("/proc/self/cgroup", text, sizeof text) < 0)
		return;
	size_t root = host__parse_cgroup(text, path, sizeof path);

	for (size_t length = root ? strlen(path) : 0; root && length >= root;) {
		path[length] = '\0';
		if (nm_procfile_readf(text, sizeof text, "%s/cpu.stat", path) >= 0)
			host__parse_cpu_stat(text, ret_throttling);
		while (length > root && path[length - 1] != '/')
			length--;
		if (length == root)
			return;
		length--;
	}
}
