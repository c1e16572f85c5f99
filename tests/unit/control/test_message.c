/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: what may come when, and bodies that a hostile peer could send. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "control/wire/codec.h"
#include "control/wire/message.h"
#include "json_text.h"

static char why[256];

static int decode(const char *text, enum nm_side from, enum nm_session_state state)
{
	struct nm_message message;
	int answer = nm_message_decode(text, strlen(text), from, state, &message, why, sizeof why);

	if (answer == 0)
		nm_message_fini(&message);
	return answer;
}

/* Two groups: one of 2 workers and 3 phases, one of 1 worker and 1 phase. */
static struct nm_group groups[] = {
	{.n_workers = 2, .n_phases = 3},
	{.n_workers = 1, .n_phases = 1},
};
static const struct nm_plan plan = {.groups = groups, .n_groups = 2, .n_phases = 3};

START_TEST(an_encoded_message_is_decoded)
{
	size_t size = 0;
	char *text = nm_message_encode(NM_MESSAGE_PING, nm_number_pack(NM_MESSAGE_PING, 42), &size);
	struct nm_message message;
	uint64_t sent;

	ck_assert_str_eq(text, "[\"ping\",{\"t\":42}]");
	ck_assert_uint_eq(size, strlen(text));
	ck_assert_int_eq(nm_message_decode(text, size, NM_SIDE_MASTER, NM_SESSION_IDLE, &message,
					   why, sizeof why),
			 0);
	ck_assert_int_eq(message.type, NM_MESSAGE_PING);
	ck_assert_int_eq(nm_number_unpack(NM_MESSAGE_PING, message.body, &sent), 0);
	ck_assert_uint_eq(sent, 42);
	nm_message_fini(&message);
	free(text);
}
END_TEST

START_TEST(a_message_cut_anywhere_is_refused)
{
	size_t size = 0;
	char *text = nm_message_encode(NM_MESSAGE_HELLO, nm_hello_pack(), &size);
	struct nm_message message;

	ck_assert_ptr_nonnull(text);
	for (size_t cut = 0; cut < size; cut++) {
		/* A copy of the very size, so that a byte too many is found by the sanitizers. */
		char *piece = malloc(cut ? cut : 1);

		ck_assert_ptr_nonnull(piece);
		memcpy(piece, text, cut);
		ck_assert_int_eq(nm_message_decode(piece, cut, NM_SIDE_MASTER, NM_SESSION_HELLO,
						   &message, why, sizeof why),
				 -EPROTO);
		free(piece);
	}
	ck_assert_int_eq(nm_message_decode(text, size, NM_SIDE_MASTER, NM_SESSION_HELLO, &message,
					   why, sizeof why),
			 0);
	nm_message_fini(&message);
	free(text);
}
END_TEST

START_TEST(what_is_not_a_message_is_named)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"GET / HTTP/1.1", "not JSON"},
		{"\"hello\"", "not JSON"},
		{"[]", "not [\"word\", {...}]"},
		{"{\"hello\":1}", "not [\"word\", {...}]"},
		{"[\"hello\"]", "not [\"word\", {...}]"},
		{"[\"hello\",[]]", "not [\"word\", {...}]"},
		{"[\"hello\",{},1]", "not [\"word\", {...}]"},
		{"[1,{}]", "not [\"word\", {...}]"},
		{"[\"hello\",{\"a\":1,\"a\":2}]", "not JSON"},
		{"[\"hello\",{\"a\":\"\\u0000\"}]", "not JSON"},
		{"[\"hallo\",{}]", "unknown message, \"hallo\""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ck_assert_int_eq(decode(cases[i].text, NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
		ck_assert_msg(strstr(why, cases[i].why) != NULL, "%s: %s", cases[i].text, why);
	}
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	enum { DEPTH = 30000 };
	char *text = malloc(DEPTH + 32);

	ck_assert_ptr_nonnull(text);
	int length = snprintf(text, 32, "[\"hello\",{\"a\":");
	memset(text + length, '[', DEPTH);
	text[length + DEPTH] = '\0';
	ck_assert_int_eq(decode(text, NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
	free(text);
}
END_TEST

START_TEST(messages_have_their_turn_and_their_sender)
{
	ck_assert_int_eq(decode("[\"hello\",{}]", NM_SIDE_MASTER, NM_SESSION_HELLO), 0);
	ck_assert_int_eq(decode("[\"hello\",{}]", NM_SIDE_SLAVE, NM_SESSION_HELLO), -EPROTO);
	ck_assert_int_eq(decode("[\"hello\",{}]", NM_SIDE_MASTER, NM_SESSION_PREPARE), -EPROTO);
	ck_assert_str_eq(why, "a message out of turn, \"hello\" in state \"prepare\"");
	ck_assert_int_eq(decode("[\"prepare\",{}]", NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
	ck_assert_int_eq(decode("[\"begin\",{}]", NM_SIDE_MASTER, NM_SESSION_IDLE), 0);
	ck_assert_int_eq(decode("[\"begin\",{}]", NM_SIDE_MASTER, NM_SESSION_PHASE), -EPROTO);
	ck_assert_int_eq(decode("[\"done\",{}]", NM_SIDE_SLAVE, NM_SESSION_PHASE), 0);
	ck_assert_int_eq(decode("[\"result\",{}]", NM_SIDE_SLAVE, NM_SESSION_PHASE), -EPROTO);
	ck_assert_int_eq(decode("[\"heartbeat\",{}]", NM_SIDE_MASTER, NM_SESSION_PHASE), 0);
	ck_assert_int_eq(decode("[\"heartbeat\",{}]", NM_SIDE_SLAVE, NM_SESSION_PHASE), 0);
	ck_assert_int_eq(decode("[\"heartbeat\",{}]", NM_SIDE_MASTER, NM_SESSION_HELLO), -EPROTO);
	for (int type = 0; type < NM_MESSAGE__COUNT; type++) {
		char text[64];

		(void)snprintf(text, sizeof text, "[\"%s\",{}]",
			       nm_message_word((enum nm_message_type)type));
		ck_assert_int_eq(decode(text, NM_SIDE_MASTER, NM_SESSION_END), -EPROTO);
		ck_assert_int_eq(decode(text, NM_SIDE_SLAVE, NM_SESSION_END), -EPROTO);
	}
}
END_TEST

START_TEST(a_hello_of_the_future_is_understood)
{
	struct nm_msg_hello hello;
	json_t *body =
		json_of("{\"magic\":\"netmodel\",\"protocol\":7,\"version\":\"9.0\",\"new\":1}");

	ck_assert_int_eq(nm_hello_unpack(body, &hello), 0);
	ck_assert_uint_eq(hello.protocol, 7);
	ck_assert_str_eq(hello.version, "9.0");
	json_decref(body);
	body = json_of("{\"magic\":\"netmodem\",\"protocol\":1,\"version\":\"0.1.0\"}");
	ck_assert_int_eq(nm_hello_unpack(body, &hello), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(a_work_order_is_read_back)
{
	const struct nm_msg_prepare sent = {
		.run_id = "0123",
		.host = "10.0.0.7",
		.profile = "<profile/>",
		.file = "web.xml",
		.interval_ns = 1000000000,
		.timeout_ns = 5,
		.seed = 77,
		.secret = {0x00, 0x9a, 0xff},
	};
	struct nm_msg_prepare got;
	json_t *body = nm_prepare_pack(&sent);

	ck_assert_int_eq(nm_prepare_unpack(body, &got), 0);
	ck_assert_str_eq(got.run_id, sent.run_id);
	ck_assert_str_eq(got.host, sent.host);
	ck_assert_str_eq(got.profile, sent.profile);
	ck_assert_str_eq(got.file, sent.file);
	ck_assert_ptr_null(got.cpus);
	ck_assert_uint_eq(got.interval_ns, sent.interval_ns);
	ck_assert_uint_eq(got.timeout_ns, sent.timeout_ns);
	ck_assert_uint_eq(got.seed, sent.seed);
	ck_assert_mem_eq(got.secret, sent.secret, sizeof got.secret);
	/* Every member is needed, none more is taken, and each has one type. */
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(body, next, key, value)
	{
		json_t *copy = json_copy(body);

		ck_assert_int_eq(json_object_del(copy, key), 0);
		ck_assert_int_eq(nm_prepare_unpack(copy, &got), -EPROTO);
		ck_assert_int_eq(json_object_set_new(copy, key, json_array()), 0);
		ck_assert_int_eq(nm_prepare_unpack(copy, &got), -EPROTO);
		json_decref(copy);
	}
	ck_assert_int_eq(json_object_set_new(body, "more", json_true()), 0);
	ck_assert_int_eq(nm_prepare_unpack(body, &got), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(a_group_to_be_renewed_is_one_of_the_plan)
{
	const struct nm_plan three = {.n_groups = 3}, none = {.n_groups = 0};
	json_t *body = nm_renew_pack(2);
	uint32_t group = 0;

	ck_assert_int_eq(nm_renew_unpack(body, &three, &group), 0);
	ck_assert_uint_eq(group, 2);
	ck_assert_int_eq(nm_renew_unpack(body, &none, &group), -EPROTO);
	json_decref(body);
	body = nm_renew_pack(3);
	ck_assert_int_eq(nm_renew_unpack(body, &three, &group), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(a_secret_has_one_form)
{
	const struct nm_msg_prepare sent = {.run_id = "1",
					    .host = "h",
					    .profile = "<profile/>",
					    .file = "f",
					    .timeout_ns = 1,
					    .secret = {0xab}};
	static const char *const wrong[] = {"", "ab", "AB"};
	struct nm_msg_prepare got;
	json_t *body = nm_prepare_pack(&sent);
	char text[2 * NM_SECRET_BYTES + 1];

	ck_assert_str_eq(json_string_value(json_object_get(body, "secret")),
			 "ab00000000000000000000000000000000000000000000000000000000000000");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		memset(text, '0', sizeof text - 1);
		text[sizeof text - 1] = '\0';
		memcpy(text, wrong[i], strlen(wrong[i]));
		text[i == 2 ? sizeof text - 1 : strlen(wrong[i])] = '\0';
		ck_assert_int_eq(json_object_set_new(body, "secret", json_string(text)), 0);
		ck_assert_int_eq(nm_prepare_unpack(body, &got), -EPROTO);
	}
	json_decref(body);
}
END_TEST

START_TEST(texts_have_a_longest_length)
{
	char name[600];
	struct nm_msg_failed failed;
	char *text = calloc(1, NM_WIRE_MAX_TEXT + 2);

	ck_assert_ptr_nonnull(text);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	struct nm_msg_prepare order = {
		.run_id = "1", .host = name, .profile = "", .file = "", .timeout_ns = 1};
	json_t *body = nm_prepare_pack(&order);

	ck_assert_int_eq(nm_prepare_unpack(body, &order), -EPROTO);
	json_decref(body);
	memset(text, 't', NM_WIRE_MAX_TEXT);
	failed = (struct nm_msg_failed){.text = text};
	body = nm_failed_pack(&failed);
	ck_assert_int_eq(nm_failed_unpack(body, &failed), 0);
	json_decref(body);
	text[NM_WIRE_MAX_TEXT] = 't';
	failed.text = text;
	body = nm_failed_pack(&failed);
	ck_assert_int_eq(nm_failed_unpack(body, &failed), -EPROTO);
	json_decref(body);
	free(text);
}
END_TEST

START_TEST(texts_of_any_bytes_can_be_sent)
{
	json_t *value = nm_text_pack("caf\xe9");

	ck_assert_str_eq(json_string_value(value), "caf?");
	json_decref(value);
}
END_TEST

START_TEST(totals_are_held_against_the_plan)
{
	static const char *const wrong[] = {
		"{\"phase\":0,\"group\":2,\"totals\":[1]}",
		"{\"phase\":0,\"group\":-1,\"totals\":[1]}",
		"{\"phase\":0,\"group\":4294967296,\"totals\":[1,2]}",
		"{\"phase\":3,\"group\":0,\"totals\":[1,2]}",
		"{\"phase\":1,\"group\":1,\"totals\":[1]}",
		"{\"phase\":0,\"group\":0,\"totals\":[1]}",
		"{\"phase\":0,\"group\":0,\"totals\":[1,2,3]}",
		"{\"phase\":0,\"group\":0,\"totals\":[1,-2]}",
		"{\"phase\":0,\"group\":0,\"totals\":[1,2.5]}",
		"{\"phase\":0,\"group\":0,\"totals\":[1,\"2\"]}",
		"{\"phase\":0,\"group\":0,\"totals\":{}}",
		"{\"phase\":0,\"group\":0}",
		"{\"phase\":0,\"group\":0,\"totals\":[1,2],\"x\":0}",
	};
	uint64_t totals[2];
	struct nm_msg_totals follow = {.totals = totals, .room = 2};
	json_t *body = json_of("{\"phase\":2,\"group\":0,\"totals\":[7,8]}");

	ck_assert_int_eq(nm_follow_unpack(body, &plan, &follow), 0);
	ck_assert_uint_eq(follow.phase, 2);
	ck_assert_uint_eq(totals[0], 7);
	ck_assert_uint_eq(totals[1], 8);
	json_decref(body);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		body = json_of(wrong[i]);
		ck_assert_msg(nm_follow_unpack(body, &plan, &follow) == -EPROTO, "%s was taken",
			      wrong[i]);
		json_decref(body);
	}
	/* Never more than there is room for, whatever the plan says. */
	follow.room = 1;
	body = json_of("{\"phase\":2,\"group\":0,\"totals\":[7,8]}");
	ck_assert_int_eq(nm_follow_unpack(body, &plan, &follow), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(done_is_read_back)
{
	uint64_t totals[2] = {3, 4}, got[2];
	const struct nm_msg_totals sent = {
		.phase = 1,
		.group = 0,
		.totals = totals,
		.counts = {.iterations = 7, .bytes_sent = 1ull << 60, .accepts = 2},
		.span = {.from_ns = 5, .to_ns = 6},
	};
	struct nm_msg_totals done = {.totals = got, .room = 2};
	json_t *body = nm_done_pack(&sent, 2);

	ck_assert_int_eq(nm_done_unpack(body, &plan, &done), 0);
	ck_assert_uint_eq(done.phase, 1);
	ck_assert_uint_eq(got[1], 4);
	ck_assert_uint_eq(done.counts.iterations, 7);
	ck_assert_uint_eq(done.counts.bytes_sent, 1ull << 60);
	ck_assert_uint_eq(done.counts.accepts, 2);
	ck_assert_uint_eq(done.span.from_ns, 5);
	ck_assert_uint_eq(done.span.to_ns, 6);
	ck_assert_int_eq(json_array_set_new(json_object_get(body, "span"), 1, json_integer(4)), 0);
	ck_assert_int_eq(nm_done_unpack(body, &plan, &done), -EPROTO); /* it ends too early */
	ck_assert_int_eq(json_array_set_new(json_object_get(body, "span"), 1, json_integer(5)), 0);
	ck_assert_int_eq(nm_done_unpack(body, &plan, &done), 0);
	ck_assert_int_eq(json_array_append_new(json_object_get(body, "counts"), json_integer(1)),
			 0);
	ck_assert_int_eq(nm_done_unpack(body, &plan, &done), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(orders_of_a_phase_are_read_back)
{
	const struct nm_phase_order sent = {.phase = 2,
					    .measured = true,
					    .stop_ns = 10,
					    .usage_from_ns = NM_USAGE_NEVER,
					    .usage_to_ns = NM_USAGE_AT_END};
	struct nm_phase_order got;
	json_t *body = nm_begin_pack(&sent);

	ck_assert_int_eq(nm_begin_unpack(body, 3, &got), 0);
	ck_assert_uint_eq(got.phase, 2);
	ck_assert(got.measured);
	ck_assert_uint_eq(got.stop_ns, 10);
	ck_assert_int_eq(got.usage_from_ns, NM_USAGE_NEVER);
	ck_assert_int_eq(got.usage_to_ns, NM_USAGE_AT_END);
	ck_assert_int_eq(nm_begin_unpack(body, 2, &got), -EPROTO);
	ck_assert_int_eq(nm_begin_unpack(body, 0, &got), -EPROTO);
	ck_assert_int_eq(json_object_set_new(body, "usage_to_ns", json_integer(-2)), 0);
	ck_assert_int_eq(nm_begin_unpack(body, 3, &got), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(a_work_order_names_counters_in_their_form)
{
	struct nm_msg_prepare order = {.run_id = "1",
				       .host = "h",
				       .profile = "",
				       .file = "",
				       .counters = "cycles,page-faults",
				       .details = NM_OBSERVE_ALL,
				       .timeout_ns = 1};
	json_t *body = nm_prepare_pack(&order);
	struct nm_msg_prepare got;

	ck_assert_int_eq(nm_prepare_unpack(body, &got), 0);
	ck_assert_str_eq(got.counters, order.counters);
	ck_assert_uint_eq(got.details, NM_OBSERVE_ALL);
	ck_assert_int_eq(json_object_set_new(body, "counters", json_string("a b")), 0);
	ck_assert_int_eq(nm_prepare_unpack(body, &got), -EPROTO);
	ck_assert_int_eq(json_object_set_new(body, "counters", json_null()), 0);
	ck_assert_int_eq(json_object_set_new(body, "details", json_integer(NM_OBSERVE_ALL + 1)), 0);
	ck_assert_int_eq(nm_prepare_unpack(body, &got), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(facts_are_read_back_and_checked)
{
	struct nm_host_facts facts = {.n_cpus = 4, .memory_bytes = 1u << 30}, got;
	unsigned char nonce[NM_NONCE_BYTES] = {3, 1, 4}, told_nonce[NM_NONCE_BYTES];
	json_t *endpoints;

	(void)snprintf(facts.hostname, sizeof facts.hostname, "ada");
	json_t *body = nm_ready_pack(json_array(), nonce, &facts);

	ck_assert_int_eq(nm_ready_unpack(body, &endpoints, told_nonce, &got), 0);
	ck_assert_str_eq(got.hostname, "ada");
	ck_assert_mem_eq(told_nonce, nonce, sizeof nonce);
	ck_assert_uint_eq(got.n_cpus, 4);
	ck_assert_uint_eq(got.memory_bytes, 1u << 30);
	json_t *told = json_object_get(body, "facts");

	char longest[sizeof facts.machine + 1];

	memset(longest, 'm', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	ck_assert_int_eq(json_object_set_new(told, "machine", json_string(longest)), 0);
	ck_assert_int_eq(nm_ready_unpack(body, &endpoints, told_nonce, &got), -EPROTO);
	json_decref(body);
}
END_TEST

START_TEST(endpoints_of_no_opening_are_refused)
{
	static const char *const wrong[] = {
		"[[0,0,[\"1\",\"2\"]]]", /* the group has no openings */
		"[[9,0,[\"1\",\"2\"]]]", "[[0,-1,[\"1\",\"2\"]]]", "[[0,0]]", "[0]", "{}",
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		json_t *list = json_of(wrong[i]);

		ck_assert_msg(nm_endpoints_unpack(list, NULL, &plan, 0) == -EPROTO, "%s was taken",
			      wrong[i]);
		json_decref(list);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("message");
	TCase *tc = tcase_create("message");

	tcase_add_test(tc, an_encoded_message_is_decoded);
	tcase_add_test(tc, a_message_cut_anywhere_is_refused);
	tcase_add_test(tc, what_is_not_a_message_is_named);
	tcase_add_test(tc, deep_nesting_is_refused);
	tcase_add_test(tc, messages_have_their_turn_and_their_sender);
	tcase_add_test(tc, a_hello_of_the_future_is_understood);
	tcase_add_test(tc, a_work_order_is_read_back);
	tcase_add_test(tc, a_group_to_be_renewed_is_one_of_the_plan);
	tcase_add_test(tc, a_secret_has_one_form);
	tcase_add_test(tc, texts_have_a_longest_length);
	tcase_add_test(tc, texts_of_any_bytes_can_be_sent);
	tcase_add_test(tc, totals_are_held_against_the_plan);
	tcase_add_test(tc, done_is_read_back);
	tcase_add_test(tc, orders_of_a_phase_are_read_back);
	tcase_add_test(tc, a_work_order_names_counters_in_their_form);
	tcase_add_test(tc, facts_are_read_back_and_checked);
	tcase_add_test(tc, endpoints_of_no_opening_are_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
