/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel measures the time of interrupts, or lets its ticks find them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "host/facts_priv.h"
#include "host/procfile.h"

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

enum host__built_in host__irq_time_built_in(const char *path)
{
	enum host__built_in found = HOST__NOT_KNOWN;
	gzFile file = gzopen(path, "r"); /* of plain text, too */
	char line[256];

	while (file && found != HOST__BUILT_IN && gzgets(file, line, sizeof line)) {
		/* Some machines measure all kinds of CPU time in any case. */
		if (begins(line, "CONFIG_IRQ_TIME_ACCOUNTING=y") ||
		    begins(line, "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y"))
			found = HOST__BUILT_IN;
		else if (begins(line, "# CONFIG_IRQ_TIME_ACCOUNTING is not set"))
			found = HOST__LEFT_OUT;
	}
	if (file)
		(void)gzclose(file);
	return found;
}

/* The ticks of interrupts, the sixth number of the first line of /proc/stat. */
static bool has_irq_ticks(const char *stat)
{
	unsigned long long ticks = 0;

	return sscanf(stat, "cpu %*u %*u %*u %*u %*u %llu", &ticks) == 1 && ticks > 0;
}

const char *host__irq_accounting(enum host__built_in built_in, const char *command_line,
				 const char *stat)
{
	if (built_in == HOST__LEFT_OUT ||
	    (built_in == HOST__BUILT_IN && strstr(command_line, "tsc=noirqtime")))
		return "off";
	/* Ticks hardly ever find an interrupt within another one. And a kernel that has it built in
	 * leaves it off where its clock is not good enough for it. */
	return has_irq_ticks(stat) ? "on" : "";
}

const char *host__read_irq_accounting(void)
{
	char command_line[2048], stat[512], path[256];
	enum host__built_in built_in = host__irq_time_built_in("/proc/config.gz");
	struct utsname names;

	if (built_in == HOST__NOT_KNOWN && uname(&names) == 0) {
		(void)snprintf(path, sizeof path, "/boot/config-%s", names.release);
		built_in = host__irq_time_built_in(path);
	}
	nm_procfile_line(command_line, sizeof command_line, "/proc/cmdline");
	nm_procfile_line(stat, sizeof stat, "/proc/stat");
	return host__irq_accounting(built_in, command_line, stat);
}
