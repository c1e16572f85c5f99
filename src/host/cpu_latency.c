/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel to keep idle CPUs from sleeping deeply. */
#include "host/cpu_latency.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/major.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/procfile.h"

#define DEVICE "/dev/cpu_dma_latency"
#define DRIVER "/sys/devices/system/cpu/cpuidle/current_driver"

/* Without a driver of idle states nobody looks at the limit. */
static int check_driver(char *why, size_t why_size)
{
	char driver[64];
	long length = nm_procfile_read(DRIVER, driver, sizeof driver);

	if (length > 0 && strcmp(driver, "none\n") != 0)
		return 0;
	snprintf(why, why_size,
		 "this host has no cpuidle driver, and so no say in how its CPUs idle (idle=poll "
		 "on the kernel's command line is all that keeps them awake)");
	return -EOPNOTSUPP;
}

/* The limit in force, or -1: the file is not the device, but one that a container has been given
 * instead. */
static int64_t read_limit(int fd)
{
	struct stat is;
	int32_t limit_us;

	if (fstat(fd, &is) < 0 || !S_ISCHR(is.st_mode) || major(is.st_rdev) != MISC_MAJOR ||
	    pread(fd, &limit_us, sizeof limit_us, 0) != sizeof limit_us || limit_us < 0)
		return -1;
	return limit_us;
}

static int fail(int fd, int error, char *why, size_t why_size)
{
	bool denied = (error == EACCES || error == EPERM) && geteuid() != 0;

	if (fd >= 0)
		(void)close(fd);
	snprintf(why, why_size, DEVICE ": %s%s",
		 error == ENOTTY ? "not the device of that name" : strerror(error),
		 denied		   ? " (root may, or who may read and write it)"
		 : error == ENOENT ? " (containers must be given it)"
				   : "");
	return -error;
}

static int open_device(char *why, size_t why_size)
{
	int r = check_driver(why, why_size);

	if (r < 0)
		return r;
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return fail(fd, errno, why, why_size);
	return read_limit(fd) < 0 ? fail(fd, ENOTTY, why, why_size) : fd;
}

int nm_cpu_latency_check(char *why, size_t why_size)
{
	int fd = open_device(why, why_size);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}

int nm_cpu_latency_open(char *why, size_t why_size)
{
	const int32_t most_us = 0;
	int fd = open_device(why, why_size);

	if (fd < 0)
		return fd;
	if (write(fd, &most_us, sizeof most_us) != sizeof most_us)
		return fail(fd, errno, why, why_size);
	return read_limit(fd) != most_us ? fail(fd, ENOTTY, why, why_size) : fd;
}

int64_t nm_cpu_latency_limit_us(void)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	int64_t limit_us = read_limit(fd);

	(void)close(fd);
	return limit_us;
}
