/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol of Redis (RESP2 and RESP3): requests are arrays of bulk strings. The server is
 * redis_server.c. */
#include "app/redis.h"

#include <string.h>

#include "app/command.h"
#include "app/resp.h"
#include "app/value.h"

/* The longest head: a key, and 96 bytes for words and lengths. */
#define HEAD_BYTES (NM_KEY_MAX + 96u)

/* --- requests --- */

static char *put_length(char *at, char type, uint64_t n)
{
	*at++ = type;
	return nm_line_put("\r\n", nm_number_put(n, at));
}

static char *put_word(char *at, const char *word)
{
	at = nm_line_put(word, put_length(at, '$', strlen(word)));
	return nm_line_put("\r\n", at);
}

static char *put_key(char *at, const struct nm_app_request *request)
{
	at = put_length(at, '$', nm_keyspace_length(request->keyspace, request->key));
	return nm_line_put("\r\n", nm_keyspace_put(request->keyspace, request->key, at));
}

/* What is behind the value: its end, and EX SECONDS where it has a time to live. At most 37
 * bytes. */
static void put_tail(const struct nm_app_request *request, struct nm_app_encoded *ret)
{
	char *at = nm_line_put("\r\n", ret->tail_text), seconds[NM_NUMBER_MAX + 1];

	if (request->ttl_s) {
		*nm_number_put(request->ttl_s, seconds) = '\0';
		at = put_word(put_word(at, "EX"), seconds);
	}
	ret->tail = (size_t)(at - ret->tail_text);
}

static void redis_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	static const char *const words[] = {[NM_VERB_PING] = "PING",
					    [NM_VERB_GET] = "GET",
					    [NM_VERB_SET] = "SET",
					    [NM_VERB_DELETE] = "DEL"};
	if (request->verb == NM_VERB_COMMAND) {
		nm_command_encode(request, buf, ret);
		return;
	}
	const bool sets = request->verb == NM_VERB_SET;
	char *at = put_length(
		buf, '*', 1 + (request->keyspace != NULL) + sets + 2 * (sets && request->ttl_s));

	ret->payload = ret->tail = 0;
	at = put_word(at, words[request->verb]);
	if (request->keyspace)
		at = put_key(at, request);
	if (sets) {
		at = put_length(at, '$', request->size);
		ret->pool = request->pool->bytes;
		ret->payload = request->size;
		put_tail(request, ret);
	}
	ret->head = (size_t)(at - buf);
}

/* --- answers --- */

/* "$BYTES": the value follows; "$-1", or "_" in RESP3: there is none. */
static enum nm_parsed begin_value(struct nm_app_parser *parser,
				  const struct nm_app_request *request,
				  const struct nm_line_text *line)
{
	uint64_t bytes;

	if (nm_line_is(line, "$-1") || nm_line_is(line, "_"))
		return nm_app_parsed(parser, NM_CLASS_MISS);
	if (!nm_line_begins(line, "$"))
		return NM_PARSED_BAD;
	size_t digits = nm_line_number(line->text + 1, line->there - 1, INT64_MAX, &bytes);

	if (!digits || 1 + digits != line->length)
		return NM_PARSED_BAD;
	parser->state = NM_VALUE_BYTES;
	nm_value_begin(parser, request->at, bytes);
	return NM_PARSED_MORE;
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_app_request *request,
				const struct nm_line_text *line)
{
	/* An error is an answer, whatever was asked. */
	if (nm_line_begins(line, "-"))
		return nm_app_refused(parser, nm_resp_error(line));
	switch (request->verb) {
	case NM_VERB_GET:
		return begin_value(parser, request, line);
	case NM_VERB_SET:
		return nm_line_is(line, "+OK") ? nm_app_parsed(parser, NM_CLASS_OK) : NM_PARSED_BAD;
	case NM_VERB_DELETE:
		if (nm_line_is(line, ":1"))
			return nm_app_parsed(parser, NM_CLASS_OK);
		return nm_line_is(line, ":0") ? nm_app_parsed(parser, NM_CLASS_MISS)
					      : NM_PARSED_BAD;
	default:
		return nm_line_is(line, "+PONG") ? nm_app_parsed(parser, NM_CLASS_OK)
						 : NM_PARSED_BAD;
	}
}

static enum nm_parsed parse_answer(struct nm_app_parser *parser,
				   const struct nm_app_request *request, const char *data, size_t n,
				   size_t *ret_taken)
{
	if (request->verb == NM_VERB_COMMAND)
		return nm_resp_take(parser, data, n, ret_taken);
	return nm_value_parse(parser, request, take_line, data, n, ret_taken);
}

static enum nm_parsed redis_parse(struct nm_app_parser *parser,
				  const struct nm_app_request *request, const char *data, size_t n,
				  size_t *ret_taken)
{
	size_t aside;

	if (__builtin_expect(!nm_resp_is_aside(parser, *data), 1))
		return parse_answer(parser, request, data, n, ret_taken);
	enum nm_parsed parsed = nm_resp_take_asides(parser, data, n, &aside);

	*ret_taken = aside;
	if (parsed != NM_PARSED_DONE)
		return parsed;
	if (aside == n)
		return NM_PARSED_MORE;
	parsed = parse_answer(parser, request, data + aside, n - aside, ret_taken);
	*ret_taken += aside;
	return parsed;
}

/* Servers push when they like. */
static enum nm_parsed redis_aside(struct nm_app_parser *parser, const char *data, size_t n)
{
	size_t taken;
	enum nm_parsed parsed = nm_resp_take_asides(parser, data, n, &taken);

	return taken < n ? NM_PARSED_BAD : parsed;
}

/* --- what a connection begins with --- */

static void append(struct nm_greetings *to, const char *name, const char *const *words,
		   const char *password)
{
	char *at = to->bytes + to->size;
	uint64_t n = 0;

	while (words[n])
		n++;
	at = put_length(at, '*', n);
	for (; *words; words++)
		at = put_word(at, *words);
	to->size = (size_t)(at - to->bytes);
	to->of[to->count++] = (struct nm_greeting){.name = name, .has_password = *password};
}

static void greet(const struct nm_app_login *login, struct nm_greetings *ret)
{
	const char *user = *login->user ? login->user : "default";
	const char *const hello[] = {"HELLO",	      "3", *login->password ? "AUTH" : NULL, user,
				     login->password, NULL};
	/* Servers before version 6 have no users. */
	const char *const old[] = {"AUTH", login->password, NULL};
	const char *const auth[] = {"AUTH", user, login->password, NULL};
	char db[NM_NUMBER_MAX + 1];
	const char *const select[] = {"SELECT", db, NULL};

	*nm_number_put(login->db, db) = '\0';
	if (login->version == 3)
		append(ret, *login->password ? "HELLO with AUTH" : "HELLO", hello, login->password);
	else if (*login->password)
		append(ret, "AUTH", *login->user ? auth : old, login->password);
	if (login->db)
		append(ret, "SELECT", select, "");
}

static const struct nm_app_session session = {
	.has_db = true,
	.first_version = 2,
	.last_version = 3,
	.greet = greet,
	.parse = nm_resp_take,
};

/* --- what a server is --- */

/* The value of a line "NAME:VALUE" of INFO. */
static bool find_value(const char *text, size_t n, const char *name, const char **ret,
		       size_t *ret_n)
{
	const char *at = memmem(text, n, name, strlen(name));

	if (!at)
		return false;
	*ret = at + strlen(name);
	const char *end = memchr(*ret, '\r', (size_t)(text + n - *ret));

	*ret_n = (size_t)((end ? end : text + n) - *ret);
	return true;
}

/* A Valkey has the version of Redis that it is like beside its own. */
static enum nm_parsed read_info(const char *data, size_t n, const char **ret, size_t *ret_n)
{
	const char *end = memchr(data, '\n', n);
	uint64_t bytes;

	if (!end)
		return *data == '$' ? NM_PARSED_MORE : NM_PARSED_BAD;
	if (*data != '$' || !nm_line_number(data + 1, n - 1, NM_IDENTITY_BYTES, &bytes))
		return NM_PARSED_BAD;
	end++;
	if ((uint64_t)(data + n - end) < bytes)
		return NM_PARSED_MORE;
	return find_value(end, bytes, "\nvalkey_version:", ret, ret_n) ||
			       find_value(end, bytes, "\nredis_version:", ret, ret_n)
		       ? NM_PARSED_DONE
		       : NM_PARSED_BAD;
}

#define INFO "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
static const struct nm_app_identity identity = {
	.request = INFO, .request_bytes = sizeof INFO - 1, .read = read_info};

const struct nm_app nm_app_redis = {
	.name = "redis",
	.help = "RESP2 and RESP3, the protocol of Redis and Valkey",
	.verbs = NM_VERB_BIT(NM_VERB_PING) | NM_VERB_BIT(NM_VERB_GET) | NM_VERB_BIT(NM_VERB_SET) |
		 NM_VERB_BIT(NM_VERB_DELETE) | NM_VERB_BIT(NM_VERB_COMMAND),
	.unserved = NM_VERB_BIT(NM_VERB_COMMAND),
	.port = 6379,
	.usual = NM_ANSWER_OK,
	.stores = true,
	.head_bytes = HEAD_BYTES,
	.answer_bytes = NM_REDIS_ANSWER_BYTES,
	.encode = redis_encode,
	.parse = redis_parse,
	.aside = redis_aside,
	.session = &session,
	.identity = &identity,
	.take = nm_redis_take,
	.fail = nm_redis_fail,
};
