/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of /proc or /sys whole. */
#include "host/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

long nm_procfile_read(const char *path, char *buf, size_t size)
{
	size_t used = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (used + 1 < size) {
		ssize_t n = read(fd, buf + used, size - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int error = errno;

			(void)close(fd);
			return -error;
		}
		if (n == 0)
			break;
		used += (size_t)n;
	}
	(void)close(fd);
	buf[used] = '\0';
	return (long)used;
}

unsigned long nm_procfile_somaxconn(void)
{
	char text[32];

	return nm_procfile_read("/proc/sys/net/core/somaxconn", text, sizeof text) > 0
		       ? strtoul(text, NULL, 10)
		       : 0;
}
