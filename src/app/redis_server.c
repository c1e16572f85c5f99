/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of RESP2, and RESP3 behind HELLO 3: PING, GET, SET with EX or PX, DEL and
 * EXISTS of one key, and SELECT of its one database; those of one or two words also inline. Any
 * other command is answered with an error. What is stored does not expire. */
#include "app/redis.h"

#include <string.h>

#include "app/value.h"
#include "base/ascii.h"

/* The most words of a command, as at Redis. */
#define MAX_WORDS (1u << 20)

/* What comes next: a command to its second word, and of SET to the length of its value; then, for
 * each further word, its length, its bytes, and the end behind them. nm_app_answer() makes it
 * the first. */
enum state { AT_COMMAND, AT_WORD, IN_WORD, BEHIND_WORD };

/* served->note: which version is spoken, RESP2 from the beginning. */
enum { SPEAKS_2, SPEAKS_3 };

/* What has come and is not read yet. */
struct reader {
	const char *at, *end;
};

/* How far the reading of something came. */
enum reading { READ, READ_MORE, READ_BAD };

struct word {
	const char *bytes;
	uint64_t length;
};

/* "TNUMBER\r\n", where T is the type. */
static enum reading read_length(struct reader *reader, char type, uint64_t most, uint64_t *ret)
{
	size_t n = (size_t)(reader->end - reader->at);
	const char *end = memchr(reader->at, '\n', n);

	if (n && *reader->at != type)
		return READ_BAD;
	if (!end)
		return n > NM_NUMBER_MAX + 2 ? READ_BAD : READ_MORE;
	const char *digits = reader->at + 1;
	size_t length = nm_line_number(digits, (size_t)(end - digits), most, ret);

	if (!length || length > NM_NUMBER_MAX || digits + length + 1 != end || end[-1] != '\r')
		return READ_BAD;
	reader->at = end + 1;
	return READ;
}

static enum reading read_end(struct reader *reader)
{
	if (reader->end - reader->at < 2)
		return READ_MORE;
	if (memcmp(reader->at, "\r\n", 2) != 0)
		return READ_BAD;
	reader->at += 2;
	return READ;
}

/* A bulk string, whole. */
static enum reading read_word(struct reader *reader, struct word *ret)
{
	enum reading reading = read_length(reader, '$', NM_APP_KEPT_BYTES, &ret->length);

	if (reading != READ)
		return reading;
	ret->bytes = reader->at;
	if ((uint64_t)(reader->end - reader->at) < ret->length)
		return READ_MORE;
	reader->at += ret->length;
	return read_end(reader);
}

static bool word_is(const struct word *word, const char *text)
{
	return nm_ascii_is(word->bytes, (size_t)word->length, text);
}

static bool is_key(const struct word *word)
{
	return word->length >= 1 && word->length <= NM_KEY_MAX;
}

/* --- answers --- */

static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			const struct word *key)
{
	char head[NM_NUMBER_MAX + 3] = "$";
	struct nm_stored stored;

	if (!nm_store_find(service->store, key->bytes, (size_t)key->length, &stored))
		return nm_app_answer(served, NM_VERB_GET, NM_CLASS_MISS,
				     served->note == SPEAKS_3 ? "_\r\n" : "$-1\r\n");
	char *end = nm_line_put("\r\n", nm_number_put(stored.size, head + 1));

	nm_rope_add(&served->out, head, (size_t)(end - head));
	nm_value_put(served, &stored);
	return nm_app_answer(served, NM_VERB_GET, NM_CLASS_OK, "\r\n");
}

static enum nm_took refuse(struct nm_app_served *served)
{
	return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
			     "-ERR unknown command or wrong arguments\r\n");
}

/* "HELLO [VERSION]": the client is told who serves it, in that version. */
static enum nm_took hello(struct nm_app_served *served, const struct word *version)
{
	if (version && !word_is(version, "2") && !word_is(version, "3"))
		return nm_app_answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
				     "-NOPROTO unsupported protocol version\r\n");
	if (version)
		served->note = word_is(version, "3") ? SPEAKS_3 : SPEAKS_2;
	return nm_app_answer(
		served, NM_VERB_NONE, NM_CLASS_OK,
		served->note == SPEAKS_3
			? "%2\r\n$6\r\nserver\r\n$8\r\nnetmodel\r\n$5\r\nproto\r\n:3\r\n"
			: "*4\r\n$6\r\nserver\r\n$8\r\nnetmodel\r\n$5\r\nproto\r\n:2\r\n");
}

/* A command of two words, which is no flowop. */
static enum nm_took execute_other(struct nm_app_served *served,
				  const struct nm_app_service *service, const struct word *name,
				  const struct word *key)
{
	struct nm_stored stored;

	if (word_is(name, "exists"))
		return nm_app_answer(
			served, NM_VERB_NONE, NM_CLASS_OK,
			nm_store_find(service->store, key->bytes, (size_t)key->length, &stored)
				? ":1\r\n"
				: ":0\r\n");
	return word_is(name, "select") && word_is(key, "0")
		       ? nm_app_answer(served, NM_VERB_NONE, NM_CLASS_OK, "+OK\r\n")
		       : refuse(served);
}

/* A command of one word, or of two. */
static enum nm_took execute(struct nm_app_served *served, const struct nm_app_service *service,
			    const struct word *name, const struct word *key)
{
	if (word_is(name, "hello"))
		return hello(served, key);
	if (!key)
		return word_is(name, "ping")
			       ? nm_app_answer(served, NM_VERB_PING, NM_CLASS_OK, "+PONG\r\n")
			       : refuse(served);
	if (is_key(key) && word_is(name, "get"))
		return get(served, service, key);
	if (!is_key(key))
		return refuse(served);
	if (!word_is(name, "del"))
		return execute_other(served, service, name, key);
	return nm_store_delete(service->store, key->bytes, (size_t)key->length)
		       ? nm_app_answer(served, NM_VERB_DELETE, NM_CLASS_OK, ":1\r\n")
		       : nm_app_answer(served, NM_VERB_DELETE, NM_CLASS_MISS, ":0\r\n");
}

/* All words of a longer command have come. */
static enum nm_took end_command(struct nm_app_served *served, const struct nm_app_service *service)
{
	if (served->verb != NM_VERB_SET)
		return refuse(served);
	return nm_value_publish(served, service)
		       ? nm_app_answer(served, NM_VERB_SET, NM_CLASS_OK, "+OK\r\n")
		       : nm_app_answer(served, NM_VERB_SET, NM_CLASS_REFUSED,
				       "-ERR the key or the value is too large, or there is no "
				       "room for it\r\n");
}

/* --- commands of more than two words, which may be long --- */

/* The length of the word comes next. Of a SET that is its value; any other is skipped. */
static enum reading begin_word(struct nm_app_served *served, const struct nm_app_service *service,
			       struct reader *reader, const struct word *key)
{
	uint64_t bytes;
	enum reading reading = read_length(reader, '$', UINT32_MAX, &bytes);

	if (reading != READ)
		return reading;
	served->place = 0;
	served->left = bytes;
	if (key && is_key(key))
		nm_value_reserve(served, service, key->bytes, (size_t)key->length, 0, bytes);
	served->state = IN_WORD;
	return READ;
}

/* "EX SECONDS" or "PX MILLISECONDS", behind the value of a SET. */
static enum reading read_expiry(struct nm_app_served *served, struct reader *reader)
{
	struct word name, number;
	uint64_t time;
	enum reading reading = read_word(reader, &name);

	if (reading == READ)
		reading = read_word(reader, &number);
	if (reading != READ)
		return reading;
	served->words_left = 0;
	if ((!word_is(&name, "ex") && !word_is(&name, "px")) || !number.length ||
	    nm_line_number(number.bytes, (size_t)number.length, INT64_MAX, &time) !=
		    number.length ||
	    !time)
		served->verb = NM_VERB_NONE;
	return READ;
}

static enum reading read_words(struct nm_app_served *served, const struct nm_app_service *service,
			       struct reader *reader)
{
	enum reading reading = READ;

	switch ((enum state)served->state) {
	case AT_COMMAND:
		break;
	case AT_WORD:
		return served->verb == NM_VERB_SET ? read_expiry(served, reader)
						   : begin_word(served, service, reader, NULL);
	case IN_WORD:
		reader->at += nm_value_write(served, service, reader->at,
					     (size_t)(reader->end - reader->at));
		if (served->left)
			return READ_MORE;
		served->state = BEHIND_WORD;
		break;
	case BEHIND_WORD:
		reading = read_end(reader);
		if (reading == READ) {
			served->words_left--;
			served->state = AT_WORD;
		}
		break;
	}
	return reading;
}

/* --- requests --- */

/* *ret: MORE where further words follow. */
static enum reading read_command(struct nm_app_served *served, const struct nm_app_service *service,
				 struct reader *reader, enum nm_took *ret)
{
	uint64_t n_words;
	struct word name, key;
	enum reading reading = read_length(reader, '*', MAX_WORDS, &n_words);

	if (reading == READ)
		reading = n_words ? read_word(reader, &name) : READ_BAD;
	if (reading == READ && n_words > 1)
		reading = read_word(reader, &key);
	if (reading != READ)
		return reading;
	if (n_words <= 2) {
		*ret = execute(served, service, &name, n_words > 1 ? &key : NULL);
		return READ;
	}
	const bool sets = word_is(&name, "set") && (n_words == 3 || n_words == 5);

	served->verb = sets ? NM_VERB_SET : NM_VERB_NONE;
	served->words_left = (uint32_t)n_words - 2;
	return begin_word(served, service, reader, sets ? &key : NULL);
}

/* "PING\r\n": a command as a line, whose words are not quoted. An empty one is none. */
static enum reading read_inline(struct nm_app_served *served, const struct nm_app_service *service,
				struct reader *reader, enum nm_took *ret)
{
	const char *at = reader->at, *end = memchr(at, '\n', (size_t)(reader->end - at));

	if (!end)
		return READ_MORE;
	reader->at = end + 1;
	if (end > at && end[-1] == '\r')
		end--;
	struct nm_words words = {.at = at, .end = end};
	struct word name, key;
	const char *more;

	name.length = nm_words_next(&words, &name.bytes);
	key.length = nm_words_next(&words, &key.bytes);
	if (nm_words_next(&words, &more))
		*ret = refuse(served);
	else if (name.length)
		*ret = execute(served, service, &name, key.length ? &key : NULL);
	return READ;
}

/* Reads what comes next. READ_MORE: what is not whole comes again. */
static enum reading read_next(struct nm_app_served *served, const struct nm_app_service *service,
			      struct reader *reader, enum nm_took *ret)
{
	if (served->state == AT_COMMAND && reader->at < reader->end && *reader->at != '*')
		return read_inline(served, service, reader, ret);
	if (served->state == AT_COMMAND)
		return read_command(served, service, reader, ret);
	enum reading reading = read_words(served, service, reader);

	if (reading == READ && served->state == AT_WORD && !served->words_left)
		*ret = end_command(served, service);
	return reading;
}

enum nm_took nm_redis_take(struct nm_app_served *served, const struct nm_app_service *service,
			   const char *data, size_t n, size_t *ret_taken)
{
	enum nm_took took = NM_TOOK_MORE;

	*ret_taken = 0;
	if (!nm_rope_has_room(&served->out, NM_REDIS_ANSWER_BYTES))
		return NM_TOOK_BAD;
	while (took == NM_TOOK_MORE) {
		const char *at = data + *ret_taken;
		const bool in_word = served->state == IN_WORD;
		size_t there = n - *ret_taken;
		bool is_full = !in_word && there >= NM_APP_KEPT_BYTES;
		struct reader reader = {.at = at,
					.end = at + (is_full ? NM_APP_KEPT_BYTES : there)};
		enum reading reading = read_next(served, service, &reader, &took);

		if (reading == READ || in_word)
			*ret_taken += (size_t)(reader.at - at);
		if (reading == READ_BAD || (reading == READ_MORE && is_full))
			return NM_TOOK_BAD;
		if (reading == READ_MORE)
			return NM_TOOK_MORE;
	}
	return took;
}

void nm_redis_fail(struct nm_app_served *served)
{
	nm_app_fail(served, "-ERR out of order\r\n");
}
