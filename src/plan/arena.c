/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as its plan: option structs with the strings in them, and other data
 * that are kept for it. */
#include "plan/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>

struct block {
	struct block *next;
	const struct nm_opt *table; /* of the struct; NULL: there is none */
	void *kept;
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
		if (block->table)
			nm_opts_fini(block->table, block->data);
		free(block->kept);
		free(block);
	}
	free(arena);
	return NULL;
}

void nm_arena_wipe_secrets(struct nm_arena *arena)
{
	for (struct block *block = arena->blocks; block; block = block->next)
		if (block->table)
			nm_opts_wipe_secrets(block->table, block->data);
}

int nm_arena_keep(struct nm_arena *arena, void *kept)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block) {
		free(kept);
		return -ENOMEM;
	}
	block->kept = kept;
	block->next = arena->blocks;
	arena->blocks = block;
	return 0;
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
