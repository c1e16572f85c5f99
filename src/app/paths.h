/* SPDX-License-Identifier: Apache-2.0 */
/* The paths that requests of HTTP draw from. They belong to the plan. Any thread. */
#ifndef NM_APP_PATHS_H
#define NM_APP_PATHS_H

#include "app/keyspace.h"

/* The longest path of a request. */
#define NM_HTTP_PATH_MAX 1024u

/* The keyspace comes first, so that a request's keyspace stands for it: a key is the number of a
 * path, and its length that of the longest one. */
struct nm_paths {
	struct nm_keyspace keys;
	const char *texts; /* one behind the other */
	/* where each begins; keys.count + 1 of them, as the last one tells where the texts end */
	const uint64_t *begins;
};

static inline const struct nm_paths *nm_paths_of(const struct nm_keyspace *keyspace)
{
	return (const struct nm_paths *)(const void *)keyspace;
}

/* What is wrong with n bytes as the path of a request, and maybe a query, NULL if nothing is;
 * *ret_at: the byte where it is. */
const char *nm_path_check(const char *path, size_t n, size_t *ret_at);

#endif
