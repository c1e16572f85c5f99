/* SPDX-License-Identifier: Apache-2.0 */
/* The store: what is found, what gives way, and two processes that use it at once. */
#include <check.h>
#include <sched.h>
#include <stdatomic.h>
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
#define WRITERS	 16u /* that may write at once */

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

/* Stores so many bytes, each the low byte of `word`. */
static bool put(unsigned number, unsigned word, size_t size)
{
	char key[16], value[VALUE];
	size_t length = key_of(number, key);
	uint64_t place = nm_store_reserve(store, key, length, word, size);

	ck_assert_uint_ne(place, 0);
	memset(value, (int)word, size);
	/* In two pieces. */
	nm_store_write(store, place, length, 0, value, size / 2);
	nm_store_write(store, place, length, size / 2, value, size - size / 2);
	return nm_store_publish(store, place, length);
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
	nm_store_write(store, place, 4, 0, value, sizeof value);
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

/* Whether what is written stays as it is until that is over, although a put has come round: one
 * that begins when `begun` is closed. */
static bool stays_while_it_is_written(const struct nm_stored *stored, int begun)
{
	_Atomic uint64_t *writer = nm_store_begin_writing(store, stored->place);
	char before[VALUE];

	memcpy(before, stored->data, VALUE);
	(void)close(begun);
	while (nm_store_holds(store, stored->place))
		(void)sched_yield();
	for (unsigned i = 0; i < 200; i++)
		(void)sched_yield();
	const bool same = memcmp(before, stored->data, VALUE) == 0;

	nm_store_end_writing(writer, stored->place);
	return same;
}

START_TEST(whoever_comes_round_waits)
{
	struct nm_stored stored;
	int status = -1, begun[2];
	char none;

	ck_assert_int_eq(pipe(begun), 0);
	ck_assert(put(0, 1, VALUE));
	ck_assert(nm_store_find(store, "key0", 4, &stored));
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(!stays_while_it_is_written(&stored, begun[1]));
	(void)close(begun[1]);
	ck_assert_int_eq(read(begun[0], &none, 1), 0);
	for (unsigned i = 1; waitpid(child, &status, WNOHANG) == 0; i++)
		ck_assert(put(i, 2, VALUE));
	(void)close(begun[0]);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Killed, for example: others take the places of all that write, and their room. */
START_TEST(who_is_gone_keeps_nobody)
{
	_Atomic uint64_t *first = NULL;
	uint64_t place = 0;

	for (unsigned w = 0; w < WRITERS; w++) {
		place = nm_store_reserve(store, "k", 1, 0, 0);
		_Atomic uint64_t *writer = nm_store_begin_writing(store, place);

		ck_assert_ptr_nonnull(writer);
		first = first ? first : writer;
	}
	for (unsigned i = 0; i < 2000; i++)
		ck_assert(put(i, i, VALUE) && get(i));
	/* One that comes back ends nobody else's. */
	place = nm_store_reserve(store, "k", 1, 0, 0);
	atomic_store(first, place);
	nm_store_end_writing(first, place - 1);
	ck_assert_uint_eq(atomic_load(first), place);
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
	tcase_add_test(tests, whoever_comes_round_waits);
	tcase_add_test(tests, who_is_gone_keeps_nobody);
	tcase_add_test(tests, two_processes);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
