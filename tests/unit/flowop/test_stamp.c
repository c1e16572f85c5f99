/* SPDX-License-Identifier: Apache-2.0 */
/* What the heads of messages tell that may be lost, repeated or reordered: no socket, no clock. */
#include <check.h>
#include <string.h>

#include "../suite.h"
#include "flowop/stamp.h"

static struct nm_conn_datagram own;
static struct nm_counters count;

static void begin(void)
{
	memset(&own, 0, sizeof own);
	memset(&count, 0, sizeof count);
}

START_TEST(a_head_is_read_as_it_was_written)
{
	const struct nm_stamp sent = {.number = 7, .seen = 0x80000001, .sent_ns = 1234567890123};
	struct nm_stamp got;
	char bytes[NM_STAMP_BYTES];

	for (size_t size = 0; size <= sizeof bytes; size++) {
		memset(bytes, 0x55, sizeof bytes);
		nm_stamp_pack(&sent, bytes, size);
		ck_assert_int_eq(nm_stamp_unpack(bytes, size, &got), size >= NM_STAMP_NUMBERS);
		if (size < NM_STAMP_NUMBERS) {
			ck_assert_int_eq(bytes[0], 0x55);
			continue;
		}
		ck_assert_uint_eq(got.number, sent.number);
		ck_assert_uint_eq(got.seen, sent.seen);
		ck_assert_uint_eq(got.sent_ns, size == NM_STAMP_BYTES ? sent.sent_ns : 0);
	}
}
END_TEST

/* What has come, in its order, and what is counted of it. */
static const struct {
	uint32_t first; /* is added to all numbers */
	uint32_t numbers[8];
	uint64_t skipped, reordered, duplicates;
} streams[] = {
	{0, {1, 2, 3, 4}, 0, 0, 0},
	{0, {1, 2, 5, 6}, 2, 0, 0},
	{0, {1, 3, 2, 4}, 1, 1, 0},
	{0, {1, 2, 2, 3, 1}, 0, 0, 2},
	{0, {1, 70, 6, 69, 69}, 68, 2, 1},
	{0, {1, 70, 5, 5}, 68, 2, 0}, /* too far back to know whether it has come before */
	{UINT32_MAX - 2, {1, 2, 3, 4, 5}, UINT32_MAX - 2, 0, 0},
};

START_TEST(numbers_tell_what_is_lost_late_and_repeated)
{
	uint64_t taken = 0, all = 0;

	begin();
	if (streams[_i].first)
		own.seen = streams[_i].first;
	for (const uint32_t *number = streams[_i].numbers; *number; number++, all++)
		taken += nm_stamp_note_number(&own, &count, streams[_i].first + *number);
	ck_assert_uint_eq(all - taken, streams[_i].duplicates);
	ck_assert_uint_eq(nm_counter_read(&count.duplicates), streams[_i].duplicates);
	ck_assert_uint_eq(nm_counter_read(&count.reordered), streams[_i].reordered);
	ck_assert_uint_eq(nm_counter_read(&count.skipped),
			  streams[_i].first ? 0 : streams[_i].skipped);
}
END_TEST

START_TEST(jitter_is_that_of_the_rfc)
{
	begin();
	nm_stamp_note_time(&own, &count, 1000, 5000);
	ck_assert_uint_eq(nm_counter_read(&count.jitters), 0);
	nm_stamp_note_time(&own, &count, 2000, 6000); /* as long on the way */
	ck_assert_uint_eq(nm_counter_read(&count.jitters), 1);
	ck_assert_uint_eq(nm_counter_read(&count.jitter_ns), 0);
	nm_stamp_note_time(&own, &count, 3000, 7160); /* 160 ns longer: a sixteenth of that */
	ck_assert_uint_eq(nm_counter_read(&count.jitter_ns), 10);
	nm_stamp_note_time(&own, &count, 4000, 8000); /* and 160 ns shorter */
	ck_assert_uint_eq(nm_counter_read(&count.jitters), 3);
	ck_assert_uint_eq(own.jitter >> 4, 19);
}
END_TEST

START_TEST(an_answer_to_what_was_given_up_is_late)
{
	struct nm_stamp answer = {.seen = 3};

	begin();
	own.sent = own.acked = 3;
	ck_assert(!nm_stamp_is_late(&answer, &own)); /* no question had a number since */
	own.sent = 4;
	ck_assert(nm_stamp_is_late(&answer, &own));
	answer.seen = 4;
	ck_assert(!nm_stamp_is_late(&answer, &own));
}
END_TEST

static Suite *stamp_suite(void)
{
	Suite *suite = suite_create("stamp");
	TCase *tests = tcase_create("stamp");

	tcase_add_test(tests, a_head_is_read_as_it_was_written);
	tcase_add_loop_test(tests, numbers_tell_what_is_lost_late_and_repeated, 0,
			    (int)(sizeof streams / sizeof *streams));
	tcase_add_test(tests, jitter_is_that_of_the_rfc);
	tcase_add_test(tests, an_answer_to_what_was_given_up_is_late);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return run_suite(stamp_suite());
}
