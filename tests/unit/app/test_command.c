/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of commands: what is sent for them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "app/command.h"

static const struct {
	const char *text, *sent;
	uint64_t size;
} texts[] = {
	{"PING", "*1\r\n$4\r\nPING\r\n", 0},
	{"GET __key__", "*2\r\n$3\r\nGET\r\n$3\r\nk42\r\n", 0},
	{" MGET\t__key__ a__key__b__key__ ", "*3\r\n$4\r\nMGET\r\n$3\r\nk42\r\n$8\r\nak42bk42\r\n",
	 0},
	{"SET __key__ __data__ EX 10",
	 "*5\r\n$3\r\nSET\r\n$3\r\nk42\r\n$2\r\n..\r\n$2\r\nEX\r\n$2\r\n10\r\n", 2},
	{"SET x __data__", "*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$10\r\n..........\r\n", 10},
	{"ECHO \"a \\\"b\\\" 'c'\" '\\ \"' \"\" \\ ",
	 "*5\r\n$4\r\nECHO\r\n$9\r\na \"b\" 'c'\r\n$3\r\n\\ \"\r\n$0\r\n\r\n$1\r\n \r\n", 0},
};

START_TEST(what_is_sent)
{
	struct nm_pool *pool = nm_pool_new();
	struct nm_keyspace keyspace;
	struct nm_command command;
	struct nm_app_request request = {.verb = NM_VERB_COMMAND,
					 .pool = pool,
					 .size = texts[_i].size,
					 .key = 42,
					 .command = &command};
	char sent[NM_COMMAND_HEAD_MAX + 64], why[128];
	uint64_t total;

	ck_assert_int_eq(nm_keyspace_init(&keyspace, "uniform", "k", 100, 3, why, sizeof why), 0);
	if (strstr(texts[_i].text, "__key__"))
		request.keyspace = &keyspace;
	ck_assert_int_eq(
		nm_command_read(texts[_i].text, request.keyspace, &command, why, sizeof why), 0);
	size_t n = nm_app_compose(nm_app_find("redis"), &request, 0, sent, sizeof sent, &total);

	ck_assert_uint_eq(n, total);
	ck_assert_uint_eq(n, strlen(texts[_i].sent));
	for (size_t i = 0; i < n; i++)
		ck_assert(texts[_i].sent[i] == '.' || sent[i] == texts[_i].sent[i]);
	(void)nm_pool_free(pool);
}
END_TEST

static const struct {
	const char *text;
	bool destroys;
} kinds[] = {
	{"del x", true},
	{"DELEX x IFEQ 1", true},
	{"HGETDEL x FIELDS 1 f", true},
	{"JSON.FORGET x", true},
	{"Unlink x", true},
	{"SREM x a", true},
	{"ZREMRANGEBYRANK x 0 -1", true},
	{"LPOP x", true},
	{"bzpopmin x 0", true},
	{"RPOPLPUSH x y", true},
	{"XTRIM x MAXLEN 0", true},
	{"SMOVE x y a", true},
	{"MOVE x 1", true},
	{"RENAMENX x y", true},
	{"PEXPIREAT x 1", true},
	{"HEXPIRE x 1 FIELDS 1 f", true},
	{"GETEX x EX 1", true},
	{"FT.DROPINDEX x", true},
	{"JSON.CLEAR x", true},
	{"XGROUP DESTROY x g", true},
	{"FLUSHDB", true},
	{"SWAPDB 0 1", true},
	{" \t\"E\"val x 0", true},
	{"E\\VALSHA x 0", true},
	{"FCALL f 0", true},
	{"GRAPH.QUERY x 'MATCH (n) DELETE n'", true},
	{"GRAPH.PROFILE x 'MATCH (n) DELETE n'", true},
	{"SDIFFSTORE x y z", true},
	{"BITOP AND x y z", true},
	{"SORT x Store y", true},
	{"GEORADIUS x 1 1 1 km STOREDIST y", true},
	{"PERSIST x", true},
	{"XADD x MAXLEN 0 * f v", true},
	{"xadd x minid 1 * f v", true},
	{"FOO.DEL_ROW x", true},
	{"EVAL_RO x 0", false},
	{"EVALSHA_RO x 0", false},
	{"FCALL_RO f 0", false},
	{"GRAPH.RO_QUERY x 'MATCH (n) RETURN n'", false},
	{"SORT x", false},
	{"SORT_RO x", false},
	{"XADD x * f v", false},
	{"EXPIRETIME x", false},
	{"HPEXPIRETIME x FIELDS 1 f", false},
	{"SET DEL POP EX 1", false},
	{"GET x", false},
	{"GEORADIUSBYMEMBER x m 1 km", false},
	{"XREADGROUP GROUP g c STREAMS x 0", false},
};

START_TEST(what_takes_away)
{
	struct nm_command command;
	char why[128];

	ck_assert_int_eq(nm_command_read(kinds[_i].text, NULL, &command, why, sizeof why), 0);
	ck_assert_msg(command.destroys == kinds[_i].destroys, "%s", kinds[_i].text);
}
END_TEST

START_TEST(the_longest)
{
	struct nm_command command;
	char text[2 * NM_COMMAND_HEAD_MAX], why[128];
	int r = 0;

	for (size_t n = 3; n < sizeof text; n++) {
		memset(text, 'x', n);
		memcpy(text, "X ", 2);
		text[n] = '\0';
		r = nm_command_read(text, NULL, &command, why, sizeof why);
		ck_assert(r == 0 || n > NM_COMMAND_HEAD_MAX - 100);
		ck_assert_uint_le(command.head_length, sizeof command.head);
	}
	ck_assert_int_lt(r, 0);
	ck_assert_str_eq(why, "is too long");
}
END_TEST

START_TEST(the_longest_name)
{
	struct nm_command command;
	char text[NM_VERB_NAME + 1] = "", why[128];

	memset(text, 'x', NM_VERB_NAME - 1);
	ck_assert_int_eq(nm_command_read(text, NULL, &command, why, sizeof why), 0);
	ck_assert_uint_eq(strlen(command.name), NM_VERB_NAME - 1);
	text[NM_VERB_NAME - 1] = 'x';
	ck_assert_int_lt(nm_command_read(text, NULL, &command, why, sizeof why), 0);
	ck_assert_str_eq(why, "begins with a name of more than 63 bytes");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command");
	TCase *tc = tcase_create("command");

	tcase_add_loop_test(tc, what_is_sent, 0, (int)(sizeof texts / sizeof *texts));
	tcase_add_loop_test(tc, what_takes_away, 0, (int)(sizeof kinds / sizeof *kinds));
	tcase_add_test(tc, the_longest);
	tcase_add_test(tc, the_longest_name);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
