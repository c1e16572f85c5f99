/* SPDX-License-Identifier: Apache-2.0 */
/* How many descriptors this process may have. */
#include <errno.h>
#include <sys/resource.h>

#include "host/facts.h"

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
