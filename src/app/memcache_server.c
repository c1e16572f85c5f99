/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's text protocol: get of one key, set, delete and version. What
 * is stored does not expire. */
#include "app/memcache.h"

#include <string.h>

#include "app/store.h"

/* A longer line is none. */
#define MAX_LINE 512u

enum state { AT_COMMAND, IN_VALUE, BEHIND_VALUE };

/* The words of a line that are left. */
struct words {
	const char *at, *end;
};

static size_t next_word(struct words *words, const char **ret)
{
	while (words->at < words->end && *words->at == ' ')
		words->at++;
	*ret = words->at;
	while (words->at < words->end && *words->at != ' ')
		words->at++;
	return (size_t)(words->at - *ret);
}

static bool next_number(struct words *words, uint64_t most, uint64_t *ret)
{
	const char *word;
	size_t n = next_word(words, &word);

	return n && nm_line_number(word, n, most, ret) == n;
}

static bool word_is(const char *word, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(word, text, n) == 0;
}

static void add(struct nm_app_served *served, const char *text)
{
	nm_rope_add(&served->out, text, strlen(text));
}

static enum nm_took answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   const char *text)
{
	add(served, text);
	served->state = AT_COMMAND;
	served->verb = (uint8_t)verb;
	served->class = (uint8_t) class;
	return NM_TOOK_REQUEST;
}

static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			const char *key, size_t n)
{
	char number[NM_NUMBER_MAX];
	struct nm_stored stored;

	if (!nm_store_find(service->store, key, n, &stored))
		return answer(served, NM_VERB_GET, NM_CLASS_MISS, "END\r\n");
	add(served, "VALUE ");
	nm_rope_add(&served->out, key, n);
	add(served, " ");
	nm_rope_add(&served->out, number, (size_t)(nm_number_put(stored.flags, number) - number));
	add(served, " ");
	nm_rope_add(&served->out, number, (size_t)(nm_number_put(stored.size, number) - number));
	add(served, "\r\n");
	nm_rope_add_body(&served->out, &(struct nm_rope_body){.data = stored.data,
							      .wrap = stored.size + 1,
							      .bytes = stored.size,
							      .place = stored.place});
	return answer(served, NM_VERB_GET, NM_CLASS_OK, "\r\nEND\r\n");
}

/* "set KEY FLAGS EXPTIME BYTES": the value follows, also of one that is too large. */
static enum nm_took begin_set(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *key, size_t n, struct words *words)
{
	uint64_t flags, expires, bytes;

	if (!next_number(words, UINT32_MAX, &flags) || !next_number(words, UINT32_MAX, &expires) ||
	    !next_number(words, UINT32_MAX, &bytes) || words->at < words->end)
		return NM_TOOK_BAD;
	served->too_large = bytes > NM_MEMCACHE_MAX_VALUE;
	served->place = served->too_large
				? 0
				: nm_store_reserve(service->store, key, n, (uint32_t)flags, bytes);
	served->too_large |= !served->place;
	served->key_length = (uint8_t)n;
	served->at = 0;
	served->left = bytes;
	served->state = bytes ? IN_VALUE : BEHIND_VALUE;
	return NM_TOOK_MORE;
}

static enum nm_took take_line(struct nm_app_served *served, const struct nm_app_service *service,
			      struct words words)
{
	const char *verb, *key;
	size_t n_verb = next_word(&words, &verb), n = next_word(&words, &key);

	if (word_is(verb, n_verb, "version"))
		return answer(served, NM_VERB_NONE, NM_CLASS_OK, "VERSION netmodel\r\n");
	if (!n || n > NM_KEY_MAX)
		return NM_TOOK_BAD;
	if (word_is(verb, n_verb, "set"))
		return begin_set(served, service, key, n, &words);
	/* Further keys, and noreply. */
	if (words.at < words.end)
		return NM_TOOK_BAD;
	if (word_is(verb, n_verb, "get"))
		return get(served, service, key, n);
	if (!word_is(verb, n_verb, "delete"))
		return NM_TOOK_BAD;
	return nm_store_delete(service->store, key, n)
		       ? answer(served, NM_VERB_DELETE, NM_CLASS_OK, "DELETED\r\n")
		       : answer(served, NM_VERB_DELETE, NM_CLASS_MISS, "NOT_FOUND\r\n");
}

static enum nm_took take_command(struct nm_app_served *served, const struct nm_app_service *service,
				 const char *data, size_t n, size_t *ret_taken)
{
	const char *end = memchr(data, '\n', n < MAX_LINE ? n : MAX_LINE);

	if (!end)
		return n < MAX_LINE ? NM_TOOK_MORE : NM_TOOK_BAD;
	if (end == data || end[-1] != '\r' ||
	    !nm_rope_has_room(&served->out, NM_MEMCACHE_ANSWER_BYTES))
		return NM_TOOK_BAD;
	*ret_taken = (size_t)(end - data) + 1;
	return take_line(served, service, (struct words){.at = data, .end = end - 1});
}

static void take_value(struct nm_app_served *served, const struct nm_app_service *service,
		       const char *data, size_t n, size_t *ret_taken)
{
	size_t some = n < served->left ? n : (size_t)served->left;

	if (served->place)
		nm_store_write(service->store, served->place, served->key_length, served->at, data,
			       some);
	served->at += some;
	served->left -= some;
	served->state = served->left ? IN_VALUE : BEHIND_VALUE;
	*ret_taken = some;
}

static enum nm_took end_set(struct nm_app_served *served, const struct nm_app_service *service,
			    const char *data, size_t n, size_t *ret_taken)
{
	if (n < 2)
		return NM_TOOK_MORE;
	if (memcmp(data, "\r\n", 2) != 0)
		return NM_TOOK_BAD;
	*ret_taken = 2;
	if (served->too_large)
		return answer(served, NM_VERB_SET, NM_CLASS_REFUSED,
			      "SERVER_ERROR object too large for cache\r\n");
	if (!nm_store_publish(service->store, served->place, served->key_length))
		return answer(served, NM_VERB_SET, NM_CLASS_REFUSED,
			      "SERVER_ERROR out of memory storing object\r\n");
	return answer(served, NM_VERB_SET, NM_CLASS_OK, "STORED\r\n");
}

enum nm_took nm_memcache_take(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken)
{
	enum nm_took took = NM_TOOK_MORE;
	size_t taken = 0, some = 1;

	while (took == NM_TOOK_MORE && some && taken < n) {
		some = 0;
		switch ((enum state)served->state) {
		case AT_COMMAND:
			took = take_command(served, service, data + taken, n - taken, &some);
			break;
		case IN_VALUE:
			take_value(served, service, data + taken, n - taken, &some);
			break;
		case BEHIND_VALUE:
			took = end_set(served, service, data + taken, n - taken, &some);
			break;
		}
		taken += some;
	}
	*ret_taken = taken;
	return took;
}
