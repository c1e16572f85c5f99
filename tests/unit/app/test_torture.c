/* SPDX-License-Identifier: Apache-2.0 */
/* What servers may say, and what none should, in each protocol: however it comes, it is found to be
 * the same. */
#include <stdio.h>

#include "../suite.h"
#include "app/http.h"
#include "app/memcache_binary.h"
#include "app/question.h"
#include "app/resp.h"
#include "pieces.h"

#define NUMBER	     7654u
#define COUNT(table) (int)(sizeof table / sizeof *table)

static struct nm_app_request request_of(enum nm_verb verb)
{
	return (struct nm_app_request){
		.verb = verb, .keyspace = &keyspace, .key = 42, .number = NUMBER, .pool = pool};
}

/* --- values --- */

/* What looks like the end of a value, or like what comes behind it, is none within it. */
static const char *const values[] = {
	"",
	"\r\n",
	"END\r\n",
	"x\r\nEND\r\n",
	"VALUE k0000042 0 0\r\n\r\nEND\r\n",
	"SERVER_ERROR out of memory\r\n",
	"EN\r\nHD O7654\r\nVA 0 O7654\r\n\r\n",
	"$-1\r\n",
	"$0\r\n\r\n-ERR x\r\n>1\r\n*-1\r\n",
	"\r",
	"\n\r",
	"0\r\n\r\n5\r\nHTTP/1.1 200 OK\r\n\r\n",
	"\x81\x01\n\x80",
};

typedef int format_fn(char *buf, size_t size, const char *value);

static int text_of(char *buf, size_t size, const char *value)
{
	return snprintf(buf, size, "VALUE k0000042 7 %zu\r\n%s\r\nEND\r\n", strlen(value), value);
}

static int meta_of(char *buf, size_t size, const char *value)
{
	return snprintf(buf, size, "VA %zu O%u\r\n%s\r\n", strlen(value), NUMBER, value);
}

static int binary_of(char *buf, size_t size, const char *value)
{
	const size_t n = strlen(value);
	const struct nm_binary_header header = {.magic = NM_BINARY_ANSWER,
						.extras = NM_BINARY_GET_EXTRAS,
						.body = NM_BINARY_GET_EXTRAS + (uint32_t)n,
						.opaque = NUMBER};

	ck_assert_uint_lt(NM_BINARY_HEADER + NM_BINARY_GET_EXTRAS + n, size);
	memcpy(nm_binary_put(nm_binary_write(buf, &header), 7), value, n);
	return (int)(NM_BINARY_HEADER + NM_BINARY_GET_EXTRAS + n);
}

static int bulk_of(char *buf, size_t size, const char *value)
{
	return snprintf(buf, size, "$%zu\r\n%s\r\n", strlen(value), value);
}

static int array_of(char *buf, size_t size, const char *value)
{
	return snprintf(buf, size, "*2\r\n*1\r\n$%zu\r\n%s\r\n=%zu\r\n%s\r\n", strlen(value), value,
			strlen(value), value);
}

static const struct {
	const char *app;
	enum nm_verb verb;
	format_fn *format;
} holders[] = {
	{"memcache", NM_VERB_GET, text_of},	     {"memcache_meta", NM_VERB_GET, meta_of},
	{"memcache_binary", NM_VERB_GET, binary_of}, {"redis", NM_VERB_GET, bulk_of},
	{"redis", NM_VERB_COMMAND, array_of},
};

START_TEST(a_value_has_any_bytes)
{
	const struct nm_app_request request = request_of(holders[_i].verb);
	char buf[MAX_BYTES];

	for (int i = 0; i < COUNT(values); i++) {
		const size_t n = (size_t)holders[_i].format(buf, sizeof buf, values[i]);

		check_answer(
			nm_app_find(holders[_i].app), &request, buf, n,
			&(struct expected){.parsed = NM_PARSED_DONE, .class = NM_CLASS_OK, .n = n});
	}
}
END_TEST

/* Behind so many bytes of a value there is its end, and nothing else. */
START_TEST(a_value_has_as_many_bytes_as_it_says)
{
	const struct nm_app_request request = request_of(holders[_i].verb);
	const struct nm_app *app = nm_app_find(holders[_i].app);
	char buf[MAX_BYTES];
	const size_t n = (size_t)holders[_i].format(buf, sizeof buf, "0123456789");
	char *end = memmem(buf, n, "9", 1);

	if (strcmp(app->name, "memcache_binary") == 0)
		return; /* its values have no end of their own */
	/* One byte more, and one less. */
	memmove(end + 2, end + 1, n - (size_t)(end + 1 - buf));
	end[1] = '9';
	check_cuts(app, &request, buf, n + 1, &(struct expected){.parsed = NM_PARSED_BAD});
	memmove(end, end + 2, n - (size_t)(end + 1 - buf));
	check_cuts(app, &request, buf, n - 1, &(struct expected){.parsed = NM_PARSED_BAD});
}
END_TEST

/* --- what else may come --- */

static const struct {
	const char *app;
	enum nm_verb verb;
	enum nm_parsed parsed;
	enum nm_class class;
	const char *text;
} said[] = {
	/* memcache: what a server says that has too many connections, or fails within an answer. */
	{"memcache", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_REFUSED,
	 "ERROR Too many open connections\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_DONE, NM_CLASS_REFUSED,
	 "ERROR Too many open connections\r\n"},
	{"memcache_meta", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_REFUSED,
	 "ERROR Too many open connections\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_REFUSED,
	 "VALUE k0000042 0 1\r\nx\r\nSERVER_ERROR out of memory writing get response\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_REFUSED,
	 "CLIENT_ERROR line too long\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_DONE, NM_CLASS_REFUSED,
	 "SERVER_ERROR out of memory storing object\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "CLIENT_ERROR line too long\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "ERRORS\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "stored\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "STORED \r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "EXISTS\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "\r\n"},
	{"memcache", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "STORED\n"},
	{"memcache", NM_VERB_DELETE, NM_PARSED_BAD, NM_CLASS_OK, "TOUCHED\r\n"},
	{"memcache", NM_VERB_DELETE, NM_PARSED_BAD, NM_CLASS_OK, "END\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VERSION 1.6.38\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k0000042 0 +1\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k0000042 -1 1\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k0000042 0 0x1\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE  k0000042 0 1\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k000004 2 0 1\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k00000420 0 1\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK,
	 "VALUE k0000042 0 99999999999999999999\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k0000042 0 1 \r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VALUE k0000042 0 1 -7\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK,
	 "VALUE k0000042 0 1\r\nx\r\nSTORED\r\n"},
	{"memcache", NM_VERB_GET, NM_PARSED_MORE, NM_CLASS_OK, "VALUE k0000042 0 1\r\nx\r\nEND"},
	{"memcache_meta", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "MN\r\n"},
	{"memcache_meta", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "ME k0000042 size=1\r\n"},
	{"memcache_meta", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VA +1 O7654\r\n"},
	{"memcache_meta", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, "VA 1O7654\r\n"},
	{"memcache_meta", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "EX O7654\r\n"},
	{"memcache_meta", NM_VERB_SET, NM_PARSED_BAD, NM_CLASS_OK, "HDO7654\r\n"},

	/* redis: pushes and attributes, which may come before any answer. */
	{"redis", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_MISS,
	 ">2\r\n$10\r\ninvalidate\r\n*1\r\n$8\r\nk0000042\r\n$-1\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_OK,
	 ">2\r\n+invalidate\r\n_\r\n>1\r\n*0\r\n$4\r\n$-1\r\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_DONE, NM_CLASS_OK, "|1\r\n+ttl\r\n:60\r\n$1\r\nx\r\n"},
	{"redis", NM_VERB_SET, NM_PARSED_DONE, NM_CLASS_OK, ">1\r\n-ERR is none\r\n+OK\r\n"},
	{"redis", NM_VERB_DELETE, NM_PARSED_DONE, NM_CLASS_MISS, ">0\r\n:0\r\n"},
	{"redis", NM_VERB_PING, NM_PARSED_DONE, NM_CLASS_OK,
	 "|0\r\n>1\r\n|1\r\n+a\r\n%1\r\n+b\r\n#t\r\n+c\r\n+PONG\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_DONE, NM_CLASS_OK,
	 ">3\r\n+message\r\n+c\r\n$3\r\n+OK\r\n*2\r\n:1\r\n:-2\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, ">-1\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, ">1\r\nx\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, ">?\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, ">1000000000\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_BAD, NM_CLASS_OK, ">1\r\n+a\r\n+OK\r\n"},
	{"redis", NM_VERB_GET, NM_PARSED_MORE, NM_CLASS_OK, ">1\r\n+a\r\n"},
	/* And what has the form of none. */
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "*?\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "*-2\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "*+1\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "*1000000000\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "*1\r\n*1000000000\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "$1\r\nxy\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, ":\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, ":1x\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, ":--1\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, ":99999999999999999999\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "#x\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "#\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "_x\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_BAD, NM_CLASS_OK, "+OK\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_DONE, NM_CLASS_OK,
	 "*5\r\n:9223372036854775807\r\n:-9223372036854775808\r\n#f\r\n,-1.5e-7\r\n(-"
	 "123456789012345"
	 "67890123\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_DONE, NM_CLASS_OK,
	 "*6\r\n,inf\r\n,-inf\r\n,nan\r\n,-nan\r\n:+1\r\n(-12\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_DONE, NM_CLASS_OK, "*3\r\n*0\r\n%0\r\n*1\r\n~0\r\n"},
	{"redis", NM_VERB_COMMAND, NM_PARSED_DONE, NM_CLASS_OK,
	 "*2\r\n|1\r\n*1\r\n+a\r\n*2\r\n:1\r\n:2\r\n$1\r\nx\r\n|1\r\n+a\r\n+b\r\n*1\r\n_\r\n"},
};

START_TEST(what_servers_say)
{
	const struct nm_app_request request = request_of(said[_i].verb);
	const size_t n = strlen(said[_i].text);

	check_answer(
		nm_app_find(said[_i].app), &request, said[_i].text, n,
		&(struct expected){.parsed = said[_i].parsed, .class = said[_i].class, .n = n});
}
END_TEST

/* A line has so many bytes, its end included; a longer one is none, and is not waited for. */
START_TEST(a_line_has_8_kib)
{
	static const struct {
		const char *app, *begin;
		enum nm_verb verb;
	} lines[] = {{"memcache", "SERVER_ERROR ", NM_VERB_GET},
		     {"memcache_meta", "SERVER_ERROR ", NM_VERB_SET},
		     {"redis", "-ERR ", NM_VERB_GET},
		     {"redis", "-ERR ", NM_VERB_COMMAND}};
	const struct nm_app *app = nm_app_find(lines[_i].app);
	const struct nm_app_request request = request_of(lines[_i].verb);
	static char line[NM_LINE_MAX + 1];
	struct nm_app_parser parser;
	size_t taken;

	memset(line, 'x', sizeof line);
	memcpy(line, lines[_i].begin, strlen(lines[_i].begin));
	for (size_t piece = 1; piece <= sizeof line; piece = 2 * piece + 1) {
		const struct cut cut = {.first = piece, .piece = piece};

		memcpy(line + NM_LINE_MAX - 2, "\r\nx", 3);
		ck_assert_int_eq(parse_into(&parser, app, &request, line, NM_LINE_MAX, cut, &taken),
				 NM_PARSED_DONE);
		ck_assert_int_eq(parser.class, NM_CLASS_REFUSED);
		memcpy(line + NM_LINE_MAX - 2, "xxx", 3);
		ck_assert_int_eq(parse_into(&parser, app, &request, line, NM_LINE_MAX, cut, &taken),
				 NM_PARSED_BAD);
	}
}
END_TEST

/* Aggregates nest so deep, and no deeper, whatever they are; those that are whole do not count. */
START_TEST(aggregates_nest_32_deep)
{
	static const char *const kinds[] = {"*1\r\n", "*2\r\n+a\r\n", "*2\r\n*0\r\n", "~1\r\n",
					    "%1\r\n:1\r\n"};
	const struct nm_app *app = nm_app_find("redis");
	const struct nm_app_request request = request_of(NM_VERB_COMMAND);
	char buf[MAX_BYTES] = "";

	for (unsigned i = 0; i < 32; i++)
		strcat(buf, kinds[_i]);
	const size_t n = strlen(buf);

	strcpy(buf + n, "*2\r\n");
	check_cuts(app, &request, buf, n + 4, &(struct expected){.parsed = NM_PARSED_BAD});
	strcpy(buf + n, ":7\r\n");
	check_cuts(app, &request, buf, n + 4,
		   &(struct expected){.parsed = NM_PARSED_DONE, .class = NM_CLASS_OK, .n = n + 4});
}
END_TEST

/* --- DNS over a stream --- */

/* A length of two bytes is before each answer: it may end anywhere, also between the two. */
START_TEST(answers_of_dns)
{
	static const struct nm_question question = {
		.length = 17, .wire = (const unsigned char *)"\7example\3com\0\0\1\0\1"};
	static struct nm_questions questions = {.keys = {.law = NM_KEYS_SEQUENTIAL, .count = 1},
						.edns_bytes = 1232,
						.list = &question};
	const struct nm_app *app = nm_app_find("dns");
	struct nm_app_request request = {
		.verb = NM_VERB_QUERY, .keyspace = &questions.keys, .number = NUMBER};
	struct expected expected = {.parsed = NM_PARSED_DONE, .class = NM_CLASS_OK};
	char buf[MAX_BYTES];
	uint64_t total;

	expected.n = nm_app_compose(app, &request, 0, buf, sizeof buf, &total);
	buf[4] |= (char)0x80; /* the query is the answer, with QR */
	check_answer(app, &request, buf, expected.n, &expected);
	expected.class = NM_CLASS_MISS;
	buf[5] |= 3; /* NXDOMAIN */
	check_answer(app, &request, buf, expected.n, &expected);
	expected.class = NM_CLASS_REFUSED;
	buf[5] = (char)((buf[5] & 0xf0) | 2); /* SERVFAIL */
	check_answer(app, &request, buf, expected.n, &expected);
	expected.parsed = NM_PARSED_BAD;
	buf[2] ^= 1; /* another id */
	check_answer(app, &request, buf, expected.n, &expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("torture");
	TCase *tests = tcase_create("torture");

	tcase_add_checked_fixture(tests, begin_pieces, end_pieces);
	tcase_add_loop_test(tests, a_value_has_any_bytes, 0, COUNT(holders));
	tcase_add_loop_test(tests, a_value_has_as_many_bytes_as_it_says, 0, COUNT(holders));
	tcase_add_loop_test(tests, what_servers_say, 0, COUNT(said));
	tcase_add_loop_test(tests, a_line_has_8_kib, 0, 4);
	tcase_add_loop_test(tests, aggregates_nest_32_deep, 0, 5);
	tcase_add_test(tests, answers_of_dns);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
