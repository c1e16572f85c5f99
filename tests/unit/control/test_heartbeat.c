/* SPDX-License-Identifier: Apache-2.0 */
/* What depends on time, with times made up: heartbeats, the distance of clocks, the grid of
 * intervals. */
#include <check.h>

#include "../suite.h"
#include "control/heartbeat.h"
#include "control/clock_sync.h"
#include "control/interval.h"

#define SECOND 1000000000ull

START_TEST(something_is_said_every_second)
{
	struct nm_heartbeat beat;

	nm_heartbeat_init(&beat, 10 * SECOND, 100 * SECOND);
	ck_assert_int_eq(nm_heartbeat_due(&beat, 100 * SECOND), NM_HEARTBEAT_NOTHING);
	ck_assert_int_eq(nm_heartbeat_due(&beat, 101 * SECOND - 1), NM_HEARTBEAT_NOTHING);
	ck_assert_uint_eq(nm_heartbeat_next_ns(&beat), 101 * SECOND);
	ck_assert_int_eq(nm_heartbeat_due(&beat, 101 * SECOND), NM_HEARTBEAT_SEND);
	beat.out_ns = 101 * SECOND;
	ck_assert_int_eq(nm_heartbeat_due(&beat, 101 * SECOND), NM_HEARTBEAT_NOTHING);
	ck_assert_uint_eq(nm_heartbeat_next_ns(&beat), 102 * SECOND);
}
END_TEST

START_TEST(silence_is_a_loss_whatever_we_say)
{
	struct nm_heartbeat beat;

	nm_heartbeat_init(&beat, 10 * SECOND, 0);
	for (uint64_t t = 1; t < 10; t++) {
		ck_assert_int_eq(nm_heartbeat_due(&beat, t * SECOND), NM_HEARTBEAT_SEND);
		beat.out_ns = t * SECOND;
	}
	ck_assert_uint_eq(nm_heartbeat_next_ns(&beat), 10 * SECOND);
	ck_assert_int_eq(nm_heartbeat_due(&beat, 10 * SECOND - 1), NM_HEARTBEAT_NOTHING);
	ck_assert_int_eq(nm_heartbeat_due(&beat, 10 * SECOND), NM_HEARTBEAT_LOST);
	beat.in_ns = 10 * SECOND;
	ck_assert_int_eq(nm_heartbeat_due(&beat, 10 * SECOND), NM_HEARTBEAT_SEND);
}
END_TEST

START_TEST(a_hasty_peer_hears_more)
{
	struct nm_heartbeat beat;

	nm_heartbeat_init(&beat, 10 * SECOND, 0);
	nm_heartbeat_satisfy(&beat, 2 * SECOND);
	ck_assert_int_eq(nm_heartbeat_due(&beat, SECOND / 2 - 1), NM_HEARTBEAT_NOTHING);
	ck_assert_int_eq(nm_heartbeat_due(&beat, SECOND / 2), NM_HEARTBEAT_SEND);
	nm_heartbeat_satisfy(&beat, 60 * SECOND);
	ck_assert_int_eq(nm_heartbeat_due(&beat, SECOND / 2), NM_HEARTBEAT_SEND);
	nm_heartbeat_init(&beat, SECOND, 0);
	ck_assert_uint_eq(nm_heartbeat_next_ns(&beat), SECOND / 4);
	/* A peer that asks for a flood gets none. */
	nm_heartbeat_satisfy(&beat, 1);
	ck_assert_uint_eq(nm_heartbeat_next_ns(&beat), SECOND / 10);
}
END_TEST

START_TEST(the_fastest_answer_tells_the_distance)
{
	struct nm_clock_sync sync = {.rounds = 0};

	/* The peer is 1000 s ahead. Slow answers that waited on one way only are wrong by half of
	 * that. */
	nm_clock_sync_add(&sync, 5000, 1000 * SECOND + 5000 + 900, 5000 + 1000);
	ck_assert_int_eq(sync.offset_ns, (int64_t)(1000 * SECOND + 400));
	nm_clock_sync_add(&sync, 7000, 1000 * SECOND + 7000 + 50, 7000 + 100);
	nm_clock_sync_add(&sync, 9000, 1000 * SECOND + 9000 + 10, 9000 + 5000);
	ck_assert_int_eq(sync.offset_ns, (int64_t)(1000 * SECOND));
	ck_assert_uint_eq(sync.best_rtt_ns, 100);
	ck_assert_uint_eq(sync.rounds, 3);
}
END_TEST

START_TEST(a_peer_may_be_behind)
{
	struct nm_clock_sync sync = {.rounds = 0};

	nm_clock_sync_add(&sync, 50 * SECOND, 20 * SECOND + 10, 50 * SECOND + 20);
	ck_assert_int_eq(sync.offset_ns, -30 * (int64_t)SECOND);
}
END_TEST

START_TEST(the_grid_is_fixed)
{
	struct nm_interval grid;

	nm_interval_begin(&grid, 7 * SECOND, SECOND, 0);
	ck_assert_uint_eq(grid.next_ns, 8 * SECOND);
	ck_assert_uint_eq(nm_interval_pass(&grid, 8 * SECOND + 300), SECOND);
	ck_assert_uint_eq(grid.next_ns, 9 * SECOND);
	/* Late by more than an interval: one row for both, and on the grid again. */
	ck_assert_uint_eq(nm_interval_pass(&grid, 10 * SECOND + 5), 3 * SECOND);
	ck_assert_uint_eq(grid.next_ns, 11 * SECOND);
}
END_TEST

START_TEST(the_last_row_ends_with_the_phase)
{
	struct nm_interval grid;

	nm_interval_begin(&grid, 0, SECOND, 2 * SECOND);
	ck_assert_uint_eq(nm_interval_pass(&grid, SECOND), SECOND);
	ck_assert_uint_eq(grid.next_ns, 3 * SECOND);
	/* A stop between two points leaves a short row, unless it is hardly before the next
	 * point. */
	nm_interval_begin(&grid, 0, SECOND, 5 * SECOND / 4);
	(void)nm_interval_pass(&grid, SECOND);
	ck_assert_uint_eq(grid.next_ns, 2 * SECOND);
	nm_interval_begin(&grid, 0, SECOND, 7 * SECOND / 4);
	(void)nm_interval_pass(&grid, SECOND);
	ck_assert_uint_eq(grid.next_ns, 3 * SECOND);
	/* The only point is the stop itself. */
	nm_interval_begin(&grid, 0, SECOND, SECOND);
	ck_assert_uint_eq(grid.next_ns, 2 * SECOND);
}
END_TEST

START_TEST(no_interval_is_no_grid)
{
	struct nm_interval grid;

	nm_interval_begin(&grid, 7, 0, 9);
	ck_assert_uint_eq(grid.next_ns, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("beat");
	TCase *tc = tcase_create("beat");

	tcase_add_test(tc, something_is_said_every_second);
	tcase_add_test(tc, silence_is_a_loss_whatever_we_say);
	tcase_add_test(tc, a_hasty_peer_hears_more);
	tcase_add_test(tc, the_fastest_answer_tells_the_distance);
	tcase_add_test(tc, a_peer_may_be_behind);
	tcase_add_test(tc, the_grid_is_fixed);
	tcase_add_test(tc, the_last_row_ends_with_the_phase);
	tcase_add_test(tc, no_interval_is_no_grid);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
