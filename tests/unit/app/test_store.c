/* SPDX-License-Identifier: Apache-2.0 */
/* The store: what is found, what gives way, and two processes that use it at once. */
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "app/store.h"

#define BYTES	 (UINT64_C(1) << 20)
#define VALUE	 1000u
#define N_KEYS	 64u
#define N_ROUNDS 20000u

static struct nm_store *store;

static void begin(void)
{
	store = nm_store_new(BYTES);
	ck_assert_ptr_nonnull(store);
}

static void end(void)
{
	store = nm_store_free(store);
}

static size_t key_of(unsigned number, char key[16])
{
	return (size_t)snprintf(key, 16, "key%u", number);
}

/* Stores so many bytes, each the low byte of `word`, in two pieces. */
static bool put(unsigned number, unsigned word, size_t size)
{
	char key[16], value[VALUE];
	size_t length = key_of(number, key);
	uint64_t place = nm_store_reserve(store, key, length, word, size);

	memset(value, (int)word, size);
	return place && nm_store_write(store, place, length, 0, value, size / 2) &&
	       nm_store_write(store, place, length, size / 2, value, size - size / 2) &&
	       nm_store_publish(store, place, length);
}

/* Whether it is found; then it is whole, unless it was overwritten meanwhile. */
static bool get(unsigned number)
{
	char key[16], value[VALUE], expected[VALUE];
	struct nm_stored stored;

	if (!nm_store_find(store, key, key_of(number, key), &stored))
		return false;
	ck_assert_uint_le(stored.size, VALUE);
	memcpy(value, stored.data, (size_t)stored.size);
	if (!nm_store_holds(store, stored.place))
		return false;
	memset(expected, (int)stored.flags, sizeof expected);
	ck_assert(memcmp(value, expected, (size_t)stored.size) == 0);
	return true;
}

START_TEST(what_is_stored_is_found)
{
	char key[16];

	ck_assert(!get(1));
	ck_assert(put(1, 7, 10) && put(2, 8, 0));
	ck_assert(get(1) && get(2) && !get(3));
	ck_assert(put(1, 9, VALUE) && get(1));
	ck_assert(nm_store_delete(store, key, key_of(1, key)));
	ck_assert(!get(1) && get(2));
	ck_assert(!nm_store_delete(store, key, key_of(1, key)));
	ck_assert(put(1, 1, 1) && get(1));
}
END_TEST

/* It goes round many times; the newest are there, the oldest are not. */
START_TEST(the_oldest_give_way)
{
	for (unsigned i = 0; i < 10000; i++) {
		ck_assert(put(i, i, VALUE));
		for (unsigned back = 0; back < 300 && back <= i; back += 50)
			ck_assert(get(i - back));
		ck_assert(i < 2000 || !get(i - 2000));
	}
}
END_TEST

START_TEST(room_that_is_gone_is_not_published)
{
	char value[VALUE] = {0};
	uint64_t place = nm_store_reserve(store, "slow", 4, 0, VALUE);

	for (unsigned i = 0; i < 900; i++)
		ck_assert(put(i, i, VALUE));
	memset(value, 1, sizeof value);
	ck_assert(!nm_store_write(store, place, 4, 0, value, sizeof value));
	ck_assert(!nm_store_publish(store, place, 4));
	for (unsigned i = 0; i < 900; i++)
		(void)get(i);
	ck_assert(get(899));
}
END_TEST

START_TEST(a_value_that_is_too_large_has_no_room)
{
	ck_assert_uint_eq(nm_store_reserve(store, "k", 1, 0, BYTES / 2), 0);
	ck_assert_uint_eq(nm_store_reserve(store, "k", 1, 0, UINT32_MAX), 0);
}
END_TEST

/* A process that writes the value of key0 until it is told to end, or is killed. */
struct slow {
	pid_t pid;
	int begun, end;
};

/* With so many of those that may write at once. */
static struct slow begin_slow(unsigned writers)
{
	struct nm_stored stored;
	int begun[2], end[2];
	char none;

	ck_assert(put(0, 1, VALUE));
	ck_assert(nm_store_find(store, "key0", 4, &stored));
	ck_assert_int_eq(pipe(begun), 0);
	ck_assert_int_eq(pipe(end), 0);
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct nm_store_writer *writer = NULL;

		for (unsigned w = 0; w < writers; w++)
			writer = nm_store_begin_writing(store, stored.place, 2 * VALUE);
		(void)close(end[1]);
		(void)close(begun[1]);
		bool ended = read(end[0], &none, 1) == 0;

		if (writer)
			nm_store_end_writing(writer);
		_exit(!writer || !ended);
	}
	(void)close(begun[1]);
	(void)close(end[0]);
	/* Until it has closed its end. */
	ck_assert_int_eq(read(begun[0], &none, 1), 0);
	(void)close(begun[0]);
	return (struct slow){.pid = pid, .end = end[1]};
}

static int end_slow(const struct slow *slow)
{
	int status = -1;

	(void)close(slow->end);
	ck_assert_int_eq(waitpid(slow->pid, &status, 0), slow->pid);
	return status;
}

/* Stores many that come round to the value, and leave all that is found whole: how many are
 * refused. */
static unsigned come_round(void)
{
	unsigned refused = 0;

	for (unsigned i = 1; i < 2000; i++)
		if (put(i, i, VALUE))
			ck_assert(get(i));
		else
			refused++;
	return refused;
}

/* However long that takes, its room is nobody else's; other room is. */
START_TEST(who_comes_round_to_a_writer_is_refused)
{
	struct nm_stored stored;
	struct slow slow = begin_slow(1);
	char before[VALUE];

	ck_assert(nm_store_find(store, "key0", 4, &stored));
	memcpy(before, stored.data, VALUE);
	unsigned refused = come_round();

	ck_assert(!nm_store_holds(store, stored.place));
	ck_assert(memcmp(before, stored.data, VALUE) == 0);
	ck_assert_uint_ge(refused, 1);
	ck_assert_uint_le(refused, 8);
	ck_assert_int_eq(end_slow(&slow), 0);
	ck_assert_uint_eq(come_round(), 0);
}
END_TEST

START_TEST(who_comes_round_to_a_writer_that_ends_waits)
{
	struct nm_stored stored;
	struct slow slow = begin_slow(1);
	int status = -1;

	ck_assert(nm_store_find(store, "key0", 4, &stored));
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		(void)close(slow.end);
		_exit(come_round() > 0);
	}
	while (nm_store_holds(store, stored.place))
		(void)sched_yield();
	ck_assert_int_eq(end_slow(&slow), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Killed, for example: others have its room, and its right to write, at once. */
START_TEST(who_is_gone_keeps_nobody)
{
	for (unsigned writers = 1; writers <= NM_STORE_WRITERS; writers += NM_STORE_WRITERS - 1) {
		struct slow slow = begin_slow(writers);

		ck_assert_int_eq(kill(slow.pid, SIGKILL), 0);
		ck_assert(WIFSIGNALED(end_slow(&slow)));
		ck_assert_uint_eq(come_round(), 0);
	}
}
END_TEST

/* As many as may write at once, and get no CPU: nobody waits without end. */
START_TEST(one_more_writer_is_refused)
{
	struct slow slow = begin_slow(NM_STORE_WRITERS);

	ck_assert(!put(1, 1, VALUE));
	ck_assert(!get(1));
	ck_assert_int_eq(end_slow(&slow), 0);
	ck_assert(put(1, 1, VALUE) && get(1));
}
END_TEST

/* Each has come round to the room of the others before it is refused. */
START_TEST(those_who_come_round_to_each_other_are_refused)
{
	struct slow slow = begin_slow(NM_STORE_WRITERS);
	pid_t children[8];

	for (unsigned i = 0; i < 8; i++) {
		children[i] = fork();
		ck_assert_int_ge(children[i], 0);
		if (children[i])
			continue;
		(void)close(slow.end);
		(void)alarm(20);
		_exit(nm_store_reserve(store, "k", 1, 0, BYTES / 7) != 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		int status = -1;

		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_int_eq(end_slow(&slow), 0);
}
END_TEST

static void turn_over(unsigned from)
{
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		(void)put(from + i * 7 % N_KEYS, from + i, VALUE);
		(void)get(i * 5 % (2 * N_KEYS));
	}
}

/* What either finds is whole, and afterwards there is room for all keys. */
START_TEST(two_processes)
{
	pid_t child = fork();
	int status = -1;

	ck_assert_int_ge(child, 0);
	turn_over(child ? 0 : N_KEYS);
	if (!child)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	for (unsigned i = 0; i < 2 * N_KEYS; i++)
		ck_assert(put(i, i, VALUE));
	for (unsigned i = 0; i < 2 * N_KEYS; i++)
		ck_assert(get(i));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tests = tcase_create("store");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, what_is_stored_is_found);
	tcase_add_test(tests, the_oldest_give_way);
	tcase_add_test(tests, room_that_is_gone_is_not_published);
	tcase_add_test(tests, a_value_that_is_too_large_has_no_room);
	tcase_add_test(tests, who_comes_round_to_a_writer_is_refused);
	tcase_add_test(tests, who_comes_round_to_a_writer_that_ends_waits);
	tcase_add_test(tests, who_is_gone_keeps_nobody);
	tcase_add_test(tests, one_more_writer_is_refused);
	tcase_add_test(tests, those_who_come_round_to_each_other_are_refused);
	tcase_add_test(tests, two_processes);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
