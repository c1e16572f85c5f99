/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that workers and the control thread share, also where the workers are processes. */
#ifndef NM_ENGINE_MEMORY_H
#define NM_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define NM_CACHE_LINE 64

/* Allocates zeroed memory that begins on a cache line; shared: also with processes that are forked
 * later. NULL: no memory. */
void *nm_engine_alloc(size_t size, bool shared);
/* Releases it; size and shared as they were given to nm_engine_alloc. Accepts NULL. */
void nm_engine_release(void *memory, size_t size, bool shared);
/* Large memory that is little used, zeroed: what nothing touches takes no room. It begins on a
 * page. */
void *nm_engine_map(size_t size, bool shared);
void nm_engine_unmap(void *memory, size_t size); /* accepts NULL */

#endif
