/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's meta commands: mg, ms and md, with the flags that ask for
 * something of the item, or are sent back. */
#include <string.h>

#include "app/memcache_server.h"
#include "app/value.h"

/* The longest word that a client has sent back, as at memcached. */
#define OPAQUE_MAX 32u

static void clear(struct nm_app_served *served)
{
	nm_rope_advance(&served->out, (size_t)served->out.total);
}

static bool put_text(struct nm_app_served *served, char flag, const char *text, size_t n)
{
	const char head[] = {' ', flag};

	/* Behind it comes no more than the end of the line. */
	if (!nm_rope_has_room(&served->out, sizeof head + n + 2))
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

/* Whether the command has no other flags than these; if not, that is the answer. */
static bool has_only(struct nm_app_served *served, struct nm_words words, const char *known,
		     const char *key, size_t n_key)
{
	const bool good = put_flags(served, words, known, key, n_key, NULL);

	clear(served);
	if (!good)
		(void)nm_app_answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
				    "CLIENT_ERROR invalid flag\r\n");
	return good;
}

static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			const char *key, size_t n, struct nm_words words)
{
	static const char known[] = "vfstkO";
	struct nm_stored stored;
	char head[4 + NM_NUMBER_MAX], *end;

	if (!has_only(served, words, known, key, n))
		return NM_TOOK_REQUEST;
	if (!nm_store_find(service->store, key, n, &stored)) {
		nm_rope_add(&served->out, "EN", 2);
		(void)put_flags(served, words, known, key, n, NULL);
		return nm_app_answer(served, NM_VERB_GET, NM_CLASS_MISS, "\r\n");
	}
	const bool value = asks_for_value(words);

	end = value ? nm_number_put(stored.size, nm_line_put("VA ", head))
		    : nm_line_put("HD", head);
	nm_rope_add(&served->out, head, (size_t)(end - head));
	if (!put_flags(served, words, known, key, n, &stored))
		return NM_TOOK_BAD;
	if (value) {
		nm_rope_add(&served->out, "\r\n", 2);
		nm_value_put(served, &stored);
	}
	return nm_app_answer(served, NM_VERB_GET, NM_CLASS_OK, "\r\n");
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

/* "ms KEY BYTES FLAGS": the value follows, and its answer is put together now. */
static enum nm_took begin_set(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *key, size_t n, struct nm_words *words)
{
	uint64_t bytes, flags;

	if (!nm_words_number(words, UINT32_MAX, &bytes) || !flags_of(*words, &flags))
		return NM_TOOK_BAD;
	nm_rope_add(&served->out, "HD", 2);
	if (!put_flags(served, *words, "FTkO", key, n, NULL))
		return NM_TOOK_BAD;
	nm_value_reserve(served, service, key, n, (uint32_t)flags, bytes);
	served->state = NM_MEMCACHE_IN_META_VALUE;
	return NM_TOOK_MORE;
}

static enum nm_took delete (struct nm_app_served *served, const struct nm_app_service *service,
			    const char *key, size_t n, struct nm_words words) {
	if (!has_only(served, words, "kO", key, n)) return NM_TOOK_REQUEST;
	const bool found = nm_store_delete(service->store, key, n);

	nm_rope_add(&served->out, found ? "HD" : "NF", 2);
	(void)put_flags(served, words, "kO", key, n, NULL);
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
		return delete (served, service, key, n, *words);
	default:
		return NM_TOOK_BAD;
	}
}
