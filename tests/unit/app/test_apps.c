/* SPDX-License-Identifier: Apache-2.0 */
/* Each protocol against its own server: requests and answers in all pieces, and what is neither. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../suite.h"
#include "app/app.h"
#include "app/store.h"

#define MAX_BYTES 4096u

static const struct {
	const char *app;
	enum nm_verb verb;
} cases[] = {
	{"ping", NM_VERB_PING},	   {"echo", NM_VERB_ECHO},	 {"memcache", NM_VERB_GET},
	{"memcache", NM_VERB_SET}, {"memcache", NM_VERB_DELETE},
};
#define N_CASES (int)(sizeof cases / sizeof *cases)

static struct nm_keyspace keyspace;
static struct nm_app_service service;
static struct nm_pool *pool;

static void store(const char *key, uint64_t at, uint64_t size)
{
	char value[MAX_BYTES];
	uint64_t place = nm_store_reserve(service.store, key, strlen(key), 0, size);

	nm_pool_copy(pool->bytes, at, value, size);
	nm_store_write(service.store, place, strlen(key), 0, value, size);
	ck_assert(nm_store_publish(service.store, place, strlen(key)));
}

/* A request of 100 bytes where it has any, for a key whose value is stored when it is to be got. */
static struct nm_app_request request_of(enum nm_verb verb)
{
	struct nm_app_request request = {.verb = verb,
					 .size = 100,
					 .at = 65500, /* it goes round in the pool */
					 .pool = pool,
					 .verify = true};

	if (verb == NM_VERB_PING || verb == NM_VERB_GET || verb == NM_VERB_DELETE)
		request.size = 0;
	if (nm_verb_has_key(verb)) {
		request.keyspace = &keyspace;
		request.key = 42;
		request.at = nm_pool_at(42);
	}
	return request;
}

static void begin(void)
{
	char why[64];

	pool = nm_pool_new();
	service.store = nm_store_new(8u << 20);
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "uniform", "k", 1000, 8, why, sizeof why), 0);
	store("k0000042", nm_pool_at(42), 100);
}

static void end(void)
{
	service.store = nm_store_free(service.store);
	pool = nm_pool_free(pool);
}

static size_t encode(const struct nm_app *app, struct nm_app_request *request, char *buf)
{
	uint64_t total;
	char piece[MAX_BYTES];
	size_t n = nm_app_compose(app, request, 0, buf, MAX_BYTES, &total);

	ck_assert_uint_eq(n, total);
	/* What is left of it is the same at each place, in each size of the memory. */
	for (uint64_t from = 0; from < total; from++)
		for (size_t size = app->head_bytes + 1u; size < 400; size += 97) {
			size_t some = nm_app_compose(app, request, from, piece, size, &total);

			ck_assert_uint_gt(some, 0);
			ck_assert_mem_eq(piece, buf + from, some);
		}
	return n;
}

/* A connection that is served, with room for so much text of an answer. */
static struct nm_app_served served_of(char *text, size_t room)
{
	return (struct nm_app_served){.out = {.text = text, .room = room}};
}

/* Moves the answer to where `answers` has n bytes already: how many it has then. */
static size_t collect(struct nm_app_served *served, char *answers, size_t n)
{
	char *data;
	size_t some = nm_rope_next(&served->out, answers + n, MAX_BYTES, &data);

	if (some)
		memmove(answers + n, data, some);
	nm_rope_advance(&served->out, some);
	return n + some;
}

/* Has the server take n bytes, of which so many more come each time; what it answers is sent at
 * once. Returns how many requests it has found; the answers are behind `answers`. */
static unsigned serve(const struct nm_app *app, struct nm_app_served *served, const char *data,
		      size_t n, size_t piece, char *answers, size_t *ret_n)
{
	unsigned requests = 0;
	size_t at = 0, there = 0, taken;

	while (at < n) {
		there = there + piece < n ? there + piece : n;
		for (size_t before = n; at < there && before != at;) {
			enum nm_took took =
				app->take(served, &service, data + at, there - at, &taken);

			ck_assert_int_ne(took, NM_TOOK_BAD);
			ck_assert_uint_le(taken, there - at);
			before = at;
			at += taken;
			if (took == NM_TOOK_REQUEST) {
				requests++;
				*ret_n = collect(served, answers, *ret_n);
			}
		}
		ck_assert(there < n || at == n);
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
	const struct nm_app *app = nm_app_find(cases[_i].app);
	struct nm_app_request request = request_of(cases[_i].verb);
	char sent[2 * MAX_BYTES], answers[2 * MAX_BYTES];
	size_t n = encode(app, &request, sent), taken;

	if (request.verb == NM_VERB_DELETE)
		(void)nm_store_delete(service.store, "k0000042", 8);
	memcpy(sent + n, sent, n);
	for (size_t piece = 1; piece <= 2 * n; piece++) {
		char text[MAX_BYTES];
		struct nm_app_served served = served_of(text, sizeof text);
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
	const struct nm_app *app = nm_app_find(cases[_i].app);
	struct nm_app_request request = request_of(cases[_i].verb);
	char sent[MAX_BYTES], answer[MAX_BYTES], text[MAX_BYTES];
	struct nm_app_served served = served_of(text, sizeof text);
	size_t n = 0, taken, n_sent = encode(app, &request, sent);
	/* Any flags are right. */
	size_t flags = request.verb == NM_VERB_GET ? strlen("VALUE k0000042 ") : SIZE_MAX;

	ck_assert_uint_eq(serve(app, &served, sent, n_sent, n_sent, answer, &n), 1);
	for (size_t at = 0; at < n; at++) {
		answer[at] ^= 1;
		for (size_t piece = 1; at != flags && piece <= n; piece++)
			ck_assert_int_ne(parse(app, &request, answer, n, piece, &taken),
					 NM_PARSED_DONE);
		answer[at] ^= 1;
	}
}
END_TEST

START_TEST(an_answer_without_room_is_refused)
{
	const struct nm_app *app = nm_app_find(cases[_i].app);
	struct nm_app_request request = request_of(cases[_i].verb);
	size_t room = app->answer_bytes + (app->echoes ? request.size : 0);
	char sent[MAX_BYTES], answer[MAX_BYTES], text[MAX_BYTES];
	struct nm_app_served served = served_of(text, room);
	size_t n = encode(app, &request, sent), taken, answers = 0;
	enum nm_took took = NM_TOOK_MORE;

	ck_assert_uint_eq(serve(app, &served, sent, n, n, answer, &answers), 1);
	served = served_of(text, room - 1);
	for (size_t at = 0; took == NM_TOOK_MORE; at += taken)
		took = app->take(&served, &service, sent + at, n - at, &taken);
	ck_assert_int_eq(took, NM_TOOK_BAD);
}
END_TEST

/* Nor is a request that never ends taken for ever. */
START_TEST(a_request_that_never_ends)
{
	const struct nm_app *app = nm_app_find(cases[_i].app);
	char text[MAX_BYTES], data[2048];
	struct nm_app_served served = served_of(text, sizeof text);
	enum nm_took took = NM_TOOK_MORE;
	size_t taken = 1;

	memset(data, 'P', sizeof data);
	for (unsigned i = 0; took == NM_TOOK_MORE; i++) {
		ck_assert_uint_lt(i, 3);
		ck_assert_uint_gt(taken, 0);
		took = app->take(&served, &service, data, sizeof data, &taken);
	}
	ck_assert_int_eq(took, NM_TOOK_BAD);
}
END_TEST

/* What the answer, whole, is found to be, and its class. */
static enum nm_parsed judge(enum nm_verb verb, const char *text, enum nm_class *ret)
{
	const struct nm_app_request request = request_of(verb);
	struct nm_app_parser parser = {.at = 0};
	size_t taken;
	enum nm_parsed parsed =
		nm_app_find("memcache")->parse(&parser, &request, text, strlen(text), &taken);

	*ret = (enum nm_class)parser.class;
	return parsed;
}

static const struct {
	enum nm_verb verb;
	const char *text;
	enum nm_parsed parsed;
	enum nm_class class;
} answers_of_memcached[] = {
	{NM_VERB_GET, "END\r\n", NM_PARSED_DONE, NM_CLASS_MISS},
	{NM_VERB_GET, "VALUE k0000042 7 0\r\n\r\nEND\r\n", NM_PARSED_DONE, NM_CLASS_OK},
	{NM_VERB_GET, "VALUE k0000042 0 0 77\r\n\r\nEND\r\n", NM_PARSED_DONE, NM_CLASS_OK},
	{NM_VERB_GET, "SERVER_ERROR out of memory\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED},
	{NM_VERB_GET, "ERROR\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED},
	{NM_VERB_GET, "VALUE k0000043 0 0\r\n\r\nEND\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "VALUE k0000042 0\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "VALUE k0000042 0 -1\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "VALUE k0000042 0 9223372036854775808\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "VALUE k0000042 0 0\r\n\r\nVALUE k0000042 0 0\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "STORED\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "HTTP/1.1 400 Bad Request\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_GET, "END\n", NM_PARSED_BAD, 0},
	{NM_VERB_SET, "STORED\r\n", NM_PARSED_DONE, NM_CLASS_OK},
	{NM_VERB_SET, "NOT_STORED\r\n", NM_PARSED_DONE, NM_CLASS_MISS},
	{NM_VERB_SET, "SERVER_ERROR object too large for cache\r\n", NM_PARSED_DONE,
	 NM_CLASS_REFUSED},
	{NM_VERB_SET, "CLIENT_ERROR bad data chunk\r\n", NM_PARSED_BAD, 0},
	{NM_VERB_DELETE, "DELETED\r\n", NM_PARSED_DONE, NM_CLASS_OK},
	{NM_VERB_DELETE, "NOT_FOUND\r\n", NM_PARSED_DONE, NM_CLASS_MISS},
	{NM_VERB_DELETE, "CLIENT_ERROR bad command line format\r\n", NM_PARSED_DONE,
	 NM_CLASS_REFUSED},
};

START_TEST(answers_of_memcached_have_a_class)
{
	enum nm_class class;

	ck_assert_int_eq(
		judge(answers_of_memcached[_i].verb, answers_of_memcached[_i].text, &class),
		answers_of_memcached[_i].parsed);
	if (answers_of_memcached[_i].parsed == NM_PARSED_DONE)
		ck_assert_int_eq(class, answers_of_memcached[_i].class);
}
END_TEST

static const struct {
	const char *text, *answer; /* NULL: it is no request */
} requests_of_memcached[] = {
	{"version\r\n", "VERSION netmodel\r\n"},
	{"get k9\r\n", "END\r\n"},
	{"set k9 5 0 3\r\nEND\r\n", "STORED\r\n"},
	{"set k9 5 0 3\r\nEND\r\nget k9\r\n", "STORED\r\nVALUE k9 5 3\r\nEND\r\nEND\r\n"},
	{"set k9 0 0 0\r\n\r\nget k9\r\n", "STORED\r\nVALUE k9 0 0\r\n\r\nEND\r\n"},
	{"delete k0000042\r\nget k0000042\r\n", "DELETED\r\nEND\r\n"},
	{"get\r\n", NULL},
	{"GET k9\r\n", NULL},
	{"get k9\n", NULL},
	{"\r\n", NULL},
	{"set k9 0 0\r\n", NULL},
	{"set k9 0 0 -1\r\n", NULL},
	{"set k9 0 0 1\r\nabc", NULL},
};

START_TEST(a_server_of_memcache)
{
	const struct nm_app *app = nm_app_find("memcache");
	const char *text = requests_of_memcached[_i].text;
	char said[MAX_BYTES], room[MAX_BYTES];
	struct nm_app_served served = served_of(room, sizeof room);
	size_t n = strlen(text), at = 0, taken = 1, used = 0;
	enum nm_took took = NM_TOOK_REQUEST;

	while (at < n && took == NM_TOOK_REQUEST) {
		took = app->take(&served, &service, text + at, n - at, &taken);
		at += taken;
		used = collect(&served, said, used);
	}
	if (!requests_of_memcached[_i].answer) {
		ck_assert_int_eq(took, NM_TOOK_BAD);
		return;
	}
	ck_assert_int_eq(took, NM_TOOK_REQUEST);
	ck_assert_uint_eq(used, strlen(requests_of_memcached[_i].answer));
	ck_assert_mem_eq(said, requests_of_memcached[_i].answer, used);
}
END_TEST

/* A value that is too large is refused, and does not take the connection out of step. */
START_TEST(a_value_that_is_too_large)
{
	const struct nm_app *app = nm_app_find("memcache");
	struct nm_app_request request = request_of(NM_VERB_SET);
	char buf[MAX_BYTES], text[MAX_BYTES];
	struct nm_app_served served = served_of(text, sizeof text);
	enum nm_took took = NM_TOOK_MORE;
	uint64_t total = 1, at = 0;
	size_t n;

	request.size = (1u << 20) + 1;
	while (at < total) {
		size_t taken;

		n = nm_app_compose(app, &request, at, buf, sizeof buf, &total);

		took = app->take(&served, &service, buf, n, &taken);
		ck_assert_uint_gt(taken, 0);
		at += taken;
	}
	ck_assert_int_eq(took, NM_TOOK_REQUEST);
	ck_assert_int_eq(served.class, NM_CLASS_REFUSED);
	nm_rope_advance(&served.out, (size_t)served.out.total);
	ck_assert_int_eq(app->take(&served, &service, "get k9\r\n", 8, &n), NM_TOOK_REQUEST);
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
	char text[16];
	struct nm_app_served served = served_of(text, sizeof text);
	size_t taken;

	ck_assert_int_eq(app->take(&served, &service, "PI", 2, &taken), NM_TOOK_MORE);
	ck_assert_int_eq(app->take(&served, &service, "PE", 2, &taken), NM_TOOK_BAD);
	ck_assert(nm_rope_is_empty(&served.out));
}
END_TEST

START_TEST(the_check_of_an_echo_is_its_crc_32)
{
	struct nm_app_request request = request_of(NM_VERB_ECHO);
	char sent[MAX_BYTES], crc[16];

	ck_assert_uint_eq(encode(nm_app_find("echo"), &request, sent), 110);
	snprintf(crc, sizeof crc, "%08lx\r\n", crc32(0, (const Bytef *)sent, 100));
	ck_assert_mem_eq(sent + 100, crc, 10);
}
END_TEST

START_TEST(names)
{
	char list[64];

	ck_assert_str_eq(nm_app_names(list, sizeof list), "ping, echo, memcache");
	ck_assert_str_eq(nm_app_verbs(nm_app_find("ECHO"), list, sizeof list), "echo");
	ck_assert_ptr_null(nm_app_find("pin"));
	ck_assert_str_eq(nm_app_names(list, 3), "pi");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("apps");
	TCase *tests = tcase_create("apps");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_loop_test(tests, all_pieces_make_the_same, 0, N_CASES);
	tcase_add_loop_test(tests, a_changed_answer_is_none, 0, N_CASES);
	tcase_add_loop_test(tests, an_answer_without_room_is_refused, 0, N_CASES);
	tcase_add_loop_test(tests, a_request_that_never_ends, 0, N_CASES);
	tcase_add_loop_test(tests, answers_of_memcached_have_a_class, 0,
			    sizeof answers_of_memcached / sizeof *answers_of_memcached);
	tcase_add_loop_test(tests, a_server_of_memcache, 0,
			    sizeof requests_of_memcached / sizeof *requests_of_memcached);
	tcase_add_test(tests, a_value_that_is_too_large);
	tcase_add_test(tests, redis_answers_ping_with_a_plus);
	tcase_add_test(tests, a_server_of_ping_takes_nothing_else);
	tcase_add_test(tests, the_check_of_an_echo_is_its_crc_32);
	tcase_add_test(tests, names);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
