/* SPDX-License-Identifier: Apache-2.0 */
/* DNS: names, queries and answers as they are on the wire, in pieces too, and what is none. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "app/dns.h"

/* The name www.example.com, and behind it A and IN. */
#define NAME	 "\3www\7example\3com\0"
#define QUESTION NAME "\0\1\0\1"
#define N(text)	 (sizeof(text) - 1)

static const struct nm_question question = {.length = N(QUESTION),
					    .wire = (const unsigned char *)QUESTION};
static struct nm_questions questions = {
	.keys = {.law = NM_KEYS_SEQUENTIAL, .count = 1}, .edns_bytes = 1232, .list = &question};

static const struct nm_app *dns(void)
{
	return nm_app_find("dns");
}

static struct nm_app_request request_of(uint32_t number)
{
	return (struct nm_app_request){
		.verb = NM_VERB_QUERY, .keyspace = &questions.keys, .number = number};
}

/* --- names and types --- */

static const struct {
	const char *text, *wire; /* NULL: it is none */
	size_t n;
} names[] = {
	{"www.example.com", NAME, N(NAME)},
	{"www.example.com.", NAME, N(NAME)},
	{".", "", 1},
	{"a", "\1a", 3},
	{"a\\.b.c", "\3a.b\1c", 7},
	{"\\097\\\\", "\2a\\", 4},
	{"\\255x", "\2\377x", 4},
	{"", NULL, 0},
	{"..", NULL, 0},
	{".a", NULL, 0},
	{"a..b", NULL, 0},
	{"a\\", NULL, 0},
	{"a\\25", NULL, 0},
	{"a\\25x", NULL, 0},
	{"a\\256", NULL, 0},
};

START_TEST(a_name)
{
	unsigned char wire[NM_NAME_MAX];
	uint8_t length = 0;
	char why[128] = "";
	int r = nm_name_read(names[_i].text, strlen(names[_i].text), wire, &length, why,
			     sizeof why);

	ck_assert_int_eq(r, names[_i].wire ? 0 : -EINVAL);
	ck_assert_int_eq(*why != '\0', r < 0);
	if (r < 0)
		return;
	ck_assert_uint_eq(length, names[_i].n);
	ck_assert_mem_eq(wire, names[_i].wire, length);
}
END_TEST

/* Labels of 63 bytes, and names of 255 bytes on the wire, are the longest. */
START_TEST(the_longest_name)
{
	char text[300], why[128];
	unsigned char wire[NM_NAME_MAX];
	uint8_t length;

	memset(text, 'a', sizeof text);
	ck_assert_int_eq(nm_name_read(text, 63, wire, &length, why, sizeof why), 0);
	ck_assert_int_eq(nm_name_read(text, 64, wire, &length, why, sizeof why), -EINVAL);
	for (size_t i = 63; i < sizeof text; i += 64)
		text[i] = '.';
	/* Three labels of 63 bytes, and one of 61. */
	ck_assert_int_eq(nm_name_read(text, 3 * 64 + 61, wire, &length, why, sizeof why), 0);
	ck_assert_uint_eq(length, 255);
	ck_assert_int_eq(nm_name_read(text, 3 * 64 + 62, wire, &length, why, sizeof why), -EINVAL);
}
END_TEST

START_TEST(a_type)
{
	uint16_t type = 0;
	char why[256];

	ck_assert_int_eq(nm_type_read("aaaa", 4, &type, why, sizeof why), 0);
	ck_assert_uint_eq(type, 28);
	ck_assert_int_eq(nm_type_read("TYPE65535", 9, &type, why, sizeof why), 0);
	ck_assert_uint_eq(type, 65535);
	ck_assert_int_eq(nm_type_read("TYPE65536", 9, &type, why, sizeof why), -EINVAL);
	ck_assert_int_eq(nm_type_read("TYPE", 4, &type, why, sizeof why), -EINVAL);
	ck_assert_int_eq(nm_type_read("AA", 2, &type, why, sizeof why), -EINVAL);
	ck_assert_int_eq(nm_type_read("", 0, &type, why, sizeof why), -EINVAL);
	ck_assert_msg(strstr(why, "AAAA"), "%s", why);
}
END_TEST

/* --- queries --- */

START_TEST(a_query)
{
	static const char expected[] =
		"\0\0\0\0\0\1\0\0\0\0\0\1" QUESTION "\0\0\51\4\320\0\0\0\0\0\0";
	struct nm_app_request request = request_of(0);
	char buf[NM_DNS_QUERY_MAX], stream[NM_DNS_LENGTH_BYTES + NM_DNS_QUERY_MAX];
	struct nm_app_encoded encoded;
	size_t n = dns()->datagram->encode(&request, buf);

	ck_assert_uint_eq(n, N(expected));
	ck_assert_mem_eq(buf, expected, n);
	dns()->encode(&request, stream, &encoded);
	ck_assert_uint_eq(encoded.head, n + 2);
	ck_assert_mem_eq(stream, "\0\54", 2);
	ck_assert_mem_eq(stream + 2, buf, n);
}
END_TEST

START_TEST(options_of_a_query)
{
	struct nm_app_request request = request_of(0);
	char buf[NM_DNS_QUERY_MAX];

	questions.recursion = questions.dnssec = true;
	size_t n = dns()->datagram->encode(&request, buf);

	ck_assert_uint_eq(buf[2], 1);
	ck_assert_uint_eq((unsigned char)buf[n - 4], 0x80);
	questions.edns_bytes = 0;
	ck_assert_uint_eq(dns()->datagram->encode(&request, buf), N(QUESTION) + 12);
	ck_assert_uint_eq(buf[11], 0);
	questions.recursion = questions.dnssec = false;
	questions.edns_bytes = 1232;
}
END_TEST

/* No id of a socket comes again before all others were there. */
START_TEST(ids_go_through_all_numbers)
{
	bool *seen = calloc(65536, sizeof *seen);
	char buf[NM_DNS_QUERY_MAX];

	for (uint32_t i = 0; i < 65536; i++) {
		struct nm_app_request request = request_of(4000000000u + i);

		(void)dns()->datagram->encode(&request, buf);
		unsigned id = nm_dns_get((unsigned char *)buf);

		ck_assert(!seen[id]);
		seen[id] = true;
	}
	free(seen);
}
END_TEST

START_TEST(keys_are_labels)
{
	struct nm_questions labelled = questions;
	struct nm_app_request request = {
		.verb = NM_VERB_QUERY, .keyspace = &labelled.keys, .key = 42};
	char buf[NM_DNS_QUERY_MAX], why[64];

	labelled.labels = true;
	ck_assert_int_eq(nm_keyspace_init(&labelled.keys, "uniform", "k", 1000, 8, why, sizeof why),
			 0);
	(void)dns()->datagram->encode(&request, buf);
	ck_assert_mem_eq(buf + 12, "\10k0000042" QUESTION, 9 + N(QUESTION));
	const unsigned char *data = (unsigned char *)buf + 12;

	ck_assert_uint_eq(nm_question_take(&labelled, 42, data, 9 + N(QUESTION)), 9 + N(QUESTION));
	ck_assert_uint_eq(nm_question_take(&labelled, 42, data, 8 + N(QUESTION)), 0);
	ck_assert_uint_eq(nm_question_take(&labelled, 43, data, 9 + N(QUESTION)), 0);
	ck_assert_uint_eq(nm_question_take(&questions, 0, data, 9 + N(QUESTION)), 0);
	buf[13] = 'K';
	ck_assert_uint_eq(nm_question_take(&labelled, 42, data, 9 + N(QUESTION)), 9 + N(QUESTION));
	buf[12]--;
	ck_assert_uint_eq(nm_question_take(&labelled, 42, data, 9 + N(QUESTION)), 0);
}
END_TEST

/* --- answers --- */

#define OK(flags2, question) "\0\0\204" flags2 "\0\1\0\0\0\0\0\0" question

static const struct {
	const char *data;
	size_t n;
	enum nm_parsed parsed;
	enum nm_class class;
} answers[] = {
#define ANSWER(data) data, N(data)
	{ANSWER(OK("\0", QUESTION)), NM_PARSED_DONE, NM_CLASS_OK},
	{ANSWER(OK("\200", QUESTION) "what is behind it"), NM_PARSED_DONE, NM_CLASS_OK},
	{ANSWER(OK("\3", QUESTION)), NM_PARSED_DONE, NM_CLASS_MISS},
	{ANSWER(OK("\2", QUESTION)), NM_PARSED_DONE, NM_CLASS_REFUSED},
	{ANSWER(OK("\5", QUESTION)), NM_PARSED_DONE, NM_CLASS_REFUSED},
	/* The case of letters may be another one. */
	{ANSWER(OK("\0", "\3wWw\7EXAMPLE\3com\0\0\1\0\1")), NM_PARSED_DONE, NM_CLASS_OK},
	/* An error without a question. */
	{ANSWER("\0\0\200\1\0\0\0\0\0\0\0\0"), NM_PARSED_DONE, NM_CLASS_REFUSED},
	/* Another id, a query, another opcode. */
	{ANSWER("\0\1\204\0\0\1\0\0\0\0\0\0" QUESTION), NM_PARSED_BAD, 0},
	{ANSWER("\0\0\4\0\0\1\0\0\0\0\0\0" QUESTION), NM_PARSED_BAD, 0},
	{ANSWER("\0\0\250\0\0\1\0\0\0\0\0\0" QUESTION), NM_PARSED_BAD, 0},
	/* No question, two, another name, another type, a class in the other case. */
	{ANSWER("\0\0\204\0\0\0\0\0\0\0\0\0"), NM_PARSED_BAD, 0},
	{ANSWER("\0\0\204\0\0\2\0\0\0\0\0\0" QUESTION), NM_PARSED_BAD, 0},
	{ANSWER(OK("\0", "\3www\7exampla\3com\0\0\1\0\1")), NM_PARSED_BAD, 0},
	{ANSWER(OK("\0", NAME "\0\34\0\1")), NM_PARSED_BAD, 0},
	{ANSWER(OK("\0", NAME "\0\1\0!")), NM_PARSED_BAD, 0},
	/* A pointer in place of the name, and one to itself. */
	{ANSWER(OK("\0", "\300\14\0\1\0\1")), NM_PARSED_BAD, 0},
	{ANSWER(OK("\0", "\3www\300\14\0\1\0\1")), NM_PARSED_BAD, 0},
	/* Cut. */
	{ANSWER(OK("\0", "\3www\7example\3com\0\0\1\0")), NM_PARSED_BAD, 0},
	{ANSWER("\0\0\204\0\0\1\0\0\0\0\0"), NM_PARSED_BAD, 0},
	{ANSWER("\0"), NM_PARSED_BAD, 0},
	{ANSWER(""), NM_PARSED_BAD, 0},
};

START_TEST(an_answer)
{
	const struct nm_app_request request = request_of(0);
	struct nm_app_parser parser = {.at = 0};

	ck_assert_int_eq(dns()->datagram->parse(&parser, &request, answers[_i].data, answers[_i].n),
			 answers[_i].parsed);
	if (answers[_i].parsed == NM_PARSED_DONE)
		ck_assert_int_eq(parser.class, answers[_i].class);
}
END_TEST

START_TEST(a_truncated_answer)
{
	const struct nm_app_request request = request_of(0);
	struct nm_app_parser parser = {.at = 0};

	ck_assert_int_eq(dns()->datagram->parse(&parser, &request,
						ANSWER("\0\0\206\0\0\1\0\0\0\0\0\0" QUESTION)),
			 NM_PARSED_DONE);
	ck_assert_int_eq(parser.class, NM_CLASS_TRUNCATED);
}
END_TEST

/* Of messages nobody begins the parser anew: what the last had must not stay. */
START_TEST(an_answer_behind_a_refusal)
{
	const struct nm_app_request request = request_of(0);
	struct nm_app_parser parser = {.at = 0};

	ck_assert_int_eq(dns()->datagram->parse(&parser, &request, ANSWER(OK("\5", QUESTION))),
			 NM_PARSED_DONE);
	ck_assert_int_eq(parser.answer, NM_ANSWER_DNS_REFUSED);
	ck_assert_int_eq(dns()->datagram->parse(&parser, &request,
						ANSWER("\0\0\206\0\0\1\0\0\0\0\0\0" QUESTION)),
			 NM_PARSED_DONE);
	ck_assert_int_eq(parser.class, NM_CLASS_TRUNCATED);
	ck_assert_int_eq(parser.answer, NM_ANSWER_NONE);
}
END_TEST

/* On a stream, in all pieces; what comes behind it is not taken. */
START_TEST(an_answer_on_a_stream)
{
	const struct nm_app_request request = request_of(0);
	const size_t n = 2 + answers[_i].n;
	char data[256];

	(void)nm_dns_put((unsigned char *)data, (unsigned)answers[_i].n);
	memcpy(data + 2, answers[_i].data, answers[_i].n);
	memset(data + n, 'x', 2);
	for (size_t piece = 1; piece <= n + 2; piece++) {
		struct nm_app_parser parser = {.at = 0};
		enum nm_parsed parsed = NM_PARSED_MORE;
		size_t at = 0, taken;

		for (; parsed == NM_PARSED_MORE; at += taken) {
			size_t some = piece < n + 2 - at ? piece : n + 2 - at;

			ck_assert_uint_gt(some, 0);
			taken = 0;
			parsed = dns()->parse(&parser, &request, data + at, some, &taken);
			ck_assert(parsed != NM_PARSED_MORE || taken == some);
		}
		ck_assert_int_eq(parsed, answers[_i].parsed);
		if (parsed != NM_PARSED_DONE)
			continue;
		ck_assert_uint_eq(at, n);
		ck_assert_int_eq(parser.class, answers[_i].class);
	}
}
END_TEST

/* --- the server --- */

#define HEADER(flags, n_questions, n_additional)                                                   \
	"\22\64" flags "\0" n_questions "\0\0\0\0\0" n_additional
#define OPT	"\0\0\51\20\0\0\0\0\0\0\0"
#define OWN_OPT "\0\0\51\4\320\0\0\0\0\0\0"
#define SAID(flags, n_questions, n_answers, n_additional)                                          \
	"\22\64" flags "\0" n_questions "\0" n_answers "\0\0\0" n_additional
#define A_RECORD    "\300\14\0\1\0\1\0\0\1\54\0\4\300\0\2\1"
#define AAAA_RECORD "\300\14\0\34\0\1\0\0\1\54\0\20\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1"
#define ASKED(type) NAME "\0" type "\0\1"

static const struct {
	const char *data;
	size_t n;
	const char *answer; /* NULL: it is no request */
	size_t n_answer;
	enum nm_class class;
} requests[] = {
	{ANSWER(HEADER("\0\0", "\1", "\0") QUESTION),
	 ANSWER(SAID("\204\0", "\1", "\1", "\0") QUESTION A_RECORD), NM_CLASS_OK},
	{ANSWER(HEADER("\1\0", "\1", "\1") ASKED("\34") OPT),
	 ANSWER(SAID("\205\0", "\1", "\1", "\1") ASKED("\34") AAAA_RECORD OWN_OPT), NM_CLASS_OK},
	{ANSWER(HEADER("\0\0", "\1", "\0") ASKED("\20")),
	 ANSWER(SAID("\204\0", "\1", "\0", "\0") ASKED("\20")), NM_CLASS_OK},
	{ANSWER(HEADER("\0\0", "\1", "\0") "\1a\7InvaliD\0\0\1\0\1"),
	 ANSWER(SAID("\204\3", "\1", "\0", "\0") "\1a\7InvaliD\0\0\1\0\1"), NM_CLASS_MISS},
	{ANSWER(HEADER("\0\0", "\1", "\0") "\7invalid\1a\0\0\1\0\1"),
	 ANSWER(SAID("\204\0", "\1", "\1", "\0") "\7invalid\1a\0\0\1\0\1" A_RECORD), NM_CLASS_OK},
	/* The root. */
	{ANSWER(HEADER("\0\0", "\1", "\0") "\0\0\1\0\1"),
	 ANSWER(SAID("\204\0", "\1", "\1", "\0") "\0\0\1\0\1" A_RECORD), NM_CLASS_OK},
	/* Another class, another opcode, another version of EDNS. */
	{ANSWER(HEADER("\0\0", "\1", "\0") NAME "\0\1\0\3"),
	 ANSWER(SAID("\200\5", "\1", "\0", "\0") NAME "\0\1\0\3"), NM_CLASS_REFUSED},
	{ANSWER(HEADER("\50\0", "\1", "\0") QUESTION), ANSWER(SAID("\250\4", "\0", "\0", "\0")),
	 NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\1", "\1") QUESTION "\0\0\51\20\0\0\1\0\0\0\0"),
	 ANSWER(SAID("\200\0", "\1", "\0", "\1") QUESTION "\0\0\51\4\320\1\0\0\0\0\0"),
	 NM_CLASS_REFUSED},
	/* Two questions, none, a record among the answers. */
	{ANSWER(HEADER("\0\0", "\2", "\0") QUESTION QUESTION),
	 ANSWER(SAID("\200\1", "\0", "\0", "\0")), NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\0", "\0")), ANSWER(SAID("\200\1", "\0", "\0", "\0")),
	 NM_CLASS_REFUSED},
	{ANSWER("\22\64\0\0\0\1\0\1\0\0\0\0" QUESTION A_RECORD),
	 ANSWER(SAID("\200\1", "\0", "\0", "\0")), NM_CLASS_REFUSED},
	/* A pointer as name, a label that is too long, a name and a question that are cut. */
	{ANSWER(HEADER("\0\0", "\1", "\0") "\300\14\0\1\0\1"),
	 ANSWER(SAID("\200\1", "\0", "\0", "\0")), NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\1", "\0") "\100www"), ANSWER(SAID("\200\1", "\0", "\0", "\0")),
	 NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\1", "\0") "\3www\7exam"), ANSWER(SAID("\200\1", "\0", "\0", "\0")),
	 NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\1", "\0") NAME "\0\1\0"), ANSWER(SAID("\200\1", "\0", "\0", "\0")),
	 NM_CLASS_REFUSED},
	/* Counts beyond the end; two records of EDNS, and one that is longer than the message. */
	{ANSWER(HEADER("\0\0", "\1", "\1") QUESTION),
	 ANSWER(SAID("\200\1", "\1", "\0", "\0") QUESTION), NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\1", "\2") QUESTION OPT OPT),
	 ANSWER(SAID("\200\1", "\1", "\0", "\1") QUESTION OWN_OPT), NM_CLASS_REFUSED},
	{ANSWER(HEADER("\0\0", "\1", "\1") QUESTION "\0\0\51\20\0\0\0\0\0\0\1"),
	 ANSWER(SAID("\200\1", "\1", "\0", "\0") QUESTION), NM_CLASS_REFUSED},
	/* Other records are skipped, as TSIG. */
	{ANSWER(HEADER("\0\0", "\1", "\2") QUESTION OPT "\1k\300\14\0\372\0\377\0\0\0\0\0\2ab"),
	 ANSWER(SAID("\204\0", "\1", "\1", "\1") QUESTION A_RECORD OWN_OPT), NM_CLASS_OK},
	/* An answer, and less than a header. */
	{ANSWER(HEADER("\200\0", "\1", "\0") QUESTION), NULL, 0, 0},
	{ANSWER("\22\64\0\0\0\1\0\0\0\0\0"), NULL, 0, 0},
	{ANSWER(""), NULL, 0, 0},
};

static size_t said(struct nm_app_served *served, char *buf, size_t size)
{
	char *data;
	size_t n = nm_rope_next(&served->out, buf, size, &data);

	if (n)
		memmove(buf, data, n);
	nm_rope_advance(&served->out, n);
	return n;
}

START_TEST(the_server)
{
	char text[NM_DNS_ANSWER_MAX], buf[512];
	struct nm_app_served served = {.out = {.text = text, .room = sizeof text}};

	ck_assert(dns()->datagram->serve(&served, requests[_i].data, requests[_i].n) ==
		  !!requests[_i].answer);
	if (!requests[_i].answer)
		return;
	ck_assert_uint_eq(said(&served, buf, sizeof buf), requests[_i].n_answer);
	ck_assert_mem_eq(buf, requests[_i].answer, requests[_i].n_answer);
	ck_assert_int_eq(served.class, requests[_i].class);
	ck_assert_int_eq(served.verb, NM_VERB_QUERY);
	/* Nor is there less room than the answer needs. */
	served.out.room = requests[_i].n_answer - 1;
	ck_assert(!dns()->datagram->serve(&served, requests[_i].data, requests[_i].n));
}
END_TEST

/* Twice, in all pieces. */
START_TEST(the_server_on_a_stream)
{
	const size_t n = 2 + requests[_i].n;
	char data[512], buf[512], text[2 + NM_DNS_ANSWER_MAX];

	(void)nm_dns_put((unsigned char *)data, (unsigned)requests[_i].n);
	memcpy(data + 2, requests[_i].data, requests[_i].n);
	memcpy(data + n, data, n);
	for (size_t piece = 1; piece <= 2 * n; piece++) {
		struct nm_app_served served = {.out = {.text = text, .room = sizeof text}};
		enum nm_took took = NM_TOOK_MORE;
		unsigned count = 0;
		size_t at = 0, taken;

		for (size_t there = 0; took != NM_TOOK_BAD && at < 2 * n;) {
			there = there + piece < 2 * n ? there + piece : 2 * n;
			took = dns()->take(&served, NULL, data + at, there - at, &taken);
			at += taken;
			if (took != NM_TOOK_REQUEST)
				continue;
			count++;
			there = at;
			ck_assert_uint_eq(said(&served, buf, sizeof buf),
					  2 + requests[_i].n_answer);
			ck_assert_uint_eq(nm_dns_get((unsigned char *)buf), requests[_i].n_answer);
			ck_assert_mem_eq(buf + 2, requests[_i].answer, requests[_i].n_answer);
		}
		ck_assert_uint_eq(count, requests[_i].answer ? 2 : 0);
		ck_assert((took == NM_TOOK_BAD) == !requests[_i].answer);
	}
}
END_TEST

/* What the client asks the server answers, and the client takes that. */
START_TEST(both_ends_agree)
{
	for (uint32_t number = 0; number < 100; number++) {
		struct nm_app_request request = request_of(number), next = request_of(number + 1);
		struct nm_app_parser parser = {.at = 0};
		char query[NM_DNS_QUERY_MAX], text[NM_DNS_ANSWER_MAX], buf[512];
		struct nm_app_served served = {.out = {.text = text, .room = sizeof text}};

		ck_assert(dns()->datagram->serve(&served, query,
						 dns()->datagram->encode(&request, query)));
		size_t n = said(&served, buf, sizeof buf);

		ck_assert_int_eq(dns()->datagram->parse(&parser, &request, buf, n), NM_PARSED_DONE);
		/* It is none to the next query for the same name. */
		ck_assert_int_eq(dns()->datagram->parse(&parser, &next, buf, n), NM_PARSED_BAD);
	}
}
END_TEST

#define LOOP(tests, test, table)                                                                   \
	tcase_add_loop_test(tests, test, 0, (int)(sizeof(table) / sizeof *(table)))

int main(void)
{
	Suite *suite = suite_create("dns");
	TCase *tests = tcase_create("dns");

	LOOP(tests, a_name, names);
	tcase_add_test(tests, the_longest_name);
	tcase_add_test(tests, a_type);
	tcase_add_test(tests, a_query);
	tcase_add_test(tests, options_of_a_query);
	tcase_add_test(tests, ids_go_through_all_numbers);
	tcase_add_test(tests, keys_are_labels);
	LOOP(tests, an_answer, answers);
	tcase_add_test(tests, a_truncated_answer);
	tcase_add_test(tests, an_answer_behind_a_refusal);
	LOOP(tests, an_answer_on_a_stream, answers);
	LOOP(tests, the_server, requests);
	LOOP(tests, the_server_on_a_stream, requests);
	tcase_add_test(tests, both_ends_agree);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
