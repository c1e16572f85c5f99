/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator of the C library, with a list of blocks for each process of a world. */
#include "memory.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../unit/sanitized.h"
#include "fault.h"
#include "libc.h"
#include "process.h"
#include "world.h"

static bool of_nobody; /* the world allocates for itself */

#ifdef NM_SANITIZED

uint64_t sim_memory_leave(const struct sim_process *process, bool frees)
{
	(void)process;
	(void)frees;
	return 0;
}

#else

static bool of_library; /* libcrypto allocates */

#define MAGIC UINT64_C(0x6e6d73696d626c6b)
#define PAGE  4096

/* Before the bytes of each block. */
struct block {
	struct block *next, **link; /* link: what points to it; NULL: nobody owns it */
	void *base;
	size_t size;
	uint64_t unused, magic;
};
_Static_assert(sizeof(struct block) % 16 == 0, "blocks are aligned for anything");

/* The C library's own functions, behind those that are defined here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void __libc_free(void *memory);

static void *take(size_t alignment, size_t size, bool zeros)
{
	struct sim_process *owner = sim_runs() && !of_nobody ? sim_process() : NULL;
	const size_t room = sizeof(struct block) + alignment + size;

	if (owner && !of_library && sim_fault_of_memory()) {
		errno = ENOMEM;
		return NULL;
	}
	/* Great blocks of zeros cost nothing until they are used, as those that are mapped. */
	char *base = size > SIZE_MAX / 2 ? NULL
		     : zeros		 ? __libc_calloc(1, room)
					 : __libc_malloc(room);

	if (!base)
		return NULL;
	uintptr_t unaligned = (uintptr_t)base + sizeof(struct block);
	struct block *block =
		(struct block *)(void *)(base + sizeof(struct block) + -unaligned % alignment) - 1;

	*block = (struct block){.base = base, .size = size, .magic = MAGIC};
	if (owner) {
		block->link = &owner->blocks;
		block->next = owner->blocks;
		if (block->next)
			block->next->link = &block->next;
		owner->blocks = block;
	}
	return block + 1;
}

static struct block *block_of(void *memory)
{
	struct block *block = (struct block *)memory - 1;

	return memory && block->magic == MAGIC ? block : NULL;
}

static void unlink_block(struct block *block)
{
	if (block->link)
		*block->link = block->next;
	if (block->link && block->next)
		block->next->link = block->link;
}

uint64_t sim_memory_leave(const struct sim_process *process, bool frees)
{
	uint64_t bytes = 0;

	for (struct block *block; (block = process->blocks);) {
		bytes += block->size;
		unlink_block(block);
		block->link = NULL;
		if (frees)
			free(block + 1);
	}
	return bytes;
}

/* The shared libraries of the program allocate here, too. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
	return take(16, size, false);
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : take(16, bytes, true);
}

void free(void *memory)
{
	struct block *block = block_of(memory);

	if (!block) {
		__libc_free(memory);
		return;
	}
	unlink_block(block);
	block->magic = 0;
	__libc_free(block->base);
}

void *realloc(void *memory, size_t size)
{
	const struct block *block = block_of(memory);
	void *grown = take(16, size, false);

	if (memory && !block)
		abort(); /* it is from before the program */
	if (!grown || !block)
		return grown;
	memcpy(grown, memory, block->size < size ? block->size : size);
	free(memory);
	return grown;
}

void *reallocarray(void *memory, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment, size, false);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(alignment, size, false);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *memory = take(alignment, size, false);

	if (!memory)
		return ENOMEM;
	*ret = memory;
	return 0;
}

size_t malloc_usable_size(void *memory)
{
	const struct block *block = block_of(memory);

	return block ? block->size : 0;
}

#pragma GCC visibility pop

/* libcrypto loses some of its memory where it finds no more: as with tests/prove/fail.c, its
 * allocations do not fail. */
static void *library_malloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	of_library = true;
	void *memory = malloc(size);

	of_library = false;
	return memory;
}

static void *library_realloc(void *memory, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	of_library = true;
	void *grown = realloc(memory, size);

	of_library = false;
	return grown;
}

static void library_free(void *memory, const char *file, int line)
{
	(void)file;
	(void)line;
	free(memory);
}

__attribute__((constructor)) static void begin(void)
{
	/* The next world has the memory of this one, without asking the machine for it. */
	(void)mallopt(M_MMAP_THRESHOLD, 8 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
	(void)mallopt(M_TOP_PAD, 1 << 20);
	(void)CRYPTO_set_mem_functions(library_malloc, library_realloc, library_free);
}

/* Mappings without a file are blocks like others. */
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (!sim_runs())
		return SIM_REAL(mmap)(at, size, protection, flags, fd, offset);
	void *memory = flags & MAP_ANONYMOUS ? take(PAGE, size, true) : NULL;

	if (memory)
		return memory;
	errno = flags & MAP_ANONYMOUS ? ENOMEM : ENODEV;
	return MAP_FAILED;
}

int munmap(void *memory, size_t size)
{
	if (!block_of(memory))
		return SIM_REAL(munmap)(memory, size);
	free(memory);
	return 0;
}

#endif

static void *or_abort(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void *sim_new(size_t size)
{
	of_nobody = true;
	void *memory = or_abort(calloc(1, size));

	of_nobody = false;
	return memory;
}

void *sim_grow(void *memory, size_t size)
{
	of_nobody = true;
	void *grown = or_abort(realloc(memory, size));

	of_nobody = false;
	return grown;
}
