/* SPDX-License-Identifier: Apache-2.0 */
/* Whole phases of two engines in this process: each way to wait, to open, to pace and to end. */
#include <check.h>
#include <stdio.h>

#include "../suite.h"
#include "engine/flowop_stats.h"
#include "engine/tcp_sampler.h"
#include "pair.h"

#define MOST 4096

static char text[MOST];

/* A profile of one group: connections, the transaction, disconnects. */
static const char *standing(const char *group, const char *transport, const char *transaction)
{
	snprintf(text, sizeof text,
		 "<profile><group %s>"
		 "<transaction><flowop type=\"connect\" options=\"remotehost=local "
		 "protocol=%s\"/></transaction>"
		 "<transaction %s</transaction>"
		 "<transaction><flowop type=\"disconnect\"/></transaction>"
		 "</group></profile>",
		 group, transport, transaction);
	return text;
}

/* A profile of one group and one transaction, which opens its connection and closes it. */
static const char *brief(const char *group, const char *transport, const char *duration,
			 const char *close)
{
	snprintf(text, sizeof text,
		 "<profile><group %s><transaction %s>"
		 "<flowop type=\"connect\" options=\"remotehost=local protocol=%s\"/>"
		 "<flowop type=\"write\" options=\"size=64\"/><flowop type=\"read\" "
		 "options=\"size=64\"/>"
		 "<flowop type=\"disconnect\" options=\"%s\"/>"
		 "</transaction></group></profile>",
		 group, duration, transport, close);
	return text;
}

#define ASK                                                                                        \
	"><flowop type=\"write\" options=\"size=64\"/><flowop type=\"read\" options=\"size=64\"/>"

/* Runs all phases of the profile. Answers how often the master has gone through the phase. */
static uint64_t passes_of(const char *profile, uint32_t phase, unsigned stop_after_ms,
			  unsigned details)
{
	struct pair pair;

	pair_init(&pair, profile, details);
	pair_run_all(&pair, stop_after_ms);
	uint64_t passes = pair_counts(&pair, 0, phase).iterations;

	pair_fini(&pair);
	return passes;
}

static const char *const groups[] = {
	"nflows=\"1\" nthreads=\"1\"",
	"nflows=\"5\" nthreads=\"1\"",
	"nflows=\"20\" nthreads=\"2\"",
	"nflows=\"1\" nthreads=\"1\" wait=\"spin\"",
	"nflows=\"3\" nthreads=\"1\" wait=\"spin\"",
	"nflows=\"1\" nthreads=\"1\" edge_trigger=\"no\"",
	"nflows=\"12\" nthreads=\"1\" edge_trigger=\"no\"",
	"nflows=\"4\" nprocs=\"2\"",
};
#define N_GROUPS (int)(sizeof groups / sizeof *groups)

START_TEST(requests_are_counted)
{
	unsigned flows = 0;

	sscanf(groups[_i], "nflows=\"%u\"", &flows);
	ck_assert_uint_eq(
		passes_of(standing(groups[_i], "unix", "iterations=\"300\"" ASK), 1, 0, 0),
		300 * flows);
}
END_TEST

START_TEST(a_duration_is_ended_from_outside)
{
	ck_assert_uint_gt(passes_of(standing(groups[_i], "unix", "duration=\"10s\"" ASK), 1, 30, 0),
			  0);
}
END_TEST

START_TEST(a_total_ends_a_duration)
{
	ck_assert_uint_eq(
		passes_of(standing(groups[_i], "unix", "duration=\"10s\" total=\"211\"" ASK), 1, 0,
			  0) %
			211,
		0);
}
END_TEST

START_TEST(each_pass_has_a_connection)
{
	static const char *const transports[] = {"unix", "tcp"};
	static const char *const ends[] = {"close=fin", "close=rst", "by=server", "close=half"};

	for (unsigned t = 0; t < 2; t++)
		for (unsigned c = 0; c < 4; c++)
			ck_assert_uint_gt(
				passes_of(brief(groups[_i], transports[t], "duration=\"10s\"",
						t ? ends[c] : "close=fin"),
					  0, 15, 0),
				0);
}
END_TEST

START_TEST(passes_are_due_by_the_rate)
{
	static const char *const transactions[] = {
		"iterations=\"20\" rate=\"1000\"" ASK,
		"iterations=\"20\" rate=\"1000\" pipeline=\"4\"" ASK,
		"iterations=\"20\" pipeline=\"8\"" ASK,
	};

	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(
			passes_of(standing("nflows=\"3\" nthreads=\"1\"", "unix", transactions[i]),
				  1, 0, 0),
			60);
	ck_assert_uint_le(passes_of(standing("nflows=\"2\" nthreads=\"1\"", "unix",
					     "duration=\"60ms\" rate=\"100\"" ASK),
				    1, 70, 0),
			  14);
}
END_TEST

START_TEST(what_is_slow_is_received_below_its_mark)
{
	const char *slow = "duration=\"1s\"><flowop type=\"write\" options=\"size=1k "
			   "rcvlowat=1m\"/>";

	ck_assert_uint_gt(
		passes_of(standing("nflows=\"2\" nthreads=\"1\"", "tcp", slow), 1, 250, 0), 0);
	slow = "duration=\"1s\"><flowop type=\"read\" options=\"size=1k rcvlowat=1m\"/>";
	ck_assert_uint_gt(
		passes_of(standing("nflows=\"2\" nthreads=\"1\"", "tcp", slow), 1, 250, 0), 0);
}
END_TEST

START_TEST(datagrams_may_be_lost)
{
	static const char *const transactions[] = {
		"iterations=\"100\"><flowop type=\"write\" options=\"size=64\"/>"
		"<flowop type=\"read\" options=\"size=64 timeout=200ms\"/>",
		"duration=\"1s\"><flowop type=\"write\" options=\"size=64 batch_size=8\"/>",
		"duration=\"1s\" rate=\"500\"><flowop type=\"read\" options=\"size=64 "
		"timeout=200ms\"/>",
	};

	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_gt(passes_of(standing(groups[_i], "udp", transactions[i]), 1, 30, 0),
				  0);
}
END_TEST

/* The other end thinks longer than a wait may take: messages are given up, and move before the next
 * phase. */
START_TEST(messages_are_given_up)
{
	const char *hasty = "iterations=\"4\"><flowop type=\"write\" options=\"size=64\"/>"
			    "<flowop type=\"think\" options=\"duration=12ms idle at=slave\"/>"
			    "<flowop type=\"read\" options=\"size=200000 timeout=3ms canfail\"/>";

	ck_assert_uint_eq(passes_of(standing("nflows=\"2\" nthreads=\"1\"", "tcp", hasty), 1, 0, 0),
			  8);
}
END_TEST

START_TEST(a_wait_that_is_too_long_fails)
{
	const char *stuck = "iterations=\"1\"><flowop type=\"write\" options=\"size=64\"/>"
			    "<flowop type=\"think\" options=\"duration=300ms idle "
			    "at=slave\"/>"
			    "<flowop type=\"read\" options=\"size=64 timeout=5ms\"/>";
	struct pair pair;

	pair_init(&pair, standing("nflows=\"2\" nthreads=\"1\"", "unix", stuck), 0);
	pair_run(&pair, 0, 0);
	nm_engine_begin(pair.engines[1], 1);
	nm_engine_begin(pair.engines[0], 1);
	struct nm_engine_error error = pair_await_failure(&pair);

	ck_assert_int_eq(error.error, ETIMEDOUT);
	ck_assert_str_eq(error.flowop, "read");
	pair_fini(&pair);
}
END_TEST

START_TEST(statistics_change_no_count)
{
	const unsigned all = NM_OBSERVE_ALL;
	struct pair pair;

	pair_init(&pair, standing(groups[_i], "tcp", "iterations=\"50\"" ASK), all);
	pair_run(&pair, 0, 0);
	pair_run(&pair, 1, 0);
	ck_assert_uint_eq(pair_counts(&pair, 0, 1).bytes_sent,
			  pair_counts(&pair, 1, 1).bytes_received);
	nm_engine_tcp_ask(pair.engines[0]);
	for (unsigned i = 0; i < 200 && !nm_engine_tcp_answered(pair.engines[0]); i++)
		(void)usleep(10000);
	ck_assert(nm_engine_tcp_answered(pair.engines[0]));
	pair_run(&pair, 2, 0);
	pair_fini(&pair);
}
END_TEST

START_TEST(messages_are_posted)
{
	ck_assert_uint_gt(passes_of(standing("nflows=\"4\" nthreads=\"1\" engine=\"io_uring\"",
					     "unix", "duration=\"1s\"" ASK),
				    1, 30, 0),
			  0);
}
END_TEST

START_TEST(a_run_can_be_ended_anywhere)
{
	struct pair pair;

	pair_init(&pair, standing(groups[_i], "unix", "duration=\"10s\"" ASK), 0);
	pair_run(&pair, 0, 0);
	for (unsigned i = 2; i-- > 0;)
		nm_engine_begin(pair.engines[i], 1);
	pair_fini(&pair);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pairs of engines");
	TCase *tcase = tcase_create("phases");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, requests_are_counted, 0, N_GROUPS);
	tcase_add_loop_test(tcase, a_duration_is_ended_from_outside, 0, N_GROUPS);
	tcase_add_loop_test(tcase, a_total_ends_a_duration, 0, N_GROUPS);
	tcase_add_loop_test(tcase, each_pass_has_a_connection, 0, N_GROUPS);
	tcase_add_test(tcase, passes_are_due_by_the_rate);
	tcase_add_test(tcase, what_is_slow_is_received_below_its_mark);
	tcase_add_loop_test(tcase, datagrams_may_be_lost, 0, N_GROUPS);
	tcase_add_test(tcase, messages_are_given_up);
	tcase_add_test(tcase, a_wait_that_is_too_long_fails);
	tcase_add_loop_test(tcase, statistics_change_no_count, 0, N_GROUPS);
	tcase_add_test(tcase, messages_are_posted);
	tcase_add_loop_test(tcase, a_run_can_be_ended_anywhere, 0, N_GROUPS);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
