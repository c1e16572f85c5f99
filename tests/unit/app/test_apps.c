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

static size_t encode(const struct nm_app *app, const struct nm_app_request *request, char *buf)
{
	size_t n = app->encode(request, buf);

	ck_assert_uint_le(n, app->request_bytes(request->size));
	ck_assert_uint_le(app->request_bytes(request->size), MAX_BYTES);
	return n;
}

/* Has the server take n bytes in pieces of so many; what it answers is sent at once. Returns how
 * many requests it has found; the answers are behind `answers`. */
static unsigned serve(const struct nm_app *app, struct nm_app_served *served, const char *data,
		      size_t n, size_t piece, char *answers, size_t *ret_n)
{
	unsigned requests = 0;

	for (size_t at = 0, taken; at < n; at += taken) {
		size_t some = piece < n - at ? piece : n - at;
		enum nm_took took = app->take(served, data + at, some, &taken);

		ck_assert_int_ne(took, NM_TOOK_BAD);
		ck_assert_uint_le(taken, some);
		requests += took == NM_TOOK_REQUEST;
		ck_assert(took != NM_TOOK_MORE || taken == some);
		memcpy(answers + *ret_n, served->out, served->n_out);
		*ret_n += served->n_out;
		served->n_out = 0;
	}
	return requests;
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
	char sent[2 * MAX_BYTES], answers[2 * MAX_BYTES];
	size_t n = encode(app, &request, sent), taken;

	memcpy(sent + n, sent, n);
	for (size_t piece = 1; piece <= 2 * n; piece++) {
		struct nm_app_served served = {.at = 0};
		size_t n_answers = 0;

		ck_assert_uint_eq(serve(app, &served, sent, 2 * n, piece, answers, &n_answers), 2);
		size_t one = n_answers / 2;

		ck_assert_mem_eq(answers, answers + one, one);
		ck_assert_int_eq(parse(app, &request, answers, one, piece, &taken), NM_PARSED_DONE);
		ck_assert_uint_eq(taken, one);
		ck_assert_int_eq(parse(app, &request, answers, one - 1, piece, &taken),
				 NM_PARSED_MORE);
		/* What comes behind the answer is not taken. */
		ck_assert_int_eq(parse(app, &request, answers, n_answers, n_answers, &taken),
				 NM_PARSED_DONE);
		ck_assert_uint_eq(taken, one);
	}
}
END_TEST

START_TEST(a_changed_answer_is_none)
{
	const struct nm_app *app = nm_apps[_i];
	struct nm_app_request request = request_of(app);
	struct nm_app_served served = {.at = 0};
	char sent[MAX_BYTES], answer[MAX_BYTES];
	size_t n = 0, taken, n_sent = encode(app, &request, sent);

	ck_assert_uint_eq(serve(app, &served, sent, n_sent, n_sent, answer, &n), 1);
	for (size_t at = 0; at < n; at++) {
		answer[at] ^= 1;
		for (size_t piece = 1; piece <= n; piece++)
			ck_assert_int_eq(parse(app, &request, answer, n, piece, &taken),
					 NM_PARSED_BAD);
		answer[at] ^= 1;
	}
}
END_TEST

START_TEST(room_for_answers_is_waited_for)
{
	const struct nm_app *app = nm_apps[_i];
	struct nm_app_request request = request_of(app);
	struct nm_app_served served = {.at = 0};
	char sent[MAX_BYTES];
	size_t n = encode(app, &request, sent), taken = 0, at = 0;
	enum nm_took took = NM_TOOK_REQUEST;

	while (took != NM_TOOK_ROOM) {
		at = took == NM_TOOK_REQUEST ? 0 : at;
		took = app->take(&served, sent + at, n - at, &taken);
		ck_assert_uint_le(served.n_out, NM_APP_OUT_BYTES);
		at += taken;
	}
	served.n_out = 0;
	ck_assert_int_eq(app->take(&served, sent + at, n - at, &taken), NM_TOOK_REQUEST);
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
	struct nm_app_served served = {.at = 0};
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
	const struct nm_app_request request = {.verb = NM_VERB_ECHO, .size = 1, .seed = 64};
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
	tcase_add_loop_test(tests, room_for_answers_is_waited_for, 0, n);
	tcase_add_test(tests, redis_answers_ping_with_a_plus);
	tcase_add_test(tests, a_server_of_ping_takes_nothing_else);
	tcase_add_test(tests, the_check_of_an_echo_is_its_crc_32);
	tcase_add_test(tests, names);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
