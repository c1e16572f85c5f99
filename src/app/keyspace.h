/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: a countable set of them, and the law by which one is drawn. The text of a key is the prefix
 * and its number in decimal, with zeros before it up to the length that all keys have, or that a
 * law gives each; or it is that of a file (recording.h). */
#ifndef NM_APP_KEYSPACE_H
#define NM_APP_KEYSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/weights.h"
#include "base/law.h"

/* The longest key, and the most keys. */
#define NM_KEY_MAX	  250u
#define NM_KEYSPACE_MAX	  (UINT64_C(1) << 40)
#define NM_KEY_DIGITS_MAX 19u

/* Those before SEQUENTIAL draw. RANKED: as ZIPF, and the first key is the most frequent one.
 * RECORDED: the keyspace is that of a struct nm_recording. */
enum nm_key_law {
	NM_KEYS_UNIFORM,
	NM_KEYS_ZIPF,
	NM_KEYS_RANKED,
	NM_KEYS_WEIGHTED,
	NM_KEYS_SEQUENTIAL,
	NM_KEYS_RECORDED
};

struct nm_keyspace {
	const char *prefix; /* not owned */
	uint64_t count;
	uint32_t length, prefix_length; /* bytes: of the longest key */
	uint32_t least;			/* bytes that each must have */
	/* not owned; NULL: all have `length`. RECORDED: not NULL */
	const struct nm_law *lengths;
	enum nm_key_law law;
	struct nm_law ranks;		  /* ZIPF and RANKED: of ranks, from 1 on; owned */
	const struct nm_weights *weights; /* WEIGHTED; not owned */
	uint32_t half_bits; /* ZIPF: half of the bits of a number, as the bijection has them */
};

/* Reads the law, "uniform", "zipf(S)" or "sequential", and sets the rest: prefix (kept, not
 * copied), count, and length, where 0 stands for as many digits as there must be. 0, or
 * with a phrase in why -EINVAL for the law, -ERANGE for the length and -E2BIG for the prefix, or
 * -ENOMEM. */
int nm_keyspace_init(struct nm_keyspace *keyspace, const char *law, const char *prefix,
		     uint64_t count, uint64_t length, char *why, size_t why_size);
void nm_keyspace_fini(struct nm_keyspace *keyspace);

/* The number of a key, below count, of what draws: the n-th draw of the stream that a key of
 * base/rng.h stands for. Any thread. */
uint64_t nm_keyspace_draw(const struct nm_keyspace *keyspace, uint64_t stream, uint64_t n);
/* The same of SEQUENTIAL, by how many keys were drawn before it. */
static inline uint64_t nm_keyspace_turn(const struct nm_keyspace *keyspace, uint64_t turn)
{
	return turn % keyspace->count;
}
/* The number that a rank (from 0 on) has: a bijection of the numbers below count, so that keys that
 * are asked for often do not stand side by side. */
uint64_t nm_keyspace_scramble(const struct nm_keyspace *keyspace, uint64_t rank);
/* Bytes of the text of a key where a law or a file gives them. A law's depend on the number alone,
 * and not on the seed: what one run has stored, another finds. */
uint32_t nm_keyspace_drawn_length(const struct nm_keyspace *keyspace, uint64_t number);
/* And wherever they come from. */
static inline uint32_t nm_keyspace_length(const struct nm_keyspace *keyspace, uint64_t number)
{
	return __builtin_expect(!keyspace->lengths, 1) ? keyspace->length
						       : nm_keyspace_drawn_length(keyspace, number);
}
/* Writes the text of a key: its end. */
char *nm_keyspace_put(const struct nm_keyspace *keyspace, uint64_t number, char *buf);
/* The number of a key by its text; UINT64_MAX: it is none, or was recorded. */
uint64_t nm_keyspace_number(const struct nm_keyspace *keyspace, const char *text, size_t length);
/* Whether that is the text of the key, which was recorded. */
bool nm_keyspace_recorded(const struct nm_keyspace *keyspace, uint64_t number, const char *text,
			  size_t length);
/* Whether it is that of the key. */
static inline bool nm_keyspace_is(const struct nm_keyspace *keyspace, uint64_t number,
				  const char *text, size_t length)
{
	return keyspace->law == NM_KEYS_RECORDED
		       ? nm_keyspace_recorded(keyspace, number, text, length)
		       : nm_keyspace_number(keyspace, text, length) == number;
}

#endif
