/* SPDX-License-Identifier: Apache-2.0 */
/* Values in protocols that tell their length before, and put CR LF behind, or nothing: at a client,
 * which holds them against the pool, and at a server, which stores them. */
#ifndef NM_APP_VALUE_H
#define NM_APP_VALUE_H

#include "app/app.h"
#include "app/store.h"

/* What comes next of an answer that is a line, and perhaps a value: parser->state. */
enum nm_value_state { NM_VALUE_LINE, NM_VALUE_BYTES };

/* A value of so many bytes comes next, which begins there in the pool. */
void nm_value_begin(struct nm_app_parser *parser, uint64_t at, uint64_t bytes);
/* And behind it comes no CR LF. */
static inline void nm_value_ends_bare(struct nm_app_parser *parser)
{
	parser->ending = 2;
}
/* Takes bytes of it, and of its end: *ret_taken. MORE: it is not whole yet. DONE: it is, its end,
 * too. BAD: it is not what was stored, or has another end. */
enum nm_parsed nm_value_take(struct nm_app_parser *parser, const struct nm_app_request *request,
			     const char *data, size_t n, size_t *ret_taken);

/* What a protocol makes of the first line of an answer. MORE: the value comes next
 * (nm_value_begin). */
typedef enum nm_parsed nm_value_line_fn(struct nm_app_parser *parser,
					const struct nm_app_request *request,
					const struct nm_line_text *line);

/* Parses answers that are a line, and perhaps a value behind it. Inline, since the protocol's own
 * part then is, too. */
static inline enum nm_parsed nm_value_parse(struct nm_app_parser *parser,
					    const struct nm_app_request *request,
					    nm_value_line_fn *take_line, const char *data, size_t n,
					    size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_MORE;
	struct nm_line_text line;
	size_t some;

	*ret_taken = 0;
	if (parser->state == NM_VALUE_LINE) {
		enum nm_line_status status = nm_line_take(&parser->line, data, n, &line, ret_taken);

		if (status != NM_LINE_WHOLE)
			return status == NM_LINE_BAD ? NM_PARSED_BAD : NM_PARSED_MORE;
		parsed = take_line(parser, request, &line);
		if (parsed != NM_PARSED_MORE || *ret_taken == n)
			return parsed;
	}
	parsed = nm_value_take(parser, request, data + *ret_taken, n - *ret_taken, &some);
	*ret_taken += some;
	return parsed == NM_PARSED_DONE ? nm_app_parsed(parser, NM_CLASS_OK) : parsed;
}

/* The same of answers that are several lines, each perhaps with a value: take_line says which is
 * the last. */
static inline enum nm_parsed nm_values_parse(struct nm_app_parser *parser,
					     const struct nm_app_request *request,
					     nm_value_line_fn *take_line, const char *data,
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

/* The largest value that a server takes. */
#define NM_VALUE_MAX (1u << 20)

/* At a server: the value of a key, of so many bytes, comes next. One that is too large is taken,
 * and stored nowhere. */
void nm_value_reserve(struct nm_app_served *served, const struct nm_app_service *service,
		      const char *key, size_t length, uint32_t flags, uint64_t bytes);
/* The same of one that is stored nowhere. */
void nm_value_skip(struct nm_app_served *served, uint64_t bytes);
/* Takes bytes of it, without its end: how many. */
size_t nm_value_write(struct nm_app_served *served, const struct nm_app_service *service,
		      const char *data, size_t n);
/* From now on it is found. False: it is too large, or its room is gone. */
bool nm_value_publish(const struct nm_app_served *served, const struct nm_app_service *service);
/* Adds a value that is stored to the answer; it is not copied before it is sent. */
void nm_value_put(struct nm_app_served *served, const struct nm_stored *stored);

#endif
