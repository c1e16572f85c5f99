/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/timer.h"

#include <check.h>

#include "../suite.h"

#define FLOWS 500

static struct nm_flow flows[FLOWS];
static struct nm_timers timers;

static void setup(void)
{
	for (size_t i = 0; i < FLOWS; i++)
		flows[i] = (struct nm_flow){.index = (uint32_t)i};
	ck_assert_int_eq(nm_timers_init(&timers, FLOWS), 0);
}

static void teardown(void)
{
	nm_timers_fini(&timers);
}

/* The same disorder every time. */
static uint64_t disorder(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

START_TEST(the_earliest_comes_first)
{
	uint64_t state = 1, last = 0;

	for (size_t i = 0; i < FLOWS; i++) {
		flows[i].timer.at_ns = 1 + disorder(&state) % 100;
		nm_timers_add(&timers, &flows[i].timer);
	}
	for (size_t i = 0; i < FLOWS; i++) {
		struct nm_timer *first = nm_timers_take(&timers, UINT64_MAX);

		ck_assert_ptr_nonnull(first);
		ck_assert_uint_ge(first->at_ns, last);
		last = first->at_ns;
		ck_assert_uint_eq(first->slot, 0);
	}
	ck_assert_ptr_null(nm_timers_take(&timers, UINT64_MAX));
}
END_TEST

START_TEST(any_can_be_taken_out)
{
	uint64_t state = 7, last = 0;

	for (size_t i = 0; i < FLOWS; i++) {
		flows[i].timer.at_ns = 1 + disorder(&state) % 1000;
		nm_timers_add(&timers, &flows[i].timer);
	}
	for (size_t i = 0; i < FLOWS; i += 3)
		nm_timers_remove(&timers, &flows[i].timer);
	for (struct nm_timer *first; (first = nm_timers_take(&timers, UINT64_MAX));) {
		ck_assert_uint_ne(nm_timer_flow(first)->index % 3, 0);
		ck_assert_uint_ge(first->at_ns, last);
		last = first->at_ns;
	}
	ck_assert_uint_eq(timers.count, 0);
}
END_TEST

START_TEST(taking_out_what_is_not_in_does_nothing)
{
	flows[0].timer.at_ns = 5;
	nm_timers_add(&timers, &flows[0].timer);
	nm_timers_remove(&timers, &flows[1].timer);
	ck_assert_uint_eq(nm_timers_next_ns(&timers), 5);
	nm_timers_remove(&timers, &flows[0].timer);
	nm_timers_remove(&timers, &flows[0].timer);
	ck_assert_uint_eq(nm_timers_next_ns(&timers), UINT64_MAX);
}
END_TEST

START_TEST(nothing_comes_up_before_its_time)
{
	flows[0].timer.at_ns = 5;
	nm_timers_add(&timers, &flows[0].timer);
	ck_assert_ptr_null(nm_timers_take(&timers, 4));
	ck_assert_ptr_eq(nm_timers_take(&timers, 5), &flows[0].timer);
}
END_TEST

START_TEST(a_sleep_that_has_ended_otherwise_comes_up_in_vain)
{
	flows[0].timer.at_ns = 5;
	nm_timers_add(&timers, &flows[0].timer);
	flows[0].timer.at_ns = 0;
	ck_assert_ptr_null(nm_timers_take(&timers, 5));
	ck_assert_uint_eq(timers.count, 0);
}
END_TEST

START_TEST(a_sleep_may_be_set_anew)
{
	flows[0].timer.at_ns = 5;
	flows[1].timer.at_ns = 9;
	nm_timers_add(&timers, &flows[0].timer);
	nm_timers_add(&timers, &flows[1].timer);
	flows[0].timer.at_ns = 12;
	nm_timers_add(&timers, &flows[0].timer);
	ck_assert_uint_eq(timers.count, 2);
	ck_assert_ptr_null(nm_timers_take(&timers, 8));
	ck_assert_ptr_eq(nm_timers_take(&timers, 20), &flows[1].timer);
	ck_assert_ptr_eq(nm_timers_take(&timers, 20), &flows[0].timer);
	flows[0].timer.at_ns = 30;
	nm_timers_add(&timers, &flows[0].timer);
	flows[0].timer.at_ns = 25;
	nm_timers_add(&timers, &flows[0].timer);
	ck_assert_ptr_eq(nm_timers_take(&timers, 25), &flows[0].timer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timers");
	TCase *tcase = tcase_create("heap");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, the_earliest_comes_first);
	tcase_add_test(tcase, any_can_be_taken_out);
	tcase_add_test(tcase, taking_out_what_is_not_in_does_nothing);
	tcase_add_test(tcase, nothing_comes_up_before_its_time);
	tcase_add_test(tcase, a_sleep_that_has_ended_otherwise_comes_up_in_vain);
	tcase_add_test(tcase, a_sleep_may_be_set_anew);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
