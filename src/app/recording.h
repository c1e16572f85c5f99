/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded requests, in the order of their file, and the keys that they have. They belong to the
 * plan. Any thread. */
#ifndef NM_APP_RECORDING_H
#define NM_APP_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/keyspace.h"
#include "app/pool.h"

/* Not a byte more than needed, as there are millions of them. */
struct nm_record {
	uint32_t key;	     /* its number, below keys.count */
	uint32_t size;	     /* bytes of the value */
	uint32_t member : 8; /* of the mix that replays them */
	uint32_t ttl_s : 24; /* 0: for ever */
};
struct nm_recorded_key {
	uint32_t text_at; /* where its text begins, of so many bytes */
	uint16_t length;
	/* Where its values begin in the pool, by its text: its number is another one in another
	 * file. */
	uint16_t value_at;
};
/* 30 days, longer than any run: beyond them a memcached takes a time of day, so that a value which
 * was to live longer would be dead at once. */
#define NM_RECORD_TTL_MAX 2592000u

/* The keyspace comes first, so that a request's keyspace stands for it; its law is
 * NM_KEYS_RECORDED. Equal keys have one number. */
struct nm_recording {
	struct nm_keyspace keys;
	uint64_t count;	     /* of the requests, at least 1 */
	uint64_t n_left_out; /* lines of the file beside these */
	const struct nm_record *list;
	const char *texts; /* the keys, one behind the other */
	const struct nm_recorded_key *key_list;
	bool has_size, has_ttl; /* the file says them; otherwise the flowop does */
};

static inline const struct nm_recording *nm_recording_of(const struct nm_keyspace *keyspace)
{
	return (const struct nm_recording *)(const void *)keyspace;
}

/* The text of a key: where it begins; *ret_length: its bytes. */
static inline const char *nm_recording_text(const struct nm_recording *recording, uint64_t key,
					    uint32_t *ret_length)
{
	*ret_length = recording->key_list[key].length;
	return recording->texts + recording->key_list[key].text_at;
}

/* Where the values of a key of any keyspace begin in the pool. */
static inline uint64_t nm_key_value_at(const struct nm_keyspace *keyspace, uint64_t key)
{
	return keyspace->law == NM_KEYS_RECORDED ? nm_recording_of(keyspace)->key_list[key].value_at
						 : nm_pool_at(key);
}

#endif
