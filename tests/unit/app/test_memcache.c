/* SPDX-License-Identifier: Apache-2.0 */
/* The meta commands and the binary protocol of memcached: what answers mean, in all pieces, and
 * what our server says. */
#include <check.h>
#include <string.h>

#include "../suite.h"
#include "app/app.h"
#include "app/memcache_binary.h"
#include "app/store.h"
#include "pieces.h"

/* Text that may have zeros, with its length. */
struct bytes {
	const char *at;
	size_t n;
};
#define BYTES(text)                                                                                \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* A header of the binary protocol, whose numbers are written as bytes. */
#define ANSWER(opcode, extras, status, body)                                                       \
	"\x81" opcode "\0\0" extras "\0" status "\0\0" body "\0\0\x1d\xe6"                         \
	"\0\0\0\0\0\0\0\0"
#define REQUEST(opcode, key, extras, body)                                                         \
	"\x80" opcode "\0" key extras "\0\0\0\0\0" body "\0\0\x1d\xe6"                             \
	"\0\0\0\0\0\0\0\0"

#define GET    "\x00"
#define SET    "\x01"
#define DELETE "\x04"

#define NUMBER 7654u /* 0x1de6 */

static const struct {
	const char *app;
	enum nm_verb verb;
	struct bytes said;
	enum nm_parsed parsed;
	enum nm_class class;
	enum nm_answer name; /* of what is refused */
} answers[] = {
	{"memcache_meta", NM_VERB_GET, BYTES("EN\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("EN O7654\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("EN O7655\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 0 O7654\r\n\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 5 O7654\r\nEN\r\nx\r\n"), NM_PARSED_DONE,
	 NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 1 O7654\r\nxyz"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 0 O7653\r\n\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 0 O76540\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 0\r\n\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 0 O\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 0 O7654 t-1\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA -1 O7654\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA 9223372036854775808 O7654\r\n"), NM_PARSED_BAD, 0,
	 0},
	{"memcache_meta", NM_VERB_GET, BYTES("VA \r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("HD O7654\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("END\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("EN\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("HTTP/1.1 400 Bad Request\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_GET, BYTES("CLIENT_ERROR bad token\r\n"), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_CLIENT_ERROR},
	{"memcache_meta", NM_VERB_GET, BYTES("SERVER_ERROR out of memory\r\n"), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_SERVER_ERROR},
	{"memcache_meta", NM_VERB_GET, BYTES("ERROR\r\n"), NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_MEMCACHE_ERROR},
	{"memcache_meta", NM_VERB_SET, BYTES("HD O7654\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_SET, BYTES("NS O7654\r\n"), NM_PARSED_DONE, NM_CLASS_REFUSED,
	 NM_ANSWER_MEMCACHE_NOT_STORED},
	{"memcache_meta", NM_VERB_SET, BYTES("NF O7654\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_SET, BYTES("HD\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_SET, BYTES("\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_SET, BYTES("HD O1\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_SET, BYTES("SERVER_ERROR object too large for cache\r\n"),
	 NM_PARSED_DONE, NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_SERVER_ERROR},
	{"memcache_meta", NM_VERB_SET, BYTES("CLIENT_ERROR bad data chunk\r\n"), NM_PARSED_BAD, 0,
	 0},
	{"memcache_meta", NM_VERB_DELETE, BYTES("HD O7654\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_DELETE, BYTES("NF O7654\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_DELETE, BYTES("NS O7654\r\n"), NM_PARSED_BAD, 0, 0},

	{"memcache_meta", NM_VERB_ADD, BYTES("HD O7654\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_ADD, BYTES("NS O7654\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_APPEND, BYTES("CLIENT_ERROR bad data chunk\r\n"), NM_PARSED_BAD,
	 0, 0},
	{"memcache_meta", NM_VERB_INCR, BYTES("HD O7654\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_INCR, BYTES("NF O7654\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_INCR, BYTES("NS O7654\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_meta", NM_VERB_TOUCH, BYTES("EN\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_TOUCH, BYTES("EN O7654\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_meta", NM_VERB_TOUCH, BYTES("HD O7654\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_meta", NM_VERB_TOUCH, BYTES("VA 0 O7654\r\n\r\n"), NM_PARSED_BAD, 0, 0},

	{"memcache", NM_VERB_ADD, BYTES("STORED\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache", NM_VERB_ADD, BYTES("NOT_STORED\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache", NM_VERB_ADD, BYTES("CLIENT_ERROR bad data chunk\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache", NM_VERB_INCR, BYTES("18446744073709551615\r\n"), NM_PARSED_DONE, NM_CLASS_OK,
	 0},
	{"memcache", NM_VERB_INCR, BYTES("18446744073709551616\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache", NM_VERB_DECR, BYTES("9  \r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache", NM_VERB_DECR, BYTES("9 9\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache", NM_VERB_DECR, BYTES(" \r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache", NM_VERB_INCR, BYTES("STORED\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache", NM_VERB_INCR, BYTES("NOT_FOUND\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache", NM_VERB_INCR, BYTES("CLIENT_ERROR not a number\r\n"), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_CLIENT_ERROR},
	{"memcache", NM_VERB_TOUCH, BYTES("TOUCHED\r\n"), NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache", NM_VERB_TOUCH, BYTES("NOT_FOUND\r\n"), NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache", NM_VERB_TOUCH, BYTES("STORED\r\n"), NM_PARSED_BAD, 0, 0},

	{"memcache_binary", NM_VERB_ADD, BYTES(ANSWER("\2", "\0", "\0\0", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_ADD, BYTES(ANSWER("\2", "\0", "\0\2", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_MISS, 0},
	{"memcache_binary", NM_VERB_REPLACE, BYTES(ANSWER("\3", "\0", "\0\1", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_binary", NM_VERB_APPEND, BYTES(ANSWER("\x0e", "\0", "\0\5", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_binary", NM_VERB_INCR, BYTES(ANSWER("\5", "\0", "\0\0", "\0\x08") "12345678"),
	 NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_INCR, BYTES(ANSWER("\5", "\0", "\0\0", "\0\0")), NM_PARSED_BAD,
	 0, 0},
	{"memcache_binary", NM_VERB_DECR, BYTES(ANSWER("\6", "\0", "\0\6", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_DELTA_BADVAL},
	{"memcache_binary", NM_VERB_TOUCH, BYTES(ANSWER("\x1c", "\4", "\0\0", "\0\4") "flag"),
	 NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_TOUCH, BYTES(ANSWER("\x1c", "\0", "\0\0", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_TOUCH, BYTES(ANSWER("\x1c", "\0", "\0\0", "\0\1") "x"),
	 NM_PARSED_BAD, 0, 0},

	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\4", "\0\0", "\0\4") "flag"),
	 NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\4", "\0\0", "\0\7") "flag\r\n\0"),
	 NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\4", "\0\0", "\0\7") "flag\r\n"),
	 NM_PARSED_MORE, 0, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\0", "\0\1", "\0\2") "no"),
	 NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\0", "\0\1", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_MISS, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\0", "\0\x82", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_ENOMEM},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\0", "\xff\xff", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_REFUSED, NM_ANSWER_OTHER},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\0", "\0\1", "\x20\1")), NM_PARSED_BAD,
	 0, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\0", "\0\0", "\0\4") "flag"),
	 NM_PARSED_BAD, 0, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\4", "\0\0", "\0\3") "fla"),
	 NM_PARSED_BAD, 0, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(GET, "\4", "\0\1", "\0\4") "flag"),
	 NM_PARSED_BAD, 0, 0},
	{"memcache_binary", NM_VERB_GET, BYTES(ANSWER(SET, "\0", "\0\0", "\0\0")), NM_PARSED_BAD, 0,
	 0},
	{"memcache_binary", NM_VERB_GET, BYTES("ERROR\r\n"), NM_PARSED_BAD, 0, 0},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\0", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\5", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_NOT_STORED},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\3", "\0\2") "no"),
	 NM_PARSED_DONE, NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_E2BIG},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\1", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_KEY_ENOENT},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\4", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_EINVAL},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\x20", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_AUTH_ERROR},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\x81", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_UNKNOWN_COMMAND},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\x84", "\0\0")), NM_PARSED_DONE,
	 NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_EINTERNAL},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\0", "\0\0", "\0\1") "x"),
	 NM_PARSED_BAD, 0, 0},
	{"memcache_binary", NM_VERB_SET, BYTES(ANSWER(SET, "\1", "\0\0", "\0\0")), NM_PARSED_BAD, 0,
	 0},
	{"memcache_binary", NM_VERB_DELETE, BYTES(ANSWER(DELETE, "\0", "\0\0", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_OK, 0},
	{"memcache_binary", NM_VERB_DELETE, BYTES(ANSWER(DELETE, "\0", "\0\1", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_MISS, 0},
	{"memcache_binary", NM_VERB_DELETE, BYTES(ANSWER(DELETE, "\0", "\0\5", "\0\0")),
	 NM_PARSED_DONE, NM_CLASS_REFUSED, NM_ANSWER_MEMCACHE_NOT_STORED},
};

START_TEST(answers_have_a_class)
{
	const struct nm_app *app = nm_app_find(answers[_i].app);
	const struct nm_app_request request = {.verb = answers[_i].verb,
					       .keyspace = &keyspace,
					       .key = 42,
					       .number = NUMBER,
					       .pool = pool};
	const struct bytes said = answers[_i].said;

	check_answer(app, &request, said.at, said.n,
		     &(struct expected){.parsed = answers[_i].parsed,
					.class = answers[_i].class,
					.name = answers[_i].name,
					.n = said.n});
}
END_TEST

#define TOKEN_32 "01234567890123456789012345678901"
#define KEY_250                                                                                    \
	TOKEN_32 TOKEN_32 TOKEN_32 TOKEN_32 TOKEN_32 TOKEN_32 TOKEN_32 "0123456789012345678901234" \
								       "5"
#define OPAQUES_5  " O" TOKEN_32 " O" TOKEN_32 " O" TOKEN_32 " O" TOKEN_32 " O" TOKEN_32
#define OPAQUES_20 OPAQUES_5 OPAQUES_5 OPAQUES_5 OPAQUES_5

static const struct {
	struct bytes sent, said; /* said.at NULL: it is no request */
} requests[] = {
	{BYTES("mn\r\n"), BYTES("MN\r\n")},
	{BYTES("mg k9 v\r\nmg k9 v f k O1\r\n"), BYTES("EN\r\nEN kk9 O1\r\n")},
	{BYTES("ms k9 3 F5 T60 k Ox\r\nEN\r\r\nmg k9 t s v f k O1\r\n"),
	 BYTES("HD kk9 Ox\r\nVA 3 t-1 s3 f5 kk9 O1\r\nEN\r\r\n")},
	{BYTES("ms k9 0\r\n\r\nmg k9\r\nmg k9 v\r\n"), BYTES("HD\r\nHD\r\nVA 0\r\n\r\n")},
	{BYTES("ms k9 1\r\nx\r\nmd k9 q\r\nmd k9 O1 k\r\nmd k9 O2\r\n"),
	 BYTES("HD\r\nNF O1 kk9\r\nNF O2\r\n")},
	{BYTES("mg k9 v q\r\nmg k9 kk\r\nmg k9 O" TOKEN_32 "\r\nmg k9 O" TOKEN_32 "x\r\n"),
	 BYTES("CLIENT_ERROR invalid flag\r\nEN O" TOKEN_32 "\r\n"
	       "CLIENT_ERROR invalid flag\r\n")},
	{BYTES("ms " KEY_250 " 1 F1\r\nx\r\nmg " KEY_250 " v k f s t O" TOKEN_32 "\r\n"),
	 BYTES("HD\r\nVA 1 k" KEY_250 " f1 s1 t-1 O" TOKEN_32 "\r\nx\r\n")},
	/* Values of long keys do not all have room at once. */
	{BYTES("set " KEY_250 " 0 0 1\r\nx\r\nset k9 0 0 1\r\ny\r\n"
	       "get k9 k " KEY_250 " k k9 " KEY_250 " " KEY_250 "\r\n"),
	 BYTES("STORED\r\nSTORED\r\nVALUE k9 0 1\r\ny\r\nVALUE " KEY_250 " 0 1\r\nx\r\n"
	       "VALUE k9 0 1\r\ny\r\nVALUE " KEY_250 " 0 1\r\nx\r\nVALUE " KEY_250
	       " 0 1\r\nx\r\nEND\r\n")},
	{BYTES("set k9 0 0 1\r\ny\r\nget k9 " KEY_250 "x\r\n"), {NULL, 0}},
	/* More is to be sent back than there is room for. */
	{BYTES("ms k9 1\r\nx\r\nmg k9 v" OPAQUES_20 "\r\n"),
	 BYTES("HD\r\nCLIENT_ERROR invalid flag\r\n")},
	{BYTES("mg k9 v" OPAQUES_20 " Oz1\r\nmd k9" OPAQUES_20 " Oz1\r\n"),
	 BYTES("CLIENT_ERROR invalid flag\r\nCLIENT_ERROR invalid flag\r\n")},
	{BYTES("mg " KEY_250 " k k k k\r\n"), BYTES("CLIENT_ERROR invalid flag\r\n")},
	{BYTES("mg " KEY_250 "x v\r\n"), {NULL, 0}},
	{BYTES("mg\r\n"), {NULL, 0}},
	{BYTES("mx k9\r\n"), {NULL, 0}},
	{BYTES("ms k9\r\n"), {NULL, 0}},
	{BYTES("ms k9 4 MA\r\nmn\r\n\r\nms k9 1 F-1\r\nx\r\nms k9 1 T\r\nx\r\nmg k9 v\r\n"),
	 BYTES("NS\r\nCLIENT_ERROR invalid flag\r\nCLIENT_ERROR invalid flag\r\nEN\r\n")},
	{BYTES("ms k9 1 MX\r\nx\r\nms k9 1 q\r\nx\r\nms k9 1 ME q\r\ny\r\nmg k9 q v\r\n"
	       "mg k9 q v O2\r\nmg k8 q v\r\nms k9 1 C1 q O3\r\ny\r\nmn\r\n"),
	 BYTES("CLIENT_ERROR invalid mode for ms M token\r\nNS\r\nVA 1\r\nx\r\nVA 1 O2\r\nx\r\n"
	       "EX O3\r\nMN\r\n")},
	{BYTES("ma k9 N0 J7\r\nma k9 v D8 O1\r\nma k9 MD D20 v\r\nma k9 q\r\nma k9 MX\r\n"),
	 BYTES("HD\r\nVA 2 O1\r\n15\r\nVA 1\r\n0\r\nCLIENT_ERROR invalid mode for ma M token\r\n")},
	/* What waits to go out stays where something else is refused behind it. */
	{BYTES("ms k9 1\r\nx\r\nmg k9 q v\r\nadd k9 0 0 1\r\ny\r\nmg k9 q v\r\nmg k9 x\r\n"),
	 BYTES("HD\r\nVA 1\r\nx\r\nNOT_STORED\r\nVA 1\r\nx\r\nCLIENT_ERROR invalid flag\r\n")},
	{BYTES("ms k9 1\r\nxyz"), {NULL, 0}},

	{BYTES(REQUEST("\x0a", "\0", "\0", "\0\0")), BYTES(ANSWER("\x0a", "\0", "\0\0", "\0\0"))},
	{BYTES(REQUEST("\x0b", "\0", "\0", "\0\0")),
	 BYTES(ANSWER("\x0b", "\0", "\0\0", "\0\x0e") "1.6.0-netmodel")},
	{BYTES(REQUEST(GET, "\2", "\0", "\0\2") "k9"),
	 BYTES(ANSWER(GET, "\0", "\0\1", "\0\x09") "Not found")},
	{BYTES(REQUEST(SET, "\2", "\x08",
		       "\0\x0d") "\0\0\0\5\0\0\0\0k9\r\n\0" REQUEST(GET, "\2", "\0", "\0\2") "k9"),
	 BYTES(ANSWER(SET, "\0", "\0\0", "\0\0")
		       ANSWER(GET, "\4", "\0\0", "\0\7") "\0\0\0\5\r\n\0")},
	{BYTES(REQUEST(SET, "\2", "\x08", "\0\x0a") "\0\0\0\0\0\0\0\0k9" REQUEST(GET, "\2", "\0",
										 "\0\2") "k9"),
	 BYTES(ANSWER(SET, "\0", "\0\0", "\0\0") ANSWER(GET, "\4", "\0\0", "\0\4") "\0\0\0\0")},
	{BYTES(REQUEST(DELETE, "\2", "\0", "\0\2") "k9"),
	 BYTES(ANSWER(DELETE, "\0", "\0\1", "\0\x09") "Not found")},
	/* Quiet ones: SETQ and GETQ, ADDQ of a key that is there, and a no-op. */
	{BYTES(REQUEST("\x11", "\2", "\x08", "\0\x0b") "\0\0\0\5\0\0\0\0k9x" REQUEST(
		 "\x09", "\2", "\0",
		 "\0\2") "k9" REQUEST("\x09", "\2", "\0",
				      "\0\2") "k8" REQUEST("\x12", "\2", "\x08",
							   "\0\x0b") "\0\0\0\5\0\0\0\0k9"
								     "y" REQUEST("\x0a", "\0", "\0",
										 "\0\0")),
	 BYTES(ANSWER("\x09", "\4", "\0\0", "\0\5") "\0\0\0\5x" ANSWER(
		 "\x12", "\0", "\0\2", "\0\x14") "Data exists for key." ANSWER("\x0a", "\0", "\0\0",
									       "\0\0"))},
	/* A login, where nobody logs in, and requests with too little. */
	{BYTES(REQUEST("\x21", "\5", "\0", "\0\x09") "PLAIN\0u\0p"),
	 BYTES(ANSWER("\x21", "\0", "\0\x81", "\0\x0f") "Unknown command")},
	{BYTES(REQUEST(SET, "\2", "\0", "\0\3") "k9x"),
	 BYTES(ANSWER(SET, "\0", "\0\4", "\0\x11") "Invalid arguments")},
	{BYTES(REQUEST(GET, "\0", "\0", "\0\0")),
	 BYTES(ANSWER(GET, "\0", "\0\4", "\0\x11") "Invalid arguments")},
	{BYTES(REQUEST(GET, "\2", "\0", "\0\1") "k"), {NULL, 0}},
	{BYTES(REQUEST(GET, "\xfb", "\0", "\0\xfb")), {NULL, 0}},
	{BYTES(REQUEST(GET, "\2", "\x15", "\0\x20")), {NULL, 0}},
	{BYTES("\x81"
	       "get k9\r\n"),
	 {NULL, 0}},
	/* What is sent says which protocol it is, each time. */
	{BYTES("set k9 7 0 1\r\nx\r\nmg k9 v f\r\n" REQUEST(GET, "\2", "\0",
							    "\0\2") "k9get k9\r\n"),
	 BYTES("STORED\r\nVA 1 f7\r\nx\r\n" ANSWER(GET, "\4", "\0\0",
						   "\0\5") "\0\0\0\7x"
							   "VALUE k9 7 1\r\nx\r\n"
							   "END\r\n")},
};

/* The numbers of values in binary answers: of what else is said no byte is as their first one. */
static void hide_numbers(char *said, size_t n)
{
	for (char *at = said; (at = memchr(at, (int)NM_BINARY_ANSWER, n - (size_t)(at - said)));) {
		memset(at + 16, 0, 8);
		at += NM_BINARY_HEADER;
	}
}

START_TEST(a_server)
{
	const struct nm_app *app = nm_app_find("memcache");
	const struct bytes sent = requests[_i].sent, said = requests[_i].said;

	for (size_t piece = 1; piece <= sent.n; piece++) {
		char got[2 * MAX_BYTES], room[MAX_BYTES];
		struct nm_app_served served = served_of(room, app->answer_bytes);
		size_t used = 0;

		(void)nm_store_delete(service.store, "k9", 2);
		memset(room, '!', sizeof room);
		int found = serve(app, &served, sent.at, sent.n, piece, got, &used);

		ck_assert_mem_eq(room + app->answer_bytes, "!!!!", 4);
		ck_assert((found < 0) == !said.at);
		if (!said.at)
			continue;
		ck_assert_uint_eq(used, said.n);
		hide_numbers(got, used);
		ck_assert_mem_eq(got, said.at, used);
	}
}
END_TEST

/* The values of a get go out together as far as there is room for them. */
START_TEST(answers_to_a_get_are_gathered)
{
	enum { KEYS = 100 };
	static const char set[] = "set k9 0 0 1\r\nx\r\n", value[] = "VALUE k9 0 1\r\nx\r\n";
	const struct nm_app *app = nm_app_find("memcache");
	char sent[8 + 3 * KEYS], got[MAX_BYTES], room[MAX_BYTES], *at = nm_line_put("get", sent);
	struct nm_app_served served = served_of(room, app->answer_bytes);
	size_t used = 0;

	for (unsigned i = 0; i < KEYS; i++)
		at = nm_line_put(" k9", at);
	at = nm_line_put("\r\n", at);
	ck_assert_int_eq(serve(app, &served, set, strlen(set), strlen(set), got, &used), 1);
	used = 0;
	ck_assert_int_eq(serve(app, &served, sent, (size_t)(at - sent), MAX_BYTES, got, &used),
			 KEYS / NM_ROPE_BODIES);
	ck_assert_uint_eq(used, KEYS * strlen(value) + strlen("END\r\n"));
	for (unsigned i = 0; i < KEYS; i++)
		ck_assert_mem_eq(got + i * strlen(value), value, strlen(value));
}
END_TEST

/* Of a get whose line is longer than what is kept of one all keys are taken that have come, but for
 * those that may be the last: whoever receives has room for many more then. */
START_TEST(a_long_get_is_taken_as_it_comes)
{
	enum { KEYS = 1000, PIECE = 1500 };
	const struct nm_app *app = nm_app_find("memcache");
	char sent[8 + 4 * KEYS], room[MAX_BYTES], *end = nm_line_put("get", sent);
	struct nm_app_served served = served_of(room, app->answer_bytes);
	size_t at = 0, pieces = 0, taken;

	for (unsigned i = 0; i < KEYS; i++)
		end = nm_line_put(" k10", end);
	end = nm_line_put("\r\n", end);
	const size_t n = (size_t)(end - sent);
	enum nm_took took = NM_TOOK_PART;

	for (size_t there = NM_APP_KEPT_BYTES; took != NM_TOOK_REQUEST; at += taken) {
		took = app->take(&served, &service, sent + at, there - at, &taken);
		if (took != NM_TOOK_MORE)
			continue;
		ck_assert_uint_lt(there - at, 2 * strlen(" k10 "));
		there = there + PIECE < n ? there + PIECE : n;
		pieces++;
	}
	ck_assert_uint_eq(at, n);
	ck_assert_uint_eq(pieces, (n - NM_APP_KEPT_BYTES + PIECE - 1) / PIECE);
}
END_TEST

START_TEST(what_is_wrong_is_told)
{
	static const struct {
		struct bytes said;
		const char *told; /* NULL: its bytes are shown */
	} wrong[] = {
		{BYTES(ANSWER(SET, "\0", "\0\0", "\0\0")), "opcode 0x01, not 0x00"},
		{BYTES(ANSWER(GET, "\0", "\0\1", "\x20\1")),
		 "opcode 0x00, status 0x0001, type 0, bytes 0+0 of 8193"},
		{BYTES("ERROR\r\n"), NULL},
	};
	const struct nm_app *app = nm_app_find("memcache_binary");

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct nm_app_request request = {.verb = NM_VERB_GET, .number = 7654};
		struct nm_app_parser parser = {.at = 0};
		char told[64] = "";
		size_t taken;

		ck_assert_int_eq(
			app->parse(&parser, &request, wrong[i].said.at, wrong[i].said.n, &taken),
			NM_PARSED_BAD);
		ck_assert(app->tell(&parser, &request, told, sizeof told) == !!wrong[i].told);
		ck_assert_str_eq(told, wrong[i].told ? wrong[i].told : "");
		request.number++;
		if (i == 1) {
			parser = (struct nm_app_parser){.at = 0};
			(void)app->parse(&parser, &request, wrong[i].said.at, wrong[i].said.n,
					 &taken);
			ck_assert(app->tell(&parser, &request, told, sizeof told));
			ck_assert_str_eq(told, "opcode 0x00, opaque 0x00001de6, not 0x00001de7");
		}
	}
}
END_TEST

/* The login of SASL, and what may answer it. */
START_TEST(a_login)
{
	static const struct {
		struct bytes said;
		enum nm_parsed parsed;
		enum nm_class class;
	} logins[] = {
		{BYTES("\x81\x21\0\0\0\0\0\0\0\0\0\x0d\0\0\0\0\0\0\0\0\0\0\0\0"
		       "Authenticated"),
		 NM_PARSED_DONE, NM_CLASS_OK},
		{BYTES("\x81\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NM_PARSED_DONE,
		 NM_CLASS_OK},
		{BYTES("\x81\x21\0\0\0\0\0\x20\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\0"
		       "wrong"),
		 NM_PARSED_DONE, NM_CLASS_REFUSED},
		{BYTES("\x81\x21\0\0\0\0\0\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NM_PARSED_DONE,
		 NM_CLASS_REFUSED},
		{BYTES("\x81\x22\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NM_PARSED_BAD, 0},
		{BYTES("CLIENT_ERROR unauthenticated\r\n"), NM_PARSED_BAD, 0},
	};
	static const char sent[] = "\x80\x21\0\5\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0"
				   "PLAIN\0user\0pass1";
	const struct nm_app_session *session = nm_app_find("memcache_binary")->session;
	const struct nm_app_login login = {.user = "user", .password = "pass1"};
	struct nm_greetings greetings = {.count = 0};

	session->greet(&login, &greetings);
	ck_assert_uint_eq(greetings.count, 1);
	ck_assert_uint_eq(greetings.size, sizeof sent - 1);
	ck_assert_mem_eq(greetings.bytes, sent, greetings.size);
	for (size_t i = 0; i < sizeof logins / sizeof *logins; i++)
		for (size_t piece = 1; piece <= logins[i].said.n; piece++) {
			struct nm_app_parser parser = {.at = 0};
			enum nm_parsed parsed = NM_PARSED_MORE;
			size_t taken, n = logins[i].said.n;

			for (size_t at = 0; at < n && parsed == NM_PARSED_MORE; at += taken)
				parsed = session->parse(&parser, logins[i].said.at + at,
							piece < n - at ? piece : n - at, &taken);
			ck_assert_int_eq(parsed, logins[i].parsed);
			if (parsed == NM_PARSED_DONE)
				ck_assert_int_eq(parser.class, logins[i].class);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memcache");
	TCase *tests = tcase_create("memcache");

	tcase_add_checked_fixture(tests, begin_pieces, end_pieces);
	tcase_add_loop_test(tests, answers_have_a_class, 0, sizeof answers / sizeof *answers);
	tcase_add_loop_test(tests, a_server, 0, sizeof requests / sizeof *requests);
	tcase_add_test(tests, answers_to_a_get_are_gathered);
	tcase_add_test(tests, a_long_get_is_taken_as_it_comes);
	tcase_add_test(tests, a_login);
	tcase_add_test(tests, what_is_wrong_is_told);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
