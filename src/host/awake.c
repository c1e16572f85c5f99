/* SPDX-License-Identifier: Apache-2.0 */
#include "host/awake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/facts.h"

#define DEVICE "/dev/cpu_dma_latency"

/* Without a driver of idle states nobody looks at the limit. */
static int check_driver(char *why, size_t why_size)
{
	struct nm_host_facts facts;

	nm_host_facts_read(&facts);
	if (*facts.cpuidle_driver && strcmp(facts.cpuidle_driver, "none") != 0)
		return 0;
	snprintf(why, why_size,
		 "no cpuidle driver, and so no say in how CPUs idle (idle=poll on the kernel's "
		 "command line is all that keeps them awake)");
	return -EOPNOTSUPP;
}

int nm_cpus_keep_awake(char *why, size_t why_size)
{
	const int32_t most_us = 0;
	int r = check_driver(why, why_size);

	if (r < 0)
		return r;
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, &most_us, sizeof most_us) == sizeof most_us)
		return fd;
	r = -errno;
	if (fd >= 0)
		(void)close(fd);
	snprintf(why, why_size, "%s: %s%s", DEVICE, strerror(-r),
		 r == -ENOENT		       ? " (containers must be given it)"
		 : r == -EACCES || r == -EPERM ? " (it takes root, or write permission)"
					       : "");
	return r;
}
