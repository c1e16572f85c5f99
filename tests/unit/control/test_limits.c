/* SPDX-License-Identifier: Apache-2.0 */
/* How long messages may be and how many values they may have, and when a receiver knows it. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "control/wire/codec.h"
#include "control/wire/frame.h"
#include "control/wire/limits.h"
#include "control/wire/tokens.h"

static char why[256];
static struct nm_phase phases[2] = {{.n_instrs = 3}, {.n_instrs = 4}};
static struct nm_group groups[] = {
	{.n_workers = 2,
	 .n_flows = 10,
	 .n_phases = 2,
	 .n_openings = 3,
	 .n_conns = 2,
	 .phases = phases,
	 .runs = true},
	{.n_workers = 5,
	 .n_flows = 5,
	 .n_phases = 1,
	 .n_openings = 1,
	 .n_conns = 1,
	 .phases = phases},
};
static const struct nm_plan plan = {.groups = groups, .n_groups = 2, .n_phases = 2};
static const struct nm_message_scale nothing;

static size_t count(const char *text)
{
	return nm_tokens_count(text, strlen(text), 1000);
}

START_TEST(values_are_counted_without_a_tree)
{
	static const struct {
		const char *text;
		size_t values;
	} cases[] = {
		{"", 0},
		{"[]", 1},
		{"{}", 1},
		{" [ ] ", 1},
		{"[1,2,3]", 4},
		{"[[],[],{}]", 4},
		{"{\"a\":1,\"b\":[true,null,-1.5e3]}", 8},
		{"\"[,{:1\"", 1},
		{"\"a\\\"[1,2]\"", 1},
		{"[\"a\\\\\",1]", 3},
		{"[\"ping\",{\"t\":42}]", 5},
		{"\"never closed [1,2,3", 1},
		{"\"ends in a backslash\\", 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ck_assert_msg(count(cases[i].text) == cases[i].values, "%s: %zu", cases[i].text,
			      count(cases[i].text));
	/* A NUL ends no count, and none goes on beyond what is asked for. */
	ck_assert_uint_eq(nm_tokens_count("[1,\0[2]]", 8, 1000), 4);
	ck_assert_uint_eq(nm_tokens_count("[[[[[[[[", 8, 3), 4);
}
END_TEST

/* What check_size says of a frame that announces `size` and begins so. */
static int size_of(const char *begin, size_t size, enum nm_side from, enum nm_session_state state)
{
	why[0] = '\0';
	return nm_message_check_size(begin, strlen(begin), size, from, state, &nothing, why,
				     sizeof why);
}

START_TEST(an_announced_length_is_held_against_the_state)
{
	ck_assert_int_eq(size_of("", 4096, NM_SIDE_MASTER, NM_SESSION_HELLO), 0);
	ck_assert_int_eq(size_of("", 32769, NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
	ck_assert_str_eq(why, "a message of 32769 bytes, longer than 32768");
	ck_assert_int_eq(size_of("2.0-Open\r\n", 0x5353482d, NM_SIDE_SLAVE, NM_SESSION_HELLO),
			 -EPROTO);
	ck_assert_str_eq(why, "\"SSH-2.0-Open\", and so is another program than netmodel");
	ck_assert_int_eq(size_of("", 0x48545450, NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
	ck_assert_str_eq(why, "\"HTTP\", and so is another program than netmodel");
	ck_assert_int_eq(size_of("", 2228224, NM_SIDE_MASTER, NM_SESSION_PREPARE), 0);
	ck_assert_int_eq(size_of("", 2228225, NM_SIDE_MASTER, NM_SESSION_PREPARE), -EPROTO);
	ck_assert_int_eq(size_of("", 2228224, NM_SIDE_MASTER, NM_SESSION_PHASE), -EPROTO);
	ck_assert_int_eq(size_of("", 2228224, NM_SIDE_SLAVE, NM_SESSION_HELLO), -EPROTO);
}
END_TEST

START_TEST(each_word_has_its_own_size_as_soon_as_it_has_come)
{
	enum nm_side from = NM_SIDE_MASTER;

	for (int type = 0; type < NM_MESSAGE__COUNT; type++) {
		enum nm_message_type message = (enum nm_message_type)type;
		uint64_t most = nm_message_most_bytes(message, &nothing);
		char begin[64];

		(void)snprintf(begin, sizeof begin, "[\"%s\"", nm_message_word(message));
		for (int state = 0; state < NM_SESSION_END; state++) {
			enum nm_session_state in = (enum nm_session_state)state;

			from = nm_message_may_come(message, NM_SIDE_MASTER, in) ? NM_SIDE_MASTER
										: NM_SIDE_SLAVE;
			if (!nm_message_may_come(message, from, in))
				continue;
			ck_assert_int_eq(size_of(begin, most, from, in), 0);
			ck_assert_int_eq(size_of(begin, most + 1, from, in), -EPROTO);
		}
	}
	/* The word has not come yet: it may be the long one. */
	ck_assert_int_eq(size_of("[\"hear", 1000000, NM_SIDE_MASTER, NM_SESSION_PREPARE), 0);
	ck_assert_int_eq(size_of("[\"heartbeat\"", 1000000, NM_SIDE_MASTER, NM_SESSION_PREPARE),
			 -EPROTO);
	ck_assert_str_eq(why, "a message \"heartbeat\" of 1000000 bytes, longer than 4096");
	/* It will not be one. */
	ck_assert_int_eq(size_of("[\"heart{", 1000000, NM_SIDE_MASTER, NM_SESSION_PREPARE),
			 -EPROTO);
	ck_assert_int_eq(size_of("[ \"hello\"", 4096, NM_SIDE_MASTER, NM_SESSION_HELLO), 0);
	ck_assert_int_eq(size_of("[ \"hello\"", 4097, NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
}
END_TEST

START_TEST(messages_grow_with_what_the_run_has)
{
	struct nm_message_scale plain = nm_message_scale_of(&plan, 0);
	struct nm_message_scale all = nm_message_scale_of(&plan, NM_OBSERVE_ALL);

	ck_assert_uint_eq(plain.of[NM_SCALE_WORKER], 5);
	ck_assert_uint_eq(plain.of[NM_SCALE_LISTENER], 11);
	/* What was not asked for has no size. */
	ck_assert_uint_eq(plain.of[NM_SCALE_FLOW], 0);
	ck_assert_uint_eq(plain.of[NM_SCALE_CONNECTION], 0);
	ck_assert_uint_eq(all.of[NM_SCALE_FLOW], 15);
	ck_assert_uint_eq(all.of[NM_SCALE_CONNECTION], 25);
	ck_assert_uint_gt(all.of[NM_SCALE_FIGURE], 9 * 2 * 7000);
	ck_assert_uint_lt(plain.of[NM_SCALE_FIGURE], 200);
	ck_assert_uint_eq(nm_message_most_bytes(NM_MESSAGE_FLOWS, &all), 4096 + 15 * 240);
	ck_assert_uint_eq(nm_message_most_values(NM_MESSAGE_FLOWS, &all), 64 + 15 * 12);
	all.of[NM_SCALE_CONNECTION] = 10000000;
	ck_assert_uint_eq(nm_message_most_bytes(NM_MESSAGE_TCP_INFO, &all), NM_FRAME_MAX);
}
END_TEST

static int values_of(const char *word, size_t more)
{
	char *text = malloc(64 + 3 * more);
	int length = snprintf(text, 64, "[\"%s\",{\"x\":[", word);

	for (size_t i = 0; i < more; i++)
		length += snprintf(text + length, 4, "%s{}", i ? "," : "");
	int answer = nm_message_check_values(text, (size_t)length, &nothing, why, sizeof why);

	free(text);
	return answer;
}

START_TEST(a_message_of_empty_objects_is_no_tree)
{
	/* The list, the word, the body, "x" and its list are 5. */
	ck_assert_int_eq(values_of("prepare", 123), 0);
	ck_assert_int_eq(values_of("prepare", 124), -EPROTO);
	ck_assert_str_eq(why, "a message \"prepare\" of more than 128 values");
	ck_assert_int_eq(values_of("heartbeat", 59), 0);
	ck_assert_int_eq(values_of("heartbeat", 60), -EPROTO);
	ck_assert_int_eq(values_of("hallo", 60), -EPROTO);
	ck_assert_str_eq(why, "a message of more than 64 values");
}
END_TEST

/* The longest that a packer makes. */
static void fits(enum nm_message_type type, json_t *body)
{
	const struct nm_message_scale scale = nm_message_scale_of(&plan, NM_OBSERVE_ALL);
	size_t size = 0;
	char *text = nm_message_encode(type, body, &size);

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_le(size, nm_message_most_bytes(type, &scale));
	ck_assert_uint_le(nm_tokens_count(text, size, 1u << 30),
			  nm_message_most_values(type, &scale));
	free(text);
}

START_TEST(the_longest_message_of_each_kind_fits)
{
	const uint64_t most = INT64_MAX;
	uint64_t totals[5] = {most, most, most, most, most};
	struct nm_msg_totals done = {.phase = UINT32_MAX,
				     .group = UINT32_MAX,
				     .totals = totals,
				     .span = {INT64_MAX, INT64_MAX}};
	char *text = calloc(1, NM_WIRE_MAX_TEXT + 1);
	char *profile = calloc(1, (1 << 20) + 1);

	memset(&done.counts, 0x7f, sizeof done.counts);
	memset(text, '\1', NM_WIRE_MAX_TEXT);
	memset(profile, '"', 1 << 20);
	const struct nm_msg_failed failed = {.text = text};
	const struct nm_msg_prepare prepare = {.run_id = text,
					       .host = text,
					       .profile = profile,
					       .file = text,
					       .cpus = text,
					       .counters = text,
					       .interval_ns = most,
					       .timeout_ns = most};
	struct nm_host_interval row = {.phase = UINT32_MAX, .from_s = 1.0 / 3, .to_s = 1e300 / 3};

	memset(&row.cpu, 0x7f, sizeof row.cpu);
	memset(&row.usage, 0x7f, sizeof row.usage);
	memset(&row.counts, 0x7f, sizeof row.counts);
	fits(NM_MESSAGE_DONE, nm_done_pack(&done, 5));
	fits(NM_MESSAGE_FOLLOW, nm_follow_pack(&done, 5));
	fits(NM_MESSAGE_FAILED, nm_failed_pack(&failed));
	fits(NM_MESSAGE_PREPARE, nm_prepare_pack(&prepare));
	fits(NM_MESSAGE_INTERVAL, nm_interval_pack(&row));
	fits(NM_MESSAGE_HELLO, nm_hello_pack());
	text[255] = '\0';
	fits(NM_MESSAGE_WELCOME, nm_welcome_pack(text, true));
	text[255] = '\1';
	fits(NM_MESSAGE_REFUSE, nm_refuse_pack("busy", text));
	fits(NM_MESSAGE_ABORT, nm_refuse_pack("busy", text));
	free(profile);
	free(text);
}
END_TEST

START_TEST(nobody_has_so_much_to_say)
{
	const uint64_t second_ns = 1000000000;

	ck_assert(!nm_message_is_flood(10000, 0));
	ck_assert(nm_message_is_flood(10001, 0));
	ck_assert(!nm_message_is_flood(10000 + 60 * 5000, 60 * second_ns));
	ck_assert(nm_message_is_flood(10001 + 60 * 5000, 60 * second_ns));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("limits");
	TCase *tc = tcase_create("limits");

	tcase_add_test(tc, values_are_counted_without_a_tree);
	tcase_add_test(tc, an_announced_length_is_held_against_the_state);
	tcase_add_test(tc, each_word_has_its_own_size_as_soon_as_it_has_come);
	tcase_add_test(tc, messages_grow_with_what_the_run_has);
	tcase_add_test(tc, a_message_of_empty_objects_is_no_tree);
	tcase_add_test(tc, the_longest_message_of_each_kind_fits);
	tcase_add_test(tc, nobody_has_so_much_to_say);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
