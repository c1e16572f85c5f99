/* SPDX-License-Identifier: Apache-2.0 */
#include "control/slave/slots.h"

#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "control/address.h"
#include "control/slave/visitors.h"

static struct nm_session_slots *slots;

static void start(void)
{
	slots = nm_session_slots_new();
	ck_assert_ptr_nonnull(slots);
}

static void end(void)
{
	slots = nm_session_slots_free(slots);
}

#define S UINT64_C(1000000000)

/* Says hello. */
static enum nm_session_seat greet(size_t index, uint64_t now_ns)
{
	const struct nm_session_slot slot = {.slots = slots, .index = index};

	return nm_session_slot_take(&slot, now_ns);
}

static bool serve(size_t index)
{
	const struct nm_session_slot slot = {.slots = slots, .index = index};

	return nm_session_slot_serve(&slot);
}

/* Says hello, and has something to prepare. */
static bool take(size_t index)
{
	return greet(index, 10 * S) == NM_SESSION_SEAT_TAKEN && serve(index);
}

static void fill(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		atomic_store(&slots->state[i], NM_SESSION_SLOT_SILENT);
}

START_TEST(all_are_free_at_first)
{
	ck_assert_uint_eq(nm_session_slots_count(slots, NM_SESSION_SLOT_FREE), NM_SESSION_SLOTS);
	ck_assert(!take(0));
}
END_TEST

START_TEST(as_many_are_served_as_there_is_room_for)
{
	fill(0, NM_SESSION_SLOTS_SERVED + 1);
	for (size_t i = 0; i < NM_SESSION_SLOTS_SERVED; i++)
		ck_assert(take(i));
	ck_assert(!take(NM_SESSION_SLOTS_SERVED));
	ck_assert_uint_eq(nm_session_slots_count(slots, NM_SESSION_SLOT_SERVED),
			  NM_SESSION_SLOTS_SERVED);
	ck_assert_uint_eq(nm_session_slots_count(slots, NM_SESSION_SLOT_SILENT), 1);
	/* One leaves. */
	atomic_store(&slots->state[7], NM_SESSION_SLOT_FREE);
	ck_assert(take(NM_SESSION_SLOTS_SERVED));
}
END_TEST

START_TEST(there_may_be_room_for_one_only)
{
	const struct nm_session_slot slot = {.slots = slots, .index = 0};

	fill(0, 2);
	atomic_store(&slots->room, 1);
	ck_assert(take(0));
	ck_assert(!take(1));
	nm_session_slot_leave(&slot);
	ck_assert(take(1));
	ck_assert(!take(0));
}
END_TEST

START_TEST(the_silent_take_no_room_from_masters)
{
	fill(0, NM_SESSION_SLOTS_SILENT);
	ck_assert(take(NM_SESSION_SLOTS_SILENT - 1));
}
END_TEST

START_TEST(who_is_first_has_the_place)
{
	fill(0, 2);
	ck_assert(nm_session_slots_close(slots, 0));
	ck_assert(!take(0));
	ck_assert(take(1));
	ck_assert(!nm_session_slots_close(slots, 1));
	ck_assert_int_eq(atomic_load(&slots->state[0]), NM_SESSION_SLOT_CLOSED);
	ck_assert_int_eq(atomic_load(&slots->state[1]), NM_SESSION_SLOT_SERVED);
}
END_TEST

START_TEST(who_prepares_nothing_makes_way)
{
	const struct nm_session_slot second = {.slots = slots, .index = 1};

	fill(0, NM_SESSION_SLOTS_SERVED + 3);
	for (size_t i = 0; i < NM_SESSION_SLOTS_SERVED; i++)
		ck_assert_int_eq(greet(i, (i == 1 ? 9 : 10) * S), NM_SESSION_SEAT_TAKEN);
	ck_assert(serve(0));
	/* The one that has been there for longest, but not at once. */
	ck_assert_int_eq(greet(NM_SESSION_SLOTS_SERVED, 10 * S - 1), NM_SESSION_SEAT_NONE);
	ck_assert_int_eq(greet(NM_SESSION_SLOTS_SERVED, 10 * S), NM_SESSION_SEAT_TAKEN);
	ck_assert(nm_session_slot_is_lost(&second));
	ck_assert(!serve(1));
	ck_assert(serve(NM_SESSION_SLOTS_SERVED));
	ck_assert_int_eq(greet(NM_SESSION_SLOTS_SERVED + 1, 10 * S), NM_SESSION_SEAT_NONE);
	ck_assert_int_eq(greet(NM_SESSION_SLOTS_SERVED + 1, 11 * S), NM_SESSION_SEAT_TAKEN);
	/* Who has prepared stays. */
	for (size_t i = 2; i < NM_SESSION_SLOTS_SERVED; i++)
		(void)serve(i);
	ck_assert(serve(NM_SESSION_SLOTS_SERVED + 1));
	ck_assert_int_eq(greet(NM_SESSION_SLOTS_SERVED + 2, 99 * S), NM_SESSION_SEAT_NONE);
}
END_TEST

START_TEST(another_host_has_its_share)
{
	for (size_t i = 0; i < 2 * NM_SESSION_SLOTS_OF_HOST + 2; i++)
		nm_session_slots_begin(slots, i, i < NM_SESSION_SLOTS_OF_HOST + 1 ? 7 : 0);
	for (size_t i = 0; i < NM_SESSION_SLOTS_OF_HOST; i++)
		ck_assert(take(i));
	ck_assert_int_eq(greet(NM_SESSION_SLOTS_OF_HOST, 99 * S), NM_SESSION_SEAT_NO_MORE);
	ck_assert_uint_eq(nm_session_slots_count_of(slots, NM_SESSION_SLOT_SERVED, 7),
			  NM_SESSION_SLOTS_OF_HOST);
	/* This host shares with nobody. */
	for (size_t i = 0; i < NM_SESSION_SLOTS_OF_HOST + 1; i++)
		ck_assert(take(NM_SESSION_SLOTS_OF_HOST + 1 + i));
	nm_session_slots_begin(slots, 40, 8);
	ck_assert(take(40));
}
END_TEST

static uint64_t host_of(const char *text)
{
	struct nm_addr addr;

	ck_assert_int_eq(nm_address_parse(text, &addr), 0);
	return nm_visitors_host(&addr);
}

START_TEST(other_hosts_come_at_their_pace)
{
	struct nm_visitors visitors = {.of = {{.host = 0}}};
	uint64_t one = host_of("10.0.0.1"), two = host_of("10.0.0.2");

	ck_assert_uint_ne(one, two);
	ck_assert_uint_ne(one, 0);
	ck_assert_uint_eq(host_of("2001:db8::1"), host_of("2001:db8::2"));
	ck_assert_uint_ne(host_of("2001:db8::1"), host_of("2001:db8:0:1::1"));
	for (unsigned i = 0; i < NM_VISITORS_AT_ONCE; i++)
		ck_assert(nm_visitors_admit(&visitors, one, 100 * S));
	ck_assert(!nm_visitors_admit(&visitors, one, 100 * S));
	ck_assert(nm_visitors_admit(&visitors, two, 100 * S));
	ck_assert(nm_visitors_admit(&visitors, 0, 100 * S));
	unsigned n = 0;

	while (n < 1000 && nm_visitors_admit(&visitors, one, 101 * S))
		n++;
	ck_assert_uint_eq(n, NM_VISITORS_A_SECOND);
	/* So many others that its own bucket is forgotten. */
	for (uint64_t host = 1000; host < 1000 + 2 * NM_VISITORS_HOSTS; host++)
		ck_assert(nm_visitors_admit(&visitors, host, 102 * S));
}
END_TEST

START_TEST(processes_share_them)
{
	int status;

	fill(3, 4);
	pid_t pid = fork();

	if (pid == 0)
		_exit(take(3) ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_int_eq(atomic_load(&slots->state[3]), NM_SESSION_SLOT_SERVED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slots");
	TCase *tc = tcase_create("slots");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, all_are_free_at_first);
	tcase_add_test(tc, as_many_are_served_as_there_is_room_for);
	tcase_add_test(tc, there_may_be_room_for_one_only);
	tcase_add_test(tc, the_silent_take_no_room_from_masters);
	tcase_add_test(tc, who_is_first_has_the_place);
	tcase_add_test(tc, who_prepares_nothing_makes_way);
	tcase_add_test(tc, another_host_has_its_share);
	tcase_add_test(tc, other_hosts_come_at_their_pace);
	tcase_add_test(tc, processes_share_them);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
