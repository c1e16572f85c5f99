/* SPDX-License-Identifier: Apache-2.0 */
/* Memory within a world: what a process allocates and maps is known to be its own, so that what it
 * leaves behind is seen, and goes when it is killed. With the address sanitizer, which has its own
 * allocator, nothing is known. */
#ifndef NM_TESTS_SIM_MEMORY_H
#define NM_TESTS_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_process;

/* Memory of the world itself, zeroed; free(3) frees it. It aborts when there is none. */
void *sim_new(size_t size);
void *sim_grow(void *memory, size_t size);

/* The process ends: how many bytes it still had. Those of one that exits stay: libraries may have
 * kept them for the whole program. */
uint64_t sim_memory_leave(const struct sim_process *process, bool frees);

#endif
