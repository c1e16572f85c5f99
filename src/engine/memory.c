/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that workers and the control thread share: where workers are processes it must be mapped
 * before they are forked. */
#include "engine/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

void *nm_engine_alloc(size_t size, bool shared)
{
	if (!shared)
		return calloc(1, size);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void nm_engine_release(void *memory, size_t size, bool shared)
{
	if (!shared)
		free(memory);
	else if (memory)
		(void)munmap(memory, size);
}
