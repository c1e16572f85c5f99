/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's meta commands: mg, ms and md, with the flags that ask for
 * something of the item, or are sent back. */
#include <string.h>

#include "app/memcache_server.h"
#include "app/value.h"

/* The longest word that a client has sent back, as at memcached. */
#define OPAQUE_MAX 32u
/* What may come behind the flags: the end of their line, and that of a value. */
#define ENDS_BYTES 4u
#define INVALID	   "CLIENT_ERROR invalid flag\r\n"

static void clear(struct nm_app_served *served)
{
	nm_rope_clear(&served->out);
}

static bool put_text(struct nm_app_served *served, char flag, const char *text, size_t n)
{
	const char head[] = {' ', flag};

	if (!nm_rope_has_room(&served->out, sizeof head + n + ENDS_BYTES))
		return false;
	nm_rope_add(&served->out, head, sizeof head);
	nm_rope_add(&served->out, text, n);
	return true;
}

static bool put_number(struct nm_app_served *served, char flag, uint64_t number)
{
	char digits[NM_NUMBER_MAX];

	return put_text(served, flag, digits, (size_t)(nm_number_put(number, digits) - digits));
}

/* Answers to each flag among `known` in turn; stored NULL: there is no item. False: another one, or
 * no room. */
static bool put_flags(struct nm_app_served *served, struct nm_words words, const char *known,
		      const char *key, size_t n_key, const struct nm_stored *stored)
{
	const char *flag;
	size_t n;
	bool good = true;

	while (good && (n = nm_words_next(&words, &flag)) > 0) {
		if (!memchr(known, *flag, strlen(known)))
			return false;
		if (*flag == 'O')
			good = n <= 1 + OPAQUE_MAX && put_text(served, 'O', flag + 1, n - 1);
		else if (*flag == 'k')
			good = n == 1 && put_text(served, 'k', key, n_key);
		else if (*flag == 'f' && stored)
			good = n == 1 && put_number(served, 'f', stored->flags);
		else if (*flag == 's' && stored)
			good = n == 1 && put_number(served, 's', stored->size);
		else if (*flag == 't' && stored) /* it does not expire */
			good = n == 1 && put_text(served, 't', "-1", 2);
	}
	return good;
}

static bool asks_for_value(struct nm_words words)
{
	const char *flag;
	size_t n;

	while ((n = nm_words_next(&words, &flag)) > 0)
		if (n == 1 && *flag == 'v')
			return true;
	return false;
}

static enum nm_took refuse(struct nm_app_served *served)
{
	clear(served);
	return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_REFUSED, INVALID);
}

static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			const char *key, size_t n, struct nm_words words)
{
	struct nm_stored stored;
	const bool found = nm_store_find(service->store, key, n, &stored);
	const bool value = found && asks_for_value(words);
	char head[4 + NM_NUMBER_MAX];
	char *end = value ? nm_number_put(stored.size, nm_line_put("VA ", head))
			  : nm_line_put(found ? "HD" : "EN", head);

	nm_rope_add(&served->out, head, (size_t)(end - head));
	if (!put_flags(served, words, "vfstkO", key, n, found ? &stored : NULL))
		return refuse(served);
	if (value) {
		nm_rope_add(&served->out, "\r\n", 2);
		nm_value_put(served, &stored);
	}
	return nm_app_answer(served, NM_VERB_GET, found ? NM_CLASS_OK : NM_CLASS_MISS, "\r\n");
}

/* The number behind F, and false where that, or that behind T, is none. */
static bool flags_of(struct nm_words words, uint64_t *ret)
{
	const char *flag;
	uint64_t time;
	size_t n;

	*ret = 0;
	while ((n = nm_words_next(&words, &flag)) > 0)
		if ((*flag == 'F' || *flag == 'T') &&
		    (n == 1 || nm_line_number(flag + 1, n - 1, UINT32_MAX,
					      *flag == 'F' ? ret : &time) != n - 1))
			return false;
	return true;
}

/* "ms KEY BYTES FLAGS": the value follows, also of one that is refused, and its answer is put
 * together now. */
static enum nm_took begin_set(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *key, size_t n, struct nm_words *words)
{
	uint64_t bytes, flags;

	if (!nm_words_number(words, UINT32_MAX, &bytes))
		return NM_TOOK_BAD;
	nm_rope_add(&served->out, "HD", 2);
	if (flags_of(*words, &flags) && put_flags(served, *words, "FTkO", key, n, NULL)) {
		nm_rope_add(&served->out, "\r\n", 2);
		nm_value_reserve(served, service, key, n, (uint32_t)flags, bytes);
		served->state = NM_MEMCACHE_IN_VALUE;
	} else {
		clear(served);
		nm_rope_add(&served->out, INVALID, strlen(INVALID));
		nm_value_skip(served, bytes);
		served->state = NM_MEMCACHE_IN_REFUSED_VALUE;
	}
	return NM_TOOK_MORE;
}

static enum nm_took forget(struct nm_app_served *served, const struct nm_app_service *service,
			   const char *key, size_t n, struct nm_words words)
{
	char *head = served->out.text + served->out.n_text;

	nm_rope_add(&served->out, "HD", 2);
	if (!put_flags(served, words, "kO", key, n, NULL))
		return refuse(served);
	const bool found = nm_store_delete(service->store, key, n);

	if (!found)
		(void)nm_line_put("NF", head);
	return nm_app_answer(served, NM_VERB_DELETE, found ? NM_CLASS_OK : NM_CLASS_MISS, "\r\n");
}

enum nm_took nm_memcache_take_meta(struct nm_app_served *served,
				   const struct nm_app_service *service, char command,
				   const char *key, size_t n, struct nm_words *words)
{
	switch (command) {
	case 'g':
		return get(served, service, key, n, *words);
	case 's':
		return begin_set(served, service, key, n, words);
	case 'd':
		return forget(served, service, key, n, *words);
	default:
		return NM_TOOK_BAD;
	}
}
