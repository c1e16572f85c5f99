/* SPDX-License-Identifier: Apache-2.0 */
/* read and write, against a transport that gives what the test has laid out, call by call. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "../suite.h"
#include "base/law.h"
#include "base/rng.h"
#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

#define CHUNK 16

static ssize_t answers[16]; /* of the next calls; the last is repeated */
static size_t n_answers, n_calls;
static size_t asked[64]; /* sizes of the calls */

static ssize_t answer(size_t size)
{
	ssize_t n = answers[n_calls < n_answers ? n_calls : n_answers - 1];

	ck_assert_uint_lt(n_calls, 64);
	asked[n_calls++] = size;
	return n > (ssize_t)size ? (ssize_t)size : n;
}

static ssize_t fake_send(struct nm_conn *on, const void *opts, void *data, size_t size)
{
	(void)on;
	(void)opts;
	(void)data;
	return answer(size);
}

static ssize_t fake_recv(struct nm_conn *on, void *data, size_t size)
{
	(void)on;
	memset(data, 0, size);
	return answer(size);
}

static const struct nm_transport fake = {.name = "fake", .send = fake_send, .recv = fake_recv};

static char tx[CHUNK], rx[CHUNK + 1];
static struct nm_counters counters;
static struct nm_io io;
static struct nm_flow flow;
static struct nm_conn conn;

static void setup(void)
{
	memset(&counters, 0, sizeof counters);
	io = (struct nm_io){.tx = tx,
			    .rx = rx,
			    .chunk = CHUNK,
			    .count = &counters,
			    .in_kept = ~(uint32_t)NM_CONN_IN};
	conn = (struct nm_conn){
		.fd = -1, .flags = NM_CONN_OPEN | NM_CONN_IN | NM_CONN_OUT, .transport = &fake};
	flow = (struct nm_flow){.conn = &conn};
	n_answers = n_calls = 0;
}

static void answer_with(size_t count, const ssize_t *with)
{
	memcpy(answers, with, count * sizeof *with);
	n_answers = count;
	n_calls = 0;
}

static enum nm_step step(const char *op, uint64_t size)
{
	const struct nm_flowop *flowop = nm_flowop_find(op);
	const struct nm_instr instr = {
		.step = flowop->step, .size = size, .op = flowop, .transport = &fake, .ahead = 1};

	return flowop->step(&io, &flow, &instr);
}

START_TEST(a_short_answer_shows_that_nothing_is_left)
{
	answer_with(1, (const ssize_t[]){10});
	ck_assert_int_eq(step("read", 10), NM_STEP_NEXT);
	ck_assert_uint_eq(asked[0], 11);
	ck_assert_uint_eq(conn.flags & NM_CONN_IN, 0);
	ck_assert_uint_eq(conn.ahead, 0);
	ck_assert_int_eq(step("read", 10), NM_STEP_WAIT_IN);
	ck_assert_uint_eq(n_calls, 1);
	ck_assert_uint_eq(nm_counter_read(&counters.bytes_received), 10);
}
END_TEST

START_TEST(the_byte_ahead_belongs_to_the_next_message)
{
	answer_with(3, (const ssize_t[]){11, 10, 9});
	ck_assert_int_eq(step("read", 10), NM_STEP_NEXT);
	ck_assert_uint_eq(conn.ahead, 1);
	ck_assert_uint_ne(conn.flags & NM_CONN_IN, 0);
	ck_assert_int_eq(step("read", 10), NM_STEP_NEXT);
	ck_assert_uint_eq(asked[1], 10); /* nine that are missing and one ahead */
	ck_assert_uint_eq(conn.ahead, 1);
	ck_assert_int_eq(step("read", 10), NM_STEP_NEXT);
	ck_assert_uint_eq(conn.ahead, 0);
	ck_assert_uint_eq(conn.flags & NM_CONN_IN, 0);
	ck_assert_uint_eq(nm_counter_read(&counters.bytes_received), 30);
}
END_TEST

START_TEST(a_message_of_one_byte_can_be_the_byte_ahead)
{
	answer_with(1, (const ssize_t[]){2});
	ck_assert_int_eq(step("read", 1), NM_STEP_NEXT);
	ck_assert_int_eq(step("read", 1), NM_STEP_NEXT);
	ck_assert_uint_eq(n_calls, 1);
	ck_assert_uint_eq(conn.ahead, 0);
}
END_TEST

START_TEST(a_message_may_come_byte_by_byte)
{
	for (int i = 0; i < 40; i++) {
		conn.flags |= NM_CONN_IN;
		answer_with(1, (const ssize_t[]){1});
		ck_assert_int_eq(step("read", 40), i < 39 ? NM_STEP_WAIT_IN : NM_STEP_NEXT);
	}
	ck_assert_uint_eq(flow.left, 0);
	ck_assert_uint_eq(nm_counter_read(&counters.bytes_received), 40);
}
END_TEST

START_TEST(a_long_message_takes_several_calls_and_yields)
{
	answer_with(1, (const ssize_t[]){CHUNK + 1});
	ck_assert_int_eq(step("read", 100 * CHUNK), NM_STEP_YIELD);
	ck_assert_uint_eq(n_calls, NM_STEP_CALLS);
	setup();
	answer_with(1, (const ssize_t[]){CHUNK});
	ck_assert_int_eq(step("write", 3 * CHUNK), NM_STEP_NEXT);
	ck_assert_uint_eq(n_calls, 3);
}
END_TEST

/* A message that the kernel has no way for is lost, as one that the network drops. */
START_TEST(a_datagram_to_who_cannot_be_reached_is_lost)
{
	static const int gone[] = {ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN};
	const struct nm_instr instr = {.size = 10, .transport = &fake};

	answer_with(1, (const ssize_t[]){-gone[_i]});
	ck_assert_int_eq(nm_datagram_write(&io, &flow, &instr), NM_STEP_NEXT);
	ck_assert_uint_eq(nm_counter_read(&counters.messages_sent), 1);
	ck_assert_int_ne(nm_datagram_read(&io, &flow, &instr), NM_STEP_FAIL);
	/* It may have been told of an earlier one. */
	answer_with(2, (const ssize_t[]){-gone[_i], 10});
	ck_assert_int_eq(nm_datagram_write(&io, &flow, &instr), NM_STEP_NEXT);
	ck_assert_uint_eq(n_calls, 2);
	ck_assert_uint_eq(nm_counter_read(&counters.messages_sent), 2);
	answer_with(1, (const ssize_t[]){-EPERM});
	ck_assert_int_eq(nm_datagram_write(&io, &flow, &instr), NM_STEP_FAIL);
}
END_TEST

START_TEST(nothing_there_waits)
{
	answer_with(1, (const ssize_t[]){-EAGAIN});
	ck_assert_int_eq(step("read", 10), NM_STEP_WAIT_IN);
	ck_assert_uint_eq(conn.flags & NM_CONN_IN, 0);
}
END_TEST

START_TEST(the_end_and_errors_fail)
{
	answer_with(1, (const ssize_t[]){0});
	ck_assert_int_eq(step("read", 10), NM_STEP_FAIL);
	ck_assert_int_eq(flow.error, ECONNRESET);
	answer_with(1, (const ssize_t[]){-ETIMEDOUT});
	ck_assert_int_eq(step("read", 10), NM_STEP_FAIL);
	ck_assert_int_eq(flow.error, ETIMEDOUT);
	answer_with(1, (const ssize_t[]){-EPIPE});
	ck_assert_int_eq(step("write", 10), NM_STEP_FAIL);
	ck_assert_int_eq(flow.error, EPIPE);
}
END_TEST

START_TEST(a_peer_that_has_closed_is_read_to_the_end)
{
	conn.flags |= NM_CONN_HUP;
	answer_with(3, (const ssize_t[]){4, 6, 0});
	ck_assert_int_eq(step("read", 10), NM_STEP_NEXT);
	ck_assert_uint_eq(n_calls, 2);
	ck_assert_int_eq(step("read", 10), NM_STEP_FAIL);
}
END_TEST

START_TEST(a_short_send_waits_for_room_and_goes_on)
{
	answer_with(1, (const ssize_t[]){6});
	ck_assert_int_eq(step("write", 10), NM_STEP_WAIT_OUT);
	ck_assert_uint_eq(flow.left, 4);
	ck_assert_int_eq(step("write", 10), NM_STEP_WAIT_OUT);
	ck_assert_uint_eq(n_calls, 1);
	conn.flags |= NM_CONN_OUT;
	answer_with(1, (const ssize_t[]){4});
	ck_assert_int_eq(step("write", 10), NM_STEP_NEXT);
	ck_assert_uint_eq(asked[0], 4);
	ck_assert_uint_eq(flow.left, 0);
	ck_assert_uint_eq(nm_counter_read(&counters.bytes_sent), 10);
}
END_TEST

/* An instruction with rsize: up to 12 bytes at once for messages of 4. */
START_TEST(a_receive_may_take_several_messages)
{
	const struct nm_flowop *recv = nm_flowop_find("recv");
	const struct nm_instr instr = {.size = 4, .op = recv, .transport = &fake, .ahead = 8};

	answer_with(2, (const ssize_t[]){12, 10});
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(recv->step(&io, &flow, &instr), NM_STEP_NEXT);
	ck_assert_uint_eq(n_calls, 1);
	ck_assert_uint_eq(asked[0], 12);
	ck_assert_uint_eq(conn.ahead, 0);
	ck_assert_uint_ne(conn.flags & NM_CONN_IN, 0);
	/* Ten bytes are two messages and a half, and nothing else is there. */
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(recv->step(&io, &flow, &instr), NM_STEP_NEXT);
	ck_assert_int_eq(recv->step(&io, &flow, &instr), NM_STEP_WAIT_IN);
	ck_assert_uint_eq(n_calls, 2);
	ck_assert_uint_eq(flow.left, 2);
	conn.flags |= NM_CONN_IN;
	answer_with(1, (const ssize_t[]){2});
	ck_assert_int_eq(recv->step(&io, &flow, &instr), NM_STEP_NEXT);
	ck_assert_uint_eq(asked[0], 10);
	ck_assert_uint_eq(nm_counter_read(&counters.bytes_received), 24);
}
END_TEST

START_TEST(where_nothing_may_be_taken_ahead_the_next_read_tries)
{
	const struct nm_flowop *read = nm_flowop_find("read");
	const struct nm_instr instr = {.size = 4, .op = read, .transport = &fake};

	answer_with(2, (const ssize_t[]){4, -EAGAIN});
	ck_assert_int_eq(read->step(&io, &flow, &instr), NM_STEP_NEXT);
	ck_assert_uint_eq(asked[0], 4);
	ck_assert_uint_ne(conn.flags & NM_CONN_IN, 0);
	ck_assert_int_eq(read->step(&io, &flow, &instr), NM_STEP_WAIT_IN);
	ck_assert_uint_eq(conn.flags & NM_CONN_IN, 0);
}
END_TEST

static const struct nm_law some = {.kind = NM_LAW_UNIFORM, .min = 1, .max = 3 * CHUNK};

/* Moves a message of a drawn size and answers how long it was. */
static uint64_t move_drawn(const char *op, uint64_t pass, uint32_t site)
{
	const struct nm_flowop *flowop = nm_flowop_find(op);
	const struct nm_instr instr = {.size = some.max,
				       .op = flowop,
				       .transport = &fake,
				       .ahead = 1,
				       .message.law = &some,
				       .site = site};
	bool sends = flowop->flags & NM_FLOWOP_INITIATES;
	_Atomic uint64_t *count = sends ? &counters.bytes_sent : &counters.bytes_received;
	uint64_t before = nm_counter_read(count);
	enum nm_step r;

	flow.iterations_left = pass;
	do { /* some bytes at a time: it is drawn once, however often the step is called */
		conn.flags |= NM_CONN_IN | NM_CONN_OUT;
		answer_with(1, (const ssize_t[]){5});
		r = flowop->step(&io, &flow, &instr);
	} while (r == NM_STEP_WAIT_IN || r == NM_STEP_WAIT_OUT);
	ck_assert_int_eq(r, NM_STEP_NEXT);
	return nm_counter_read(count) - before - conn.ahead;
}

START_TEST(both_ends_draw_the_same_sizes)
{
	uint64_t sizes[100], sum = 0;
	unsigned others = 0;

	io.seed = 99;
	flow.index = 3;
	for (uint64_t i = 0; i < 100; i++) {
		sizes[i] = move_drawn("write", UINT64_MAX - i, 7);
		ck_assert(sizes[i] >= some.min && sizes[i] <= some.max);
		sum += sizes[i];
	}
	/* The mean of 1..48 is 24.5, with a deviation of 1.4. */
	ck_assert(sum > 1900 && sum < 3000);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t ahead = conn.ahead;

		ck_assert_uint_eq(move_drawn("recv", UINT64_MAX - i, 7) + ahead, sizes[i]);
	}
	for (uint64_t i = 0; i < 100; i++)
		others += move_drawn("write", UINT64_MAX - i, 8) != sizes[i];
	flow.index = 4;
	for (uint64_t i = 0; i < 100; i++)
		others += move_drawn("write", UINT64_MAX - i, 7) != sizes[i];
	flow.index = 3;
	io.seed = 100;
	for (uint64_t i = 0; i < 100; i++)
		others += move_drawn("write", UINT64_MAX - i, 7) != sizes[i];
	flow.repeated = 1;
	io.seed = 99;
	for (uint64_t i = 0; i < 100; i++)
		others += move_drawn("write", UINT64_MAX - i, 7) != sizes[i];
	ck_assert_uint_gt(others, 350);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("messages");
	TCase *tcase = tcase_create("read and write");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_short_answer_shows_that_nothing_is_left);
	tcase_add_test(tcase, the_byte_ahead_belongs_to_the_next_message);
	tcase_add_test(tcase, a_message_of_one_byte_can_be_the_byte_ahead);
	tcase_add_test(tcase, a_message_may_come_byte_by_byte);
	tcase_add_test(tcase, a_long_message_takes_several_calls_and_yields);
	tcase_add_loop_test(tcase, a_datagram_to_who_cannot_be_reached_is_lost, 0, 5);
	tcase_add_test(tcase, nothing_there_waits);
	tcase_add_test(tcase, the_end_and_errors_fail);
	tcase_add_test(tcase, a_peer_that_has_closed_is_read_to_the_end);
	tcase_add_test(tcase, a_short_send_waits_for_room_and_goes_on);
	tcase_add_test(tcase, a_receive_may_take_several_messages);
	tcase_add_test(tcase, where_nothing_may_be_taken_ahead_the_next_read_tries);
	tcase_add_test(tcase, both_ends_draw_the_same_sizes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
