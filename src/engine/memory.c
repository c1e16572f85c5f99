/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that workers and the control thread share: where workers are processes it must be mapped
 * before they are forked. */
#include "engine/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *map(size_t size, int flags)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *nm_engine_alloc(size_t size, bool shared)
{
	if (!shared) {
		size_t whole = (size + NM_CACHE_LINE - 1) / NM_CACHE_LINE * NM_CACHE_LINE;
		void *own = aligned_alloc(NM_CACHE_LINE, whole);

		return own ? memset(own, 0, whole) : NULL;
	}
	return map(size, MAP_SHARED);
}

void nm_engine_release(void *memory, size_t size, bool shared)
{
	if (!shared)
		free(memory);
	else
		nm_engine_unmap(memory, size);
}

void *nm_engine_map(size_t size, bool shared)
{
	void *memory = map(size, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE);

	/* A huge page is taken whole. */
	if (memory)
		(void)madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

void nm_engine_unmap(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, size);
}
