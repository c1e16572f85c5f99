/* SPDX-License-Identifier: Apache-2.0 */
/* New values made of old ones: the new one is published in the place of the old one alone. */
#include "app/change.h"

#include <string.h>

#include "app/keyspace.h"
#include "app/line.h"
#include "app/value.h"

/* DONE: the key has the value that is to be changed. */
static enum nm_store_end find(const struct nm_store *store, const char *key, size_t length,
			      uint64_t expected, struct nm_stored *ret)
{
	if (!nm_store_find(store, key, length, ret))
		return NM_STORE_ABSENT;
	return expected == NM_STORE_SOME || expected == ret->place ? NM_STORE_DONE : NM_STORE_OTHER;
}

/* Writes both, and publishes them. OTHER: somebody else has changed the old one. */
static enum nm_store_end join(struct nm_store *store, uint64_t *place, const char *key,
			      size_t length, uint64_t size, bool before,
			      const struct nm_stored *old)
{
	const uint64_t place_old = before ? size : 0, place_new = before ? 0 : old->size;
	const char *data = nm_store_key(store, *place) + length;
	uint64_t joined;

	if (old->size + size > NM_VALUE_MAX)
		return NM_STORE_GONE;
	joined = nm_store_reserve(store, key, length, old->flags, old->size + size);
	if (!joined ||
	    !nm_store_write(store, joined, length, place_old, old->data, (size_t)old->size) ||
	    !nm_store_write(store, joined, length, place_new, data, (size_t)size) ||
	    !nm_store_holds(store, *place))
		return NM_STORE_GONE;
	if (!nm_store_holds(store, old->place))
		return NM_STORE_OTHER;
	const enum nm_store_end end =
		nm_store_publish_over(store, joined, length, old->place, false);

	if (end == NM_STORE_DONE)
		*place = joined;
	return end;
}

enum nm_store_end nm_change_join(struct nm_store *store, uint64_t *place, size_t length,
				 uint64_t size, bool before, uint64_t expected)
{
	char key[NM_KEY_MAX];
	struct nm_stored old;
	enum nm_store_end end;

	memcpy(key, nm_store_key(store, *place), length);
	do {
		end = find(store, key, length, expected, &old);
		if (end != NM_STORE_DONE)
			return end;
		end = join(store, place, key, length, size, before, &old);
	} while (end == NM_STORE_OTHER);
	return end;
}

/* Whether the value is a number, perhaps with blanks behind it. */
static bool read_number(const char *text, size_t n, uint64_t *ret)
{
	size_t at = nm_line_number(text, n, UINT64_MAX, ret);

	return at && (at == n || text[at] == ' ');
}

/* Publishes a number where `old` is, which is all zeros where there is none. */
static enum nm_store_end put_number(struct nm_store *store, const char *key, size_t length,
				    uint64_t number, const struct nm_stored *old,
				    uint64_t *ret_place)
{
	char text[NM_NUMBER_MAX];

	memset(text, ' ', sizeof text);
	size_t n = (size_t)(nm_number_put(number, text) - text);

	n = n < old->size ? (size_t)old->size : n;
	*ret_place = nm_store_reserve(store, key, length, old->flags, n);
	if (!*ret_place || !nm_store_write(store, *ret_place, length, 0, text, n))
		return NM_STORE_GONE;
	return nm_store_publish_over(store, *ret_place, length, old->place, false);
}

/* OTHER: somebody else has changed it. */
static enum nm_store_end count(struct nm_store *store, const char *key, size_t length,
			       const struct nm_change_count *how, const struct nm_stored *old,
			       uint64_t *ret, uint64_t *ret_place)
{
	char text[NM_NUMBER_MAX];

	if (old->size > sizeof text)
		return NM_STORE_NO_NUMBER;
	memcpy(text, old->data, (size_t)old->size);
	if (!nm_store_holds(store, old->place))
		return NM_STORE_OTHER;
	if (!read_number(text, (size_t)old->size, ret))
		return NM_STORE_NO_NUMBER;
	if (!how->down)
		*ret += how->by;
	else
		*ret -= how->by < *ret ? how->by : *ret;
	return put_number(store, key, length, *ret, old, ret_place);
}

enum nm_store_end nm_change_count(struct nm_store *store, const char *key, size_t length,
				  const struct nm_change_count *how, uint64_t *ret,
				  uint64_t *ret_place)
{
	struct nm_stored old;
	enum nm_store_end end;

	do {
		end = find(store, key, length, how->expected, &old);
		if (end == NM_STORE_OTHER || (end == NM_STORE_ABSENT && !how->begins))
			return end;
		if (end == NM_STORE_DONE) {
			end = count(store, key, length, how, &old, ret, ret_place);
		} else {
			*ret = how->first;
			end = put_number(store, key, length, *ret, &(struct nm_stored){.place = 0},
					 ret_place);
		}
	} while (end == NM_STORE_OTHER || (end == NM_STORE_ABSENT && how->begins));
	return end;
}
