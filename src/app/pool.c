/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, copies and compares the bytes of values. */
#include "app/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

#define BYTES_KEY UINT64_C(0x76616c756573)
#define TEXT_KEY  UINT64_C(0x74657874)

struct nm_pool *nm_pool_new(void)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	struct nm_pool *pool = malloc(sizeof *pool);

	for (size_t i = 0; pool && i < NM_POOL_BYTES; i += sizeof(uint64_t)) {
		uint64_t bytes = nm_rng(BYTES_KEY, i), text = nm_rng(TEXT_KEY, i);

		memcpy(pool->bytes + i, &bytes, sizeof bytes);
		for (size_t k = 0; k < sizeof text; k++, text >>= 8)
			pool->text[i + k] = letters[text & 63];
	}
	if (pool) {
		char *bytes = (char *)memcpy(pool->chunk, "2800\r\n", 6) + 6;

		memcpy(bytes, pool->bytes, NM_POOL_CHUNK);
		memcpy(bytes + NM_POOL_CHUNK, "\r\n", 2);
	}
	return pool;
}

struct nm_pool *nm_pool_free(struct nm_pool *pool)
{
	free(pool);
	return NULL;
}

uint64_t nm_pool_at(uint64_t number)
{
	return (number * UINT64_C(0x9e3779b97f4a7c15)) >> 48;
}

void nm_pool_copy(const char *pool, uint64_t at, char *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		size_t from = (size_t)((at + done) % NM_POOL_BYTES), some = NM_POOL_BYTES - from;

		some = some < n - done ? some : n - done;
		memcpy(buf + done, pool + from, some);
		done += some;
	}
}

bool nm_pool_equals(const char *pool, uint64_t at, const char *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		size_t from = (size_t)((at + done) % NM_POOL_BYTES), some = NM_POOL_BYTES - from;

		some = some < n - done ? some : n - done;
		if (memcmp(data + done, pool + from, some) != 0)
			return false;
		done += some;
	}
	return true;
}
