/* SPDX-License-Identifier: Apache-2.0 */
/* What netmodel's own server of a cache keeps: values by key, in memory of a fixed size, shared by
 * all workers, without locks. Values lie one behind the other in a ring; the oldest are overwritten
 * by new ones, and are then not found any more. A table of buckets finds them; where a bucket is
 * full its oldest value is given up.
 *
 * A value is written in three steps: it is reserved, its bytes are written as they come, and it is
 * published. Who has found a value and copies it asks afterwards whether the store still holds it:
 * if not, what was copied may be something else. */
#ifndef NM_APP_STORE_H
#define NM_APP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_store;
struct nm_store_writer;

struct nm_stored {
	uint64_t place;
	const char *data;
	uint64_t size;
	uint32_t flags;
};

/* NULL when out of memory. Processes that are forked later share it. */
struct nm_store *nm_store_new(uint64_t memory_bytes);
struct nm_store *nm_store_free(struct nm_store *store); /* accepts NULL, returns NULL */

/* Takes room for a value of a key of 1 to 250 bytes: its place; 0: it is too large, or a worker
 * that got no CPU for long is still to write there. */
uint64_t nm_store_reserve(struct nm_store *store, const char *key, size_t length, uint32_t flags,
			  uint64_t size);
/* Writes n bytes of it, which it has, from an offset on; `length` is that of its key. False: they
 * are not written, and it must not be published: its room is gone, or too many workers got no CPU
 * for long while they were writing. */
bool nm_store_write(struct nm_store *store, uint64_t place, size_t length, uint64_t offset,
		    const char *data, size_t n);
#define NM_STORE_WRITERS 16u /* that may write at once */

/* What `reserve` and `write` do so between: while so many bytes from the place on may be written,
 * by the thread that has called this, nobody else writes there, unless its process is gone. NULL:
 * as `write` is false. */
struct nm_store_writer *nm_store_begin_writing(struct nm_store *store, uint64_t place,
					       uint64_t bytes);
void nm_store_end_writing(struct nm_store_writer *writer);
/* From now on it is found. False: so much has been reserved meanwhile that its room is gone. */
bool nm_store_publish(struct nm_store *store, uint64_t place, size_t length);

/* What its key must have for a value to be published: the place of a value, or one of these. */
#define NM_STORE_NONE 0u
#define NM_STORE_SOME (UINT64_MAX - 1)
#define NM_STORE_ANY  UINT64_MAX

enum nm_store_end {
	NM_STORE_DONE,
	NM_STORE_ABSENT,    /* the key has no value, and was to have one */
	NM_STORE_OTHER,	    /* it has another one, or was to have none */
	NM_STORE_GONE,	    /* as where `publish` is false */
	NM_STORE_NO_NUMBER, /* the value is none (app/change.h) */
};
/* `expires`: the value takes the place of that which is there, and is never found itself. */
enum nm_store_end nm_store_publish_over(struct nm_store *store, uint64_t place, size_t length,
					uint64_t expected, bool expires);
bool nm_store_find(const struct nm_store *store, const char *key, size_t length,
		   struct nm_stored *ret);
bool nm_store_delete(struct nm_store *store, const char *key, size_t length);
/* The same, if its value is at that place, or NM_STORE_ANY. */
enum nm_store_end nm_store_delete_at(struct nm_store *store, const char *key, size_t length,
				     uint64_t place);
/* Deletes all values, but for those that are published meanwhile. False: the kernel has refused. */
bool nm_store_clear(struct nm_store *store);
/* The key of a value that was reserved, and behind it the bytes of the value: they are right if the
 * store holds it afterwards. */
const char *nm_store_key(const struct nm_store *store, uint64_t place);
/* Whether the value at a place has not been overwritten. */
bool nm_store_holds(const struct nm_store *store, uint64_t place);

#endif
