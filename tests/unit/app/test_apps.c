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
#include "pieces.h"

static const struct {
	const char *app;
	enum nm_verb verb;
	uint64_t ttl_s;
} cases[] = {
	{"ping", NM_VERB_PING, 0},
	{"echo", NM_VERB_ECHO, 0},
	{"memcache", NM_VERB_GET, 0},
	{"memcache", NM_VERB_SET, 3600},
	{"memcache", NM_VERB_DELETE, 0},
	{"memcache_meta", NM_VERB_GET, 0},
	{"memcache_meta", NM_VERB_SET, 3600},
	{"memcache_meta", NM_VERB_DELETE, 0},
	{"memcache_binary", NM_VERB_GET, 0},
	{"memcache_binary", NM_VERB_SET, 3600},
	{"memcache_binary", NM_VERB_DELETE, 0},
	{"redis", NM_VERB_PING, 0},
	{"redis", NM_VERB_GET, 0},
	{"redis", NM_VERB_SET, 0},
	{"redis", NM_VERB_SET, UINT64_MAX / 2},
	{"redis", NM_VERB_DELETE, 0},
};
#define N_CASES (int)(sizeof cases / sizeof *cases)

static void store(const char *key, uint64_t at, uint64_t size)
{
	char value[MAX_BYTES];
	uint64_t place = nm_store_reserve(service.store, key, strlen(key), 0, size);

	nm_pool_copy(pool->bytes, at, value, size);
	nm_store_write(service.store, place, strlen(key), 0, value, size);
	ck_assert(nm_store_publish(service.store, place, strlen(key)));
}

/* A request of 100 bytes where it has any, for a key whose value is stored when it is to be got. */
static struct nm_app_request request_of(enum nm_verb verb, uint64_t ttl_s)
{
	struct nm_app_request request = {.verb = verb,
					 .ttl_s = ttl_s,
					 .size = 100,
					 .number = 7654,
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
	begin_pieces();
	store("k0000042", nm_pool_at(42), 100);
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

static enum nm_parsed parse(const struct nm_app *app, const struct nm_app_request *request,
			    const char *data, size_t n, size_t piece, size_t *ret_taken)
{
	struct nm_app_parser parser;

	return parse_into(&parser, app, request, data, n,
			  (struct cut){.first = piece, .piece = piece}, ret_taken);
}

/* Whether the byte of an answer may be another one: any flags and any number for cas are right,
 * ":0" is an answer as ":1" is, and other codes are errors. */
static bool is_free(const struct nm_app *app, enum nm_verb verb, size_t at)
{
	if (strcmp(app->name, "memcache_binary") == 0)
		return at == 6 || at == 7 || (at >= 16 && at < 24 + 4 * (verb == NM_VERB_GET));
	if (strcmp(app->name, "memcache") == 0)
		return verb == NM_VERB_GET && at == strlen("VALUE k0000042 ");
	return strcmp(app->name, "redis") == 0 && verb == NM_VERB_DELETE && at == strlen(":");
}

START_TEST(all_pieces_make_the_same)
{
	const struct nm_app *app = nm_app_find(cases[_i].app);
	struct nm_app_request request = request_of(cases[_i].verb, cases[_i].ttl_s);
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

		for (size_t at = 0; at < one; at++)
			ck_assert(is_free(app, request.verb, at) ||
				  answers[at] == answers[one + at]);
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
	struct nm_app_request request = request_of(cases[_i].verb, cases[_i].ttl_s);
	char sent[MAX_BYTES], answer[MAX_BYTES], text[MAX_BYTES];
	struct nm_app_served served = served_of(text, sizeof text);
	size_t n = 0, taken, n_sent = encode(app, &request, sent);

	ck_assert_uint_eq(serve(app, &served, sent, n_sent, n_sent, answer, &n), 1);
	for (size_t at = 0; at < n; at++) {
		answer[at] ^= 1;
		for (size_t piece = 1; !is_free(app, request.verb, at) && piece <= n; piece++)
			ck_assert_int_ne(parse(app, &request, answer, n, piece, &taken),
					 NM_PARSED_DONE);
		answer[at] ^= 1;
	}
}
END_TEST

START_TEST(an_answer_without_room_is_refused)
{
	const struct nm_app *app = nm_app_find(cases[_i].app);
	struct nm_app_request request = request_of(cases[_i].verb, cases[_i].ttl_s);
	size_t room = app->answer_bytes + (app->echoes ? request.size : 0);
	char sent[MAX_BYTES], answer[MAX_BYTES], text[MAX_BYTES];
	struct nm_app_served served = served_of(text, room);
	size_t n = encode(app, &request, sent), taken, answers = 0;
	enum nm_took took = NM_TOOK_MORE;

	ck_assert_uint_eq(serve(app, &served, sent, n, n, answer, &answers), 1);
	served = served_of(text, room / 2);
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

#define TEXT_100                                                                                   \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
	"890123456789"

struct answer {
	enum nm_verb verb;
	const char *text;
	enum nm_parsed parsed;
	enum nm_class class;
	enum nm_answer name; /* of what is refused */
};

/* What an answer is found to be, however it comes, and its class. */
static void judge(const char *app, const struct answer *answer)
{
	const struct nm_app_request request = request_of(answer->verb, 0);
	const size_t n = strlen(answer->text);

	check_answer(nm_app_find(app), &request, answer->text, n,
		     &(struct expected){.parsed = answer->parsed,
					.class = answer->class,
					.name = answer->name,
					.n = n});
}

static const struct answer answers_of_memcached[] = {
	{NM_VERB_GET, "END\r\n", NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{NM_VERB_GET, "VALUE k0000042 7 0\r\n\r\nEND\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_GET, "VALUE k0000042 0 0 77\r\n\r\nEND\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_GET, "SERVER_ERROR out of memory\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_MEMCACHE_SERVER_ERROR},
	{NM_VERB_GET, "ERROR\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_ERROR},
	{NM_VERB_GET, "VALUE k0000043 0 0\r\n\r\nEND\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "VALUE k0000042 0\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "VALUE k0000042 0 -1\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "VALUE k0000042 0 9223372036854775808\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "VALUE k0000042 0 0\r\n\r\nVALUE k0000042 0 0\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "STORED\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "HTTP/1.1 400 Bad Request\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "END\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_SET, "STORED\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_SET, "NOT_STORED\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_MEMCACHE_NOT_STORED},
	{NM_VERB_SET, "SERVER_ERROR object too large for cache\r\n", NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_SERVER_ERROR},
	{NM_VERB_SET, "CLIENT_ERROR bad data chunk\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_DELETE, "DELETED\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_DELETE, "NOT_FOUND\r\n", NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{NM_VERB_DELETE, "CLIENT_ERROR bad command line format\r\n", NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_CLIENT_ERROR},
};

START_TEST(answers_of_memcached_have_a_class)
{
	judge("memcache", &answers_of_memcached[_i]);
}
END_TEST

static const struct answer answers_of_redis[] = {
	{NM_VERB_PING, "+PONG\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_PING, "-NOAUTH Authentication required.\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_REDIS_NOAUTH},
	{NM_VERB_PING, "PONG\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$-1\r\n", NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{NM_VERB_GET, "$0\r\n\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_GET, "-WRONGTYPE Operation against a key\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_REDIS_WRONGTYPE},
	{NM_VERB_GET, "-LOADING Redis is loading\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_REDIS_LOADING},
	/* Longer than what is kept of a line. */
	{NM_VERB_GET, "-DENIED " TEXT_100 TEXT_100 TEXT_100 TEXT_100 "\r\n", NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_OTHER},
	{NM_VERB_GET, "$2\r\nxy\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$0\r\n\n\r", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$0\n\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$-2\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$1x\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "$9223372036854775808\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "*1\r\n$0\r\n\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "END\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_SET, "+OK\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_SET, "+QUEUED\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_SET, "-OOM command not allowed\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_REDIS_OOM},
	{NM_VERB_DELETE, ":1\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_DELETE, ":0\r\n", NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{NM_VERB_DELETE, ":2\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_GET, "_\r\n", NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{NM_VERB_COMMAND, "+OK\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, ":-7\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "_\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "*-1\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "*0\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "*2\r\n*0\r\n$-1\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "*2\r\n+a\r\n", NM_PARSED_MORE, 0, 0},
	{NM_VERB_COMMAND, "*2\r\n$4\r\n$-1\r\r\n-ERR no\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_REDIS_ERR},
	{NM_VERB_COMMAND, "*2\r\n-MOVED 1\r\n-ERR no\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_REDIS_MOVED},
	{NM_VERB_COMMAND, "!5\r\nERR x\r\n", NM_PARSED_DONE, NM_CLASS_REFUSED, NM_ANSWER_OTHER},
	{NM_VERB_COMMAND, "|1\r\n+a\r\n_\r\n$1\r\n\n\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, ">1\r\n_\r\n_\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "%1\r\n#t\r\n~2\r\n,inf\r\n(123\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "=5\r\ntxt:x\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0},
	{NM_VERB_COMMAND, "*1048576\r\n", NM_PARSED_MORE, 0, 0},
	{NM_VERB_COMMAND, "*1048577\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_COMMAND, "*1048576\r\n*2\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_COMMAND, "%9223372036854775807\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_COMMAND, "$?\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_COMMAND, "\r\n", NM_PARSED_BAD, 0, 0},
	{NM_VERB_COMMAND, "HTTP/1.1 400\r\n", NM_PARSED_BAD, 0, 0},
};

START_TEST(answers_of_redis_have_a_class)
{
	judge("redis", &answers_of_redis[_i]);
}
END_TEST

static const struct {
	const char *text, *answer; /* NULL: it is no request */
} requests_of_memcached[] = {
	{"version\r\n", "VERSION 1.6.0-netmodel\r\n"},
	{"get k9\r\n", "END\r\n"},
	{"set k9 5 0 3\r\nEND\r\n", "STORED\r\n"},
	{"set k9 5 0 3\r\nEND\r\nget k9\r\n", "STORED\r\nVALUE k9 5 3\r\nEND\r\nEND\r\n"},
	{"set k9 0 0 0\r\n\r\nget k9\r\n", "STORED\r\nVALUE k9 0 0\r\n\r\nEND\r\n"},
	{"delete k0000042\r\nget k0000042\r\n", "DELETED\r\nEND\r\n"},
	{"version\r\nquit\r\n", "VERSION 1.6.0-netmodel\r\n"},
	{"set k9 5 0 1 noreply\r\nx\r\nget k0 k9 k1 k9 \r\ndelete k9 noreply\r\nget k9 k9\r\n",
	 "VALUE k9 5 1\r\nx\r\nVALUE k9 5 1\r\nx\r\nEND\r\nEND\r\n"},
	{"set k9 5 0 1 noreply x\r\nx\r\n", NULL},
	{"delete k9 noreply x\r\ndelete k9 0 0\r\nget\r\n", "ERROR\r\nERROR\r\nERROR\r\n"},
	{"incr k9\r\ntouch k9 x\r\ntouch\r\nstats x\r\n", "ERROR\r\nERROR\r\nERROR\r\nERROR\r\n"},
	{"add k9 1 0 1\r\nx\r\nadd k9 0 0 1\r\ny\r\nget k9\r\n",
	 "STORED\r\nNOT_STORED\r\nVALUE k9 1 1\r\nx\r\nEND\r\n"},
	{"append k9 0 0 1\r\nx\r\nset k9 1 0 1\r\nb\r\nappend k9 0 0 2\r\ncd\r\n"
	 "prepend k9 0 0 1 noreply\r\na\r\ngat 9 k0 k9\r\n",
	 "NOT_STORED\r\nSTORED\r\nSTORED\r\nVALUE k9 1 4\r\nabcd\r\nEND\r\n"},
	{"cas k9 0 0 1 8\r\nx\r\nset k9 0 0 1\r\n5\r\ncas k9 0 0 1 1\r\nx\r\ncas k9 0 0 1 0 "
	 "noreply\r\n"
	 "x\r\nincr k9 5\r\ndecr k9 1 noreply\r\nget k9\r\n",
	 "NOT_FOUND\r\nSTORED\r\nEXISTS\r\n10\r\nVALUE k9 0 2\r\n9 \r\nEND\r\n"},
	{"cas k9 0 0 1\r\nx\r\n", NULL},
	{"incs k9 1\r\n", NULL},
	{"set k9 0 0 1\r\nx\r\nflush_all\r\nget k9\r\nflush_all 5\r\nverbosity 1\r\n",
	 "STORED\r\nOK\r\nEND\r\nSERVER_ERROR all goes now, or never\r\nOK\r\n"},
	{"verbosity noreply\r\nverbosity\r\nverbosity x\r\n", "ERROR\r\nERROR\r\n"},
	{"quit now\r\n", NULL},
	{"GET k9\r\n", NULL},
	{"get k9\n", NULL},
	{"\r\n", NULL},
	{"set k9 0 0\r\n", NULL},
	{"set k9 0 0 -1\r\n", NULL},
	{"set k9 0 0 1\r\nabc", NULL},
};

/* What the server says to all of it; it takes all of it, or ends the connection. */
static void check_server(const char *name, const char *text, const char *answer)
{
	const size_t n = strlen(text);

	for (size_t piece = 1; piece <= n; piece++) {
		char said[2 * MAX_BYTES], room[MAX_BYTES];
		struct nm_app_served served = served_of(room, sizeof room);
		size_t used = 0;

		store("k0000042", nm_pool_at(42), 100);
		(void)nm_store_delete(service.store, "k9", 2);
		int requests = serve(nm_app_find(name), &served, text, n, piece, said, &used);

		ck_assert((requests < 0) == !answer);
		if (!answer)
			continue;
		ck_assert_uint_eq(used, strlen(answer));
		ck_assert_mem_eq(said, answer, used);
	}
}

START_TEST(a_server_of_memcache)
{
	check_server("memcache", requests_of_memcached[_i].text, requests_of_memcached[_i].answer);
}
END_TEST

#define PING "*1\r\n$4\r\nPING\r\n"
#define GET  "*2\r\n$3\r\nGET\r\n$2\r\nk9\r\n"
#define SET  "$3\r\nSET\r\n$2\r\nk9\r\n$3\r\na\r\n\r\n"
#define ERR  "-ERR unknown command or wrong arguments\r\n"

#define TOO_LARGE "-ERR the key or the value is too large, or there is no room for it\r\n"

static const struct {
	const char *text, *answer; /* NULL: it is no request */
} requests_of_redis[] = {
	{PING PING, "+PONG\r\n+PONG\r\n"},
	{"*1\r\n$4\r\nping\r\n", "+PONG\r\n"},
	{GET, "$-1\r\n"},
	{"*3\r\n" SET GET, "+OK\r\n$3\r\na\r\n\r\n"},
	{"*5\r\n" SET "$2\r\nEX\r\n$2\r\n10\r\n" GET, "+OK\r\n$3\r\na\r\n\r\n"},
	{"*3\r\n$3\r\nSET\r\n$2\r\nk9\r\n$0\r\n\r\n" GET, "+OK\r\n$0\r\n\r\n"},
	{"*2\r\n$3\r\nDEL\r\n$8\r\nk0000042\r\n*2\r\n$3\r\nDEL\r\n$8\r\nk0000042\r\n",
	 ":1\r\n:0\r\n"},
	{"*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$4\r\nsave\r\n" PING, ERR "+PONG\r\n"},
	{"*2\r\n$3\r\nGET\r\n$0\r\n\r\n" PING, ERR "+PONG\r\n"},
	{"*2\r\n$3\r\nSET\r\n$2\r\nk9\r\n", ERR},
	{"*2\r\n$4\r\nPING\r\n$1\r\nx\r\n", ERR},
	{"*1\r\n$4\r\nPINX\r\n*1\r\n$3\r\nPIN\r\n" PING, ERR ERR "+PONG\r\n"},
	/* A key that cannot be stored, and words behind the value that cannot be followed. */
	{"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$1\r\nx\r\n" PING, TOO_LARGE "+PONG\r\n"},
	{"*3\r\n$3\r\nSET\r\n$300\r\n" TEXT_100 TEXT_100 TEXT_100 "\r\n$1\r\nx\r\n" PING,
	 TOO_LARGE "+PONG\r\n"},
	{"*2\r\n$3\r\nGET\r\n$300\r\n" TEXT_100 TEXT_100 TEXT_100 "\r\n" PING, ERR "+PONG\r\n"},
	{"*5\r\n" SET "$2\r\npx\r\n$4\r\n1000\r\n" GET, "+OK\r\n$3\r\na\r\n\r\n"},
	{"*5\r\n" SET "$2\r\nEX\r\n$2\r\n1x\r\n" GET, ERR "$-1\r\n"},
	{"*5\r\n" SET "$2\r\nEX\r\n$1\r\n0\r\n" GET, ERR "$-1\r\n"},
	{"*5\r\n" SET "$2\r\nEX\r\n$0\r\n\r\n" GET, ERR "$-1\r\n"},
	{"*5\r\n" SET "$2\r\nXX\r\n$2\r\n10\r\n" GET, ERR "$-1\r\n"},
	{"*4\r\n" SET "$2\r\nNX\r\n" GET, ERR "$-1\r\n"},
	{"*6\r\n" SET "$2\r\nEX\r\n$2\r\n10\r\n$2\r\nNX\r\n" GET, ERR "$-1\r\n"},
	{"*0\r\n", NULL},
	{"*-1\r\n", NULL},
	{"*2000000\r\n", NULL},
	{"*5\r\n" SET "+2\r\n", NULL},
	{"*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$1\r\nxy\r", NULL},
	{"PING\r\n\r\nget  k9\nDEL a b\r\nMONITOR\r\n" PING,
	 "+PONG\r\n$-1\r\n" ERR ERR "+PONG\r\n"},
	{"*1\n$4\r\nPING\r\n", NULL},
	{"*1\r\n$4\r\nPINGS\r\n", NULL},
	{"*1\r\n$-1\r\n", NULL},
	{"*1\r\n+PING\r\n", NULL},
	{"*3\r\n$3\r\nSET\r\n$2\r\nk9\r\n$1\r\nabc", NULL},
};

START_TEST(a_server_of_redis)
{
	check_server("redis", requests_of_redis[_i].text, requests_of_redis[_i].answer);
}
END_TEST

START_TEST(a_word_with_a_zero_behind_it_is_another_word)
{
	static const char text[] = "*1\r\n$5\r\nping\0\r\n*2\r\n$4\r\nGET\0\r\n$2\r\nk9\r\n";
	char said[MAX_BYTES], room[MAX_BYTES];
	struct nm_app_served served = served_of(room, sizeof room);
	size_t used = 0;

	ck_assert_int_eq(serve(nm_app_find("redis"), &served, text, sizeof text - 1,
			       sizeof text - 1, said, &used),
			 2);
	ck_assert_uint_eq(used, strlen(ERR ERR));
	ck_assert_mem_eq(said, ERR ERR, used);
}
END_TEST

/* "GET" of a key of so many bytes, which is too long. */
static size_t long_get(char *buf, size_t key)
{
	int n = sprintf(buf, "*2\r\n$3\r\nGET\r\n$%zu\r\n", key);

	memset(buf + n, 'k', key);
	memcpy(buf + n + key, "\r\n", 2);
	return (size_t)n + key + 2;
}

/* So much of a command is kept, however it comes. */
START_TEST(a_command_of_redis_has_so_many_bytes)
{
	char data[MAX_BYTES], said[2 * MAX_BYTES], room[MAX_BYTES];

	for (size_t key = 2000; key < 2040; key++) {
		const size_t n = long_get(data, key);

		for (size_t piece = 1; piece <= n; piece += 1 + piece / 8) {
			struct nm_app_served served = served_of(room, sizeof room);
			size_t used = 0;

			ck_assert_int_eq(
				serve(nm_app_find("redis"), &served, data, n, piece, said, &used),
				n <= NM_APP_KEPT_BYTES ? 1 : -1);
		}
	}
}
END_TEST

/* Words that a command has behind its second are skipped, however long they are. */
START_TEST(long_words_are_skipped)
{
	char data[3 * MAX_BYTES], said[2 * MAX_BYTES], room[MAX_BYTES];
	size_t n = (size_t)sprintf(data, "*4\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$6000\r\n");

	memset(data + n, '*', 6000);
	n += 6000;
	n += (size_t)sprintf(data + n, "\r\n$1\r\nx\r\n" PING);
	for (size_t piece = 1; piece <= n; piece += 1 + piece / 8) {
		struct nm_app_served served = served_of(room, sizeof room);
		size_t used = 0;

		ck_assert_int_eq(serve(nm_app_find("redis"), &served, data, n, piece, said, &used),
				 2);
		ck_assert_uint_eq(used, strlen(ERR "+PONG\r\n"));
		ck_assert_mem_eq(said, ERR "+PONG\r\n", used);
	}
}
END_TEST

/* A value that is too large is refused, and does not take the connection out of step. */
START_TEST(a_value_that_is_too_large)
{
	static const struct {
		const char *app;
		uint64_t size;
		const char *answer;
		size_t n;
	} large[] = {
		{"memcache", 1u << 20, "STORED\r\n", 8},
		{"memcache", (1u << 20) + 1, "SERVER_ERROR object too large for cache\r\n", 41},
		{"memcache_meta", 1u << 20, "HD O7654\r\n", 10},
		{"memcache_meta", (1u << 20) + 1, "SERVER_ERROR object too large for cache\r\n",
		 41},
		{"redis", 1u << 20, "+OK\r\n", 5},
		{"redis", (1u << 20) + 1, TOO_LARGE, sizeof TOO_LARGE - 1},
	};
	const struct nm_app *app = nm_app_find(large[_i].app);
	struct nm_app_request request = request_of(NM_VERB_SET, 0);
	char buf[MAX_BYTES], text[MAX_BYTES];
	struct nm_app_served served = served_of(text, sizeof text);
	enum nm_took took = NM_TOOK_MORE;
	uint64_t total = 1, at = 0;
	size_t n;

	request.size = large[_i].size;
	while (at < total) {
		size_t taken;

		n = nm_app_compose(app, &request, at, buf, sizeof buf, &total);

		took = app->take(&served, &service, buf, n, &taken);
		ck_assert_uint_gt(taken, 0);
		at += taken;
	}
	ck_assert_int_eq(took, NM_TOOK_REQUEST);
	ck_assert_uint_eq(served.class, request.size > 1u << 20 ? NM_CLASS_REFUSED : NM_CLASS_OK);
	n = collect(&served, buf, 0);
	ck_assert_uint_eq(n, large[_i].n);
	ck_assert_mem_eq(buf, large[_i].answer, n);
	request.size = 1;
	n = nm_app_compose(app, &request, 0, buf, sizeof buf, &total);
	ck_assert_int_eq(app->take(&served, &service, buf, n, &n), NM_TOOK_REQUEST);
	ck_assert_uint_eq(served.class, NM_CLASS_OK);
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
	struct nm_app_request request = request_of(NM_VERB_ECHO, 0);
	char sent[MAX_BYTES], crc[16];

	ck_assert_uint_eq(encode(nm_app_find("echo"), &request, sent), 110);
	snprintf(crc, sizeof crc, "%08lx\r\n", crc32(0, (const Bytef *)sent, 100));
	ck_assert_mem_eq(sent + 100, crc, 10);
}
END_TEST

START_TEST(names)
{
	char list[96];

	ck_assert_str_eq(nm_app_names(list, sizeof list),
			 "ping, echo, dns, memcache, memcache_meta, memcache_binary, redis, http");
	ck_assert_str_eq(nm_app_verbs(nm_app_find("ECHO")->verbs, list, sizeof list), "echo");
	ck_assert_ptr_null(nm_app_find("pin"));
	ck_assert_str_eq(nm_app_names(list, 3), "pi");
}
END_TEST

START_TEST(usual_answers_are_known_as_such)
{
	for (const struct nm_app *const *app = nm_apps; *app; app++)
		ck_assert_int_eq(nm_answer_is_usual((*app)->usual), (*app)->usual != 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("apps");
	TCase *tests = tcase_create("apps");

	tcase_add_checked_fixture(tests, begin, end_pieces);
	tcase_add_loop_test(tests, all_pieces_make_the_same, 0, N_CASES);
	tcase_add_loop_test(tests, a_changed_answer_is_none, 0, N_CASES);
	tcase_add_loop_test(tests, an_answer_without_room_is_refused, 0, N_CASES);
	tcase_add_loop_test(tests, a_request_that_never_ends, 0, N_CASES);
	tcase_add_loop_test(tests, answers_of_memcached_have_a_class, 0,
			    sizeof answers_of_memcached / sizeof *answers_of_memcached);
	tcase_add_loop_test(tests, a_server_of_memcache, 0,
			    sizeof requests_of_memcached / sizeof *requests_of_memcached);
	tcase_add_loop_test(tests, answers_of_redis_have_a_class, 0,
			    sizeof answers_of_redis / sizeof *answers_of_redis);
	tcase_add_loop_test(tests, a_server_of_redis, 0,
			    sizeof requests_of_redis / sizeof *requests_of_redis);
	tcase_add_test(tests, a_word_with_a_zero_behind_it_is_another_word);
	tcase_add_test(tests, a_command_of_redis_has_so_many_bytes);
	tcase_add_test(tests, long_words_are_skipped);
	tcase_add_loop_test(tests, a_value_that_is_too_large, 0, 6);
	tcase_add_test(tests, redis_answers_ping_with_a_plus);
	tcase_add_test(tests, a_server_of_ping_takes_nothing_else);
	tcase_add_test(tests, the_check_of_an_echo_is_its_crc_32);
	tcase_add_test(tests, names);
	tcase_add_test(tests, usual_answers_are_known_as_such);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
