/* SPDX-License-Identifier: Apache-2.0 */
/* The text protocol of memcached (protocol.txt): requests and their answers. Its server is
 * memcache_server.c. */
#include "app/memcache.h"

#include <string.h>

#include "app/batch.h"
#include "app/value.h"

/* --- requests --- */

static char *put_number(char *at, uint64_t number)
{
	*at++ = ' ';
	return nm_number_put(number, at);
}

/* A get of several keys: how many bytes. */
static size_t put_keys(const struct nm_app_request *request, char *buf)
{
	char *at = nm_line_put("get", buf);

	for (uint32_t i = 0; i < request->batch->count; i++) {
		*at++ = ' ';
		at = nm_keyspace_put(request->keyspace, nm_batch_key(request, i), at);
	}
	return (size_t)(nm_line_put("\r\n", at) - buf);
}

static void memcache_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	const struct nm_memcache_verb *verb = &nm_memcache_verbs[request->verb];
	char *at = buf;

	ret->payload = ret->tail = 0;
	if (request->several) {
		ret->head = put_keys(request, buf);
		return;
	}
	at = nm_line_put(request->unique ? "gets" : nm_verb_name(request->verb), at);
	if (request->verb == NM_VERB_GAT)
		at = put_number(at, request->ttl_s);
	*at++ = ' ';
	at = nm_keyspace_put(request->keyspace, request->key, at);
	if (request->verb == NM_VERB_TOUCH)
		at = put_number(at, request->ttl_s);
	else if (nm_memcache_counts(request->verb))
		at = put_number(at, request->by);
	if (verb->stores) {
		at = put_number(put_number(at, request->flags), request->ttl_s);
		at = put_number(at, request->size);
		if (request->verb == NM_VERB_CAS)
			at = put_number(at, request->by);
		ret->pool = request->pool->bytes;
		ret->payload = request->size;
		ret->tail = 2;
		memcpy(ret->tail_text, "\r\n", 2);
	}
	at = nm_line_put("\r\n", at);
	ret->head = (size_t)(at - buf);
}

/* --- answers --- */

/* Whether a value of that key was asked for, and has not come: where it begins in the pool. */
static bool take_key(struct nm_app_parser *parser, const struct nm_app_request *request,
		     const char *key, size_t n, uint64_t *ret_at)
{
	if (request->several)
		return nm_batch_take(parser, request, key, n, ret_at);
	*ret_at = request->at;
	return !parser->check++ && nm_keyspace_is(request->keyspace, request->key, key, n);
}

/* "VALUE key flags bytes [cas]": the value follows. False: it is another one, or there was one
 * already. */
static bool begin_value(struct nm_app_parser *parser, const struct nm_app_request *request,
			const struct nm_line_text *line)
{
	const char *key = line->text + strlen("VALUE "), *stop = line->text + line->there, *at;
	const char *blank = memchr(key, ' ', (size_t)(stop - key));
	uint64_t flags, bytes, cas, value_at;
	size_t n;

	if (!blank || line->there < line->length ||
	    !take_key(parser, request, key, (size_t)(blank - key), &value_at))
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
		nm_memcache_note_unique(parser, cas);
	} else if (request->unique) {
		return false;
	}
	if (!n || at != stop)
		return false;
	parser->state = NM_VALUE_BYTES;
	nm_value_begin(parser, value_at, bytes);
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

	if (nm_memcache_reads(request->verb)) {
		if (nm_line_begins(line, "VALUE "))
			return begin_value(parser, request, line) ? NM_PARSED_MORE : NM_PARSED_BAD;
		if (nm_line_is(line, "END"))
			return nm_app_parsed(parser, parser->check ? NM_CLASS_OK : NM_CLASS_MISS);
	} else {
		if (verb->done ? nm_line_is(line, verb->done) : is_number(line))
			return nm_app_parsed(parser, NM_CLASS_OK);
		if (nm_line_is(line, verb->undone) ||
		    (request->verb == NM_VERB_CAS && nm_line_is(line, "NOT_FOUND")))
			return nm_memcache_undone(parser, verb);
	}
	return nm_memcache_take_error(parser, request, line);
}

static enum nm_parsed memcache_parse(struct nm_app_parser *parser,
				     const struct nm_app_request *request, const char *data,
				     size_t n, size_t *ret_taken)
{
	return nm_values_parse(parser, request, take_line, data, n, ret_taken);
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
	.batches = NM_VERB_BIT(NM_VERB_GET),
	.encode = memcache_encode,
	.parse = memcache_parse,
	.session = &nm_memcache_session,
	.identity = &nm_memcache_identity,
};
