/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1: requests, and where their answers end (RFC 9112, 6.3). The server is http_server.c. */
#include "app/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

/* The most answers of status 100 to 199 before the one that counts. */
#define INTERIM_MAX 32u

/* All lines of an answer's head, and of its trailer. */
#define HEAD_MAX 65536u

/* What is put behind the lines of a request: its length. */
static const char length_name[] = "Content-Length: ";

/* The longest head: words, path, host and fields, and 128 bytes for what is around them. */
#define HEAD_BYTES (NM_HTTP_PATH_MAX + NM_HTTP_HOST_MAX + NM_HTTP_FIELDS_MAX + 128u)

const char *const nm_http_methods[] = {[NM_HTTP_GET] = "GET",	      [NM_HTTP_HEAD] = "HEAD",
				       [NM_HTTP_OPTIONS] = "OPTIONS", [NM_HTTP_POST] = "POST",
				       [NM_HTTP_PUT] = "PUT",	      [NM_HTTP_PATCH] = "PATCH",
				       [NM_HTTP_DELETE] = "DELETE",   NULL};

/* --- requests --- */

static bool is_visible(const char *text)
{
	while (*text > ' ' && *text < 127)
		text++;
	return !*text;
}

static const char *why_no_host(const char *host)
{
	if (strlen(host) > NM_HTTP_HOST_MAX)
		return "must have 255 bytes at most";
	return is_visible(host) && !strpbrk(host, "/?#@")
		       ? NULL
		       : "must be a name or an address, and may have :PORT behind it";
}

static void expect(struct nm_http_lines *lines, uint64_t first, uint64_t last)
{
	for (uint64_t status = first; status <= last; status++)
		lines->expected[status / 64] |= UINT64_C(1) << status % 64;
}

bool nm_http_lines_expect(struct nm_http_lines *lines, const char *text)
{
	memset(lines->expected, 0, sizeof lines->expected);
	for (;; text += 4) {
		const uint64_t class = (uint64_t)(unsigned char)*text - '0';
		uint64_t status;

		if (class >= 2 && class <= 5 && text[1] == 'x' && text[2] == 'x')
			expect(lines, class * 100, class * 100 + 99);
		else if (nm_line_number(text, 3, 599, &status) == 3 && status >= 200)
			expect(lines, status, status);
		else
			return false;
		if (text[3] != ',')
			return !text[3];
	}
}

struct nm_http_lines *nm_http_lines_new(enum nm_http_method method, const char *path,
					const char *host, bool close, const char **ret_culprit,
					char *why, size_t why_size)
{
	size_t unused;
	const char *wrong = path ? nm_path_check(path, strlen(path), &unused) : NULL;

	*ret_culprit = wrong ? "path" : "host";
	if (!wrong)
		wrong = why_no_host(host);
	struct nm_http_lines *lines = wrong ? NULL : calloc(1, sizeof *lines + HEAD_BYTES);

	if (!lines) {
		*ret_culprit = wrong ? *ret_culprit : "";
		snprintf(why, why_size, "%s", wrong ? wrong : "out of memory");
		return NULL;
	}
	expect(lines, 200, 399);
	lines->method = method;
	lines->close = close;
	lines->has_length = method >= NM_HTTP_POST && method <= NM_HTTP_PATCH;
	lines->length =
		(uint32_t)snprintf(lines->text, HEAD_BYTES, "%s%s%s HTTP/1.1\r\nHost: %s\r\n%s",
				   path ? nm_http_methods[method] : "", path ? " " : "",
				   path ? path : "", host, close ? "Connection: close\r\n" : "");
	return lines;
}

/* RFC 9110, 5.6.2. */
static bool is_token(const char *text)
{
	const char *at = text;

	while ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
	       (*at >= 'a' && *at <= 'z') || (*at && strchr("!#$%&'*+-.^_`|~", *at)))
		at++;
	return at > text && !*at;
}

/* Whether a field would say otherwise than netmodel does, or have the server do something else. */
static bool is_own(const char *name)
{
	static const char *const own[] = {
		"host", "connection", "content-length", "transfer-encoding", "expect", "upgrade"};
	bool is = false;

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		is |= nm_ascii_equals(name, own[i]);
	return is;
}

const char *nm_http_lines_add(struct nm_http_lines *lines, const char *name, const char *value)
{
	const size_t bytes = strlen(name) + strlen(value) + strlen(": \r\n");

	if (!is_token(name))
		return "must be a word of letters, digits and hyphens";
	if (is_own(name))
		return "is netmodel's own: host=, size= and keep= say what it is, or it cannot be "
		       "sent";
	for (const char *at = value; *at; at++)
		if (((unsigned char)*at < ' ' && *at != '\t') || *at == 127)
			return "has a value with control characters";
	if (lines->fields + bytes > NM_HTTP_FIELDS_MAX)
		return "is too much: all fields together may have 2048 bytes";
	lines->length += (uint32_t)snprintf(lines->text + lines->length, bytes + 1, "%s: %s\r\n",
					    name, value);
	lines->fields += (uint32_t)bytes;
	return NULL;
}

/* "GET /PATH": the path is that of the key. Apart, so that requests without one save no registers
 * for it. */
static __attribute__((noinline)) char *put_path(const struct nm_app_request *request, char *at)
{
	const struct nm_paths *paths = nm_paths_of(request->keyspace);
	const uint64_t *begin = &paths->begins[request->key];
	const size_t n = (size_t)(begin[1] - begin[0]);

	at = nm_line_put(" ", nm_line_put(nm_http_methods[request->http->method], at));
	return (char *)memcpy(at, paths->texts + begin[0], n) + n;
}

static void http_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	const struct nm_http_lines *lines = request->http;
	char *begin = buf;

	if (__builtin_expect(request->keyspace != NULL, 0))
		begin = put_path(request, buf);
	char *at = begin + lines->length;

	memcpy(begin, lines->text, lines->length);
	ret->pool = request->pool->bytes;
	if (request->size | lines->has_length) {
		at = nm_line_put("\r\n",
				 nm_number_put(request->size, nm_line_put(length_name, at)));
		if (lines->body) {
			ret->pool = NULL;
			ret->bytes = lines->body;
		}
	}
	at = nm_line_put("\r\n", at);
	ret->head = (size_t)(at - buf);
	ret->payload = request->size;
	ret->tail = 0;
}

/* --- answers --- */

enum state {
	AT_STATUS,
	AT_FIELD,
	IN_BODY,  /* of parser->left bytes */
	TO_END,	  /* of the stream */
	AT_CHUNK, /* its size */
	IN_CHUNK, /* of parser->left bytes */
	BEHIND_CHUNK,
	AT_TRAILER,
};

/* Bits of parser->check, above the status. */
enum {
	STATUS = 0xffff,
	HAS_LENGTH = 1 << 16,
	CHUNKED = 1 << 17, /* the last coding is */
	CODED = 1 << 18,   /* there are codings */
	CLOSES = 1 << 19,
	KEEPS = 1 << 20,
	OLD = 1 << 21,	  /* HTTP/1.0 */
	COUNTS = 1 << 22, /* the last field is one of those that are read */
};

static uint8_t answer_of(uint32_t status)
{
	static const uint8_t registered[600] = {
#define NAME(number) [number] = NM_ANSWER_HTTP_##number,
		NM_HTTP_STATUSES(NAME)
#undef NAME
	};

	if (status >= sizeof registered)
		return NM_ANSWER_OTHER;
	return registered[status] ? registered[status]
				  : (uint8_t)(NM_ANSWER_HTTP_2XX + (status / 100 - 2));
}

static enum nm_parsed end(struct nm_app_parser *parser, const struct nm_app_request *request)
{
	const uint32_t status = parser->check & STATUS;
	const bool expected = request->http->expected[status / 64] >> status % 64 & 1;

	parser->class = expected ? NM_CLASS_OK : NM_CLASS_REFUSED;
	if (status != 200 || !expected) {
		parser->class = expected ? NM_CLASS_UNUSUAL : NM_CLASS_REFUSED;
		parser->answer = answer_of(status);
	}
	/* Who has asked for the end sends nothing more, and the other takes nothing more: RFC 9112,
	 * 9.6. */
	parser->refuses = request->http->close || (parser->check & CLOSES) ||
			  ((parser->check & OLD) && !(parser->check & KEEPS));
	parser->last |= parser->refuses;
	return NM_PARSED_DONE;
}

static enum nm_parsed go_on(struct nm_app_parser *parser, enum state state)
{
	parser->state = (uint8_t)state;
	return NM_PARSED_MORE;
}

/* "HTTP/1.1 200 OK": the phrase may be empty, or not there at all. */
static enum nm_parsed take_status(struct nm_app_parser *parser, const struct nm_line_text *line)
{
	uint64_t status;

	if (!nm_line_begins(line, "HTTP/1.1 ") && !nm_line_begins(line, "HTTP/1.0 "))
		return NM_PARSED_BAD;
	if (line->there < 12 ||
	    nm_line_number(line->text + 9, 3, NM_HTTP_STATUS_MAX, &status) != 3 || status < 100 ||
	    (line->there > 12 && line->text[12] != ' '))
		return NM_PARSED_BAD;
	/* The connection would speak something else. */
	if (status == 101)
		return NM_PARSED_BAD;
	parser->check = (uint32_t)status | (line->text[7] == '0' ? OLD : 0);
	parser->left = 0;
	return go_on(parser, AT_FIELD);
}

/* Where the answer ends, by its head. */
static enum nm_parsed end_head(struct nm_app_parser *parser, const struct nm_app_request *request)
{
	const uint32_t status = parser->check & STATUS;

	if (status < 200)
		return ++parser->ending > INTERIM_MAX ? NM_PARSED_BAD : go_on(parser, AT_STATUS);
	if (request->http->method == NM_HTTP_HEAD || status == 204 || status == 304)
		return end(parser, request);
	if (parser->check & CHUNKED) {
		/* Whoever reads the length instead sees another end: RFC 9112, 6.1. */
		parser->last |= parser->check & HAS_LENGTH;
		return go_on(parser, AT_CHUNK);
	}
	if (!(parser->check & CODED) && (parser->check & HAS_LENGTH))
		return parser->left ? go_on(parser, IN_BODY) : end(parser, request);
	(void)end(parser, request);
	parser->last = parser->to_end = true;
	return go_on(parser, TO_END);
}

static enum nm_parsed take_length(struct nm_app_parser *parser, const struct nm_http_field *field)
{
	uint64_t length;

	if (!nm_http_field_length(field, &length) ||
	    ((parser->check & HAS_LENGTH) && length != parser->left))
		return NM_PARSED_BAD;
	parser->left = length;
	parser->check |= HAS_LENGTH;
	return NM_PARSED_MORE;
}

/* Whether the last coding is chunked; any before it are the server's choice. */
static bool ends_chunked(const struct nm_http_field *field)
{
	struct nm_http_field last = *field;

	/* Empty members of a list do not count. */
	while (last.value_length && strchr(" \t,", last.value[last.value_length - 1]))
		last.value_length--;
	for (size_t i = last.value_length; i-- > 0;)
		if (field->value[i] == ',') {
			last.value += i;
			last.value_length -= i;
			break;
		}
	return nm_http_field_lists(&last, "chunked");
}

static enum nm_parsed take_connection(struct nm_app_parser *parser,
				      const struct nm_http_field *field)
{
	parser->check |= (nm_http_field_lists(field, "close") ? CLOSES : 0) |
			 (nm_http_field_lists(field, "keep-alive") ? KEEPS : 0);
	return NM_PARSED_MORE;
}

static enum nm_parsed take_codings(struct nm_app_parser *parser, const struct nm_http_field *field)
{
	parser->check &= ~(uint32_t)CHUNKED;
	parser->check |= CODED | (ends_chunked(field) ? CHUNKED : 0);
	return NM_PARSED_MORE;
}

static enum nm_parsed take_field(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const struct nm_line_text *line)
{
	static const struct {
		const char *name;
		enum nm_parsed (*take)(struct nm_app_parser *parser,
				       const struct nm_http_field *field);
	} read[] = {{"content-length", take_length},
		    {"transfer-encoding", take_codings},
		    {"connection", take_connection}};
	struct nm_http_field field;

	if (!line->length)
		return end_head(parser, request);
	/* The line goes on the one before it. */
	if (*line->text == ' ' || *line->text == '\t')
		return parser->check & COUNTS ? NM_PARSED_BAD : NM_PARSED_MORE;
	if (!nm_http_field_read(line->text, line->there, &field))
		return NM_PARSED_BAD;
	parser->check &= ~(uint32_t)COUNTS;
	for (size_t i = 0; i < sizeof read / sizeof *read; i++)
		if (nm_http_field_is(&field, read[i].name)) {
			parser->check |= COUNTS;
			return line->length > line->there ? NM_PARSED_BAD
							  : read[i].take(parser, &field);
		}
	return NM_PARSED_MORE;
}

static enum nm_parsed take_chunk(struct nm_app_parser *parser, const struct nm_line_text *line)
{
	uint64_t size;
	const size_t n = nm_http_chunk_read(line->text, line->there, &size);

	if (n == 0 || (n == line->there && line->length > line->there))
		return NM_PARSED_BAD;
	parser->left = size;
	return go_on(parser, size ? IN_CHUNK : AT_TRAILER);
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_app_request *request,
				struct nm_line_text *line)
{
	/* However it came, as much of it counts. */
	if (line->there >= NM_LINE_KEPT)
		line->there = NM_LINE_KEPT - 1;
	switch ((enum state)parser->state) {
	case AT_STATUS:
		return take_status(parser, line);
	case AT_FIELD:
		return take_field(parser, request, line);
	case AT_CHUNK:
		return take_chunk(parser, line);
	case BEHIND_CHUNK:
		return line->length ? NM_PARSED_BAD : go_on(parser, AT_CHUNK);
	default:
		return line->length ? NM_PARSED_MORE : end(parser, request);
	}
}

/* Takes bytes of a body. */
static enum nm_parsed take_body(struct nm_app_parser *parser, const struct nm_app_request *request,
				size_t n, size_t *ret_taken)
{
	if (parser->state == TO_END) {
		*ret_taken = n;
		return NM_PARSED_MORE;
	}
	*ret_taken = n < parser->left ? n : (size_t)parser->left;
	parser->left -= *ret_taken;
	if (parser->left)
		return NM_PARSED_MORE;
	return parser->state == IN_BODY ? end(parser, request) : go_on(parser, BEHIND_CHUNK);
}

static bool is_at_line(const struct nm_app_parser *parser)
{
	return parser->state != IN_BODY && parser->state != IN_CHUNK && parser->state != TO_END;
}

static enum nm_parsed http_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const char *data, size_t n, size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_MORE;
	struct nm_line_text line;

	*ret_taken = 0;
	while (parsed == NM_PARSED_MORE && *ret_taken < n) {
		const char *at = data + *ret_taken;
		size_t there = n - *ret_taken, some;

		if (is_at_line(parser)) {
			/* Chunks have no head, and as many lines as they like. */
			const bool chunk =
				parser->state == AT_CHUNK || parser->state == BEHIND_CHUNK;
			/* Those of the head may end with LF alone: RFC 9112, 2.2. */
			enum nm_line_status status = nm_line_take_as(
				&parser->line,
				(struct nm_line_form){.kept = NM_LINE_KEPT, .bare = !chunk}, at,
				there, &line, &some);

			parser->at += chunk ? 0 : some;
			if (status == NM_LINE_WHOLE)
				parsed = take_line(parser, request, &line);
			else if (status == NM_LINE_BAD)
				parsed = NM_PARSED_BAD;
			if (parser->at > HEAD_MAX)
				parsed = NM_PARSED_BAD;
		} else {
			parsed = take_body(parser, request, there, &some);
		}
		*ret_taken += some;
	}
	return parsed;
}

const struct nm_app nm_app_http = {
	.name = "http",
	.help = "HTTP/1.1 (RFC 9112)",
	.verbs = NM_VERB_BIT(NM_VERB_HTTP),
	.port = 80,
	.tls_port = 443,
	.alpn = "http/1.1",
	.usual = NM_ANSWER_HTTP_200,
	.head_bytes = HEAD_BYTES,
	.answer_bytes = NM_HTTP_ANSWER_BYTES,
	.encode = http_encode,
	.parse = http_parse,
	.take = nm_http_take,
	.fail = nm_http_fail,
};
