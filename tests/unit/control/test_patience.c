/* SPDX-License-Identifier: Apache-2.0 */
/* A master that is alive and does nothing, in each state of a session, with times made up. */
#include "control/slave/patience.h"

#include <check.h>

#include "../suite.h"

#define S UINT64_C(1000000000)

static struct nm_patience patience;

static void start(void)
{
	nm_patience_init(&patience, 4 * S, 100 * S);
	patience.master_timeout_ns = 6 * S;
	patience.stall_ns = 20 * S;
}

/* In a state that began at 200 s nothing ends before so many seconds, and then it does. */
static void lasts(enum nm_session_state state, uint64_t seconds)
{
	nm_patience_enter(&patience, NM_SESSION_END, 150 * S);
	nm_patience_enter(&patience, state, 200 * S);
	ck_assert_uint_eq(nm_patience_until_ns(&patience), (200 + seconds) * S);
	ck_assert(!nm_patience_ends(&patience, patience.progress, (200 + seconds) * S - 1));
	ck_assert(nm_patience_ends(&patience, patience.progress, (200 + seconds) * S));
}

START_TEST(each_state_has_its_time)
{
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 103 * S);
	lasts(NM_SESSION_HELLO, 3);
	lasts(NM_SESSION_PREPARE, 10);
	lasts(NM_SESSION_CONNECT, 10);
	lasts(NM_SESSION_IDLE, 30);
	lasts(NM_SESSION_PHASE, 30);
	lasts(NM_SESSION_RESULT, 10);
	nm_patience_enter(&patience, NM_SESSION_END, 300 * S);
	ck_assert_uint_eq(nm_patience_until_ns(&patience), UINT64_MAX);
}
END_TEST

START_TEST(a_state_begins_once)
{
	nm_patience_enter(&patience, NM_SESSION_PREPARE, 200 * S);
	nm_patience_enter(&patience, NM_SESSION_PREPARE, 205 * S);
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 210 * S);
}
END_TEST

START_TEST(what_moves_prolongs_a_phase_and_nothing_else)
{
	nm_patience_enter(&patience, NM_SESSION_PHASE, 200 * S);
	ck_assert(!nm_patience_ends(&patience, 7, 230 * S));
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 260 * S);
	ck_assert(!nm_patience_ends(&patience, 8, 260 * S));
	ck_assert(nm_patience_ends(&patience, 8, 290 * S));
	nm_patience_enter(&patience, NM_SESSION_RESULT, 300 * S);
	ck_assert(nm_patience_ends(&patience, 9, 310 * S));
}
END_TEST

START_TEST(a_master_may_ask_once_for_more_time)
{
	nm_patience_enter(&patience, NM_SESSION_PREPARE, 200 * S);
	ck_assert(nm_patience_wait(&patience, 60 * S, 201 * S));
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 271 * S);
	ck_assert(!nm_patience_wait(&patience, 60 * S, 270 * S));
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 271 * S);
	/* It is gone with its state. */
	nm_patience_enter(&patience, NM_SESSION_CONNECT, 270 * S);
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 280 * S);
}
END_TEST

START_TEST(no_master_asks_for_more_than_a_day)
{
	const uint64_t day_ns = 86400 * S;

	nm_patience_enter(&patience, NM_SESSION_IDLE, 200 * S);
	ck_assert(nm_patience_wait(&patience, UINT64_MAX, 200 * S));
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 230 * S + day_ns);
	patience.master_timeout_ns = UINT64_MAX;
	nm_patience_enter(&patience, NM_SESSION_CONNECT, 200 * S);
	ck_assert_uint_eq(nm_patience_until_ns(&patience), 204 * S + day_ns);
}
END_TEST

START_TEST(what_did_not_come_is_told)
{
	char text[128];

	nm_patience_enter(&patience, NM_SESSION_PREPARE, 200 * S);
	ck_assert_str_eq(nm_patience_text(&patience, 210 * S, text, sizeof text),
			 "the master has sent no order to prepare for 10 s");
	nm_patience_enter(&patience, NM_SESSION_RESULT, 200 * S);
	ck_assert_str_eq(nm_patience_text(&patience, 220 * S, text, sizeof text),
			 "the master has sent no goodbye for 20 s");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("patience");
	TCase *tc = tcase_create("patience");

	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, each_state_has_its_time);
	tcase_add_test(tc, a_state_begins_once);
	tcase_add_test(tc, what_moves_prolongs_a_phase_and_nothing_else);
	tcase_add_test(tc, a_master_may_ask_once_for_more_time);
	tcase_add_test(tc, no_master_asks_for_more_than_a_day);
	tcase_add_test(tc, what_did_not_come_is_told);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
