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
#include "app/change.h"
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

/* The place of a value that is written, and not published. */
static uint64_t write_value(const char *value)
{
	const size_t n = strlen(value);
	uint64_t place = nm_store_reserve(store, "k", 1, 7, n);

	ck_assert(place && nm_store_write(store, place, 1, 0, value, n));
	return place;
}

static void check_value(const char *value)
{
	struct nm_stored stored;

	ck_assert(nm_store_find(store, "k", 1, &stored));
	ck_assert_uint_eq(stored.size, strlen(value));
	ck_assert_mem_eq(stored.data, value, strlen(value));
	ck_assert_uint_eq(stored.flags, 7);
}

static enum nm_store_end publish(const char *value, uint64_t expected, uint64_t *ret_place)
{
	*ret_place = write_value(value);
	return nm_store_publish_over(store, *ret_place, 1, expected, false);
}

START_TEST(what_is_there_is_compared)
{
	uint64_t one, other;

	ck_assert_int_eq(publish("x", NM_STORE_SOME, &one), NM_STORE_ABSENT);
	ck_assert_int_eq(publish("x", one, &one), NM_STORE_ABSENT);
	ck_assert_int_eq(publish("x", NM_STORE_NONE, &one), NM_STORE_DONE);
	ck_assert_int_eq(publish("y", NM_STORE_NONE, &other), NM_STORE_OTHER);
	ck_assert_int_eq(publish("y", other, &other), NM_STORE_OTHER);
	check_value("x");
	ck_assert_int_eq(nm_store_delete_at(store, "k", 1, other), NM_STORE_OTHER);
	ck_assert_int_eq(publish("y", one, &other), NM_STORE_DONE);
	check_value("y");
	ck_assert_int_eq(publish("z", NM_STORE_SOME, &one), NM_STORE_DONE);
	ck_assert_int_eq(nm_store_delete_at(store, "k", 1, one), NM_STORE_DONE);
	ck_assert_int_eq(nm_store_delete_at(store, "k", 1, one), NM_STORE_ABSENT);
}
END_TEST

START_TEST(what_has_expired_is_not_found)
{
	struct nm_stored stored;
	uint64_t place = write_value("x");

	ck_assert_int_eq(nm_store_publish_over(store, place, 1, NM_STORE_ANY, true), NM_STORE_DONE);
	ck_assert(!nm_store_find(store, "k", 1, &stored));
	ck_assert_int_eq(publish("x", NM_STORE_ANY, &place), NM_STORE_DONE);
	place = write_value("y");
	ck_assert_int_eq(nm_store_publish_over(store, place, 1, NM_STORE_NONE, true),
			 NM_STORE_OTHER);
	check_value("x");
	ck_assert_int_eq(nm_store_publish_over(store, place, 1, NM_STORE_SOME, true),
			 NM_STORE_DONE);
	ck_assert(!nm_store_find(store, "k", 1, &stored));
}
END_TEST

START_TEST(all_is_cleared)
{
	struct nm_stored stored;
	uint64_t place;

	ck_assert_int_eq(publish("x", NM_STORE_ANY, &place), NM_STORE_DONE);
	ck_assert(nm_store_clear(store));
	ck_assert(!nm_store_find(store, "k", 1, &stored));
	ck_assert_int_eq(publish("y", NM_STORE_NONE, &place), NM_STORE_DONE);
	check_value("y");
}
END_TEST

START_TEST(values_are_joined)
{
	uint64_t place = write_value("cd"), old;

	ck_assert_int_eq(nm_change_join(store, &place, 1, 2, false, NM_STORE_SOME),
			 NM_STORE_ABSENT);
	ck_assert_int_eq(publish("ab", NM_STORE_ANY, &old), NM_STORE_DONE);
	ck_assert_int_eq(nm_change_join(store, &place, 1, 2, false, place), NM_STORE_OTHER);
	ck_assert_int_eq(nm_change_join(store, &place, 1, 2, false, old), NM_STORE_DONE);
	check_value("abcd");
	place = write_value("-");
	ck_assert_int_eq(nm_change_join(store, &place, 1, 1, true, NM_STORE_SOME), NM_STORE_DONE);
	check_value("-abcd");
}
END_TEST

START_TEST(numbers_are_changed)
{
	static const struct {
		const char *before, *after; /* after NULL: it is no number */
		struct nm_change_count how;
	} changes[] = {
		{"9", "10", {.by = 1}},
		{"10", "9 ", {.by = 1, .down = true}},
		{"9  ", "109", {.by = 100}},
		{"5", "0", {.by = 6, .down = true}},
		{"18446744073709551615", "1                   ", {.by = 2}},
		{"18446744073709551616", NULL, {.by = 1}},
		{"", NULL, {.by = 1}},
		{"-1", NULL, {.by = 1}},
		{"1x", NULL, {.by = 1}},
		{"1                    ", NULL, {.by = 1}},
	};
	const struct nm_change_count first = {.by = 1, .first = 77, .expected = NM_STORE_SOME};
	struct nm_change_count begins = first;
	uint64_t place, number;

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct nm_change_count how = changes[i].how;
		const char *after = changes[i].after;

		how.expected = NM_STORE_SOME;
		ck_assert_int_eq(publish(changes[i].before, NM_STORE_ANY, &place), NM_STORE_DONE);
		ck_assert_int_eq(nm_change_count(store, "k", 1, &how, &number, &place),
				 after ? NM_STORE_DONE : NM_STORE_NO_NUMBER);
		check_value(after ? after : changes[i].before);
		ck_assert(!after || number == strtoull(after, NULL, 10));
	}
	(void)nm_store_delete(store, "k", 1);
	ck_assert_int_eq(nm_change_count(store, "k", 1, &first, &number, &place), NM_STORE_ABSENT);
	begins.begins = true;
	ck_assert_int_eq(nm_change_count(store, "k", 1, &begins, &number, &place), NM_STORE_DONE);
	ck_assert_uint_eq(number, 77);
	ck_assert_int_eq(nm_change_count(store, "k", 1, &begins, &number, &place), NM_STORE_DONE);
	ck_assert_uint_eq(number, 78);
}
END_TEST

#define CHANGERS 2
#define CHANGES	 20000u

/* What processes change at a time is as if they had done it one after the other. */
START_TEST(no_change_is_lost)
{
	const struct nm_change_count how = {.by = 1, .expected = NM_STORE_SOME};
	struct nm_stored stored;
	uint64_t place, number;

	/* With less room one that loses its CPU may lose its value. */
	(void)nm_store_free(store);
	store = nm_store_new(16 * BYTES);
	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(publish("0", NM_STORE_ANY, &place), NM_STORE_DONE);
	for (unsigned child = 0; child < CHANGERS; child++) {
		if (fork())
			continue;
		for (unsigned i = 0; i < CHANGES; i++)
			if (nm_change_count(store, "k", 1, &how, &number, &place) != NM_STORE_DONE)
				_exit(1);
		_exit(0);
	}
	for (unsigned child = 0; child < CHANGERS; child++) {
		int status = -1;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert(nm_store_find(store, "k", 1, &stored));
	ck_assert_uint_eq(strtoull(stored.data, NULL, 10), CHANGERS * CHANGES);
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
	tcase_add_test(tests, what_is_there_is_compared);
	tcase_add_test(tests, what_has_expired_is_not_found);
	tcase_add_test(tests, all_is_cleared);
	tcase_add_test(tests, values_are_joined);
	tcase_add_test(tests, numbers_are_changed);
	tcase_add_test(tests, no_change_is_lost);
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
