/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of HTTP/1.1: as at httpbin, /bytes/N has a body of N bytes, and
 * /stream-bytes/N has the same in chunks; any other path is not found. The body of a request is
 * read and dropped. */
#include <stdio.h>
#include <string.h>

#include "app/http.h"
#include "base/ascii.h"

/* The largest body that it sends. */
#define BODY_MAX (UINT64_C(1) << 30)

/* What comes next; nm_app_answer() makes it the first. */
enum state { AT_HEAD, IN_BODY, AT_CHUNK, IN_CHUNK, BEHIND_CHUNK, AT_TRAILER };

/* Bits of served->note: what the answer will be; CODED: the body of the request is in chunks. */
enum { HEAD_ALONE = 1, FOUND = 2, IS_1_0 = 4, CLOSES = 8, KEEPS = 16, CHUNKED = 32, CODED = 64 };

/* The lines of a request's head. */
struct head {
	const char *at, *end;
};

/* The next line, without its end; the head has a last one, which is empty. */
static size_t next_line(struct head *head, const char **ret)
{
	const char *end = memchr(head->at, '\n', (size_t)(head->end - head->at));

	*ret = head->at;
	head->at = end + 1;
	return (size_t)(end - *ret) - (end > *ret && end[-1] == '\r');
}

/* Bytes to the end of the head; 0: it is not whole. */
static size_t head_bytes(const char *data, size_t n)
{
	const char *at = data, *end = data + n;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		if (at < end && *at == '\n')
			return (size_t)(at - data) + 1;
		if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
			return (size_t)(at - data) + 2;
	}
	return 0;
}

static bool begins(const char *text, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* "/bytes/N", or "/stream-bytes/N": the number. */
static bool read_path(const char *path, size_t n, uint64_t *ret, bool *ret_streamed)
{
	size_t prefix = strlen("/bytes/");

	*ret_streamed = !begins(path, n, "/bytes/");
	if (*ret_streamed) {
		prefix = strlen("/stream-bytes/");
		if (!begins(path, n, "/stream-bytes/"))
			return false;
	}
	return n > prefix && nm_line_number(path + prefix, n - prefix, BODY_MAX, ret) == n - prefix;
}

/* "GET /bytes/N HTTP/1.1". */
static bool read_request_line(struct nm_app_served *served, const char *line, size_t n)
{
	const char *blank = memchr(line, ' ', n), *end = line + n;

	if (!blank || blank == line)
		return false;
	const char *path = blank + 1, *behind = memchr(path, ' ', (size_t)(end - path));

	if (!behind || behind == path || end - behind != 9 || !begins(behind, 8, " HTTP/1."))
		return false;
	served->note = begins(line, n, "HEAD ") ? HEAD_ALONE : 0;
	if (behind[8] == '0')
		served->note |= IS_1_0;
	bool streamed;

	if (read_path(path, (size_t)(behind - path), &served->at, &streamed))
		served->note |= FOUND;
	/* HTTP/1.0 has no chunks: RFC 9112, 6.1. */
	if (streamed && (served->note & (FOUND | IS_1_0)) == FOUND)
		served->note |= CHUNKED;
	return behind[8] == '0' || behind[8] == '1';
}

/* False: how the body ends cannot be told. */
static bool read_field(struct nm_app_served *served, const struct nm_http_field *field,
		       bool *has_length)
{
	uint64_t length;

	if (nm_http_field_is(field, "transfer-encoding")) {
		if ((served->note & (CODED | IS_1_0)) ||
		    !nm_ascii_is(field->value, field->value_length, "chunked"))
			return false;
		served->note |= CODED;
	}
	if (nm_http_field_is(field, "connection") && nm_http_field_lists(field, "close"))
		served->note |= CLOSES;
	if (nm_http_field_is(field, "connection") && nm_http_field_lists(field, "keep-alive"))
		served->note |= KEEPS;
	if (!nm_http_field_is(field, "content-length"))
		return true;
	if (!nm_http_field_length(field, &length) || (*has_length && length != served->left))
		return false;
	served->left = length;
	*has_length = true;
	return true;
}

static bool read_head(struct nm_app_served *served, const char *data, size_t n)
{
	struct head head = {data, data + n};
	struct nm_http_field field;
	bool has_length = false;
	const char *line;
	size_t length = next_line(&head, &line);

	served->left = 0;
	if (!read_request_line(served, line, length))
		return false;
	while ((length = next_line(&head, &line)))
		if (!nm_http_field_read(line, length, &field) ||
		    !read_field(served, &field, &has_length))
			return false;
	served->last =
		(served->note & CLOSES) || ((served->note & IS_1_0) && !(served->note & KEEPS));
	served->state = served->note & CODED ? AT_CHUNK : IN_BODY;
	/* Where it has both, somebody else may have seen another end: RFC 9112, 6.1. */
	return !((served->note & CODED) && has_length);
}

/* --- bodies --- */

/* Takes of n bytes those that are of the body, or of its chunk: how many. */
static size_t take_counted(struct nm_app_served *served, size_t n)
{
	const size_t some = n < served->left ? n : (size_t)served->left;

	served->left -= some;
	return some;
}

/* Takes a line of a body in chunks. REQUEST: it was the last. */
static enum nm_took take_line(struct nm_app_served *served, const char *line, size_t n)
{
	switch ((enum state)served->state) {
	case AT_CHUNK:
		if (!nm_http_chunk_read(line, n, &served->left))
			return NM_TOOK_BAD;
		served->state = served->left ? IN_CHUNK : AT_TRAILER;
		return NM_TOOK_MORE;
	case BEHIND_CHUNK:
		served->state = AT_CHUNK;
		return n ? NM_TOOK_BAD : NM_TOOK_MORE;
	default:
		return n ? NM_TOOK_MORE : NM_TOOK_REQUEST;
	}
}

/* REQUEST: all of it has come. */
static enum nm_took take_chunks(struct nm_app_served *served, const char *data, size_t n,
				size_t *taken)
{
	enum nm_took took = NM_TOOK_MORE;

	while (took == NM_TOOK_MORE && *taken < n) {
		struct head lines = {data + *taken, data + n};
		const size_t rest = n - *taken;
		const char *line;

		if (served->state == IN_CHUNK) {
			*taken += take_counted(served, rest);
			served->state = served->left ? IN_CHUNK : BEHIND_CHUNK;
			continue;
		}
		/* The rest of a line comes again, with more. */
		if (!memchr(lines.at, '\n', rest))
			return NM_TOOK_MORE;
		const size_t length = next_line(&lines, &line);

		took = take_line(served, line, length);
		*taken = (size_t)(lines.at - data);
	}
	return took;
}

static enum nm_took take_body(struct nm_app_served *served, const char *data, size_t n,
			      size_t *taken)
{
	if (served->state != IN_BODY)
		return take_chunks(served, data, n, taken);
	*taken += take_counted(served, n - *taken);
	return served->left ? NM_TOOK_MORE : NM_TOOK_REQUEST;
}

/* --- answers --- */

static void add(struct nm_app_served *served, const char *text)
{
	nm_rope_add(&served->out, text, strlen(text));
}

static void add_pool(struct nm_app_served *served, const struct nm_pool *pool, uint64_t bytes)
{
	nm_rope_add_body(
		&served->out,
		&(struct nm_rope_body){.data = pool->bytes, .wrap = NM_POOL_BYTES, .bytes = bytes});
}

/* All chunks but the last are the same one, with its length and its end, again and again. */
static void add_chunks(struct nm_app_served *served, const struct nm_pool *pool, uint64_t bytes)
{
	const uint64_t whole = bytes / NM_POOL_CHUNK, rest = bytes % NM_POOL_CHUNK;
	char size[sizeof "2800\r\n"];

	if (whole)
		nm_rope_add_body(&served->out,
				 &(struct nm_rope_body){.data = pool->chunk,
							.wrap = sizeof pool->chunk,
							.bytes = whole * sizeof pool->chunk});
	if (rest) {
		(void)snprintf(size, sizeof size, "%x\r\n", (unsigned)rest);
		add(served, size);
		add_pool(served, pool, rest);
		add(served, "\r\n");
	}
	add(served, "0\r\n\r\n");
}

static enum nm_took answer(struct nm_app_served *served, const struct nm_app_service *service)
{
	const uint8_t what = served->note;
	const uint64_t bytes = what & FOUND ? served->at : 0;
	char length[NM_NUMBER_MAX + 1];

	*nm_number_put(bytes, length) = '\0';
	add(served, what & FOUND ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 404 Not Found\r\n");
	if (what & CHUNKED) {
		add(served, "Transfer-Encoding: chunked");
	} else {
		add(served, "Content-Length: ");
		add(served, length);
	}
	add(served, served->last    ? "\r\nConnection: close\r\n\r\n"
		    : what & IS_1_0 ? "\r\nConnection: keep-alive\r\n\r\n"
				    : "\r\n\r\n");
	if ((what & (CHUNKED | HEAD_ALONE)) == CHUNKED)
		add_chunks(served, service->pool, bytes);
	else if (bytes && !(what & HEAD_ALONE))
		add_pool(served, service->pool, bytes);
	return nm_app_answer(served, NM_VERB_HTTP, what & FOUND ? NM_CLASS_OK : NM_CLASS_REFUSED,
			     "");
}

enum nm_took nm_http_take(struct nm_app_served *served, const struct nm_app_service *service,
			  const char *data, size_t n, size_t *ret_taken)
{
	*ret_taken = 0;
	if (!nm_rope_has_room(&served->out, NM_HTTP_ANSWER_BYTES))
		return NM_TOOK_BAD;
	if (served->state == AT_HEAD) {
		const size_t most = n < NM_APP_KEPT_BYTES ? n : NM_APP_KEPT_BYTES;
		const size_t bytes = head_bytes(data, most);

		if (!bytes)
			return most == NM_APP_KEPT_BYTES ? NM_TOOK_BAD : NM_TOOK_MORE;
		if (!read_head(served, data, bytes))
			return NM_TOOK_BAD;
		*ret_taken = bytes;
	}
	const enum nm_took took = take_body(served, data, n, ret_taken);

	return took == NM_TOOK_REQUEST ? answer(served, service) : took;
}

void nm_http_fail(struct nm_app_served *served)
{
	nm_app_fail(served, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n");
	add(served, served->last ? "Connection: close\r\n\r\n" : "\r\n");
}
