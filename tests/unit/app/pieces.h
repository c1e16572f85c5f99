/* SPDX-License-Identifier: Apache-2.0 */
/* A protocol's two ends, to which bytes come in pieces. */
#ifndef NM_TESTS_APP_PIECES_H
#define NM_TESTS_APP_PIECES_H

#include <check.h>
#include <string.h>

#include "app/app.h"

/* The longest request, and the longest answer. */
#define MAX_BYTES 4096u

/* What the server has. */
static struct nm_app_service service;

/* A connection that is served, with room for so much text of an answer. */
static inline struct nm_app_served served_of(char *text, size_t room)
{
	return (struct nm_app_served){.out = {.text = text, .room = room}};
}

/* Moves the answer to where `answers` has n bytes already: how many it has then. */
static inline size_t collect(struct nm_app_served *served, char *answers, size_t n)
{
	char *data;
	size_t some = nm_rope_next(&served->out, answers + n, MAX_BYTES, &data);

	if (some)
		memmove(answers + n, data, some);
	nm_rope_advance(&served->out, some);
	return n + some;
}

/* Has the server take n bytes, of which so many more come each time; what it answers is sent at
 * once. Returns how many requests it has found, or -1: what came is none. The answers are behind
 * `answers`. */
static inline int serve(const struct nm_app *app, struct nm_app_served *served, const char *data,
			size_t n, size_t piece, char *answers, size_t *ret_n)
{
	int requests = 0;
	size_t at = 0, there = 0, taken;

	while (at < n) {
		there = there + piece < n ? there + piece : n;
		for (size_t before = n; at < there && before != at;) {
			enum nm_took took =
				app->take(served, &service, data + at, there - at, &taken);

			if (took == NM_TOOK_BAD)
				return -1;
			ck_assert_uint_le(taken, there - at);
			before = at;
			at += taken;
			if (took == NM_TOOK_REQUEST) {
				requests++;
				*ret_n = collect(served, answers, *ret_n);
			}
		}
		ck_assert_uint_lt(there - at, NM_APP_KEPT_BYTES);
		ck_assert(there < n || at == n);
	}
	return requests;
}

/* Parses n bytes of an answer in pieces; what the last piece was found to be. */
static inline enum nm_parsed parse_into(struct nm_app_parser *parser, const struct nm_app *app,
					const struct nm_app_request *request, const char *data,
					size_t n, size_t piece, size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_MORE;
	size_t at = 0;

	*parser = (struct nm_app_parser){.at = 0};
	for (size_t taken; at < n && parsed == NM_PARSED_MORE; at += taken) {
		taken = 0;
		parsed = app->parse(parser, request, data + at, piece < n - at ? piece : n - at,
				    &taken);
	}
	*ret_taken = at;
	return parsed;
}

#endif
