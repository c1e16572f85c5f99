/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached: what is sent says which of its protocols it is. Of the text
 * protocol it has get, each key of which counts as a request, set and delete, also with noreply,
 * version and quit. What is stored does not expire. */
#include "app/memcache_server.h"

#include <string.h>

#include "app/memcache.h"
#include "app/memcache_binary.h"
#include "app/store.h"
#include "app/value.h"

/* A longer line is none. */
#define MAX_LINE NM_APP_KEPT_BYTES

static bool word_is(const char *word, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(word, text, n) == 0;
}

static void add(struct nm_app_served *served, const char *text)
{
	nm_rope_add(&served->out, text, strlen(text));
}

static void put(struct nm_app_served *served, const char *key, size_t n,
		const struct nm_stored *stored)
{
	char number[NM_NUMBER_MAX];

	add(served, "VALUE ");
	nm_rope_add(&served->out, key, n);
	add(served, " ");
	nm_rope_add(&served->out, number, (size_t)(nm_number_put(stored->flags, number) - number));
	add(served, " ");
	nm_rope_add(&served->out, number, (size_t)(nm_number_put(stored->size, number) - number));
	add(served, "\r\n");
	nm_value_put(served, stored);
	add(served, "\r\n");
}

/* Bytes of the next word that is left; 0: there is none. */
static size_t next_bytes(struct nm_words words)
{
	const char *word;

	return nm_words_next(&words, &word);
}

static bool next_key(struct nm_words *words, const char **ret, size_t *ret_n)
{
	*ret_n = nm_words_next(words, ret);
	return *ret_n && *ret_n <= NM_KEY_MAX;
}

static bool is_at_key(const struct nm_app_served *served)
{
	return served->state == NM_MEMCACHE_AT_KEY || served->state == NM_MEMCACHE_AT_REFUSED_KEY;
}

/* The next key of a get: behind the last one the answer ends, if it has not ended before. */
static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			struct nm_words *words)
{
	const bool refused = served->state == NM_MEMCACHE_AT_REFUSED_KEY;
	enum nm_class class = refused ? NM_CLASS_REFUSED : NM_CLASS_MISS;
	struct nm_stored stored;
	const char *key;
	size_t n;

	if (!next_key(words, &key, &n))
		return NM_TOOK_BAD;
	const size_t n_next = next_bytes(*words);

	if (!refused && nm_store_find(service->store, key, n, &stored)) {
		put(served, key, n, &stored);
		class = NM_CLASS_OK;
	}
	const enum nm_took took =
		nm_app_answer(served, NM_VERB_GET, class, n_next || refused ? "" : "END\r\n");

	if (!n_next)
		return took;
	served->state = refused ? NM_MEMCACHE_AT_REFUSED_KEY : NM_MEMCACHE_AT_KEY;
	return nm_rope_has_room(&served->out, NM_MEMCACHE_ANSWER_BYTES - NM_KEY_MAX + n_next)
		       ? NM_TOOK_PART
		       : took;
}

/* The end of a line, which may be "noreply". False: there is another word. */
static bool take_end(struct nm_words words, bool *ret_quiet)
{
	const char *word;
	const size_t n = nm_words_next(&words, &word);

	*ret_quiet = word_is(word, n, "noreply");
	return !n || (*ret_quiet && !next_bytes(words));
}

/* "set KEY FLAGS EXPTIME BYTES [noreply]": the value follows, also of one that is too large. */
static enum nm_took begin_set(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *key, size_t n, struct nm_words *words)
{
	uint64_t flags, expires, bytes;
	bool quiet;

	if (!nm_words_number(words, UINT32_MAX, &flags) ||
	    !nm_words_number(words, UINT32_MAX, &expires) ||
	    !nm_words_number(words, UINT32_MAX, &bytes) || !take_end(*words, &quiet))
		return NM_TOOK_BAD;
	if (!quiet)
		add(served, "STORED\r\n");
	nm_value_reserve(served, service, key, n, (uint32_t)flags, bytes);
	served->state = NM_MEMCACHE_IN_VALUE;
	return NM_TOOK_MORE;
}

/* "delete KEY [noreply]". */
static enum nm_took forget(struct nm_app_served *served, const struct nm_app_service *service,
			   const char *key, size_t n, struct nm_words words)
{
	bool quiet;

	if (!take_end(words, &quiet))
		return NM_TOOK_BAD;
	const bool found = nm_store_delete(service->store, key, n);
	const char *text = found ? "DELETED\r\n" : "NOT_FOUND\r\n";

	return nm_app_answer(served, NM_VERB_DELETE, found ? NM_CLASS_OK : NM_CLASS_MISS,
			     quiet ? "" : text);
}

/* A line; words: what is not taken of it. */
static enum nm_took take_line(struct nm_app_served *served, const struct nm_app_service *service,
			      struct nm_words *words)
{
	const char *verb, *key;
	size_t n_verb = nm_words_next(words, &verb), n;

	if (word_is(verb, n_verb, "get"))
		return get(served, service, words);
	const bool has_key = next_key(words, &key, &n);

	if (word_is(verb, n_verb, "version"))
		return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, "VERSION netmodel\r\n");
	if (word_is(verb, n_verb, "mn") && !n)
		return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, "MN\r\n");
	if (word_is(verb, n_verb, "quit") && !n) {
		served->last = true;
		return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, "");
	}
	if (!has_key)
		return NM_TOOK_BAD;
	if (n_verb == 2 && *verb == 'm')
		return nm_memcache_take_meta(served, service, verb[1], key, n, words);
	if (word_is(verb, n_verb, "set"))
		return begin_set(served, service, key, n, words);
	return word_is(verb, n_verb, "delete") ? forget(served, service, key, n, *words)
					       : NM_TOOK_BAD;
}

static enum nm_took take_command(struct nm_app_served *served, const struct nm_app_service *service,
				 const char *data, size_t n, size_t *ret_taken)
{
	const char *end = memchr(data, '\n', n < MAX_LINE ? n : MAX_LINE);

	if (!end)
		return n < MAX_LINE ? NM_TOOK_MORE : NM_TOOK_BAD;
	if (end == data || end[-1] != '\r' ||
	    (served->state == NM_MEMCACHE_AT_COMMAND &&
	     !nm_rope_has_room(&served->out, NM_MEMCACHE_ANSWER_BYTES)))
		return NM_TOOK_BAD;
	struct nm_words words = {.at = data, .end = end - 1};
	const enum nm_took took = is_at_key(served) ? get(served, service, &words)
						    : take_line(served, service, &words);

	*ret_taken = (size_t)((is_at_key(served) ? words.at : end + 1) - data);
	return took;
}

/* The value of a set, and what ends it. */
static enum nm_took take_value(struct nm_app_served *served, const struct nm_app_service *service,
			       const char *data, size_t n, size_t *ret_taken)
{
	size_t some = nm_value_write(served, service, data, n);

	*ret_taken = some;
	if (n - some < 2)
		return NM_TOOK_MORE;
	if (memcmp(data + some, "\r\n", 2) != 0)
		return NM_TOOK_BAD;
	*ret_taken += 2;
	if (served->state == NM_MEMCACHE_IN_REFUSED_VALUE)
		return nm_app_answer(served, NM_VERB_SET, NM_CLASS_REFUSED, "");
	if (nm_value_publish(served, service))
		return nm_app_answer(served, NM_VERB_SET, NM_CLASS_OK, "");
	nm_rope_clear(&served->out);
	return nm_app_answer(served, NM_VERB_SET, NM_CLASS_REFUSED,
			     served->at > NM_VALUE_MAX
				     ? "SERVER_ERROR object too large for cache\r\n"
				     : "SERVER_ERROR out of memory storing object\r\n");
}

void nm_memcache_fail(struct nm_app_served *served)
{
	if ((uint8_t)*served->out.text == NM_BINARY_ANSWER)
		nm_memcache_fail_binary(served);
	else
		nm_app_fail(served, "SERVER_ERROR out of order\r\n");
	if (served->state == NM_MEMCACHE_AT_KEY)
		served->state = NM_MEMCACHE_AT_REFUSED_KEY;
}

enum nm_took nm_memcache_take(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken)
{
	enum nm_took took = NM_TOOK_MORE;
	size_t some = 0;

	*ret_taken = 0;
	if (served->state == NM_MEMCACHE_IN_BODY ||
	    (served->state == NM_MEMCACHE_AT_COMMAND && (uint8_t)*data == NM_BINARY_REQUEST))
		return nm_memcache_take_binary(served, service, data, n, ret_taken);
	if (served->state <= NM_MEMCACHE_AT_REFUSED_KEY)
		took = take_command(served, service, data, n, ret_taken);
	if (took != NM_TOOK_MORE || served->state <= NM_MEMCACHE_AT_REFUSED_KEY)
		return took;
	took = take_value(served, service, data + *ret_taken, n - *ret_taken, &some);
	*ret_taken += some;
	return took;
}
