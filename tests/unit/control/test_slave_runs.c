/* SPDX-License-Identifier: Apache-2.0 */
#include "control/slave/runs.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define S UINT64_C(1000000000)

static struct nm_slave_runs *runs;
static struct nm_slave_run_begin begun[4];

static void start(void)
{
	runs = calloc(1, sizeof *runs);
	ck_assert_ptr_nonnull(runs);
}

static void end(void)
{
	free(runs);
}

/* Run `id` begins in session i. */
static void begin(size_t i, uint64_t id, uint64_t at_s)
{
	ck_assert(nm_slave_runs_claim(runs, i, id, "10.0.0.1", false, at_s * S));
	nm_slave_runs_begin(runs, i, at_s * S, &begun[i]);
}

/* The run of session i is over, and has met others. */
static void end_met(size_t i, uint64_t at_s, uint32_t others, uint64_t for_s, uint64_t of_s)
{
	struct nm_msg_others met;

	nm_slave_runs_end(runs, i, at_s * S, &begun[i], &met);
	ck_assert_uint_eq(met.runs, others);
	ck_assert_uint_eq(met.ns, for_s * S);
	ck_assert_uint_eq(met.of_ns, of_s * S);
}

START_TEST(a_run_that_is_alone_meets_nobody)
{
	begin(0, 7, 100);
	end_met(0, 110, 0, 0, 10);
	begin(1, 8, 110);
	end_met(1, 120, 0, 0, 10);
}
END_TEST

START_TEST(runs_that_overlap_tell_each_other_for_how_long)
{
	begin(0, 7, 100);
	begin(1, 8, 103);
	end_met(0, 110, 1, 7, 10); /* the other began during it */
	end_met(1, 115, 1, 7, 12); /* the other began before it */
}
END_TEST

/* The session that ends has read the clock before the other one did, and changes the runs after
 * it. */
START_TEST(a_clock_that_is_read_a_moment_earlier_makes_no_overlap)
{
	begin(0, 7, 100);
	begin(1, 8, 105);
	end_met(0, 104, 1, 0, 4);
}
END_TEST

START_TEST(a_run_within_another_is_told_by_both)
{
	begin(0, 7, 100);
	begin(1, 8, 103);
	end_met(1, 105, 1, 2, 2);
	end_met(0, 110, 1, 2, 10); /* the other has ended before */
}
END_TEST

START_TEST(several_others_are_counted_and_their_time_is_counted_once)
{
	begin(0, 7, 100);
	begin(1, 8, 101);
	begin(2, 9, 102);
	end_met(1, 104, 2, 3, 3);
	end_met(2, 105, 2, 3, 3);
	begin(1, 10, 107);
	end_met(1, 108, 1, 1, 1);
	end_met(0, 110, 3, 5, 10);
}
END_TEST

START_TEST(sessions_of_one_run_are_no_others_to_each_other)
{
	begin(0, 7, 100);
	begin(1, 7, 100);
	begin(2, 8, 104);
	end_met(1, 106, 1, 2, 6);
	end_met(0, 106, 1, 2, 6);
	end_met(2, 110, 1, 2, 6);
}
END_TEST

START_TEST(a_session_that_was_killed_ends_where_it_is_reaped)
{
	begin(0, 7, 100);
	begin(1, 8, 101);
	nm_slave_runs_leave(runs, 1, 103 * S);
	nm_slave_runs_leave(runs, 1, 104 * S);
	end_met(0, 110, 1, 2, 10);
	begin(1, 9, 120);
	end_met(1, 121, 0, 0, 1);
}
END_TEST

/* A session that is interrupted between counting and writing must not find the word that it knew,
 * also where neither change touches the time. */
START_TEST(each_change_of_the_runs_changes_the_word)
{
	uint64_t counted = atomic_load(&runs->together);

	begin(0, 7, 100);
	ck_assert_uint_ne(atomic_load(&runs->together), counted);
	counted = atomic_load(&runs->together);
	nm_slave_runs_leave(runs, 0, 101 * S);
	ck_assert_uint_ne(atomic_load(&runs->together), counted);
}
END_TEST

START_TEST(many_changes_and_a_clock_of_years_leave_the_time_right)
{
	const uint64_t years = 400000000; /* more than the word has room for */

	begin(0, 7, years + 100);
	for (uint64_t i = 0; i < 1000; i++) {
		begin(1, 8, years + 100 + 2 * i);
		end_met(1, years + 101 + 2 * i, 1, 1, 1);
	}
	end_met(0, years + 2100, 1000, 1000, 2000);
}
END_TEST

START_TEST(one_that_prepares_is_not_under_way)
{
	begin(0, 7, 100);
	ck_assert(nm_slave_runs_claim(runs, 1, 8, "10.0.0.2", false, 101 * S));
	nm_slave_runs_leave(runs, 1, 105 * S);
	end_met(0, 110, 0, 0, 10);
}
END_TEST

START_TEST(a_slave_with_one_run_at_a_time_names_it)
{
	char master[64];
	uint64_t since_ns;

	ck_assert(!nm_slave_runs_other(runs, master, sizeof master, &since_ns));
	ck_assert(nm_slave_runs_claim(runs, 3, 7, "10.0.0.1", true, 100 * S));
	ck_assert(nm_slave_runs_claim(runs, 4, 7, "10.0.0.1", true, 101 * S)); /* of one run */
	ck_assert(!nm_slave_runs_claim(runs, 0, 8, "10.0.0.2", true, 102 * S));
	ck_assert(nm_slave_runs_other(runs, master, sizeof master, &since_ns));
	ck_assert_str_eq(master, "10.0.0.1");
	ck_assert_uint_eq(since_ns, 100 * S);
	nm_slave_runs_leave(runs, 0, 103 * S); /* one that was refused frees nothing */
	nm_slave_runs_leave(runs, 3, 103 * S);
	ck_assert(!nm_slave_runs_claim(runs, 0, 8, "10.0.0.2", true, 103 * S));
	nm_slave_runs_leave(runs, 4, 104 * S);
	ck_assert(nm_slave_runs_claim(runs, 0, 8, "10.0.0.2", true, 104 * S));
	/* Its run is over before its session is. */
	nm_slave_runs_begin(runs, 0, 105 * S, &begun[0]);
	end_met(0, 106, 0, 0, 1);
	ck_assert(nm_slave_runs_claim(runs, 1, 9, "10.0.0.3", true, 106 * S));
}
END_TEST

START_TEST(runs_are_told_apart_by_their_text)
{
	ck_assert_uint_eq(nm_slave_run_id("a0"), nm_slave_run_id("a0"));
	ck_assert_uint_ne(nm_slave_run_id("a0"), nm_slave_run_id("0a"));
	ck_assert_uint_ne(nm_slave_run_id(""), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slave_runs");
	TCase *tc = tcase_create("slave_runs");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, a_run_that_is_alone_meets_nobody);
	tcase_add_test(tc, runs_that_overlap_tell_each_other_for_how_long);
	tcase_add_test(tc, a_clock_that_is_read_a_moment_earlier_makes_no_overlap);
	tcase_add_test(tc, a_run_within_another_is_told_by_both);
	tcase_add_test(tc, several_others_are_counted_and_their_time_is_counted_once);
	tcase_add_test(tc, sessions_of_one_run_are_no_others_to_each_other);
	tcase_add_test(tc, a_session_that_was_killed_ends_where_it_is_reaped);
	tcase_add_test(tc, each_change_of_the_runs_changes_the_word);
	tcase_add_test(tc, many_changes_and_a_clock_of_years_leave_the_time_right);
	tcase_add_test(tc, one_that_prepares_is_not_under_way);
	tcase_add_test(tc, a_slave_with_one_run_at_a_time_names_it);
	tcase_add_test(tc, runs_are_told_apart_by_their_text);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
