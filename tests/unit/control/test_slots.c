/* SPDX-License-Identifier: Apache-2.0 */
#include "control/slave/slots.h"

#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

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

static bool take(size_t index)
{
	const struct nm_session_slot slot = {.slots = slots, .index = index};

	return nm_session_slot_take(&slot);
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
	tcase_add_test(tc, processes_share_them);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
