/* SPDX-License-Identifier: Apache-2.0 */
/* The text protocol of memcached (protocol.txt): requests and their answers. Its server is
 * memcache_server.c. */
#include "app/memcache.h"

#include <string.h>

#include "app/value.h"

/* --- requests --- */

static char *put_number(char *at, uint64_t number)
{
	*at++ = ' ';
	return nm_number_put(number, at);
}

static void memcache_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	const struct nm_memcache_verb *verb = &nm_memcache_verbs[request->verb];
	char *at = nm_line_put(nm_verb_name(request->verb), buf);

	ret->payload = ret->tail = 0;
	*at++ = ' ';
	at = nm_keyspace_put(request->keyspace, request->key, at);
	if (request->verb == NM_VERB_TOUCH)
		at = put_number(at, request->ttl_s);
	else if (nm_memcache_counts(request->verb))
		at = put_number(at, request->by);
	if (verb->stores) {
		at = put_number(put_number(at, request->flags), request->ttl_s);
		at = put_number(at, request->size);
		ret->pool = request->pool->bytes;
		ret->payload = request->size;
		ret->tail = 2;
		memcpy(ret->tail_text, "\r\n", 2);
	}
	at = nm_line_put("\r\n", at);
	ret->head = (size_t)(at - buf);
}

/* --- answers --- */

/* "VALUE key flags bytes [cas]": the value follows. False: it is another one, or there was one
 * already. */
static bool begin_value(struct nm_app_parser *parser, const struct nm_app_request *request,
			const struct nm_line_text *line)
{
	const char *key = line->text + strlen("VALUE "), *stop = line->text + line->there, *at;
	const char *blank = memchr(key, ' ', (size_t)(stop - key));
	uint64_t flags, bytes, cas;
	size_t n;

	if (!blank || line->there < line->length || parser->check ||
	    !nm_keyspace_is(request->keyspace, request->key, key, (size_t)(blank - key)))
		return false;
	at = blank + 1;
	n = nm_line_number(at, (size_t)(stop - at), UINT32_MAX, &flags);
	if (!n || (at += n) == stop || *at++ != ' ')
		return false;
	n = nm_line_number(at, (size_t)(stop - at), INT64_MAX, &bytes);
	at += n;
	if (n && at < stop && *at == ' ') {
		n = nm_line_number(at + 1, (size_t)(stop - at - 1), UINT64_MAX, &cas);
		at += 1 + n;
	}
	if (!n || at != stop)
		return false;
	parser->check = 1;
	parser->state = NM_VALUE_BYTES;
	nm_value_begin(parser, request, bytes);
	return true;
}

/* A line that may answer any request. What follows a complaint about a value may be the value,
 * taken for a command, so that the connection is of no more use. */
enum nm_parsed nm_memcache_take_error(struct nm_app_parser *parser,
				      const struct nm_app_request *request,
				      const struct nm_line_text *line)
{
	if (nm_memcache_verbs[request->verb].stores && nm_line_begins(line, "CLIENT_ERROR"))
		return NM_PARSED_BAD;
	if (nm_line_begins(line, "SERVER_ERROR "))
		return nm_app_refused(parser, NM_ANSWER_MEMCACHE_SERVER_ERROR);
	if (nm_line_begins(line, "CLIENT_ERROR "))
		return nm_app_refused(parser, NM_ANSWER_MEMCACHE_CLIENT_ERROR);
	/* "ERROR Too many open connections" is one, too. */
	if (nm_line_is(line, "ERROR") || nm_line_begins(line, "ERROR "))
		return nm_app_refused(parser, NM_ANSWER_MEMCACHE_ERROR);
	return NM_PARSED_BAD;
}

/* The number that incr and decr answer with. decr leaves blanks behind it. */
static bool is_number(const struct nm_line_text *line)
{
	uint64_t number;
	size_t n = nm_line_number(line->text, line->there, UINT64_MAX, &number);

	while (n && n < line->there && line->text[n] == ' ')
		n++;
	return n && n == line->length;
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_app_request *request,
				const struct nm_line_text *line)
{
	const struct nm_memcache_verb *verb = &nm_memcache_verbs[request->verb];

	if (request->verb == NM_VERB_GET) {
		if (nm_line_begins(line, "VALUE "))
			return begin_value(parser, request, line) ? NM_PARSED_MORE : NM_PARSED_BAD;
		if (nm_line_is(line, "END"))
			return nm_app_parsed(parser, parser->check ? NM_CLASS_OK : NM_CLASS_MISS);
	} else {
		if (verb->done ? nm_line_is(line, verb->done) : is_number(line))
			return nm_app_parsed(parser, NM_CLASS_OK);
		if (nm_line_is(line, verb->undone))
			return nm_memcache_undone(parser, verb);
	}
	return nm_memcache_take_error(parser, request, line);
}

static enum nm_parsed memcache_parse(struct nm_app_parser *parser,
				     const struct nm_app_request *request, const char *data,
				     size_t n, size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_MORE;
	struct nm_line_text line;
	size_t taken = 0, some = 0;

	for (; parsed == NM_PARSED_MORE && taken < n; taken += some) {
		const char *at = data + taken;

		some = 0;
		switch ((enum nm_value_state)parser->state) {
		case NM_VALUE_LINE:
			switch (nm_line_take(&parser->line, at, n - taken, &line, &some)) {
			case NM_LINE_WHOLE:
				parsed = take_line(parser, request, &line);
				break;
			case NM_LINE_BAD:
				parsed = NM_PARSED_BAD;
				break;
			case NM_LINE_MORE:
				break;
			}
			break;
		case NM_VALUE_BYTES:
			parsed = nm_value_take(parser, request, at, n - taken, &some);
			if (parsed != NM_PARSED_DONE)
				break;
			parsed = NM_PARSED_MORE;
			parser->state = NM_VALUE_LINE;
			break;
		}
	}
	*ret_taken = taken;
	return parsed;
}

/* --- what a connection begins with --- */

/* The key and the flags do not matter. A server that knows no users takes it for a value, which is
 * not to stay there: it is expired from its beginning. */
static void greet(const struct nm_app_login *login, struct nm_greetings *ret)
{
	char *at = nm_line_put("set auth 0 -1", ret->bytes);

	if (!*login->password)
		return;
	at = put_number(at, strlen(login->user) + 1 + strlen(login->password));
	at = nm_line_put(login->user, nm_line_put("\r\n", at));
	at = nm_line_put(login->password, nm_line_put(" ", at));
	at = nm_line_put("\r\n", at);
	ret->size = (size_t)(at - ret->bytes);
	ret->of[ret->count++] = (struct nm_greeting){.name = "the login", .has_password = true};
}

static enum nm_parsed greeted(struct nm_app_parser *parser, const char *data, size_t n,
			      size_t *ret_taken)
{
	struct nm_line_text line;

	switch (nm_line_take(&parser->line, data, n, &line, ret_taken)) {
	case NM_LINE_WHOLE:
		return nm_app_parsed(parser,
				     nm_line_is(&line, "STORED") ? NM_CLASS_OK : NM_CLASS_REFUSED);
	case NM_LINE_MORE:
		return NM_PARSED_MORE;
	default:
		return NM_PARSED_BAD;
	}
}

const struct nm_app_session nm_memcache_session = {
	.needs_user = true, .greet = greet, .parse = greeted};

/* --- what a server is --- */

static enum nm_parsed read_version(const char *data, size_t n, const char **ret, size_t *ret_n)
{
	static const char word[] = "VERSION ";
	const size_t begin = sizeof word - 1;
	const char *end = memchr(data, '\r', n);

	if (!end)
		return NM_PARSED_MORE;
	if ((size_t)(end - data) < begin || memcmp(data, word, begin) != 0)
		return NM_PARSED_BAD;
	*ret = data + begin;
	*ret_n = (size_t)(end - *ret);
	return NM_PARSED_DONE;
}

#define VERSION "version\r\n"
const struct nm_app_identity nm_memcache_identity = {
	.request = VERSION, .request_bytes = sizeof VERSION - 1, .read = read_version};

const struct nm_app nm_app_memcache = {
	.name = "memcache",
	.help = "the text protocol of memcached",
	NM_MEMCACHE_MEMBERS,
	.encode = memcache_encode,
	.parse = memcache_parse,
	.session = &nm_memcache_session,
	.identity = &nm_memcache_identity,
};
