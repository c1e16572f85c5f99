/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share. */
#ifndef NM_TESTS_FUZZ_FUZZ_H
#define NM_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Of libFuzzer: what a target has, what it may have, and the changes that libFuzzer makes
 * itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Ends the run of the fuzzer with a finding unless it holds. */
static inline void demand(int holds)
{
	if (!holds)
		abort();
}

/* A random number below n, which is not 0. */
static inline size_t pick(unsigned *seed, size_t n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (size_t)(*seed >> 8) % n;
}

/* Replaces `length` bytes at `at` by others, if the text then still fits. Its new size. */
size_t fuzz_splice(uint8_t *data, size_t size, size_t max_size, size_t at, size_t length,
		   const char *by, size_t by_length);

struct nm_node;
/* Demands of a substituted profile without errors, which goes to slaves as text, that it is within
 * the limits of what is read and is read as the same again. */
void fuzz_print_and_read(const struct nm_node *root);

/* Changes control messages, one a line, each of them JSON or the word "wait" and a time in ns:
 * lines are left out, doubled, moved, or made from the tables of the protocol, and values in them
 * are replaced. Bytes are changed, too. */
size_t fuzz_messages(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* The same without changes of bytes, which depend on what libFuzzer has seen. */
size_t fuzz_lines(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* A line of a talk. */
struct fuzz_line {
	const char *word; /* of a message, or any other line; NULL: there are no more */
	const char
		*own; /* JSON: members of the body that are not as the tables have them; or NULL */
};
/* The lines as text, owned by the caller. */
char *fuzz_talk(const struct fuzz_line *lines, size_t *ret_size);

#endif
