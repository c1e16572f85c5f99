/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a value that the store has. Each makes a new value out of it, unless somebody else has
 * changed it meanwhile: then out of that one. */
#ifndef NM_APP_CHANGE_H
#define NM_APP_CHANGE_H

#include "app/store.h"

/* Puts the value at *place, `size` bytes that are not published, behind the one that its key has,
 * or before it: *place is that of the new value then. `expected`: SOME, or the place of the value
 * that must be there. */
enum nm_store_end nm_change_join(struct nm_store *store, uint64_t *place, size_t length,
				 uint64_t size, bool before, uint64_t expected);

/* How a number is changed: up to 2^64, which is 0, and down to 0. */
struct nm_change_count {
	bool down, begins; /* begins: where the key has no value, it has the first one then */
	uint64_t by, first;
	uint64_t expected; /* as above */
};
/* *ret: the number then, at *ret_place. A value is not shorter than before: blanks are behind a
 * number that is. */
enum nm_store_end nm_change_count(struct nm_store *store, const char *key, size_t length,
				  const struct nm_change_count *how, uint64_t *ret,
				  uint64_t *ret_place);

#endif
