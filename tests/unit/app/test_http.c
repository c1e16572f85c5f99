/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP: requests to the byte, where answers end however they are cut, and netmodel's own server. */
#include <stdio.h>
#include <stdlib.h>

#include "../suite.h"
#include "app/http.h"
#include "pieces.h"

static const struct nm_app *http;

static void begin(void)
{
	begin_pieces();
	http = nm_app_find("http");
}

static struct nm_http_lines *lines_of(enum nm_http_method method, bool close)
{
	char why[128];
	const char *culprit;
	struct nm_http_lines *lines =
		nm_http_lines_new(method, "/a?b", "h:81", close, &culprit, why, sizeof why);

	ck_assert_ptr_nonnull(lines);
	return lines;
}

/* --- requests --- */

static const struct {
	enum nm_http_method method;
	bool close;
	uint64_t size;
	const char *head;
} requests[] = {
	{NM_HTTP_GET, false, 0, "GET /a?b HTTP/1.1\r\nHost: h:81\r\n\r\n"},
	{NM_HTTP_HEAD, true, 0, "HEAD /a?b HTTP/1.1\r\nHost: h:81\r\nConnection: close\r\n\r\n"},
	{NM_HTTP_POST, false, 0, "POST /a?b HTTP/1.1\r\nHost: h:81\r\nContent-Length: 0\r\n\r\n"},
	{NM_HTTP_PUT, false, 70000,
	 "PUT /a?b HTTP/1.1\r\nHost: h:81\r\nContent-Length: 70000\r\n\r\n"},
	{NM_HTTP_GET, false, 5, "GET /a?b HTTP/1.1\r\nHost: h:81\r\nContent-Length: 5\r\n\r\n"},
	{NM_HTTP_DELETE, false, 0, "DELETE /a?b HTTP/1.1\r\nHost: h:81\r\n\r\n"},
};

START_TEST(a_request_to_the_byte)
{
	struct nm_http_lines *lines = lines_of(requests[_i].method, requests[_i].close);
	struct nm_app_request request = {
		.verb = NM_VERB_HTTP, .size = requests[_i].size, .pool = pool, .http = lines};
	const size_t head = strlen(requests[_i].head);
	char buf[MAX_BYTES];
	uint64_t total;

	ck_assert_uint_gt(nm_app_compose(http, &request, 0, buf, sizeof buf, &total), 0);
	ck_assert_uint_eq(total, head + requests[_i].size);
	ck_assert_mem_eq(buf, requests[_i].head, head);
	ck_assert_uint_le(head, http->head_bytes);
	free(lines);
}
END_TEST

/* Of a keyspace, and with a body of its own. */
START_TEST(a_request_with_a_path_and_a_body)
{
	static const uint64_t begins[] = {0, 2, 7, 8};
	const struct nm_paths paths = {.keys = {.count = 3}, .texts = "/a/bb?c/", .begins = begins};
	static const char *const asked[] = {"/a", "/bb?c", "/"};
	char why[128], buf[64 + 70000];
	static char body[70000];
	const char *culprit;
	uint64_t total;
	struct nm_http_lines *lines =
		nm_http_lines_new(NM_HTTP_PUT, NULL, "h", false, &culprit, why, sizeof why);

	ck_assert_ptr_nonnull(lines);
	lines->body = body;
	for (size_t i = 0; i < sizeof body; i++)
		body[i] = (char)(i * 7 >> 3);
	for (uint64_t key = 0; key < 3; key++) {
		struct nm_app_request request = {.verb = NM_VERB_HTTP,
						 .size = sizeof body,
						 .at = 99,
						 .pool = pool,
						 .keyspace = &paths.keys,
						 .key = key,
						 .http = lines};
		char head[80];
		const size_t n = (size_t)snprintf(
			head, sizeof head,
			"PUT %s HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\n\r\n", asked[key]);

		/* In pieces, as the kernel takes it. */
		for (uint64_t from = 0, some; from < n + sizeof body; from += some) {
			char piece[20000];

			some = nm_app_compose(http, &request, from, piece, sizeof piece, &total);
			memcpy(buf + from, piece, some);
		}
		ck_assert_uint_eq(total, n + sizeof body);
		ck_assert_mem_eq(buf, head, n);
		ck_assert_mem_eq(buf + n, body, sizeof body);
	}
	free(lines);
}
END_TEST

START_TEST(what_is_no_target)
{
	static const struct {
		const char *path, *host, *culprit;
	} wrong[] = {
		{"a", "h", "path"},	    {"", "h", "path"},	   {"/a b", "h", "path"},
		{"/\xc3\xa4", "h", "path"}, {"/a#b", "h", "path"}, {"/", "h/", "host"},
		{"/", "a b", "host"},	    {"/", "u@h", "host"},
	};
	const char *culprit;
	char why[128], longest[NM_HTTP_PATH_MAX + 2], host[NM_HTTP_HOST_MAX + 1];

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		ck_assert_ptr_null(nm_http_lines_new(NM_HTTP_GET, wrong[i].path, wrong[i].host,
						     false, &culprit, why, sizeof why));
		ck_assert_str_eq(culprit, wrong[i].culprit);
	}
	memset(longest, '/', sizeof longest);
	longest[NM_HTTP_PATH_MAX + 1] = '\0';
	ck_assert_ptr_null(
		nm_http_lines_new(NM_HTTP_GET, longest, "h", false, &culprit, why, sizeof why));
	longest[NM_HTTP_PATH_MAX] = '\0';
	memset(host, 'h', sizeof host);
	host[NM_HTTP_HOST_MAX] = '\0';
	struct nm_http_lines *lines =
		nm_http_lines_new(NM_HTTP_OPTIONS, longest, host, true, &culprit, why, sizeof why);

	ck_assert_ptr_nonnull(lines);
	ck_assert_uint_lt(lines->length + 40u, http->head_bytes);
	free(lines);
}
END_TEST

/* --- answers --- */

#define OK	  "HTTP/1.1 200 OK\r\n"
#define LENGTH(n) "Content-Length: " #n "\r\n"
#define CHUNKED	  "Transfer-Encoding: chunked\r\n"
/* Longer than what is kept of a line. */
#define TEXT_50	 "01234567890123456789012345678901234567890123456789"
#define ZEROS_50 "00000000000000000000000000000000000000000000000000"
#define ZEROS	 ZEROS_50 ZEROS_50 ZEROS_50 ZEROS_50 ZEROS_50 ZEROS_50 ZEROS_50
#define LONG	 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50

enum outcome { BAD, ANSWERED, UNUSUAL, REFUSED, UNFINISHED };

/* The class of a whole answer. */
static const enum nm_class classes[] = {
	[ANSWERED] = NM_CLASS_OK, [UNUSUAL] = NM_CLASS_UNUSUAL, [REFUSED] = NM_CLASS_REFUSED};

static const struct {
	enum nm_http_method method;
	const char *text; /* what is behind the answer begins with '~' */
	enum outcome outcome;
	bool last, to_end;
} answers[] = {
	{NM_HTTP_GET, OK LENGTH(3) "\r\nabc~", ANSWERED, false, false},
	{NM_HTTP_GET, OK LENGTH(0) "\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, OK "content-LENGTH:3 \t\r\n\r\nabc~", ANSWERED, false, false},
	{NM_HTTP_GET, OK "Content-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc~", ANSWERED, false,
	 false},
	{NM_HTTP_GET, "HTTP/1.1 200\r\n" LENGTH(0) "\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, "HTTP/1.1 200 \r\n" LENGTH(0) "\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, OK LENGTH(0) "X: " LONG "\r\n" LONG ": x\r\n\r\n~", BAD, false, false},
	{NM_HTTP_GET, OK LENGTH(0) "X: " LONG "\r\n folded\r\n\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, "HTTP/1.1 304 Not Modified\r\n" LENGTH(7) "\r\n~", UNUSUAL, false, false},
	{NM_HTTP_GET, "HTTP/1.1 204 No Content\r\n\r\n~", UNUSUAL, false, false},
	{NM_HTTP_HEAD, OK LENGTH(7) "\r\n~", ANSWERED, false, false},
	{NM_HTTP_HEAD, OK CHUNKED "\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, "HTTP/1.1 404 Not Found\r\n" LENGTH(1) "\r\nx~", REFUSED, false, false},
	{NM_HTTP_GET, "HTTP/1.1 503 \r\nConnection: close\r\n" LENGTH(1) "\r\nx~", REFUSED, true,
	 false},
	{NM_HTTP_GET, OK "Connection: Keep-Alive\r\n" LENGTH(0) "\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, OK "Connection: x , Close\r\n" LENGTH(0) "\r\n~", ANSWERED, true, false},
	{NM_HTTP_GET, OK "Connection: closed\r\n" LENGTH(0) "\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, "HTTP/1.0 200 OK\r\n" LENGTH(0) "\r\n~", ANSWERED, true, false},
	{NM_HTTP_GET, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" LENGTH(0) "\r\n~", ANSWERED,
	 false, false},
	{NM_HTTP_GET,
	 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\n" OK LENGTH(1) "\r\nx~",
	 ANSWERED, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n~",
	 ANSWERED, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n1 \r\na\r\n00\r\nX: y\r\nZ: w\r\n\r\n~", ANSWERED, false,
	 false},
	{NM_HTTP_GET, OK "Transfer-Encoding: gzip, Chunked\r\n\r\n0\r\n\r\n~", ANSWERED, false,
	 false},
	{NM_HTTP_GET, OK "Transfer-Encoding: , chunked ,\r\n\r\n0\r\n\r\n~", ANSWERED, false,
	 false},
	{NM_HTTP_GET, OK CHUNKED "\r\n0;" LONG "\r\n\r\n~", ANSWERED, false, false},
	{NM_HTTP_GET, OK CHUNKED LENGTH(5) "\r\n0\r\n\r\n~", ANSWERED, true, false},
	{NM_HTTP_GET, OK "Transfer-Encoding: gzip\r\n" LENGTH(1) "\r\nabc", ANSWERED, true, true},
	{NM_HTTP_GET, OK "\r\nabc", ANSWERED, true, true},
	{NM_HTTP_GET, "HTTP/1.0 500 \r\n\r\n", REFUSED, true, true},
	{NM_HTTP_GET, "HTTP/1.1 200 OK\nContent-Length: 3\nX: y\r\n\nabc~", ANSWERED, false, false},
	{NM_HTTP_GET, "HTTP/1.1 200\nTransfer-Encoding: chunked\n\n3\r\n\n\r\n\r\n0\r\nX: y\n\n~",
	 ANSWERED, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n1\na\r\n", BAD, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n1\r\na\n", BAD, false, false},
	{NM_HTTP_GET, OK LENGTH(3) "\r\nab", UNFINISHED, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n3\r\nabc\r\n", UNFINISHED, false, false},
	{NM_HTTP_GET, "HTTP/1.1 100 Continue\r\n\r\n", UNFINISHED, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n" ZEROS "5\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: " ZEROS "5\r\n\r\n01234", BAD, false, false},
	{NM_HTTP_GET, OK "Connection: " LONG ", close\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: 1\r\n 2\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Transfer-Encoding:\r\n chunked\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "HTTP/1.1 101 Switching Protocols\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "HTTP/2 200 OK\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "HTTP/1.1 20 OK\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "HTTP/1.1 2000 OK\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "HTTP/1.1 099 OK\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "http/1.1 200 OK\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, "PONG\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: 3,4\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: -1\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: \r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length: 9223372036854775808\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "Content-Length : 3\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK "no field\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK ": x\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\nx\r\n", BAD, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n\r\n", BAD, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n-1\r\n", BAD, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n8000000000000000\r\n", BAD, false, false},
	{NM_HTTP_GET, OK CHUNKED "\r\n1\r\nabc\r\n", BAD, false, false},
};

/* However the answer is cut, it ends at the same place, and is found to be the same. */
START_TEST(answers_end)
{
	struct nm_http_lines *lines = lines_of(answers[_i].method, false);
	const struct nm_app_request request = {.verb = NM_VERB_HTTP, .pool = pool, .http = lines};
	const char *text = answers[_i].text, *behind = strchr(text, '~');
	const enum outcome outcome = answers[_i].outcome;
	const bool whole = outcome != BAD && outcome != UNFINISHED;
	const bool done = whole && !answers[_i].to_end;

	check_answer(http, &request, text, strlen(text),
		     &(struct expected){
			     .parsed = outcome == BAD ? NM_PARSED_BAD
				       : done	      ? NM_PARSED_DONE
						      : NM_PARSED_MORE,
			     .class = whole ? classes[outcome] : NM_CLASS_OK,
			     .n = done ? (size_t)(behind - text) : 0,
			     .last = answers[_i].last,
			     .to_end = answers[_i].to_end,
		     });
	free(lines);
}
END_TEST

static const struct {
	const char *status, *name;
} statuses[] = {
	{"204", "204"}, {"226", "226"},	  {"227", "2xx"},   {"301", "301"}, {"306", "3xx"},
	{"404", "404"}, {"499", "4xx"},	  {"500", "500"},   {"511", "511"}, {"520", "5xx"},
	{"599", "5xx"}, {"600", "other"}, {"999", "other"},
};

/* Those that are registered have names, and each hundred one for the others. */
START_TEST(statuses_have_names)
{
	struct nm_http_lines *lines = lines_of(NM_HTTP_GET, false);
	const struct nm_app_request request = {.verb = NM_VERB_HTTP, .pool = pool, .http = lines};
	struct nm_app_parser parser = {.at = 0};
	char text[64];
	size_t taken;

	(void)snprintf(text, sizeof text, "HTTP/1.1 %s x\r\n" LENGTH(0) "\r\n",
		       statuses[_i].status);
	ck_assert_int_eq(http->parse(&parser, &request, text, strlen(text), &taken),
			 NM_PARSED_DONE);
	ck_assert_int_eq(parser.class,
			 *statuses[_i].status < '4' ? NM_CLASS_UNUSUAL : NM_CLASS_REFUSED);
	ck_assert_str_eq(nm_answer_names[parser.answer], statuses[_i].name);
	free(lines);
}
END_TEST

/* A head is no longer than 64 KiB, however many lines it has. */
START_TEST(a_head_that_never_ends)
{
	struct nm_http_lines *lines = lines_of(NM_HTTP_GET, false);
	const struct nm_app_request request = {.verb = NM_VERB_HTTP, .pool = pool, .http = lines};
	struct nm_app_parser parser = {.at = 0};
	enum nm_parsed parsed = http->parse(&parser, &request, OK, strlen(OK), &(size_t){0});
	size_t bytes = strlen(OK), taken;

	for (; parsed == NM_PARSED_MORE && bytes < 100000; bytes += taken)
		parsed = http->parse(&parser, &request, "X: y\r\n", 6, &taken);
	ck_assert_int_eq(parsed, NM_PARSED_BAD);
	ck_assert_uint_ge(bytes, 65536);
	free(lines);
}
END_TEST

/* Behind a request that asks for the end of the connection nothing more is sent. */
START_TEST(the_last_request_of_a_connection)
{
	struct nm_http_lines *lines = lines_of(NM_HTTP_GET, true);
	const struct nm_app_request request = {.verb = NM_VERB_HTTP, .pool = pool, .http = lines};
	const char text[] = OK LENGTH(0) "\r\n";
	struct nm_app_parser parser;
	size_t taken;

	ck_assert_int_eq(parse_into(&parser, http, &request, text, sizeof text - 1,
				    (struct cut){.first = 7, .piece = 7}, &taken),
			 NM_PARSED_DONE);
	ck_assert(parser.last);
	free(lines);
}
END_TEST

/* So many answers may come before the one that counts. */
START_TEST(interim_answers)
{
	struct nm_http_lines *lines = lines_of(NM_HTTP_GET, false);
	const struct nm_app_request request = {.verb = NM_VERB_HTTP, .pool = pool, .http = lines};
	struct nm_app_parser parser = {.at = 0};
	const char text[] = "HTTP/1.1 100 \r\n\r\n";
	size_t taken;

	for (unsigned i = 1; i <= 33; i++)
		ck_assert_int_eq(http->parse(&parser, &request, text, sizeof text - 1, &taken),
				 i <= 32 ? NM_PARSED_MORE : NM_PARSED_BAD);
	free(lines);
}
END_TEST

/* --- the server --- */

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST	  "POST /bytes/0 HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
#define EMPTY	  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define STREAMED  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define NO	  "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

static const struct {
	const char *text, *answer; /* NULL: it is no request */
	unsigned body;		   /* bytes of the pool behind the answer */
} served_requests[] = {
	{GET("/bytes/0"), EMPTY, 0},
	{GET("/bytes/100"), "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", 100},
	{"HEAD /bytes/100 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", 0},
	{GET("/"), NO, 0},
	{GET("/bytes/"), NO, 0},
	{GET("/bytes/1x"), NO, 0},
	{GET("/bytes/1073741825"), NO, 0},
	{GET("/bytes/0") GET("/x"), EMPTY NO, 0},
	{GET("/stream-bytes/"), NO, 0},
	{GET("/stream-bytes/-1"), NO, 0},
	{GET("/stream-bytes/1073741825"), NO, 0},
	{GET("/stream-bytes/0") GET("/bytes/0"), STREAMED "0\r\n\r\n" EMPTY, 0},
	{"HEAD /stream-bytes/100 HTTP/1.1\r\n\r\n", STREAMED, 0},
	{"GET /stream-bytes/100 HTTP/1.0\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n", 100},
	{"GET /stream-bytes/0 HTTP/1.1\r\nConnection: close\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", 0},
	{"POST /bytes/0 HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd" GET("/bytes/0"), EMPTY EMPTY, 0},
	{"GET /bytes/0 HTTP/1.1\nA: b\n\n", EMPTY, 0},
	{"GET /bytes/0 HTTP/1.1\r\nconnection: x, CLOSE\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0},
	{"GET /bytes/0 HTTP/1.0\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0},
	{"GET /bytes/0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", 0},
	{"GET /bytes/0 HTTP/1.1\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0},
	{"GET /bytes/0 HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
	 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0},
	{"GET /bytes/0\r\n\r\n", NULL, 0},
	{"GET  HTTP/1.1\r\n\r\n", NULL, 0},
	{" /bytes/0 HTTP/1.1\r\n\r\n", NULL, 0},
	{"GET /bytes/0 HTTP/2.0\r\n\r\n", NULL, 0},
	{"GET /bytes/0 HTTP/1.2\r\n\r\n", NULL, 0},
	{"\r\n\r\n", NULL, 0},
	{"GET /bytes/0 HTTP/1.1\r\nno field\r\n\r\n", NULL, 0},
	{POST "0\r\n\r\n" GET("/bytes/0"), EMPTY EMPTY, 0},
	{POST "3;a=b\r\nabc\r\nA \r\n0123456789\r\n000\r\nX: y\r\n\r\n" GET("/x"), EMPTY NO, 0},
	{POST "2\n\r\n\n0\n\n" GET("/bytes/0"), EMPTY EMPTY, 0},
	{POST "x\r\n", NULL, 0},
	{POST "\r\n", NULL, 0},
	{POST "3x\r\n", NULL, 0},
	{POST "8000000000000000\r\n", NULL, 0},
	{POST "3\r\nabcd\r\n", NULL, 0},
	{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", NULL, 0},
	{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", NULL, 0},
	{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", NULL, 0},
	{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
	 NULL, 0},
	{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", NULL, 0},
	{"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", NULL, 0},
};

START_TEST(a_server)
{
	const char *text = served_requests[_i].text, *answer = served_requests[_i].answer;
	const size_t n = strlen(text);

	for (size_t piece = 1; piece <= n; piece++) {
		char said[2 * MAX_BYTES], room[NM_HTTP_ANSWER_BYTES];
		struct nm_app_served served = served_of(room, sizeof room);
		size_t used = 0;

		ck_assert((serve(http, &served, text, n, piece, said, &used) < 0) == !answer);
		if (!answer)
			continue;
		ck_assert_uint_eq(used, strlen(answer) + served_requests[_i].body);
		ck_assert_mem_eq(said, answer, strlen(answer));
		ck_assert(nm_pool_equals(pool->bytes, 0, said + strlen(answer),
					 served_requests[_i].body));
	}
}
END_TEST

/* All bytes of the answer to the one request that the server has taken: how many. */
static size_t drain(struct nm_app_served *served, char *answer, size_t room)
{
	size_t n = 0, some;
	char *data, *buf = malloc(room);

	ck_assert_ptr_nonnull(buf);
	for (; (some = nm_rope_next(&served->out, buf, room, &data)); n += some) {
		ck_assert_uint_le(n + some, room);
		memcpy(answer + n, data, some);
		nm_rope_advance(&served->out, some);
	}
	free(buf);
	return n;
}

/* The client takes what the server streams, however it is cut. */
START_TEST(chunks_from_end_to_end)
{
	static const uint64_t sizes[] = {
		0, 1, NM_POOL_CHUNK - 1, NM_POOL_CHUNK, NM_POOL_CHUNK + 1, 3 * NM_POOL_CHUNK + 77};
	const uint64_t size = sizes[_i];
	char head[96], room[NM_HTTP_ANSWER_BYTES];
	const int n_head =
		snprintf(head, sizeof head, "GET /stream-bytes/%llu HTTP/1.1\r\nHost: x\r\n\r\n",
			 (unsigned long long)size);
	struct nm_app_served served = served_of(room, sizeof room);
	char *answer = malloc(40000);
	size_t taken;

	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(http->take(&served, &service, head, (size_t)n_head, &taken),
			 NM_TOOK_REQUEST);
	const size_t n = drain(&served, answer, 40000);
	/* Each chunk has its length before it, of 4 digits but for the last, and its end. */
	const uint64_t whole = size / NM_POOL_CHUNK, rest = size % NM_POOL_CHUNK;
	const size_t last =
		rest ? (size_t)snprintf(head, sizeof head, "%llx", (unsigned long long)rest) + 4
		     : 0;

	ck_assert_uint_eq(n, strlen(STREAMED) + size + 8 * whole + last + strlen("0\r\n\r\n"));
	ck_assert_mem_eq(answer, STREAMED, strlen(STREAMED));
	if (whole)
		ck_assert(nm_pool_equals(pool->bytes, 0, answer + strlen(STREAMED "2800\r\n"),
					 NM_POOL_CHUNK));
	struct nm_http_lines *lines = lines_of(NM_HTTP_GET, false);
	const struct nm_app_request request = {.verb = NM_VERB_HTTP, .pool = pool, .http = lines};

	for (size_t cut = 1; cut < n; cut += cut < 200 || cut > n - 200 ? 1 : 101) {
		struct nm_app_parser parser = {.at = 0};

		ck_assert_int_eq(http->parse(&parser, &request, answer, cut, &taken),
				 NM_PARSED_MORE);
		ck_assert_int_eq(http->parse(&parser, &request, answer + cut, n - cut, &taken),
				 NM_PARSED_DONE);
		ck_assert_uint_eq(taken, n - cut);
		ck_assert_int_eq(parser.class, NM_CLASS_OK);
	}
	free(lines);
	free(answer);
}
END_TEST

/* A head of 2 KiB at most. */
START_TEST(a_request_that_never_ends)
{
	char data[NM_APP_KEPT_BYTES], room[NM_HTTP_ANSWER_BYTES];
	struct nm_app_served served = served_of(room, sizeof room);
	size_t taken = 0;

	memset(data, 'P', sizeof data);
	ck_assert_int_eq(http->take(&served, &service, data, sizeof data - 1, &taken),
			 NM_TOOK_MORE);
	ck_assert_uint_eq(taken, 0);
	ck_assert_int_eq(http->take(&served, &service, data, sizeof data, &taken), NM_TOOK_BAD);
}
END_TEST

#define COUNT(table) (int)(sizeof table / sizeof *table)

int main(void)
{
	Suite *suite = suite_create("http");
	TCase *tests = tcase_create("http");

	tcase_add_checked_fixture(tests, begin, end_pieces);
	tcase_add_loop_test(tests, a_request_to_the_byte, 0, COUNT(requests));
	tcase_add_test(tests, a_request_with_a_path_and_a_body);
	tcase_add_test(tests, what_is_no_target);
	tcase_add_loop_test(tests, answers_end, 0, COUNT(answers));
	tcase_add_loop_test(tests, statuses_have_names, 0, COUNT(statuses));
	tcase_add_test(tests, a_head_that_never_ends);
	tcase_add_test(tests, the_last_request_of_a_connection);
	tcase_add_test(tests, interim_answers);
	tcase_add_loop_test(tests, a_server, 0, COUNT(served_requests));
	tcase_add_loop_test(tests, chunks_from_end_to_end, 0, 6);
	tcase_add_test(tests, a_request_that_never_ends);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
