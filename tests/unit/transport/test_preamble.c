/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/preamble.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

#define MS UINT64_C(1000000)

static const struct nm_preamble sample = {.cookie = UINT64_C(0x0123456789abcdef),
					  .group = 1,
					  .opening = 2,
					  .flow = 300,
					  .serial = 0x01020304};

/* What stands on the wire since the first release: both ends may be of different ones. */
static const unsigned char golden[NM_PREAMBLE_BYTES] = {
	'n', 'm', 'H', 'i', 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 0, 0, 1,
	0,   0,	  0,   2,   0,	  0,	0x01, 0x2c, 0x01, 0x02, 0x03, 0x04, 0, 0, 0, 0};

static void assert_same(const struct nm_preamble *a, const struct nm_preamble *b)
{
	ck_assert_uint_eq(a->cookie, b->cookie);
	ck_assert_uint_eq(a->group, b->group);
	ck_assert_uint_eq(a->opening, b->opening);
	ck_assert_uint_eq(a->flow, b->flow);
	ck_assert_uint_eq(a->serial, b->serial);
	ck_assert_uint_eq(a->port, b->port);
}

START_TEST(the_bytes_are_those_of_the_protocol)
{
	char wire[NM_PREAMBLE_BYTES];
	struct nm_preamble read;

	nm_preamble_pack(&sample, NM_PREAMBLE_HELLO, wire);
	ck_assert_mem_eq(wire, golden, sizeof wire);
	ck_assert_int_eq(nm_preamble_unpack(wire, sizeof wire, &read), NM_PREAMBLE_HELLO);
	assert_same(&read, &sample);
}
END_TEST

START_TEST(an_answer_names_a_port)
{
	struct nm_preamble answer = sample, read;
	char wire[NM_PREAMBLE_BYTES];

	answer.port = 54321;
	nm_preamble_pack(&answer, NM_PREAMBLE_ANSWER, wire);
	ck_assert_int_eq(nm_preamble_unpack(wire, sizeof wire, &read), NM_PREAMBLE_ANSWER);
	assert_same(&read, &answer);
}
END_TEST

START_TEST(no_other_length_is_a_preamble)
{
	char longer[NM_PREAMBLE_BYTES + 1] = {0};
	struct nm_preamble read;

	memcpy(longer, golden, sizeof golden);
	for (size_t size = 0; size <= sizeof longer; size++)
		if (size != NM_PREAMBLE_BYTES)
			ck_assert_int_eq(nm_preamble_unpack(longer, size, &read), NM_PREAMBLE_NONE);
}
END_TEST

START_TEST(no_other_word_is_a_preamble)
{
	char wire[NM_PREAMBLE_BYTES];
	struct nm_preamble read;

	for (size_t at = 0; at < 4; at++) {
		memcpy(wire, golden, sizeof wire);
		wire[at] ^= 1;
		ck_assert_int_eq(nm_preamble_unpack(wire, sizeof wire, &read), NM_PREAMBLE_NONE);
	}
}
END_TEST

/* --- streams --- */

/* Gives the parser the bytes in pieces that end at `first` and `second`. */
static enum nm_preamble_status feed(const char *bytes, size_t first, size_t second,
				    struct nm_preamble *ret)
{
	const size_t ends[] = {first, second, NM_PREAMBLE_BYTES};
	struct nm_preamble_parser parser = {.got = 0};
	enum nm_preamble_status status = NM_PREAMBLE_MORE;
	size_t at = 0, room;

	for (size_t i = 0; i < 3 && status == NM_PREAMBLE_MORE; i++) {
		if (ends[i] == at)
			continue;
		char *to = nm_preamble_next(&parser, &room);

		ck_assert_uint_eq(room, NM_PREAMBLE_BYTES - at);
		memcpy(to, bytes + at, ends[i] - at);
		status = nm_preamble_parse(&parser, ends[i] - at, ret);
		at = ends[i];
		if (at < NM_PREAMBLE_BYTES)
			ck_assert_int_ne(status, NM_PREAMBLE_DONE);
	}
	return status;
}

START_TEST(a_stream_may_be_cut_anywhere)
{
	struct nm_preamble read;

	for (size_t first = 0; first <= NM_PREAMBLE_BYTES; first++) {
		for (size_t second = first; second <= NM_PREAMBLE_BYTES; second++) {
			memset(&read, 0, sizeof read);
			ck_assert_int_eq(feed((const char *)golden, first, second, &read),
					 NM_PREAMBLE_DONE);
			assert_same(&read, &sample);
		}
	}
}
END_TEST

START_TEST(a_stream_may_come_byte_by_byte)
{
	struct nm_preamble_parser parser = {.got = 0};
	struct nm_preamble read;
	size_t room;

	for (size_t i = 0; i < NM_PREAMBLE_BYTES; i++) {
		*nm_preamble_next(&parser, &room) = (char)golden[i];
		ck_assert_int_eq(nm_preamble_parse(&parser, 1, &read),
				 i + 1 < NM_PREAMBLE_BYTES ? NM_PREAMBLE_MORE : NM_PREAMBLE_DONE);
	}
	(void)nm_preamble_next(&parser, &room);
	ck_assert_uint_eq(room, 0);
	assert_same(&read, &sample);
}
END_TEST

START_TEST(a_stranger_is_found_out_by_the_first_wrong_byte)
{
	char bytes[NM_PREAMBLE_BYTES];
	struct nm_preamble read;
	size_t room;

	for (size_t wrong = 0; wrong < 4; wrong++) {
		struct nm_preamble_parser parser = {.got = 0};

		memcpy(bytes, golden, sizeof bytes);
		bytes[wrong] = '!';
		for (size_t i = 0; i <= wrong; i++) {
			*nm_preamble_next(&parser, &room) = bytes[i];
			ck_assert_int_eq(nm_preamble_parse(&parser, 1, &read),
					 i < wrong ? NM_PREAMBLE_MORE : NM_PREAMBLE_BAD);
		}
		for (size_t cut = 0; cut <= NM_PREAMBLE_BYTES; cut++)
			ck_assert_int_eq(feed(bytes, cut, cut, &read), NM_PREAMBLE_BAD);
	}
}
END_TEST

START_TEST(an_answer_is_no_hello_of_a_stream)
{
	char bytes[NM_PREAMBLE_BYTES];
	struct nm_preamble read;

	nm_preamble_pack(&sample, NM_PREAMBLE_ANSWER, bytes);
	ck_assert_int_eq(feed(bytes, 0, 0, &read), NM_PREAMBLE_BAD);
}
END_TEST

/* --- the connecting end --- */

START_TEST(serials_grow_and_are_never_0)
{
	struct nm_preamble_sender sender;
	uint32_t serials = 0;

	nm_preamble_begin(&sender, &serials, 7);
	ck_assert_uint_eq(sender.serial, 1);
	ck_assert_uint_eq(sender.since_ns, 7);
	nm_preamble_begin(&sender, &serials, 8);
	ck_assert_uint_eq(sender.serial, 2);
	serials = UINT32_MAX;
	nm_preamble_begin(&sender, &serials, 9);
	ck_assert_uint_eq(sender.serial, 1);
}
END_TEST

/* An action at a time, ms after the preamble was sent first, and when to ask again. */
struct due {
	uint64_t at_ms;
	enum nm_preamble_action action;
	uint64_t next_ms; /* 0: never */
};

static void assert_dues(uint64_t limit_ms, const struct due *dues, size_t n)
{
	const uint64_t begin_ns = UINT64_C(1) << 40;
	struct nm_preamble_sender sender;
	uint32_t serials = 0;

	nm_preamble_begin(&sender, &serials, begin_ns);
	for (size_t i = 0; i < n; i++) {
		uint64_t next_ns = begin_ns;

		ck_assert_int_eq(nm_preamble_due(&sender, limit_ms * MS,
						 begin_ns + dues[i].at_ms * MS, &next_ns),
				 dues[i].action);
		ck_assert_uint_eq(next_ns, begin_ns + dues[i].next_ms * MS);
	}
}
#define ASSERT_DUES(limit_ms, ...)                                                                 \
	assert_dues(limit_ms, (const struct due[]){__VA_ARGS__},                                   \
		    sizeof((const struct due[]){__VA_ARGS__}) / sizeof(struct due))

START_TEST(it_is_repeated_less_and_less_often_but_never_seldom)
{
	ASSERT_DUES(1000, {0, NM_PREAMBLE_WAIT, 20}, {20, NM_PREAMBLE_SEND, 60},
		    {60, NM_PREAMBLE_SEND, 140}, {140, NM_PREAMBLE_SEND, 300},
		    {300, NM_PREAMBLE_SEND, 620}, {620, NM_PREAMBLE_SEND, 940},
		    {940, NM_PREAMBLE_SEND, 1000}, {1000, NM_PREAMBLE_GIVE_UP, 0});
}
END_TEST

START_TEST(what_comes_before_it_is_due_repeats_nothing)
{
	ASSERT_DUES(1000, {5, NM_PREAMBLE_WAIT, 20}, {19, NM_PREAMBLE_WAIT, 20},
		    {20, NM_PREAMBLE_SEND, 60}, {20, NM_PREAMBLE_WAIT, 60},
		    {59, NM_PREAMBLE_WAIT, 60});
}
END_TEST

START_TEST(repetitions_that_were_missed_are_one)
{
	ASSERT_DUES(10000, {150, NM_PREAMBLE_SEND, 300}, {299, NM_PREAMBLE_WAIT, 300},
		    {5000, NM_PREAMBLE_SEND, 5100}, {9990, NM_PREAMBLE_SEND, 10000},
		    {10001, NM_PREAMBLE_GIVE_UP, 0});
}
END_TEST

START_TEST(the_limit_is_kept_exactly)
{
	ASSERT_DUES(5, {0, NM_PREAMBLE_WAIT, 5}, {5, NM_PREAMBLE_GIVE_UP, 0});
	ASSERT_DUES(20, {19, NM_PREAMBLE_WAIT, 20}, {20, NM_PREAMBLE_GIVE_UP, 0});
	ASSERT_DUES(100, {60, NM_PREAMBLE_SEND, 100}, {99, NM_PREAMBLE_WAIT, 100},
		    {100, NM_PREAMBLE_GIVE_UP, 0});
}
END_TEST

START_TEST(a_clock_that_went_back_repeats_nothing)
{
	struct nm_preamble_sender sender;
	uint32_t serials = 0;
	uint64_t next_ns = 0;

	nm_preamble_begin(&sender, &serials, 100 * MS);
	ck_assert_int_eq(nm_preamble_due(&sender, 1000 * MS, 99 * MS, &next_ns), NM_PREAMBLE_WAIT);
	ck_assert_uint_eq(next_ns, 120 * MS);
}
END_TEST

static bool answers(const struct nm_preamble *its, enum nm_preamble_kind kind)
{
	char wire[NM_PREAMBLE_BYTES];
	uint32_t port = 0;

	nm_preamble_pack(its, kind, wire);
	bool is = nm_preamble_is_answered(&sample, wire, sizeof wire, &port);

	ck_assert_uint_eq(port, is ? its->port : 0);
	return is;
}

START_TEST(only_the_answer_to_this_connection_is_one)
{
	struct nm_preamble its = sample;

	its.port = 4711;
	ck_assert(answers(&its, NM_PREAMBLE_ANSWER));
	ck_assert(!answers(&its, NM_PREAMBLE_HELLO));
	for (unsigned member = 0; member < 5; member++) {
		its = sample;
		its.cookie += member == 0;
		its.group += member == 1;
		its.opening += member == 2;
		its.flow += member == 3;
		its.serial -= member == 4;
		ck_assert(!answers(&its, NM_PREAMBLE_ANSWER));
	}
}
END_TEST

START_TEST(data_is_no_answer)
{
	uint32_t port = 0;

	ck_assert(!nm_preamble_is_answered(&sample, "data", 4, &port));
	ck_assert(!nm_preamble_is_answered(&sample, "", 0, &port));
}
END_TEST

/* --- the accepting end --- */

START_TEST(each_connection_is_new_once)
{
	struct nm_preamble_known known = {.serial = 0};

	ck_assert_int_eq(nm_preamble_judge(&known, 1), NM_PREAMBLE_NEW);
	known.serial = 1;
	ck_assert_int_eq(nm_preamble_judge(&known, 1), NM_PREAMBLE_REPEATED);
	ck_assert_int_eq(nm_preamble_judge(&known, 2), NM_PREAMBLE_NEW);
	known.serial = 2;
	ck_assert_int_eq(nm_preamble_judge(&known, 1), NM_PREAMBLE_OLD);
	ck_assert_int_eq(nm_preamble_judge(&known, 2), NM_PREAMBLE_REPEATED);
}
END_TEST

START_TEST(serials_may_go_round)
{
	struct nm_preamble_known known = {.serial = UINT32_MAX};

	ck_assert_int_eq(nm_preamble_judge(&known, 1), NM_PREAMBLE_NEW);
	known.serial = 1;
	ck_assert_int_eq(nm_preamble_judge(&known, UINT32_MAX), NM_PREAMBLE_OLD);
}
END_TEST

START_TEST(the_first_may_have_any_serial_but_0)
{
	const struct nm_preamble_known known = {.serial = 0};

	ck_assert_int_eq(nm_preamble_judge(&known, UINT32_MAX), NM_PREAMBLE_NEW);
	ck_assert_int_eq(nm_preamble_judge(&known, 0), NM_PREAMBLE_OLD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("preamble");
	TCase *tcase = tcase_create("preamble");

	tcase_add_test(tcase, the_bytes_are_those_of_the_protocol);
	tcase_add_test(tcase, an_answer_names_a_port);
	tcase_add_test(tcase, no_other_length_is_a_preamble);
	tcase_add_test(tcase, no_other_word_is_a_preamble);
	tcase_add_test(tcase, a_stream_may_be_cut_anywhere);
	tcase_add_test(tcase, a_stream_may_come_byte_by_byte);
	tcase_add_test(tcase, a_stranger_is_found_out_by_the_first_wrong_byte);
	tcase_add_test(tcase, an_answer_is_no_hello_of_a_stream);
	tcase_add_test(tcase, serials_grow_and_are_never_0);
	tcase_add_test(tcase, it_is_repeated_less_and_less_often_but_never_seldom);
	tcase_add_test(tcase, what_comes_before_it_is_due_repeats_nothing);
	tcase_add_test(tcase, repetitions_that_were_missed_are_one);
	tcase_add_test(tcase, the_limit_is_kept_exactly);
	tcase_add_test(tcase, a_clock_that_went_back_repeats_nothing);
	tcase_add_test(tcase, only_the_answer_to_this_connection_is_one);
	tcase_add_test(tcase, data_is_no_answer);
	tcase_add_test(tcase, each_connection_is_new_once);
	tcase_add_test(tcase, serials_may_go_round);
	tcase_add_test(tcase, the_first_may_have_any_serial_but_0);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
