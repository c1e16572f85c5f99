/* SPDX-License-Identifier: Apache-2.0 */
/* A protocol's two ends, to which bytes come in pieces. */
#ifndef NM_TESTS_APP_PIECES_H
#define NM_TESTS_APP_PIECES_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/store.h"

/* The longest request, and the longest answer. */
#define MAX_BYTES 4096u

/* What the server has. */
static struct nm_app_service service;

/* What is asked for, and stored. */
static struct nm_keyspace keyspace;
static struct nm_pool *pool;

static inline void begin_pieces(void)
{
	char why[64];

	pool = nm_pool_new();
	service = (struct nm_app_service){.store = nm_store_new(8u << 20), .pool = pool};
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "uniform", "k", 1000, 8, why, sizeof why), 0);
}

static inline void end_pieces(void)
{
	service.store = nm_store_free(service.store);
	pool = nm_pool_free(pool);
}

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
 * once. Returns how many answers it has sent, or -1: what came is no request. The answers are
 * behind `answers`. */
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
			if (took == NM_TOOK_REQUEST || took == NM_TOOK_FULL) {
				requests++;
				*ret_n = collect(served, answers, *ret_n);
			}
		}
		ck_assert_uint_lt(there - at, NM_APP_KEPT_BYTES);
		ck_assert(there < n || at == n);
	}
	return requests;
}

/* How bytes come: so many at first, and then so many at a time. */
struct cut {
	size_t first, piece;
};

/* Parses n bytes of an answer in pieces; what the last piece was found to be. */
static inline enum nm_parsed parse_into(struct nm_app_parser *parser, const struct nm_app *app,
					const struct nm_app_request *request, const char *data,
					size_t n, struct cut cut, size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_MORE;
	size_t at = 0;

	*parser = (struct nm_app_parser){.at = 0};
	for (size_t taken, piece = cut.first; at < n && parsed == NM_PARSED_MORE; at += taken) {
		taken = 0;
		parsed = app->parse(parser, request, data + at, piece < n - at ? piece : n - at,
				    &taken);
		piece = cut.piece;
	}
	*ret_taken = at;
	return parsed;
}

/* What an answer is, however it comes. */
struct expected {
	enum nm_parsed parsed;
	enum nm_class class;
	enum nm_answer name; /* NONE: it is not looked at */
	size_t n;	     /* its bytes */
	bool last, to_end;   /* as the parser has them */
};

/* In pieces of each size, and in two at each place. */
static inline void check_cuts(const struct nm_app *app, const struct nm_app_request *request,
			      const char *data, size_t n, const struct expected *expected)
{
	for (size_t i = 0; i < 2 * n; i++) {
		const struct cut cut = {.first = i % n + 1, .piece = i < n ? i + 1 : n};
		struct nm_app_parser parser;
		size_t taken;

		ck_assert_int_eq(parse_into(&parser, app, request, data, n, cut, &taken),
				 expected->parsed);
		ck_assert_uint_eq(parser.to_end, expected->to_end);
		if (expected->parsed == NM_PARSED_DONE)
			ck_assert_uint_eq(taken, expected->n);
		if (expected->parsed != NM_PARSED_DONE && !expected->to_end)
			continue;
		ck_assert_int_eq(parser.class, expected->class);
		if (expected->name)
			ck_assert_str_eq(nm_answer_names[parser.answer],
					 nm_answer_names[expected->name]);
		ck_assert_uint_eq(parser.last, expected->last);
	}
}

#define MANY 1000u

/* Many of them in a row, which come in pieces of `piece` bytes. */
static inline void check_row(const struct nm_app *app, const struct nm_app_request *request,
			     const char *row, size_t n, size_t piece,
			     const struct expected *expected)
{
	struct nm_app_parser parser = {.at = 0};
	size_t answers = 0;

	for (size_t at = 0, there = 0; at < n;) {
		there = piece < n - there ? there + piece : n;
		for (size_t taken; at < there; at += taken) {
			if (app->parse(&parser, request, row + at, there - at, &taken) !=
			    NM_PARSED_DONE) {
				ck_assert_uint_eq(taken, there - at);
				continue;
			}
			ck_assert_int_eq(parser.class, expected->class);
			ck_assert_uint_eq(at + taken, ++answers * expected->n);
			nm_app_parser_begin(&parser);
		}
	}
	ck_assert_uint_eq(answers, MANY);
}

/* A thousand answers in one piece, and in pieces that end within them. */
static inline void check_many(const struct nm_app *app, const struct nm_app_request *request,
			      const char *data, const struct expected *expected)
{
	const size_t n = MANY * expected->n;
	char *row = malloc(n);

	if (expected->parsed == NM_PARSED_DONE) {
		for (size_t i = 0; i < MANY; i++)
			memcpy(row + i * expected->n, data, expected->n);
		check_row(app, request, row, n, n, expected);
		check_row(app, request, row, n, 1460, expected);
		check_row(app, request, row, n, expected->n + 1, expected);
	}
	free(row);
}

/* All of that. */
static inline void check_answer(const struct nm_app *app, const struct nm_app_request *request,
				const char *data, size_t n, const struct expected *expected)
{
	check_cuts(app, request, data, n, expected);
	check_many(app, request, data, expected);
}

#endif
