/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of /proc means; proc(5). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/usage_priv.h"

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

int host__parse_stat(const char *text, long ticks_per_s, struct nm_cpu_times *ret_cpu)
{
	unsigned long long t[8];
	uint64_t tick_ns = ticks_per_s > 0 ? UINT64_C(1000000000) / (uint64_t)ticks_per_s : 0;
	unsigned n_cpus = 0;

	if (!tick_ns || strncmp(text, "cpu ", 4) != 0 ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
		   &t[4], &t[5], &t[6], &t[7]) != 8)
		return -EINVAL;
	for (const char *line = next_line(text); strncmp(line, "cpu", 3) == 0;
	     line = next_line(line))
		n_cpus++;
	*ret_cpu = (struct nm_cpu_times){.user_ns = t[0] * tick_ns,
					 .nice_ns = t[1] * tick_ns,
					 .system_ns = t[2] * tick_ns,
					 .idle_ns = t[3] * tick_ns,
					 .iowait_ns = t[4] * tick_ns,
					 .irq_ns = t[5] * tick_ns,
					 .softirq_ns = t[6] * tick_ns,
					 .steal_ns = t[7] * tick_ns,
					 .n_cpus = n_cpus};
	return 0;
}

/* The word after *text, and its length; *text moves behind it. */
static const char *next_word(const char **text, size_t *ret_length)
{
	const char *word = *text + strspn(*text, " ");

	*ret_length = strcspn(word, " \n");
	*text = word + *ret_length;
	return word;
}

/* Both lines begin with "Group:". */
static int find_value(const char *names, const char *values, const char *name, uint64_t *ret_value)
{
	for (;;) {
		size_t name_length, value_length;
		const char *n = next_word(&names, &name_length);
		const char *v = next_word(&values, &value_length);

		if (!name_length || !value_length)
			return -EINVAL;
		if (name_length == strlen(name) && strncmp(n, name, name_length) == 0) {
			*ret_value = strtoull(v, NULL, 10);
			return 0;
		}
	}
}

int host__parse_snmp(const char *text, const char *group, const char *name, uint64_t *ret_value)
{
	size_t length = strlen(group);

	for (const char *line = text; *line; line = next_line(line)) {
		const char *values = next_line(line);

		if (strncmp(line, group, length) == 0 && line[length] == ':' &&
		    strncmp(values, group, length) == 0)
			return find_value(line, values, name, ret_value);
	}
	return -EINVAL;
}
