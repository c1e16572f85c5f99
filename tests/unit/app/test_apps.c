/* SPDX-License-Identifier: Apache-2.0 */
/* Each protocol against its own server: requests and answers in all pieces, and what is neither. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "app/app.h"

#define MAX_BYTES 4096u

/* A request of the only verb that the protocol has. */
static struct nm_app_request request_of(const struct nm_app *app)
{
	return (struct nm_app_request){.verb = (enum nm_verb)__builtin_ctzll(app->verbs),
				       .size = app->verbs == NM_VERB_BIT(NM_VERB_ECHO) ? 100 : 0,
				       .seed = 12345};
}

static size_t encode(const struct nm_app *app, struct nm_app_request *request, char *buf)
{
	size_t n = app->encode(request, buf);

	ck_assert_uint_le(n, app->most_bytes(request->size));
	ck_assert_uint_le(app->most_bytes(request->size), MAX_BYTES);
	return n;
}

/* A connection that is served, with room for an answer of so many bytes. */
static struct nm_app_served served_of(char *out, size_t room)
{
	return (struct nm_app_served){.out = out, .room = room};
}

/* Has the server take a request of n bytes in pieces of so many, whose answer it then has. */
static void serve(const struct nm_app *app, struct nm_app_served *served, const char *data,
		  size_t n, size_t piece)
{
	for (size_t at = 0, taken; at < n; at += taken) {
		size_t some = piece < n - at ? piece : n - at;
		enum nm_took took = app->take(served, data + at, some, &taken);

		ck_assert_uint_eq(taken, some);
		ck_assert_int_eq(took, at + some == n ? NM_TOOK_REQUEST : NM_TOOK_MORE);
	}
}

/* Parses n bytes of an answer in pieces; what the last piece was found to be. */
static enum nm_parsed parse(const struct nm_app *app, const struct nm_app_request *request,
			    const char *data, size_t n, size_t piece, size_t *ret_taken)
{
	struct nm_app_parser parser = {.at = 0};
	enum nm_parsed parsed = NM_PARSED_MORE;
	size_t at = 0;

	for (size_t taken; at < n && parsed == NM_PARSED_MORE; at += taken) {
		taken = 0;
		parsed = app->parse(&parser, request, data + at, piece < n - at ? piece : n - at,
				    &taken);
	}
	*ret_taken = at;
	return parsed;
}

START_TEST(all_pieces_make_the_same)
{
	const struct nm_app *app = nm_apps[_i];
	struct nm_app_request request = request_of(app);
	char sent[2 * MAX_BYTES], first[MAX_BYTES], second[MAX_BYTES], answers[2 * MAX_BYTES];
	size_t n = encode(app, &request, sent), taken;

	for (size_t piece = 1; piece <= n; piece++) {
		struct nm_app_served served = served_of(first, sizeof first);

		serve(app, &served, sent, n, piece);
		size_t one = served.n_out;

		ck_assert_uint_le(one, app->most_bytes(request.size));
		served.out = second;
		serve(app, &served, sent, n, piece);
		ck_assert_uint_eq(served.n_out, one);
		ck_assert_mem_eq(first, second, one);
		ck_assert_int_eq(parse(app, &request, first, one, piece, &taken), NM_PARSED_DONE);
		ck_assert_uint_eq(taken, one);
		ck_assert_int_eq(parse(app, &request, first, one - 1, piece, &taken),
				 NM_PARSED_MORE);
		/* What comes behind an answer, or behind a request, is not taken. */
		memcpy(answers, first, one);
		memcpy(answers + one, first, one);
		ck_assert_int_eq(parse(app, &request, answers, 2 * one, 2 * one, &taken),
				 NM_PARSED_DONE);
		ck_assert_uint_eq(taken, one);
		memcpy(sent + n, sent, n);
		ck_assert_int_eq(app->take(&served, sent, 2 * n, &taken), NM_TOOK_REQUEST);
		ck_assert_uint_eq(taken, n);
	}
}
END_TEST

START_TEST(a_changed_answer_is_none)
{
	const struct nm_app *app = nm_apps[_i];
	struct nm_app_request request = request_of(app);
	char sent[MAX_BYTES], answer[MAX_BYTES];
	struct nm_app_served served = served_of(answer, sizeof answer);
	size_t taken, n_sent = encode(app, &request, sent);

	serve(app, &served, sent, n_sent, n_sent);
	for (size_t at = 0; at < served.n_out; at++) {
		answer[at] ^= 1;
		for (size_t piece = 1; piece <= served.n_out; piece++)
			ck_assert_int_eq(parse(app, &request, answer, served.n_out, piece, &taken),
					 NM_PARSED_BAD);
		answer[at] ^= 1;
	}
}
END_TEST

START_TEST(an_answer_without_room_is_refused)
{
	const struct nm_app *app = nm_apps[_i];
	struct nm_app_request request = request_of(app);
	char sent[MAX_BYTES], out[MAX_BYTES];
	struct nm_app_served served = served_of(out, sizeof out);
	size_t taken, n = encode(app, &request, sent);

	serve(app, &served, sent, n, n);
	served = served_of(out, served.n_out);
	serve(app, &served, sent, n, n);
	served = served_of(out, served.n_out - 1);
	ck_assert_int_eq(app->take(&served, sent, n, &taken), NM_TOOK_BAD);
	/* Nor what never ends. */
	served = served_of(out, 20);
	enum nm_took took = NM_TOOK_MORE;

	for (unsigned i = 0; took == NM_TOOK_MORE; i++) {
		ck_assert_uint_lt(i, 30);
		took = app->take(&served, "P", 1, &taken);
	}
	ck_assert_int_eq(took, NM_TOOK_BAD);
}
END_TEST

START_TEST(redis_answers_ping_with_a_plus)
{
	const struct nm_app *app = nm_app_find("ping");
	const struct nm_app_request request = {.verb = NM_VERB_PING};
	static const char *const wrong[] = {"+PONG\n", "-ERR unknown command\r\n", "++PONG\r\n",
					    "PONG \r\n", "\r\n"};
	size_t taken;

	for (size_t piece = 1; piece <= 7; piece++)
		ck_assert_int_eq(parse(app, &request, "+PONG\r\n", 7, piece, &taken),
				 NM_PARSED_DONE);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		ck_assert_int_eq(parse(app, &request, wrong[i], strlen(wrong[i]), 1, &taken),
				 NM_PARSED_BAD);
}
END_TEST

START_TEST(a_server_of_ping_takes_nothing_else)
{
	const struct nm_app *app = nm_app_find("ping");
	char out[16];
	struct nm_app_served served = served_of(out, sizeof out);
	size_t taken;

	ck_assert_int_eq(app->take(&served, "PI", 2, &taken), NM_TOOK_MORE);
	ck_assert_int_eq(app->take(&served, "PE", 2, &taken), NM_TOOK_BAD);
	ck_assert_uint_eq(served.n_out, 0);
}
END_TEST

START_TEST(the_check_of_an_echo_is_its_crc_32)
{
	const struct nm_app *app = nm_app_find("echo");
	/* The payload begins with the letter whose number is the seed: "A". */
	struct nm_app_request request = {.verb = NM_VERB_ECHO, .size = 1, .seed = 64};
	char sent[16];

	ck_assert_uint_eq(app->encode(&request, sent), 11);
	ck_assert_mem_eq(sent, "Ad3d99e8b\r\n", 11);
}
END_TEST

START_TEST(names)
{
	char list[64];

	ck_assert_str_eq(nm_app_names(list, sizeof list), "ping, echo");
	ck_assert_str_eq(nm_app_verbs(nm_app_find("ECHO"), list, sizeof list), "echo");
	ck_assert_ptr_null(nm_app_find("pin"));
	ck_assert_str_eq(nm_app_names(list, 3), "pi");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("apps");
	TCase *tests = tcase_create("apps");
	int n = 0;

	while (nm_apps[n])
		n++;
	tcase_add_loop_test(tests, all_pieces_make_the_same, 0, n);
	tcase_add_loop_test(tests, a_changed_answer_is_none, 0, n);
	tcase_add_loop_test(tests, an_answer_without_room_is_refused, 0, n);
	tcase_add_test(tests, redis_answers_ping_with_a_plus);
	tcase_add_test(tests, a_server_of_ping_takes_nothing_else);
	tcase_add_test(tests, the_check_of_an_echo_is_its_crc_32);
	tcase_add_test(tests, names);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
