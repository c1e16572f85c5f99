/* SPDX-License-Identifier: Apache-2.0 */
/* Any answer in the protocol of Redis, versions 2 and 3. */
#ifndef NM_APP_RESP_H
#define NM_APP_RESP_H

#include "app/app.h"

/* Aggregates may hold so many elements at a time, theirs included, which cost no memory. */
#define NM_RESP_ELEMENTS_MAX (1u << 20)

/* They nest so deep. */
#define NM_RESP_DEPTH_MAX (NM_LINE_NUMBERS - 1)

/* Takes bytes of one answer, n > 0, as nm_app's parse does: refused where an error is in
 * it. */
enum nm_parsed nm_resp_take(struct nm_app_parser *parser, const char *data, size_t n,
			    size_t *ret_taken);

/* The name of an error, a line that begins with -. */
enum nm_answer nm_resp_error(const struct nm_line_text *line);

/* Pushes and attributes, which are no answers, and may come before any. While one is taken,
 * parser->state has this bit; otherwise it is 0 before an answer. */
#define NM_RESP_ASIDE 4u

/* Takes those that are there, n > 0: *ret_taken. DONE: they are over. */
enum nm_parsed nm_resp_take_asides(struct nm_app_parser *parser, const char *data, size_t n,
				   size_t *ret_taken);

/* Whether such a thing comes next. */
static inline bool nm_resp_is_aside(const struct nm_app_parser *parser, char next)
{
	return (parser->state & NM_RESP_ASIDE) ||
	       (!parser->state && !parser->line.length && (next == '>' || next == '|'));
}

#endif
