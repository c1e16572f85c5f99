/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of files of /proc; proc(5). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
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

/* A number that ends with a blank or its line; *text moves behind it. A number that is cut off is
 * an error. */
static int next_number(const char **text, uint64_t *ret_value)
{
	const char *word = *text + strspn(*text, " ");
	size_t length = strspn(word, "0123456789");

	if (!length || (word[length] != ' ' && word[length] != '\n'))
		return -EINVAL;
	*ret_value = strtoull(word, NULL, 10);
	*text = word + length;
	return 0;
}

/* "cpu1 28892 33552 ...", of which the eight classes come first. */
static int parse_cpu_load(const char *line, struct nm_cpu_load *ret_load)
{
	const char *text = line + strlen("cpu");
	uint64_t value = 0;

	if (next_number(&text, &value) < 0)
		return -EINVAL;
	ret_load->cpu = (uint32_t)value;
#define CLASS(member)                                                                              \
	if (next_number(&text, &value) < 0)                                                        \
		return -EINVAL;                                                                    \
	ret_load->member = (uint32_t)value;
	NM_CPU_CLASSES(CLASS)
#undef CLASS
	return 0;
}

int host__parse_cpu_loads(const char *text, struct nm_cpu_loads *ret_loads)
{
	*ret_loads->why = '\0';
	ret_loads->count = 0;
	if (strncmp(text, "cpu ", strlen("cpu ")) != 0)
		return -EINVAL;
	for (const char *line = next_line(text); strncmp(line, "cpu", strlen("cpu")) == 0;
	     line = next_line(line)) {
		if (ret_loads->count == NM_CPU_LOADS_MAX)
			return -E2BIG;
		if (parse_cpu_load(line, &ret_loads->items[ret_loads->count++]) < 0)
			return -EINVAL;
	}
	return ret_loads->count ? 0 : -EINVAL;
}

int host__parse_interrupts(const char *text, struct nm_interrupts *ret_interrupts)
{
	struct nm_interrupts found;
	bool has_intr = false, has_ctxt = false;

	for (const char *line = text; *line; line = next_line(line)) {
		const char *numbers = line + strlen("intr ");

		if (strncmp(line, "intr ", strlen("intr ")) == 0)
			has_intr = next_number(&numbers, &found.hardware) == 0;
		else if (strncmp(line, "ctxt ", strlen("ctxt ")) == 0)
			has_ctxt = next_number(&numbers, &found.context_switches) == 0;
	}
	if (!has_intr || !has_ctxt)
		return -EINVAL;
	/* Since it was started, no kernel can have had none. */
	if (!found.hardware || !found.context_switches)
		return -ENODATA;
	*ret_interrupts = found;
	return 0;
}

static void add_softirqs(struct nm_softirqs *sum, const char *name, size_t length, uint64_t count)
{
#define KERNELS_NAME(word, kernels, ours) kernels,
	static const char *const names[] = {NM_SOFTIRQS(KERNELS_NAME)};
#undef KERNELS_NAME
	static const char before_4_5[] = "BLOCK_IOPOLL";

	sum->total += count;
	if (length == strlen(before_4_5) && strncmp(name, before_4_5, length) == 0) {
		name = names[NM_SOFTIRQ_IRQ_POLL];
		length = strlen(name);
	}
	for (size_t i = 0; i < NM_N_SOFTIRQS; i++) {
		if (strlen(names[i]) != length || strncmp(name, names[i], length) != 0)
			continue;
		sum->kinds[i] += count;
		sum->known |= UINT32_C(1) << i;
	}
}

/* "      NET_RX:   859355282  475088038", a number for each CPU. */
static int parse_softirq(const char *line, struct nm_softirqs *sum)
{
	const char *name = line + strspn(line, " ");
	size_t length = strcspn(name, ":\n");
	const char *text = name + length + 1;
	uint64_t all = 0, one;

	if (!length || name[length] != ':')
		return -EINVAL;
	do {
		if (next_number(&text, &one) < 0)
			return -EINVAL;
		all += one;
		text += strspn(text, " ");
	} while (*text != '\n');
	add_softirqs(sum, name, length, all);
	return 0;
}

int host__parse_softirqs(const char *text, struct nm_softirqs *ret_softirqs)
{
	struct nm_softirqs sum = {.total = 0};

	/* The first line names the CPUs. */
	if (strncmp(text + strspn(text, " "), "CPU", 3) != 0)
		return -EINVAL;
	for (const char *line = next_line(text); *line; line = next_line(line))
		if (parse_softirq(line, &sum) < 0)
			return -EINVAL;
	if (!sum.known)
		return -EINVAL;
	if (!sum.total)
		return -ENODATA;
	*ret_softirqs = sum;
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

#define OLD_COLUMNS 11

/* The columns of one CPU; those that this does not know are passed over. */
static int add_softnet(const char *line, struct nm_softnet *sum)
{
	uint64_t columns[13] = {0};
	char *end;

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++, line = end + 1) {
		columns[i] = strtoull(line, &end, 16);
		if (end == line || (*end != ' ' && *end != '\n'))
			return -EINVAL;
		if (*end == '\n' && i < OLD_COLUMNS - 1)
			return -EINVAL;
		if (*end == '\n')
			break;
	}
	/* Kernels before 5.10 do not say which CPU it is: then only how many there are. */
	sum->which += nm_rng(0, columns[12]);
#define ADD(member, column, what) sum->member += columns[column];
	NM_SOFTNET_COUNTERS(ADD)
#undef ADD
	return 0;
}

int host__parse_softnet(const char *text, struct nm_softnet *ret_softnet)
{
	struct nm_softnet sum = {.processed = 0};

	if (!*text)
		return -EINVAL;
	for (const char *line = text; *line; line = next_line(line))
		if (add_softnet(line, &sum) < 0)
			return -EINVAL;
	*ret_softnet = sum;
	return 0;
}

int64_t host__parse_pressure(const char *text, const char *kind)
{
	size_t length = strlen(kind);

	for (const char *line = text; *line; line = next_line(line)) {
		const char *total = strstr(line, " total=");
		uint64_t us;

		if (strncmp(line, kind, length) != 0 || line[length] != ' ' || !total)
			continue;
		total += strlen(" total=");
		if (next_number(&total, &us) == 0 && us <= INT64_MAX / 1000)
			return (int64_t)us * 1000;
	}
	return -1;
}

int host__parse_tcp(const char *text, const char *group, struct nm_tcp_counters *ret)
{
	static const struct {
		const char *group, *word;
		size_t offset;
		bool is_later;
	} counters[] = {
#define COUNTER(member, group_, word_, ...)                                                        \
	{group_, word_, offsetof(struct nm_tcp_counters, member), false},
		NM_TCP_COUNTERS(COUNTER)
#undef COUNTER
#define COUNTER(member, group_, word_, ...)                                                        \
	{group_, word_, offsetof(struct nm_tcp_counters, member), true},
			NM_TCP_LATER_COUNTERS(COUNTER)
#undef COUNTER
	};

	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
		void *to = (char *)ret + counters[i].offset;
		uint64_t value = 0;

		if (strcmp(counters[i].group, group) != 0)
			continue;
		int r = host__parse_snmp(text, group, counters[i].word, &value);

		if (r < 0 && !counters[i].is_later)
			return r;
		if (counters[i].is_later)
			*(int64_t *)to = r < 0 || value > INT64_MAX ? -1 : (int64_t)value;
		else
			*(uint64_t *)to = value;
	}
	return 0;
}
