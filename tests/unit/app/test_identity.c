/* SPDX-License-Identifier: Apache-2.0 */
/* What servers say that they are, as far as it has come. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "app/app.h"

#define HEADER(opcode, key, extras, status, body)                                                  \
	"\x81" opcode "\0" key extras "\0\0" status "\0\0\0" body "\0\0\0\0\0\0\0\0\0\0\0\0"
#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *app, *said;
	size_t n;
	enum nm_parsed parsed;
	const char *version; /* of what is DONE */
} said[] = {
	{"redis", BYTES("$34\r\n# Server\r\nredis_version:7.0.15\r\nx:"), NM_PARSED_DONE, "7.0.15"},
	{"redis", BYTES("$22\r\n\r\nredis_version:7.0.15\r\n"), NM_PARSED_DONE, "7.0.15"},
	{"redis", BYTES("$46\r\n\nredis_version:7.2.4\r\nvalkey_version:8.1.0\r\n\r\n"),
	 NM_PARSED_DONE, "8.1.0"},
	{"redis", BYTES("$17\r\n\nredis_version:7\r\r\n"), NM_PARSED_DONE, "7"},
	{"redis", BYTES("$18\r\n\nxredis_version:7\r\r\n"), NM_PARSED_BAD, NULL},
	{"redis", BYTES("$3\r\n\nredis_version:7\r\n"), NM_PARSED_BAD, NULL},
	{"redis", BYTES("$0\r\n\r\n"), NM_PARSED_BAD, NULL},
	{"redis", BYTES("$-1\r\n"), NM_PARSED_BAD, NULL},
	{"redis", BYTES("$8193\r\n"), NM_PARSED_BAD, NULL},
	{"redis", BYTES("-NOAUTH Authentication required.\r\n"), NM_PARSED_BAD, NULL},
	{"redis", BYTES("$99\r\n\nredis_version:7\r\n"), NM_PARSED_MORE, NULL},
	{"memcache", BYTES("VERSION 1.6.18\r\n"), NM_PARSED_DONE, "1.6.18"},
	{"memcache", BYTES("ERROR\r\n"), NM_PARSED_BAD, NULL},
	{"memcache_binary", BYTES(HEADER("\x0b", "\0", "\0", "\0", "\6") "1.6.18"), NM_PARSED_DONE,
	 "1.6.18"},
	{"memcache_binary", BYTES(HEADER("\x0b", "\0", "\0", "\0", "\7") "1.6.18"), NM_PARSED_MORE,
	 NULL},
	{"memcache_binary", BYTES(HEADER("\x0a", "\0", "\0", "\0", "\6") "1.6.18"), NM_PARSED_BAD,
	 NULL},
	{"memcache_binary", BYTES(HEADER("\x0b", "\1", "\0", "\0", "\6") "1.6.18"), NM_PARSED_BAD,
	 NULL},
	{"memcache_binary", BYTES(HEADER("\x0b", "\0", "\1", "\0", "\6") "1.6.18"), NM_PARSED_BAD,
	 NULL},
	{"memcache_binary", BYTES(HEADER("\x0b", "\0", "\0", "\x20", "\6") "1.6.18"), NM_PARSED_BAD,
	 NULL},
	{"memcache_binary", BYTES("\x81\x0b\0\0\0\0\0\0\0\0\x1f\xe9\0\0\0\0\0\0\0\0\0\0\0\0"),
	 NM_PARSED_BAD, NULL},
};

/* Of less of an answer than all no version is taken. */
START_TEST(versions)
{
	const struct nm_app_identity *identity = nm_app_find(said[_i].app)->identity;

	for (size_t n = 1; n <= said[_i].n; n++) {
		char *cut = malloc(n); /* where a byte too many is found */
		const char *version = NULL;
		size_t length = 0;

		memcpy(cut, said[_i].said, n);
		enum nm_parsed parsed = identity->read(cut, n, &version, &length);

		if (n == said[_i].n)
			ck_assert_int_eq(parsed, said[_i].parsed);
		else
			ck_assert(parsed == said[_i].parsed || parsed == NM_PARSED_MORE);
		if (parsed == NM_PARSED_DONE) {
			ck_assert_uint_eq(length, strlen(said[_i].version));
			ck_assert_mem_eq(version, said[_i].version, length);
		}
		free(cut);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("identity");
	TCase *tc = tcase_create("identity");

	tcase_add_loop_test(tc, versions, 0, (int)(sizeof said / sizeof *said));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
