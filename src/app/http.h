/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 (RFC 9110, RFC 9112): what the client asks for, and netmodel's own server. */
#ifndef NM_APP_HTTP_H
#define NM_APP_HTTP_H

#include "app/app.h"
#include "app/paths.h"

/* The safe methods come first (RFC 9110, 9.2.1). */
enum nm_http_method {
	NM_HTTP_GET,
	NM_HTTP_HEAD,
	NM_HTTP_OPTIONS,
	NM_HTTP_POST,
	NM_HTTP_PUT,
	NM_HTTP_PATCH,
	NM_HTTP_DELETE,
};

extern const char *const nm_http_methods[]; /* by enum nm_http_method; ends with NULL */

/* The longest host of a request. */
#define NM_HTTP_HOST_MAX 255u

/* All lines of its fields that a profile says. */
#define NM_HTTP_FIELDS_MAX 2048u

/* What may come behind these: the length of a body, and the end of the head. */
#define NM_HTTP_LENGTH_MAX (sizeof "Content-Length: " - 1 + NM_NUMBER_MAX + sizeof "\r\n\r\n" - 1)

/* The highest status of an answer. */
#define NM_HTTP_STATUS_MAX 999u

/* The lines of a request that are always the same, and are put together once: all of them, or where
 * the keyspace of the request has paths, what is behind the path. */
struct nm_http_lines {
	enum nm_http_method method;
	bool close;	 /* the server is asked to close the connection behind its answer */
	bool has_length; /* a body of no bytes has its length, too */
	uint32_t length;
	uint32_t fields; /* bytes of it that are fields of the profile */
	/* A bit for each status that does not count as refused. */
	uint64_t expected[NM_HTTP_STATUS_MAX / 64 + 1];
	const char *body; /* not owned; NULL: it is of the pool */
	char text[];
};

/* Puts them together; each status below 400 is expected. Without a path each request has one of its
 * keyspace. NULL, or with
 * a phrase in why: "path" or "host" in *ret_culprit, "" where there is no memory. The caller frees
 * it. */
struct nm_http_lines *nm_http_lines_new(enum nm_http_method method, const char *path,
					const char *host, bool close, const char **ret_culprit,
					char *why, size_t why_size);

/* Adds a field line. NULL, or why that is none, or not one of theirs. */
const char *nm_http_lines_add(struct nm_http_lines *lines, const char *name, const char *value);

/* Expects "200,304,4xx" alone. False: the text has another form, or a status below 200 or above
 * 599. */
bool nm_http_lines_expect(struct nm_http_lines *lines, const char *text);

/* The text of the server's longest answer. */
#define NM_HTTP_ANSWER_BYTES 128u

/* As nm_app's fail does. */
void nm_http_fail(struct nm_app_served *served);
enum nm_took nm_http_take(struct nm_app_served *served, const struct nm_app_service *service,
			  const char *data, size_t n, size_t *ret_taken);

/* --- for both ends --- */

/* A field line "NAME: VALUE", without blanks around the value. */
struct nm_http_field {
	const char *name, *value;
	size_t name_length, value_length;
};

/* False: the n bytes are no field line. */
bool nm_http_field_read(const char *line, size_t n, struct nm_http_field *ret);
bool nm_http_field_is(const struct nm_http_field *field, const char *name);
/* Whether the value is a list that has the word, which is in lower case. */
bool nm_http_field_lists(const struct nm_http_field *field, const char *word);
/* Reads the value of Content-Length, which may be a list of equal numbers. False: it is none. */
bool nm_http_field_length(const struct nm_http_field *field, uint64_t *ret);
/* Reads the line before a chunk, or n bytes of it that are there: the size in hexadecimal, and
 * maybe ";EXTENSION". How many bytes come before that; 0: it is none. */
size_t nm_http_chunk_read(const char *line, size_t n, uint64_t *ret);

#endif
