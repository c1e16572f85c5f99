/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that workers and the control thread share, also where the workers are processes. */
#ifndef NM_ENGINE_MEMORY_H
#define NM_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define NM_CACHE_LINE 64

/* Zeroed, on a cache line; `shared` says whether processes that are forked later share it. NULL: no
 * memory. */
void *nm_engine_alloc(size_t size, bool shared);
/* Both as they were given to nm_engine_alloc; accepts NULL. */
void nm_engine_release(void *memory, size_t size, bool shared);

#endif
