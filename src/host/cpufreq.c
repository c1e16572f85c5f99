/* SPDX-License-Identifier: Apache-2.0 */
/* Frequencies as cpufreq has them, Documentation/admin-guide/pm/cpufreq.rst of Linux. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfile.h"
#include "host/usage_priv.h"

/* Of one CPU, in kHz; 0: there is none. */
static uint64_t read_khz(const char *dir, const char *cpu)
{
	char text[32];

	nm_procfile_line(text, sizeof text, "%s/%.16s/cpufreq/scaling_cur_freq", dir, cpu);
	return strtoull(text, NULL, 10);
}

bool host__read_cpufreq(const char *dir, struct nm_cpufreq *ret_cpufreq)
{
	struct nm_cpufreq found = {.n_cpus = 0};
	DIR *folder = opendir(dir);
	const struct dirent *entry;

	while (folder && found.n_cpus < HOST__CPUFREQ_MAX && (entry = readdir(folder))) {
		const char *number = entry->d_name + strlen("cpu");

		if (strncmp(entry->d_name, "cpu", strlen("cpu")) != 0 || *number < '0' ||
		    *number > '9')
			continue;
		uint64_t khz = read_khz(dir, entry->d_name);

		found.n_cpus += khz > 0;
		found.begin_khz += khz;
	}
	if (folder)
		(void)closedir(folder);
	found.end_khz = found.begin_khz;
	*ret_cpufreq = found;
	return found.n_cpus > 0;
}

void nm_usage_read_cpufreq(struct nm_usage *usage)
{
	usage->has_cpufreq = host__read_cpufreq("/sys/devices/system/cpu", &usage->cpufreq);
	(void)snprintf(usage->cpufreq_why, sizeof usage->cpufreq_why, "%s",
		       usage->has_cpufreq ? "" : "there is no cpufreq driver");
}

void nm_usage_copy_cpufreq(struct nm_usage *usage, const struct nm_usage *from)
{
	usage->has_cpufreq = from->has_cpufreq;
	usage->cpufreq = from->cpufreq;
	memcpy(usage->cpufreq_why, from->cpufreq_why, sizeof usage->cpufreq_why);
}
