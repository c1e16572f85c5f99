/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/preamble.h"

#include <check.h>
#include <string.h>

#include "../suite.h"
#include "transport/prover.h"

#define MS UINT64_C(1000000)

static const unsigned char secret[NM_SECRET_BYTES] = {1, 2, 3}, nonce[NM_NONCE_BYTES] = {4, 5};
static struct nm_prover *prover;

static void setup(void)
{
	prover = nm_prover_new(secret);
	ck_assert_ptr_nonnull(prover);
}

static void teardown(void)
{
	prover = nm_prover_free(prover);
}

static const struct nm_preamble sample = {
	.group = 1, .opening = 2, .flow = 300, .serial = 0x01020304};

/* What stands on the wire, up to the proof, which is computed elsewhere: HMAC-SHA256 with the key
 * HMAC-SHA256(secret, "netmodel data connections") over the nonce and the 40 bytes before. */
static const unsigned char golden[NM_PREAMBLE_BYTES] = {
	'n',  'm',  'H',  'i',	0,    0,    0,	  1,	0,    0,    0,	  2,	0,    0,
	0x01, 0x2c, 0x01, 0x02, 0x03, 0x04, 0,	  0,	0,    0,    0,	  0,	0,    0,
	0,    0,    0,	  0,	0,    0,    0,	  0,	0,    0,    0,	  0,	0x89, 0x48,
	0xf6, 0x15, 0x07, 0x90, 0xd8, 0x47, 0x80, 0x4d, 0xa1, 0xe8, 0xef, 0x47, 0x51, 0x20};

static void assert_same(const struct nm_preamble *a, const struct nm_preamble *b)
{
	ck_assert_mem_eq(a->cookie, b->cookie, sizeof a->cookie);
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

	nm_preamble_pack(&sample, NM_PREAMBLE_HELLO, prover, nonce, wire);
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
	nm_preamble_pack(&answer, NM_PREAMBLE_ANSWER, prover, nonce, wire);
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

	nm_preamble_pack(&sample, NM_PREAMBLE_ANSWER, prover, nonce, bytes);
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

static enum nm_preamble_reply reply(struct nm_preamble_sender *sender,
				    const struct nm_preamble *its, enum nm_preamble_kind kind,
				    const unsigned char *to)
{
	char wire[NM_PREAMBLE_BYTES];
	uint32_t port = 0;

	nm_preamble_pack(its, kind, prover, to, wire);
	enum nm_preamble_reply is =
		nm_preamble_read_reply(sender, &sample, wire, sizeof wire, prover, nonce, &port);

	ck_assert_uint_eq(port, is == NM_PREAMBLE_ANSWERED ? its->port : 0);
	return is;
}

START_TEST(only_the_answer_to_this_connection_is_one)
{
	static const unsigned char other[NM_NONCE_BYTES] = {6};
	struct nm_preamble_sender sender = {.serial = sample.serial};
	struct nm_preamble its = sample;

	its.port = 4711;
	ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_ANSWER, nonce), NM_PREAMBLE_ANSWERED);
	ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_HELLO, nonce), NM_PREAMBLE_UNRELATED);
	ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_ANSWER, other), NM_PREAMBLE_UNRELATED);
	for (unsigned member = 0; member < 4; member++) {
		its = sample;
		its.group += member == 0;
		its.opening += member == 1;
		its.flow += member == 2;
		its.serial -= member == 3;
		ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_ANSWER, nonce),
				 NM_PREAMBLE_UNRELATED);
		ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_CHALLENGE, nonce),
				 NM_PREAMBLE_UNRELATED);
	}
}
END_TEST

START_TEST(a_challenge_is_heeded_once)
{
	struct nm_preamble_sender sender = {.serial = sample.serial};
	struct nm_preamble its = sample;

	memset(its.cookie, 7, sizeof its.cookie);
	ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_CHALLENGE, nonce),
			 NM_PREAMBLE_CHALLENGED);
	ck_assert_mem_eq(sender.cookie, its.cookie, sizeof its.cookie);
	ck_assert_int_eq(reply(&sender, &its, NM_PREAMBLE_CHALLENGE, nonce), NM_PREAMBLE_UNRELATED);
}
END_TEST

START_TEST(data_is_no_answer)
{
	struct nm_preamble_sender sender = {.serial = 1};
	uint32_t port = 0;

	ck_assert_int_eq(nm_preamble_read_reply(&sender, &sample, "data", 4, prover, nonce, &port),
			 NM_PREAMBLE_UNRELATED);
	ck_assert_int_eq(nm_preamble_read_reply(&sender, &sample, "", 0, prover, nonce, &port),
			 NM_PREAMBLE_UNRELATED);
}
END_TEST

/* --- proofs --- */

START_TEST(a_proof_holds_for_these_bytes_alone)
{
	static const unsigned char other[NM_SECRET_BYTES] = {9};
	struct nm_prover *stranger = nm_prover_new(other);
	char wire[NM_PREAMBLE_BYTES];

	for (size_t bit = 0; bit < 8 * sizeof wire; bit++) {
		memcpy(wire, golden, sizeof wire);
		ck_assert(nm_preamble_is_proved(wire, prover, nonce));
		wire[bit / 8] = (char)(wire[bit / 8] ^ 1 << bit % 8);
		ck_assert(!nm_preamble_is_proved(wire, prover, nonce));
	}
	memcpy(wire, golden, sizeof wire);
	ck_assert(!nm_preamble_is_proved(wire, stranger, nonce));
	ck_assert(!nm_preamble_is_proved(wire, prover, secret));
	nm_prover_free(stranger);
}
END_TEST

/* A script of the accepting end: what it sends to an address that has sent it something. */
static size_t heard(struct nm_prover *keeper, const char *from, const char *wire,
		    char reply_to[NM_PREAMBLE_BYTES], bool *ret_met)
{
	struct nm_preamble hello;

	*ret_met = false;
	if (nm_preamble_unpack(wire, NM_PREAMBLE_BYTES, &hello) != NM_PREAMBLE_HELLO ||
	    !nm_preamble_is_proved(wire, prover, nonce))
		return 0;
	*ret_met = nm_preamble_is_returned(&hello, keeper, from, strlen(from));
	nm_preamble_pack(&hello, *ret_met ? NM_PREAMBLE_ANSWER : NM_PREAMBLE_CHALLENGE, prover,
			 nonce, reply_to);
	return NM_PREAMBLE_BYTES;
}

START_TEST(a_path_is_proved_by_a_round_trip)
{
	struct nm_prover *keeper = nm_prover_new_random();
	struct nm_preamble_sender sender = {.serial = sample.serial};
	struct nm_preamble hello = sample;
	char wire[NM_PREAMBLE_BYTES], back[NM_PREAMBLE_BYTES];
	uint32_t port;
	bool met;

	nm_preamble_pack(&hello, NM_PREAMBLE_HELLO, prover, nonce, wire);
	ck_assert_uint_eq(heard(keeper, "here", wire, back, &met), NM_PREAMBLE_BYTES);
	ck_assert(!met);
	ck_assert_int_eq(
		nm_preamble_read_reply(&sender, &sample, back, sizeof back, prover, nonce, &port),
		NM_PREAMBLE_CHALLENGED);
	memcpy(hello.cookie, sender.cookie, sizeof hello.cookie);
	nm_preamble_pack(&hello, NM_PREAMBLE_HELLO, prover, nonce, wire);
	(void)heard(keeper, "there", wire, back, &met); /* a cookie of another address */
	ck_assert(!met);
	(void)heard(keeper, "here", wire, back, &met);
	ck_assert(met);
	ck_assert_int_eq(
		nm_preamble_read_reply(&sender, &sample, back, sizeof back, prover, nonce, &port),
		NM_PREAMBLE_ANSWERED);
	nm_prover_free(keeper);
}
END_TEST

START_TEST(a_spoofed_address_gets_no_more_than_was_sent_in_its_name)
{
	struct nm_prover *keeper = nm_prover_new_random();
	char wire[NM_PREAMBLE_BYTES], back[NM_PREAMBLE_BYTES];
	size_t sent = 0, got = 0;
	bool met;

	for (unsigned i = 1; i < 1000; i++) {
		struct nm_preamble hello = sample;

		hello.serial = i;
		memset(hello.cookie, (int)i, i % 3 ? sizeof hello.cookie : 0);
		nm_preamble_pack(&hello, i % 5 ? NM_PREAMBLE_HELLO : NM_PREAMBLE_ANSWER, prover,
				 nonce, wire);
		sent += sizeof wire;
		got += heard(keeper, "victim", wire, back, &met);
		ck_assert(!met);
		ck_assert_uint_le(got, sent);
	}
	nm_prover_free(keeper);
}
END_TEST

/* --- each connection once --- */

START_TEST(a_connection_is_taken_once)
{
	uint64_t bits[2] = {0};
	struct nm_preamble_taken taken = {.bits = bits};

	ck_assert(!nm_preamble_take(&taken, 2, 0));
	ck_assert(nm_preamble_take(&taken, 2, 5));
	ck_assert(!nm_preamble_take(&taken, 2, 5));
	ck_assert(nm_preamble_take(&taken, 2, 3)); /* overtaken */
	ck_assert(!nm_preamble_take(&taken, 2, 3));
	ck_assert(nm_preamble_take(&taken, 2, 132));
	ck_assert(!nm_preamble_take(&taken, 2, 4)); /* too late */
	ck_assert(!nm_preamble_take(&taken, 2, 5));
	ck_assert(nm_preamble_take(&taken, 2, 6));
	ck_assert(nm_preamble_take(&taken, 2, 1000));
	for (uint32_t serial = 873; serial < 1000; serial++) {
		ck_assert(nm_preamble_take(&taken, 2, serial));
		ck_assert(!nm_preamble_take(&taken, 2, serial));
	}
	ck_assert(!nm_preamble_take(&taken, 2, 872));
}
END_TEST

START_TEST(serials_that_are_taken_go_round)
{
	uint64_t bits = 0;
	struct nm_preamble_taken taken = {.bits = &bits};

	ck_assert(nm_preamble_take(&taken, 1, UINT32_MAX));
	ck_assert(nm_preamble_take(&taken, 1, 1));
	ck_assert(!nm_preamble_take(&taken, 1, UINT32_MAX));
	ck_assert(nm_preamble_take(&taken, 1, UINT32_MAX - 1));
	ck_assert(!nm_preamble_take(&taken, 1, 1));
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

	tcase_add_checked_fixture(tcase, setup, teardown);
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
	tcase_add_test(tcase, a_challenge_is_heeded_once);
	tcase_add_test(tcase, a_proof_holds_for_these_bytes_alone);
	tcase_add_test(tcase, a_path_is_proved_by_a_round_trip);
	tcase_add_test(tcase, a_spoofed_address_gets_no_more_than_was_sent_in_its_name);
	tcase_add_test(tcase, a_connection_is_taken_once);
	tcase_add_test(tcase, serials_that_are_taken_go_round);
	tcase_add_test(tcase, each_connection_is_new_once);
	tcase_add_test(tcase, serials_may_go_round);
	tcase_add_test(tcase, the_first_may_have_any_serial_but_0);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
