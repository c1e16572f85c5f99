/* SPDX-License-Identifier: Apache-2.0 */
/* Option structs that live as long as a plan. */
#ifndef NM_PLAN_ARENA_H
#define NM_PLAN_ARENA_H

#include <stddef.h>

#include "base/opt.h"

struct nm_arena;

struct nm_arena *nm_arena_new(void); /* NULL when out of memory */
struct nm_arena *
nm_arena_free(struct nm_arena *arena); /* accepts NULL, returns NULL; frees what is in it */
/* Wipes the options that are secrets: nothing can be opened with them any more. */
void nm_arena_wipe_secrets(struct nm_arena *arena);
/* Takes over memory that the caller would have to free; -ENOMEM (it is freed at once) or 0. */
int nm_arena_keep(struct nm_arena *arena, void *kept);
/* A zeroed struct with the table's defaults, owned by the arena with its strings; NULL when out of
 * memory. */
void *nm_arena_opts(struct nm_arena *arena, const struct nm_opt *table, size_t size);

#endif
