/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached: what is sent says which of its protocols it is. Of the text
 * protocol it has all that reads, stores or changes values, each key of a get being a request,
 * also with noreply, and version, verbosity, flush_all, stats and quit. What is stored does not
 * expire, unless that time is over when it comes. */
#include "app/memcache_server.h"

#include <string.h>
#include <unistd.h>

#include "app/change.h"
#include "app/memcache_binary.h"

/* A longer line is none. */
#define MAX_LINE NM_APP_KEPT_BYTES

/* The answer to mn. */
#define END_OF_SEVERAL "MN\r\n"

static bool word_is(const char *word, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(word, text, n) == 0;
}

static void add(struct nm_app_served *served, const char *text)
{
	nm_rope_add(&served->out, text, strlen(text));
}

static void put_number(struct nm_app_served *served, uint64_t number)
{
	char digits[NM_NUMBER_MAX];

	nm_rope_add(&served->out, digits, (size_t)(nm_number_put(number, digits) - digits));
}

static void put(struct nm_app_served *served, const char *key, size_t n,
		const struct nm_stored *stored)
{
	add(served, "VALUE ");
	nm_rope_add(&served->out, key, n);
	add(served, " ");
	put_number(served, stored->flags);
	add(served, " ");
	put_number(served, stored->size);
	if (served->note & NM_MEMCACHE_UNIQUE) {
		add(served, " ");
		put_number(served, stored->place);
	}
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

/* A command that is there, with other words than it has. */
static enum nm_took refuse(struct nm_app_served *served)
{
	return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_REFUSED, "ERROR\r\n");
}

/* The next key of a get: behind the last one the answer ends, if it has not ended before. goes_on:
 * there are more keys than those that are left of the words. */
static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			struct nm_words *words, bool goes_on)
{
	const bool refused = served->state == NM_MEMCACHE_AT_REFUSED_KEY;
	const bool touches = served->note & NM_MEMCACHE_TOUCHES;
	enum nm_class class = refused ? NM_CLASS_REFUSED : NM_CLASS_MISS;
	struct nm_stored stored;
	const char *key;
	size_t n;

	if (!next_key(words, &key, &n))
		return n || is_at_key(served) ? NM_TOOK_BAD : refuse(served);
	const bool is_last = !goes_on && !next_bytes(*words);

	if (!refused && nm_store_find(service->store, key, n, &stored)) {
		put(served, key, n, &stored);
		class = NM_CLASS_OK;
		if (touches && served->expires)
			(void)nm_store_delete(service->store, key, n);
	}
	const enum nm_took took = nm_app_answer(served, touches ? NM_VERB_GAT : NM_VERB_GET, class,
						!is_last || refused ? "" : "END\r\n");

	if (is_last)
		return took;
	served->state = refused ? NM_MEMCACHE_AT_REFUSED_KEY : NM_MEMCACHE_AT_KEY;
	return nm_memcache_gather(served);
}

/* Seconds to live, of which negative ones are over. */
static bool take_expiry(struct nm_words *words, bool *ret_expires)
{
	uint64_t seconds;
	const char *word;
	size_t n = nm_words_next(words, &word);
	const bool negative = n && *word == '-';

	n -= negative;
	if (!n || nm_line_number(word + negative, n, UINT32_MAX, &seconds) != n)
		return false;
	*ret_expires = negative || nm_memcache_expires(seconds);
	return true;
}

/* "gat EXPTIME KEY...": seconds to live, and keys as of a get. */
static enum nm_took get_and_touch(struct nm_app_served *served,
				  const struct nm_app_service *service, struct nm_words *words,
				  bool goes_on)
{
	return take_expiry(words, &served->expires) ? get(served, service, words, goes_on)
						    : refuse(served);
}

/* The end of a line, which may be "noreply". False: there is another word. */
static bool take_end(struct nm_words words, bool *ret_quiet)
{
	const char *word;
	const size_t n = nm_words_next(&words, &word);

	*ret_quiet = word_is(word, n, "noreply");
	return !n || (*ret_quiet && !next_bytes(words));
}

static enum nm_took answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   const char *text)
{
	return nm_app_answer(served, verb, class, served->note & NM_MEMCACHE_QUIET ? "" : text);
}

/* What remains of the line, which is nothing, or "noreply". */
static bool ends(struct nm_app_served *served, const struct nm_words *words)
{
	bool quiet;

	if (!take_end(*words, &quiet))
		return false;
	served->note = quiet ? NM_MEMCACHE_QUIET : 0;
	return true;
}

/* "set KEY FLAGS EXPTIME BYTES [noreply]", and so on, cas with a number behind that: the value
 * follows, also of one that is too large. */
static enum nm_took begin_set(struct nm_app_served *served, const struct nm_app_service *service,
			      enum nm_verb verb, const char *key, size_t n, struct nm_words *words)
{
	struct nm_memcache_storing storing = {
		.verb = verb, .expected = NM_STORE_ANY, .key = key, .n_key = n};
	uint64_t flags, unique;

	if (!nm_words_number(words, UINT32_MAX, &flags) || !take_expiry(words, &storing.expires) ||
	    !nm_words_number(words, UINT32_MAX, &storing.bytes))
		return NM_TOOK_BAD;
	storing.flags = (uint32_t)flags;
	if (verb == NM_VERB_CAS) {
		if (!nm_words_number(words, UINT64_MAX, &unique))
			return NM_TOOK_BAD;
		storing.expected = nm_memcache_expected(unique);
	}
	if (!ends(served, words))
		return NM_TOOK_BAD;
	nm_memcache_begin_storing(served, service, &storing);
	served->state = NM_MEMCACHE_IN_VALUE;
	return NM_TOOK_MORE;
}

static enum nm_took end_set(struct nm_app_served *served, const struct nm_app_service *service)
{
	const enum nm_verb verb = (enum nm_verb)served->verb;
	const enum nm_store_end end = nm_memcache_publish(served, service);
	const char *text = nm_memcache_verbs[verb].undone;

	if (end == NM_STORE_DONE)
		text = "STORED";
	else if (end == NM_STORE_ABSENT && verb == NM_VERB_CAS)
		text = "NOT_FOUND";
	else if (end == NM_STORE_GONE)
		text = served->at > NM_VALUE_MAX ? "SERVER_ERROR object too large for cache"
						 : "SERVER_ERROR out of memory storing object";
	if (!(served->note & NM_MEMCACHE_QUIET))
		add(served, text);
	return answer(served, verb, nm_memcache_class(verb, end), "\r\n");
}

/* "delete KEY [0] [noreply]". */
static enum nm_took forget(struct nm_app_served *served, const struct nm_app_service *service,
			   const char *key, size_t n, struct nm_words words)
{
	const char *word;
	struct nm_words behind = words;
	size_t length = nm_words_next(&behind, &word);

	if (word_is(word, length, "0"))
		words = behind;
	if (!ends(served, &words))
		return refuse(served);
	return nm_store_delete(service->store, key, n)
		       ? answer(served, NM_VERB_DELETE, NM_CLASS_OK, "DELETED\r\n")
		       : answer(served, NM_VERB_DELETE, NM_CLASS_MISS, "NOT_FOUND\r\n");
}

/* "touch KEY EXPTIME [noreply]". */
static enum nm_took touch(struct nm_app_served *served, const struct nm_app_service *service,
			  const char *key, size_t n, struct nm_words *words)
{
	struct nm_stored stored;
	bool expires;

	if (!take_expiry(words, &expires) || !ends(served, words))
		return refuse(served);
	return (expires ? nm_store_delete(service->store, key, n)
			: nm_store_find(service->store, key, n, &stored))
		       ? answer(served, NM_VERB_TOUCH, NM_CLASS_OK, "TOUCHED\r\n")
		       : answer(served, NM_VERB_TOUCH, NM_CLASS_MISS, "NOT_FOUND\r\n");
}

/* "incr KEY NUMBER [noreply]", and decr. */
static enum nm_took count(struct nm_app_served *served, const struct nm_app_service *service,
			  enum nm_verb verb, const char *key, size_t n, struct nm_words *words)
{
	struct nm_change_count how = {.down = verb == NM_VERB_DECR, .expected = NM_STORE_SOME};
	uint64_t number, place;
	const char *by;
	const size_t n_by = nm_words_next(words, &by);

	if (!n_by || !ends(served, words))
		return refuse(served);
	if (nm_line_number(by, n_by, UINT64_MAX, &how.by) != n_by)
		return answer(served, verb, NM_CLASS_REFUSED,
			      "CLIENT_ERROR invalid numeric delta argument\r\n");
	switch (nm_change_count(service->store, key, n, &how, &number, &place)) {
	case NM_STORE_DONE:
		if (!(served->note & NM_MEMCACHE_QUIET))
			put_number(served, number);
		return answer(served, verb, NM_CLASS_OK, "\r\n");
	case NM_STORE_NO_NUMBER:
		return answer(served, verb, NM_CLASS_REFUSED,
			      "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
	case NM_STORE_GONE:
		return answer(served, verb, NM_CLASS_REFUSED,
			      "SERVER_ERROR out of memory in incr\r\n");
	default:
		return answer(served, verb, NM_CLASS_MISS, "NOT_FOUND\r\n");
	}
}

/* --- what has no key --- */

/* What there is to say without counters of the whole server. */
static enum nm_took tell_stats(struct nm_app_served *served, const struct nm_words *words)
{
	if (next_bytes(*words))
		return refuse(served);
	add(served, "STAT pid ");
	put_number(served, (uint64_t)getpid());
	add(served, "\r\nSTAT version " NM_MEMCACHE_VERSION "\r\n");
	return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, "END\r\n");
}

/* "flush_all [0] [noreply]". */
static enum nm_took flush(struct nm_app_served *served, const struct nm_app_service *service,
			  struct nm_words words)
{
	struct nm_words behind = words;
	uint64_t delay = 0;

	if (nm_words_number(&behind, UINT32_MAX, &delay))
		words = behind;
	if (!ends(served, &words))
		return refuse(served);
	if (delay)
		return answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
			      "SERVER_ERROR all goes now, or never\r\n");
	return nm_store_clear(service->store) ? answer(served, NM_VERB_NONE, NM_CLASS_OK, "OK\r\n")
					      : answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
						       "SERVER_ERROR out of memory\r\n");
}

/* "verbosity LEVEL [noreply]", or without a level where nobody is told that it is missing. */
static enum nm_took set_verbosity(struct nm_app_served *served, struct nm_words words)
{
	struct nm_words behind = words;
	uint64_t level;
	const bool has_level = nm_words_number(&behind, UINT32_MAX, &level);

	return ends(served, has_level ? &behind : &words) &&
			       (has_level || (served->note & NM_MEMCACHE_QUIET))
		       ? answer(served, NM_VERB_NONE, NM_CLASS_OK, "OK\r\n")
		       : refuse(served);
}

static enum nm_took take_other(struct nm_app_served *served, const struct nm_app_service *service,
			       const char *name, size_t n, struct nm_words *words)
{
	if (word_is(name, n, "version"))
		return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK,
				     "VERSION " NM_MEMCACHE_VERSION "\r\n");
	if (word_is(name, n, "mn") && !next_bytes(*words))
		return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, END_OF_SEVERAL);
	if (word_is(name, n, "stats"))
		return tell_stats(served, words);
	if (word_is(name, n, "flush_all"))
		return flush(served, service, *words);
	if (word_is(name, n, "verbosity"))
		return set_verbosity(served, *words);
	if (!word_is(name, n, "quit") || next_bytes(*words))
		return NM_TOOK_BAD;
	served->last = true;
	return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, "");
}

/* --- lines --- */

/* A command has the name of its verb; NONE: it is another one. */
static enum nm_verb verb_of(const char *name, size_t n)
{
	for (unsigned v = NM_VERB_NONE + 1; v < NM_VERB__COUNT; v++)
		if (nm_verb_has_key((enum nm_verb)v) &&
		    word_is(name, n, nm_verb_name((enum nm_verb)v)))
			return (enum nm_verb)v;
	return NM_VERB_NONE;
}

/* A request of one key that is no get. */
static enum nm_took take_keyed(struct nm_app_served *served, const struct nm_app_service *service,
			       enum nm_verb verb, struct nm_words *words)
{
	const char *key;
	size_t n;

	if (!next_key(words, &key, &n))
		return n || nm_memcache_verbs[verb].stores ? NM_TOOK_BAD : refuse(served);
	if (nm_memcache_verbs[verb].stores)
		return begin_set(served, service, verb, key, n, words);
	if (nm_memcache_counts(verb))
		return count(served, service, verb, key, n, words);
	return verb == NM_VERB_TOUCH ? touch(served, service, key, n, words)
				     : forget(served, service, key, n, *words);
}

/* A line, or what has come of one that goes on; words: what is not taken of it. */
static enum nm_took take_line(struct nm_app_served *served, const struct nm_app_service *service,
			      struct nm_words *words, bool goes_on)
{
	const char *name, *key;
	const size_t n = nm_words_next(words, &name);
	size_t n_key;

	served->begun = (uint32_t)served->out.n_text;
	served->note = 0;
	if (word_is(name, n, "get"))
		return get(served, service, words, goes_on);
	if (word_is(name, n, "set") && !goes_on)
		return take_keyed(served, service, NM_VERB_SET, words);
	if (n == 2 && *name == 'm' && name[1] != 'n' && !goes_on)
		return next_key(words, &key, &n_key)
			       ? nm_memcache_take_meta(served, service, name[1], key, n_key, words)
			       : NM_TOOK_BAD;
	const bool unique = n == 4 && name[3] == 's'; /* gets and gats */
	const enum nm_verb verb = verb_of(name, n - unique);

	served->note = unique ? NM_MEMCACHE_UNIQUE : 0;
	if (verb == NM_VERB_GET)
		return get(served, service, words, goes_on);
	if (verb == NM_VERB_GAT) {
		served->note |= NM_MEMCACHE_TOUCHES;
		return get_and_touch(served, service, words, goes_on);
	}
	if (goes_on)
		return NM_TOOK_BAD;
	return verb == NM_VERB_NONE || unique ? take_other(served, service, name, n, words)
					      : take_keyed(served, service, verb, words);
}

/* The next key of those that have come of a line that is longer than what is kept, but for the
 * last one. MORE: there is none. */
static enum nm_took take_part(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken)
{
	const char *end = data + n;
	enum nm_took took;

	for (unsigned words = 0; words < 2; words++) {
		while (end > data && end[-1] != ' ')
			end--;
		while (end > data && end[-1] == ' ')
			end--;
	}
	if (end == data && n < MAX_LINE)
		return NM_TOOK_MORE;
	struct nm_words words = {.at = data, .end = end};

	took = is_at_key(served) ? get(served, service, &words, true)
				 : take_line(served, service, &words, true);
	*ret_taken = (size_t)(words.at - data);
	return took;
}

static enum nm_took take_command(struct nm_app_served *served, const struct nm_app_service *service,
				 const char *data, size_t n, size_t *ret_taken)
{
	const size_t most = n < MAX_LINE ? n : MAX_LINE;
	const char *end = memchr(data, '\n', most);

	/* Behind its first part, what comes of a longer line is taken at once: there would be room
	 * for one more key each time that something is received. */
	if (!end)
		return n < MAX_LINE && !is_at_key(served)
			       ? NM_TOOK_MORE
			       : take_part(served, service, data, most, ret_taken);
	if (end == data || end[-1] != '\r' ||
	    (served->state == NM_MEMCACHE_AT_COMMAND &&
	     !nm_rope_has_room(&served->out, NM_MEMCACHE_ANSWER_BYTES)))
		return NM_TOOK_BAD;
	struct nm_words words = {.at = data, .end = end - 1};
	const enum nm_took took = is_at_key(served) ? get(served, service, &words, false)
						    : take_line(served, service, &words, false);

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
	if (served->state == NM_MEMCACHE_IN_VALUE)
		return end_set(served, service);
	return nm_memcache_end_meta_set(served, service);
}

/* Whether the answer has the end of a request of several keys, which does not fail itself: its
 * client would wait for it. */
static bool is_end(const struct nm_app_served *served)
{
	const size_t n = strlen(END_OF_SEVERAL);

	return served->verb == NM_VERB_NONE && served->out.n_text >= n &&
	       memcmp(served->out.text + served->out.n_text - n, END_OF_SEVERAL, n) == 0;
}

void nm_memcache_fail(struct nm_app_served *served)
{
	if ((uint8_t)*served->out.text == NM_BINARY_ANSWER)
		nm_memcache_fail_binary(served);
	else if (!is_end(served))
		nm_app_fail(served, "SERVER_ERROR out of order\r\n");
	else if (served->out.n_text > strlen(END_OF_SEVERAL))
		nm_app_fail(served, "SERVER_ERROR out of order\r\n" END_OF_SEVERAL);
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
