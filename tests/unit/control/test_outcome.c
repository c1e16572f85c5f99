/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ends, and what all hosts are told of a phase. */
#include "control/master/outcome.h"

#include <check.h>

#include "../suite.h"
#include "control/master/order.h"

#define S UINT64_C(1000000000)

START_TEST(the_failure_that_tells_most_is_kept)
{
	struct nm_outcome outcome = {.interrupts = 0};

	ck_assert(!nm_outcome_ends(&outcome));
	ck_assert(nm_outcome_fail(&outcome, NM_FAILURE_EFFECT, "a", true, "reset", S));
	ck_assert(nm_outcome_fail(&outcome, NM_FAILURE_CAUSE, "master", false, "refused", 2u * S));
	ck_assert(!nm_outcome_fail(&outcome, NM_FAILURE_EFFECT, "b", true, "reset", 3u * S));
	ck_assert_str_eq(outcome.why, "master: refused");
	ck_assert_uint_eq(outcome.failed_at_ns, S);
	ck_assert(nm_outcome_ends(&outcome));
	nm_outcome_fail(&outcome, NM_FAILURE_LOSS, "a", true, "gone", 3u * S);
	ck_assert_str_eq(outcome.why, "slave a: gone");
}
END_TEST

START_TEST(only_an_effect_is_explained)
{
	struct nm_outcome outcome = {.interrupts = 0};

	nm_outcome_explain(&outcome, "a guess");
	ck_assert_str_eq(outcome.why, "");
	nm_outcome_fail(&outcome, NM_FAILURE_EFFECT, "master", false, "no progress", S);
	nm_outcome_explain(&outcome, "a guess");
	ck_assert_str_eq(outcome.why, "master: no progress; a guess");
	nm_outcome_fail(&outcome, NM_FAILURE_CAUSE, "a", true, "refused", S);
	nm_outcome_explain(&outcome, "a guess");
	ck_assert_str_eq(outcome.why, "slave a: refused");
}
END_TEST

START_TEST(a_failure_has_a_moment_to_show_its_cause)
{
	struct nm_outcome outcome = {.interrupts = 0};

	ck_assert(!nm_outcome_leaves(&outcome, S));
	nm_outcome_fail(&outcome, NM_FAILURE_EFFECT, "a", true, "reset", S);
	ck_assert(!nm_outcome_leaves(&outcome, S + S / 10));
	ck_assert(nm_outcome_leaves(&outcome, S + S / 5));
	nm_outcome_fail(&outcome, NM_FAILURE_LOSS, "a", true, "gone", S);
	ck_assert(nm_outcome_leaves(&outcome, S));
}
END_TEST

START_TEST(what_fails_after_the_phases_has_not_ended_them)
{
	struct nm_outcome outcome = {.settled = true};

	nm_outcome_fail(&outcome, NM_FAILURE_EFFECT, "a", true, "first", S);
	nm_outcome_fail(&outcome, NM_FAILURE_LOSS, "a", true, "second", S);
	ck_assert_str_eq(outcome.why, "slave a: first");
}
END_TEST

START_TEST(a_second_interrupt_ends_it_at_once)
{
	struct nm_outcome outcome = {.interrupts = 0};
	char text[64];

	nm_outcome_interrupt(&outcome, false, S);
	ck_assert(nm_outcome_ends(&outcome));
	ck_assert(!nm_outcome_leaves(&outcome, 100u * S));
	nm_outcome_interrupt(&outcome, true, 2u * S);
	ck_assert_uint_eq(outcome.interrupt_ns, S);
	ck_assert(!outcome.limited);
	ck_assert(nm_outcome_leaves(&outcome, 2u * S));
	ck_assert_str_eq(nm_outcome_cut_text(&outcome, 0, text, sizeof text), "interrupted");
}
END_TEST

START_TEST(the_longest_duration_is_told_by_its_option)
{
	struct nm_outcome outcome = {.interrupts = 0};
	char text[64];

	nm_outcome_interrupt(&outcome, true, S);
	ck_assert_str_eq(nm_outcome_cut_text(&outcome, 3u * S / 2, text, sizeof text),
			 "longer than --max-duration 1.5s");
}
END_TEST

static struct nm_phase phases[3];
static struct nm_group group = {.runs = true, .n_phases = 3, .phases = phases};
static const struct nm_plan plan = {.groups = &group, .n_groups = 1, .n_phases = 3};

static void start(void)
{
	phases[0] = (struct nm_phase){.iterations = 1};
	phases[1] = (struct nm_phase){.measured = true, .duration_ns = 10u * S};
	phases[2] = (struct nm_phase){.measured = true, .iterations = 5, .rate_per_s = 0.5};
	group.runs = true;
}

static struct nm_phase_order order(uint32_t phase, uint64_t warmup_ns, uint64_t cooldown_ns)
{
	const struct nm_run_options options = {.warmup_ns = warmup_ns, .cooldown_ns = cooldown_ns};
	struct nm_phase_order made;

	nm_order_make(&plan, &options, phase, &made);
	return made;
}

START_TEST(usage_is_read_from_the_first_to_the_last_measured_phase)
{
	struct nm_phase_order made = order(0, S, 0);

	ck_assert(!made.measured);
	ck_assert_int_eq(made.usage_from_ns, NM_USAGE_NEVER);
	made = order(1, S, 0);
	ck_assert(made.measured);
	ck_assert_uint_eq(made.stop_ns, 10u * S);
	ck_assert_int_eq(made.usage_from_ns, S);
	ck_assert_int_eq(made.usage_to_ns, NM_USAGE_NEVER);
	made = order(2, S, 0);
	ck_assert_int_eq(made.usage_from_ns, NM_USAGE_NEVER);
	ck_assert_int_eq(made.usage_to_ns, NM_USAGE_AT_END);
}
END_TEST

START_TEST(a_cooldown_is_cut_from_the_last_phase_with_a_duration)
{
	ck_assert_int_eq(order(2, 0, S).usage_to_ns, NM_USAGE_AT_END);
	phases[2] = (struct nm_phase){.measured = true, .duration_ns = 4u * S};
	ck_assert_int_eq(order(2, 0, S).usage_to_ns, 3 * (int64_t)S);
	ck_assert_int_eq(order(2, 0, 5u * S).usage_to_ns, NM_USAGE_AT_END);
}
END_TEST

START_TEST(a_host_that_does_nothing_measures_nothing)
{
	uint32_t first, last;

	nm_order_measured(&plan, &first, &last);
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(last, 2);
	group.runs = false;
	nm_order_measured(&plan, &first, &last);
	ck_assert_uint_eq(first, UINT32_MAX);
	ck_assert(!order(1, 0, 0).measured);
}
END_TEST

START_TEST(a_slow_rate_is_no_stall)
{
	ck_assert_uint_eq(nm_plan_longest_wait_ns(&plan), 2u * S);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outcome");
	TCase *ends = tcase_create("ends"), *orders = tcase_create("orders");

	tcase_add_test(ends, the_failure_that_tells_most_is_kept);
	tcase_add_test(ends, only_an_effect_is_explained);
	tcase_add_test(ends, a_failure_has_a_moment_to_show_its_cause);
	tcase_add_test(ends, what_fails_after_the_phases_has_not_ended_them);
	tcase_add_test(ends, a_second_interrupt_ends_it_at_once);
	tcase_add_test(ends, the_longest_duration_is_told_by_its_option);
	tcase_add_checked_fixture(orders, start, NULL);
	tcase_add_test(orders, usage_is_read_from_the_first_to_the_last_measured_phase);
	tcase_add_test(orders, a_cooldown_is_cut_from_the_last_phase_with_a_duration);
	tcase_add_test(orders, a_host_that_does_nothing_measures_nothing);
	tcase_add_test(orders, a_slow_rate_is_no_stall);
	suite_add_tcase(suite, ends);
	suite_add_tcase(suite, orders);
	return run_suite(suite);
}
