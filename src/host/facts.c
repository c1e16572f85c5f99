/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts about this host, once before a run. */
#include "host/facts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/cpu_latency.h"
#include "host/facts_priv.h"
#include "host/procfile.h"

#define TEXT_SIZE 8192
#define CPUS	  "/sys/devices/system/cpu"

#define TEXT(member, ...)                                                                          \
	NM_FIELD_CHARS_OF(struct nm_host_facts, member, .figure = #member, __VA_ARGS__)

const struct nm_field nm_host_facts_fields[] = {
	{.name = "cpus",
	 .type = NM_FIELD_U32,
	 .max = INT32_MAX,
	 .offset = offsetof(struct nm_host_facts, n_cpus),
	 .figure = "cpus",
	 .doc = "That netmodel may use."},
	NM_FIELD(U64, struct nm_host_facts, memory_bytes, .unit = NM_UNIT_FACT,
		 .figure = "memory_bytes"),
	NM_FIELD(I64, struct nm_host_facts, cpu_latency_limit_us, .figure = "cpu_latency_limit_us",
		 .doc = "The longest that an idle CPU may take to wake up (/dev/cpu_dma_latency); "
			"2000000000: no limit; null: netmodel may not read it."),
	TEXT(hostname),
	TEXT(boot_id, .doc = "Of this boot of the machine (random(4)): two hosts that have one in "
			     "common are containers or namespaces of one machine."),
	TEXT(kernel),
	TEXT(machine),
	TEXT(os),
	TEXT(cpu_model),
	TEXT(clocksource),
	TEXT(congestion_control),
	TEXT(cpuidle_driver),
	TEXT(cpuidle_governor),
	TEXT(cpufreq_governor, .doc = "Of the first CPU."),
	TEXT(irq_accounting,
	     .doc = "on: the kernel measures the time of interrupts (CONFIG_IRQ_TIME_ACCOUNTING); "
		    "off: its ticks find them or do not."),
	NM_FIELD_END,
};

/* The rest of the line after the first `key` at the start of a line, without what `strip` names. */
static void value_of(const char *text, const char *key, const char *strip, char *buf, size_t size)
{
	const char *at = text;

	*buf = '\0';
	while (at && strncmp(at, key, strlen(key)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return;
	at += strlen(key);
	at += strspn(at, strip);
	size_t length = strcspn(at, "\n");

	while (length && strchr(strip, at[length - 1]))
		length--;
	snprintf(buf, size, "%.*s", (int)length, at);
}

static unsigned usable_cpus(void)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	return online > 0 ? (unsigned)online : 0;
}

void nm_host_facts_read(struct nm_host_facts *ret_facts)
{
	struct utsname names;
	char *text = calloc(1, TEXT_SIZE);
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	memset(ret_facts, 0, sizeof *ret_facts);
	if (uname(&names) == 0) {
		snprintf(ret_facts->hostname, sizeof ret_facts->hostname, "%s", names.nodename);
		snprintf(ret_facts->kernel, sizeof ret_facts->kernel, "%s", names.release);
		snprintf(ret_facts->machine, sizeof ret_facts->machine, "%s", names.machine);
	}
	if (text && nm_procfile_read("/etc/os-release", text, TEXT_SIZE) > 0)
		value_of(text, "PRETTY_NAME=", "\"", ret_facts->os, sizeof ret_facts->os);
	if (text && nm_procfile_read("/proc/cpuinfo", text, TEXT_SIZE) > 0)
		value_of(text, "model name", " \t:", ret_facts->cpu_model,
			 sizeof ret_facts->cpu_model);
	free(text);
	ret_facts->n_cpus = usable_cpus();
	ret_facts->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	ret_facts->cpu_latency_limit_us = nm_cpu_latency_limit_us();
#define LINE(member, path) nm_procfile_line(ret_facts->member, sizeof ret_facts->member, path)
	LINE(boot_id, "/proc/sys/kernel/random/boot_id");
	LINE(clocksource, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	LINE(congestion_control, "/proc/sys/net/ipv4/tcp_congestion_control");
	LINE(cpuidle_driver, CPUS "/cpuidle/current_driver");
	LINE(cpuidle_governor, CPUS "/cpuidle/current_governor");
	LINE(cpufreq_governor, CPUS "/cpu0/cpufreq/scaling_governor");
#undef LINE
	(void)snprintf(ret_facts->irq_accounting, sizeof ret_facts->irq_accounting, "%s",
		       host__read_irq_accounting());
}
