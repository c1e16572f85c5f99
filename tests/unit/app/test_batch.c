/* SPDX-License-Identifier: Apache-2.0 */
/* Gets of several keys: what is asked, and what the answers mean, however they come. */
#include <check.h>
#include <string.h>

#include "../suite.h"
#include "app/batch.h"
#include "pieces.h"

#define KEYS   4u
#define NUMBER 100u /* the keys are sent with 12800 (0x3200) to 12803 */

/* Of the binary protocol: the last byte is that of the opaque. */
#define HEADER(magic, opcode, key, extras, status, body, opaque)                                   \
	magic opcode "\0" key extras "\0" status "\0\0\0" body "\0\0" opaque "\0\0\0\0\0\0\0\0"
#define VALUE(opaque) HEADER("\x81", "\x09", "\0", "\4", "\0\0", "\5", "\x32" opaque) "\0\0\0\0v"
#define REFUSED(opcode, opaque)                                                                    \
	HEADER("\x81", opcode, "\0", "\0", "\0\x82", "\2", "\x32" opaque) "no"
#define NOOP HEADER("\x81", "\x0a", "\0", "\0", "\0\0", "\0", "\0\x64")

static const struct {
	const char *app, *said;
	size_t n;
	enum nm_verb verb;
	enum nm_parsed parsed;
	enum nm_class class;
	uint32_t hits, refused;
} answers[] = {
#define CASE(app, said, ...)                                                                       \
	{                                                                                          \
		"memcache" app, said, sizeof(said) - 1, NM_VERB_GET, __VA_ARGS__                   \
	}
#define SETS(app, said, ...)                                                                       \
	{                                                                                          \
		"memcache" app, said, sizeof(said) - 1, NM_VERB_SET, __VA_ARGS__                   \
	}
	CASE("", "END\r\n", NM_PARSED_DONE, NM_CLASS_MISS, 0, 0),
	CASE("", "VALUE k0000001 0 5\r\nEND\r\n\r\nEND\r\n", NM_PARSED_DONE, NM_CLASS_OK, 1, 0),
	CASE("", "VALUE k0000003 0 0\r\n\r\nVALUE k0000000 7 1 9\r\nx\r\nEND\r\n", NM_PARSED_DONE,
	     NM_CLASS_OK, 2, 0),
	CASE("", "VALUE k0000001 0 0\r\n\r\nVALUE k0000001 0 0\r\n\r\nEND\r\n", NM_PARSED_BAD, 0, 1,
	     0),
	CASE("", "VALUE k0000004 0 0\r\n\r\nEND\r\n", NM_PARSED_BAD, 0, 0, 0),
	CASE("", "VALUE k0000002 0 0\r\n\r\nSERVER_ERROR out of memory\r\n", NM_PARSED_DONE,
	     NM_CLASS_REFUSED, 1, 0),
	CASE("_meta", "MN\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0, 0),
	CASE("_meta", "VA 4 O12803\r\nMN\r\n\r\nVA 0 O12800\r\n\r\nMN\r\n", NM_PARSED_DONE,
	     NM_CLASS_OK, 2, 0),
	CASE("_meta", "VA 0 O12801\r\n\r\nSERVER_ERROR no\r\nVA 0 O12803\r\n\r\nMN\r\n",
	     NM_PARSED_DONE, NM_CLASS_OK, 2, 1),
	CASE("_meta", "VA 0 O12801\r\n\r\nVA 0 O12801\r\n\r\nMN\r\n", NM_PARSED_BAD, 0, 1, 0),
	CASE("_meta", "VA 0 O12804\r\n\r\nMN\r\n", NM_PARSED_BAD, 0, 0, 0),
	CASE("_meta", "EN\r\n", NM_PARSED_BAD, 0, 0, 0),
	CASE("_meta", "ERROR\r\nERROR\r\nERROR\r\nERROR\r\nERROR\r\nMN\r\n", NM_PARSED_BAD, 0, 0,
	     4),
	CASE("_binary", NOOP, NM_PARSED_DONE, NM_CLASS_OK, 0, 0),
	CASE("_binary", VALUE("\3") VALUE("\0") NOOP, NM_PARSED_DONE, NM_CLASS_OK, 2, 0),
	CASE("_binary", VALUE("\1") REFUSED("\x09", "\2") VALUE("\3") NOOP, NM_PARSED_DONE,
	     NM_CLASS_OK, 2, 1),
	CASE("_binary", VALUE("\1") VALUE("\1") NOOP, NM_PARSED_BAD, 0, 1, 0),
	CASE("_binary", VALUE("\4") NOOP, NM_PARSED_BAD, 0, 0, 0),
	CASE("_binary", HEADER("\x81", "\x0a", "\0", "\0", "\0\0", "\0", "\0\x65"), NM_PARSED_BAD,
	     0, 0, 0),
	SETS("_meta", "MN\r\n", NM_PARSED_DONE, NM_CLASS_OK, 0, 0),
	SETS("_meta", "NS O12801\r\nSERVER_ERROR out of memory\r\nMN\r\n", NM_PARSED_DONE,
	     NM_CLASS_OK, 0, 2),
	SETS("_meta", "CLIENT_ERROR bad data chunk\r\nMN\r\n", NM_PARSED_BAD, 0, 0, 0),
	SETS("_meta", "VA 0 O12801\r\n\r\nMN\r\n", NM_PARSED_BAD, 0, 0, 0),
	SETS("_binary", REFUSED("\x11", "\1") REFUSED("\x11", "\2") NOOP, NM_PARSED_DONE,
	     NM_CLASS_OK, 0, 2),
	SETS("_binary", VALUE("\1") NOOP, NM_PARSED_BAD, 0, 0, 0),
#undef SETS
#undef CASE
};

static struct nm_batch batch = {.count = KEYS};

static struct nm_app_request a_get(void)
{
	char why[64];

	ck_assert_int_eq(nm_keyspace_init(&keyspace, "sequential", "k", 1000, 8, why, sizeof why),
			 0);
	return (struct nm_app_request){.verb = NM_VERB_GET,
				       .pool = pool,
				       .keyspace = &keyspace,
				       .several = true,
				       .number = NUMBER,
				       .batch = &batch};
}

START_TEST(keys_are_told_apart)
{
	const struct nm_app *app = nm_app_find(answers[_i].app);
	struct nm_app_request request = a_get();
	const size_t n = answers[_i].n;

	request.verb = answers[_i].verb;

	for (size_t i = 0; i < 2 * n; i++) {
		const struct cut cut = {.first = i % n + 1, .piece = i < n ? i + 1 : n};
		struct nm_app_parser parser;
		size_t taken;

		ck_assert_int_eq(
			parse_into(&parser, app, &request, answers[_i].said, n, cut, &taken),
			answers[_i].parsed);
		ck_assert_uint_eq(nm_batch_hits(parser.check), answers[_i].hits);
		ck_assert_uint_eq(nm_batch_refused(parser.check), answers[_i].refused);
		if (answers[_i].parsed != NM_PARSED_DONE)
			continue;
		ck_assert_uint_eq(taken, n);
		ck_assert_int_eq(parser.class, answers[_i].class);
	}
}
END_TEST

START_TEST(different_refusals_have_no_name)
{
	static const struct {
		const char *said;
		enum nm_answer answer;
	} cases[] = {{"NS O12801\r\nNS O12800\r\nMN\r\n", NM_ANSWER_MEMCACHE_NOT_STORED},
		     {"SERVER_ERROR no\r\nNS O12801\r\nMN\r\n", NM_ANSWER_OTHER},
		     {"NS O12801\r\nERROR\r\nERROR\r\nMN\r\n", NM_ANSWER_OTHER}};
	struct nm_app_request request = a_get();

	request.verb = NM_VERB_SET;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_app_parser parser;
		size_t taken;

		ck_assert_int_eq(parse_into(&parser, nm_app_find("memcache_meta"), &request,
					    cases[i].said, strlen(cases[i].said),
					    (struct cut){.first = 1, .piece = 7}, &taken),
				 NM_PARSED_DONE);
		ck_assert_int_eq(parser.answer, cases[i].answer);
	}
}
END_TEST

START_TEST(values_are_compared)
{
	struct nm_app_request request = a_get();
	const char *stored = pool->bytes + nm_pool_at(2);
	char said[] = "VALUE k0000002 0 1\r\n?\r\nEND\r\n";
	const struct nm_app *app = nm_app_find("memcache");
	struct nm_app_parser parser;
	size_t taken;

	request.verify = true;
	for (int other = 0; other < 2; other++) {
		said[sizeof "VALUE k0000002 0 1\r\n" - 1] = (char)(*stored + other);
		ck_assert_int_eq(parse_into(&parser, app, &request, said, sizeof said - 1,
					    (struct cut){.first = 3, .piece = 3}, &taken),
				 other ? NM_PARSED_BAD : NM_PARSED_DONE);
	}
}
END_TEST

START_TEST(all_keys_are_asked_for)
{
#define ASKED(opaque) HEADER("\x80", "\x09", "\x8", "\0", "\0\0", "\x8", "\x32" opaque)
	static const char text[] = "get k0000998 k0000999 k0000000 k0000001\r\n";
	static const char meta[] = "mg k0000998 O12800 v q\r\nmg k0000999 O12801 v q\r\n"
				   "mg k0000000 O12802 v q\r\nmg k0000001 O12803 v q\r\nmn\r\n";
	static const char binary[] =
		ASKED("\0") "k0000998" ASKED("\1") "k0000999" ASKED("\2") "k0000000" ASKED(
			"\3") "k0000001" HEADER("\x80", "\x0a", "\0", "\0", "\0\0", "\0", "\0\x64");
	static const struct {
		const char *app, *sent;
		size_t n;
	} cases[] = {{"memcache", text, sizeof text - 1},
		     {"memcache_meta", meta, sizeof meta - 1},
		     {"memcache_binary", binary, sizeof binary - 1}};
	struct nm_app_request request = a_get();
	char buf[MAX_BYTES];
	uint64_t total;

	request.key = 998;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ck_assert_uint_eq(nm_app_compose(nm_app_find(cases[i].app), &request, 0, buf,
						 sizeof buf, &total),
				  cases[i].n);
		ck_assert_mem_eq(buf, cases[i].sent, cases[i].n);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch");
	TCase *tests = tcase_create("batch");

	tcase_add_checked_fixture(tests, begin_pieces, end_pieces);
	tcase_add_loop_test(tests, keys_are_told_apart, 0, sizeof answers / sizeof *answers);
	tcase_add_test(tests, different_refusals_have_no_name);
	tcase_add_test(tests, values_are_compared);
	tcase_add_test(tests, all_keys_are_asked_for);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
