/* SPDX-License-Identifier: Apache-2.0 */
/* How many descriptors and how much memory this process may have. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/facts.h"
#include "host/procfile.h"

int nm_raise_nofile(uint64_t needed, uint64_t *ret_limit)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur >= needed)
		return 0;
	if (limit.rlim_max < needed) {
		const struct rlimit wanted = {.rlim_cur = needed, .rlim_max = needed};

		if (setrlimit(RLIMIT_NOFILE, &wanted) == 0)
			return 0;
		*ret_limit = limit.rlim_max;
		return -EMFILE;
	}
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return 0;
	*ret_limit = limit.rlim_cur;
	return -EMFILE;
}

int nm_check_nofile(uint64_t needed, uint64_t *ret_limit)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur >= needed)
		return 0;
	*ret_limit = limit.rlim_cur;
	return -EMFILE;
}

/* The bytes that count against RLIMIT_DATA now. */
static uint64_t data_bytes(void)
{
	char text[4096];

	if (nm_procfile_read("/proc/self/status", text, sizeof text) < 0)
		return 0;
	const char *at = strstr(text, "\nVmData:");

	return at ? strtoull(at + strlen("\nVmData:"), NULL, 10) * 1024 : 0;
}

int nm_limit_memory(uint64_t more_bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) < 0)
		return -errno;
	uint64_t most = data_bytes() + more_bytes;

	if (most < limit.rlim_cur)
		limit.rlim_cur = most;
	if (most < limit.rlim_max)
		limit.rlim_max = most;
	return setrlimit(RLIMIT_DATA, &limit) < 0 ? -errno : 0;
}

uint64_t nm_half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 0;
}
