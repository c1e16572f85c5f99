/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's meta commands: mg, ms, md and ma, with the flags that ask
 * for something of the item, change what is done, or are sent back. */
#include <string.h>

#include "app/change.h"
#include "app/memcache_server.h"
#include "base/ascii.h"

/* The longest word that a client has sent back, as at memcached. */
#define OPAQUE_MAX 32u
/* What may come behind the flags: the end of their line, and that of a value, which may be a
 * number. */
#define ENDS_BYTES	      (4u + NM_NUMBER_MAX)
#define INVALID		      "CLIENT_ERROR invalid flag\r\n"
#define INVALID_MODE(command) "CLIENT_ERROR invalid mode for " command " M token\r\n"
/* All that there are; those that a command has no use for change nothing. */
#define FLAGS "vfstckOqTFCDJNM"

/* What is asked for, of the flags that have something to say before the answer. */
struct asked {
	bool value, touches, expires, begins;
	uint64_t flags, by, first, unique;
	char mode; /* a small letter; 0: none */
};

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

static bool read_number(const char *flag, size_t n, uint64_t most, uint64_t *ret)
{
	return n > 1 && nm_line_number(flag + 1, n - 1, most, ret) == n - 1;
}

/* Seconds to live, of which negative ones are over. */
static bool read_expiry(const char *flag, size_t n, struct asked *ret)
{
	const bool negative = n > 1 && flag[1] == '-';
	uint64_t seconds;

	ret->touches = true;
	if (!read_number(flag + negative, n - negative, UINT32_MAX, &seconds))
		return false;
	ret->expires = negative || nm_memcache_expires(seconds);
	return true;
}

static bool read_flag(struct nm_app_served *served, const char *flag, size_t n, struct asked *ret)
{
	uint64_t life;

	switch (*flag) {
	case 'q':
		served->note |= NM_MEMCACHE_QUIET;
		return n == 1;
	case 'v':
		ret->value = true;
		return n == 1;
	case 'F':
		return read_number(flag, n, UINT32_MAX, &ret->flags);
	case 'T':
		return read_expiry(flag, n, ret);
	case 'C':
		return read_number(flag, n, UINT64_MAX, &ret->unique);
	case 'D':
		return read_number(flag, n, UINT64_MAX, &ret->by);
	case 'J':
		return read_number(flag, n, UINT64_MAX, &ret->first);
	case 'N':
		ret->begins = true;
		return read_number(flag, n, UINT32_MAX, &life);
	case 'M':
		ret->mode = n == 2 ? nm_ascii_lower(flag[1]) : '?';
		return n == 2;
	case 'O':
		return n <= 1 + OPAQUE_MAX;
	default:
		return n == 1;
	}
}

static bool read_flags(struct nm_app_served *served, struct nm_words words, struct asked *ret)
{
	const char *flag;
	size_t n;

	while ((n = nm_words_next(&words, &flag)) > 0)
		if (!memchr(FLAGS, *flag, strlen(FLAGS)) || !read_flag(served, flag, n, ret))
			return false;
	return true;
}

/* Answers to each flag in turn; stored NULL: there is no item. False: there is no room. */
static bool put_flags(struct nm_app_served *served, struct nm_words words, const char *key,
		      size_t n_key, const struct nm_stored *stored)
{
	const char *flag;
	size_t n;
	bool good = true;

	while (good && (n = nm_words_next(&words, &flag)) > 0) {
		if (*flag == 'O')
			good = put_text(served, 'O', flag + 1, n - 1);
		else if (*flag == 'k')
			good = put_text(served, 'k', key, n_key);
		else if (*flag == 'f' && stored)
			good = put_number(served, 'f', stored->flags);
		else if (*flag == 's' && stored)
			good = put_number(served, 's', stored->size);
		else if (*flag == 'c' && stored)
			good = put_number(served, 'c', stored->place);
		else if (*flag == 't' && stored) /* it does not expire */
			good = put_text(served, 't', "-1", 2);
	}
	return good;
}

/* Ends the answer; unsaid: it is what a quiet request is not told. */
static enum nm_took answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   bool unsaid)
{
	const bool quiet = served->note & NM_MEMCACHE_QUIET;

	if (quiet && unsaid)
		nm_rope_cut(&served->out, served->begun);
	const enum nm_took took = nm_app_answer(served, verb, class, quiet && unsaid ? "" : "\r\n");

	return quiet ? nm_memcache_gather(served) : took;
}

static enum nm_took refuse(struct nm_app_served *served, const char *text)
{
	nm_rope_cut(&served->out, served->begun);
	return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_REFUSED, text);
}

static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			const char *key, size_t n, struct nm_words words)
{
	struct asked asked = {.mode = 0};
	struct nm_stored stored;
	char head[4 + NM_NUMBER_MAX];

	if (!read_flags(served, words, &asked))
		return refuse(served, INVALID);
	const bool found = nm_store_find(service->store, key, n, &stored);
	const bool value = found && asked.value;
	const enum nm_verb touching = asked.value ? NM_VERB_GAT : NM_VERB_TOUCH;
	char *end = value ? nm_number_put(stored.size, nm_line_put("VA ", head))
			  : nm_line_put(found ? "HD" : "EN", head);

	nm_rope_add(&served->out, head, (size_t)(end - head));
	if (!put_flags(served, words, key, n, found ? &stored : NULL))
		return refuse(served, INVALID);
	if (value) {
		nm_rope_add(&served->out, "\r\n", 2);
		nm_value_put(served, &stored);
	}
	if (found && asked.expires)
		(void)nm_store_delete(service->store, key, n);
	return answer(served, asked.touches ? touching : NM_VERB_GET,
		      found ? NM_CLASS_OK : NM_CLASS_MISS, !found);
}

static uint64_t expected_of(const struct asked *asked, uint64_t otherwise)
{
	return asked->unique ? nm_memcache_expected(asked->unique) : otherwise;
}

/* NONE: there is no such mode. */
static enum nm_verb storing_verb(const struct asked *asked)
{
	switch (asked->mode) {
	case 'a':
		return NM_VERB_APPEND;
	case 'p':
		return NM_VERB_PREPEND;
	case 'e':
		return NM_VERB_ADD;
	case 'r':
		return NM_VERB_REPLACE;
	case 0:
	case 's':
		return asked->unique ? NM_VERB_CAS : NM_VERB_SET;
	default:
		return NM_VERB_NONE;
	}
}

/* "ms KEY BYTES FLAGS": the value follows, also of one that is refused, and its answer is put
 * together now. */
static enum nm_took begin_set(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *key, size_t n, struct nm_words *words)
{
	struct asked asked = {.mode = 0};
	uint64_t bytes;

	if (!nm_words_number(words, UINT32_MAX, &bytes))
		return NM_TOOK_BAD;
	nm_rope_add(&served->out, "HD", 2);
	const bool good =
		read_flags(served, *words, &asked) && put_flags(served, *words, key, n, NULL);
	const enum nm_verb verb = good ? storing_verb(&asked) : NM_VERB_NONE;

	nm_memcache_begin_storing(
		served, service,
		&(struct nm_memcache_storing){.verb = verb,
					      .flags = (uint32_t)asked.flags,
					      .expected = expected_of(&asked, NM_STORE_ANY),
					      .expires = asked.expires,
					      .key = key,
					      .n_key = n,
					      .bytes = bytes});
	served->expires |= !good; /* which tells a flag from a mode that there is not */
	served->state = NM_MEMCACHE_IN_META_VALUE;
	return NM_TOOK_MORE;
}

enum nm_took nm_memcache_end_meta_set(struct nm_app_served *served,
				      const struct nm_app_service *service)
{
	const enum nm_verb verb = (enum nm_verb)served->verb;
	char *head = served->out.text + served->begun;

	if (verb == NM_VERB_NONE)
		return refuse(served, served->expires ? INVALID : INVALID_MODE("ms"));
	const enum nm_store_end end = nm_memcache_publish(served, service);
	const enum nm_class class = nm_memcache_class(verb, end);

	if (end == NM_STORE_GONE) {
		nm_rope_cut(&served->out, served->begun);
		const char *why = served->at > NM_VALUE_MAX
					  ? "SERVER_ERROR object too large for cache"
					  : "SERVER_ERROR out of memory storing object";

		nm_rope_add(&served->out, why, strlen(why));
	} else if (end == NM_STORE_ABSENT && verb == NM_VERB_CAS) {
		(void)nm_line_put("NF", head);
	} else if (end != NM_STORE_DONE) {
		(void)nm_line_put(nm_memcache_verbs[verb].meta_undone, head);
	}
	return answer(served, verb, class, end == NM_STORE_DONE);
}

/* What the head of an answer says of a request that has come to that. */
static const char *code_of(enum nm_store_end end)
{
	return end == NM_STORE_DONE ? "HD" : end == NM_STORE_OTHER ? "EX" : "NF";
}

static enum nm_took forget(struct nm_app_served *served, const struct nm_app_service *service,
			   const char *key, size_t n, struct nm_words words)
{
	struct asked asked = {.mode = 0};

	if (!read_flags(served, words, &asked))
		return refuse(served, INVALID);
	const enum nm_store_end end =
		nm_store_delete_at(service->store, key, n, expected_of(&asked, NM_STORE_ANY));

	nm_rope_add(&served->out, code_of(end), 2);
	if (!put_flags(served, words, key, n, NULL))
		return refuse(served, INVALID);
	return answer(served, NM_VERB_DELETE, nm_memcache_class(NM_VERB_DELETE, end),
		      end == NM_STORE_DONE);
}

static enum nm_took count(struct nm_app_served *served, const struct nm_app_service *service,
			  const char *key, size_t n, struct nm_words words)
{
	struct asked asked = {.by = 1};
	struct nm_stored stored = {.place = 0};
	char digits[NM_NUMBER_MAX], head[4 + NM_NUMBER_MAX];
	uint64_t number;

	if (!read_flags(served, words, &asked))
		return refuse(served, INVALID);
	if (!memchr("id+-", asked.mode ? asked.mode : 'i', strlen("id+-")))
		return refuse(served, INVALID_MODE("ma"));
	const bool down = asked.mode == 'd' || asked.mode == '-';
	const enum nm_verb verb = down ? NM_VERB_DECR : NM_VERB_INCR;
	const struct nm_change_count how = {.down = down,
					    .begins = asked.begins,
					    .by = asked.by,
					    .first = asked.first,
					    .expected = expected_of(&asked, NM_STORE_SOME)};
	const enum nm_store_end end =
		nm_change_count(service->store, key, n, &how, &number, &stored.place);

	if (end == NM_STORE_NO_NUMBER || end == NM_STORE_GONE)
		return nm_app_answer(served, verb, NM_CLASS_REFUSED,
				     end == NM_STORE_GONE ? "SERVER_ERROR out of memory\r\n"
							  : "CLIENT_ERROR cannot increment or "
							    "decrement non-numeric value\r\n");
	const bool value = end == NM_STORE_DONE && asked.value;
	const size_t n_digits = value ? (size_t)(nm_number_put(number, digits) - digits) : 0;
	char *const at = value ? nm_number_put(n_digits, nm_line_put("VA ", head))
			       : nm_line_put(code_of(end), head);

	nm_rope_add(&served->out, head, (size_t)(at - head));
	if (!put_flags(served, words, key, n, end == NM_STORE_DONE ? &stored : NULL))
		return refuse(served, INVALID);
	if (value) {
		nm_rope_add(&served->out, "\r\n", 2);
		nm_rope_add(&served->out, digits, n_digits);
	}
	return answer(served, verb, nm_memcache_class(verb, end), end == NM_STORE_DONE);
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
	case 'a':
		return count(served, service, key, n, *words);
	default:
		return NM_TOOK_BAD;
	}
}
