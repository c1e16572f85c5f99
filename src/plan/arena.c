/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/arena.h"

#include <stdalign.h>
#include <stdlib.h>

struct block {
	struct block *next;
	const struct nm_opt *table;
	alignas(max_align_t) char data[];
};

struct nm_arena {
	struct block *blocks;
};

struct nm_arena *nm_arena_new(void)
{
	return calloc(1, sizeof(struct nm_arena));
}

struct nm_arena *nm_arena_free(struct nm_arena *arena)
{
	struct block *next;

	if (!arena)
		return NULL;
	for (struct block *block = arena->blocks; block; block = next) {
		next = block->next;
		nm_opts_fini(block->table, block->data);
		free(block);
	}
	free(arena);
	return NULL;
}

void *nm_arena_opts(struct nm_arena *arena, const struct nm_opt *table, size_t size)
{
	struct block *block = calloc(1, sizeof(*block) + size);

	if (!block)
		return NULL;
	block->table = table;
	block->next = arena->blocks;
	arena->blocks = block;
	return nm_opts_defaults(table, block->data) == 0 ? block->data : NULL;
}
