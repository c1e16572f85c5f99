/* SPDX-License-Identifier: Apache-2.0 */
/* What may be the path of a request. */
#include "app/paths.h"

#include <string.h>

const char *nm_path_check(const char *path, size_t n, size_t *ret_at)
{
	size_t at = 0;

	*ret_at = 0;
	if (!n || *path != '/')
		return "must begin with /";
	*ret_at = NM_HTTP_PATH_MAX;
	if (n > NM_HTTP_PATH_MAX)
		return "must have 1024 bytes at most";
	while (at < n && path[at] > ' ' && path[at] < 127 && path[at] != '#')
		at++;
	*ret_at = at;
	return at == n ? NULL
		       : "must have visible ASCII characters alone, and no #: others are "
			 "percent-encoded";
}
