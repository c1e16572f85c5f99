/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of /proc or /sys whole. */
#include "host/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static long vread(char *buf, size_t size, const char *fmt, va_list args)
{
	char path[PATH_MAX];

	return vsnprintf(path, sizeof path, fmt, args) < (int)sizeof path
		       ? nm_procfile_read(path, buf, size)
		       : -ENAMETOOLONG;
}

long nm_procfile_readf(char *buf, size_t size, const char *path, ...)
{
	va_list args;

	va_start(args, path);
	long n = vread(buf, size, path, args);

	va_end(args);
	return n;
}

void nm_procfile_line(char *buf, size_t size, const char *path, ...)
{
	va_list args;

	va_start(args, path);
	if (vread(buf, size, path, args) < 0)
		*buf = '\0';
	va_end(args);
	buf[strcspn(buf, "\n")] = '\0';
}

uint64_t nm_procfile_number(uint64_t otherwise, const char *path, ...)
{
	char text[32];
	va_list args;

	va_start(args, path);
	long n = vread(text, sizeof text, path, args);

	va_end(args);
	return n > 0 ? strtoull(text, NULL, 10) : otherwise;
}

unsigned long nm_procfile_somaxconn(void)
{
	return nm_procfile_number(0, "/proc/sys/net/core/somaxconn");
}

unsigned long nm_procfile_ports(void)
{
	char text[64], *end;

	if (nm_procfile_read("/proc/sys/net/ipv4/ip_local_port_range", text, sizeof text) <= 0)
		return 0;
	unsigned long first = strtoul(text, &end, 10), last = strtoul(end, NULL, 10);

	return last >= first ? last - first + 1 : 0;
}

char *nm_procfile_no_port(char *buf, size_t size)
{
	static const char words[] =
		"no port of this host is free (sysctl net.ipv4.ip_local_port_range";
	unsigned long ports = nm_procfile_ports();

	if (ports)
		(void)snprintf(buf, size, "%s has %lu)", words, ports);
	else
		(void)snprintf(buf, size, "%s)", words);
	return buf;
}
