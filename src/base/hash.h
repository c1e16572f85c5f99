/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of bytes: the same on each host. Not for what others may choose to collide. */
#ifndef NM_BASE_HASH_H
#define NM_BASE_HASH_H

#include <endian.h>
#include <string.h>

#include "base/rng.h"

static inline uint64_t nm_hash(const void *data, size_t length)
{
	uint64_t hash = length;

	for (size_t at = 0; at < length; at += sizeof hash) {
		uint64_t word = 0;

		memcpy(&word, (const char *)data + at,
		       length - at < sizeof word ? length - at : sizeof word);
		hash = nm_rng(hash, le64toh(word));
	}
	return hash;
}

/* Where 0 means none. */
static inline uint64_t nm_hash_nonzero(const void *data, size_t length)
{
	uint64_t hash = nm_hash(data, length);

	return hash ? hash : 1;
}

#endif
