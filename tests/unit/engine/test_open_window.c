/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/due.h"

#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "engine/loop/request.h"
#include "open_phase.h"

#define STEPS 4 /* at most */
static struct nm_due_part parts[NM_DUE_STEPS + STEPS];
static struct nm_tally *const outside = &parts[NM_DUE_OUTSIDE].tally;

static void new_latency(struct nm_tally *tally)
{
	tally->latency = calloc(1, sizeof *tally->latency);
	ck_assert_ptr_nonnull(tally->latency);
	nm_hist_init_zeroed(tally->latency);
}

/* A phase from 1 to 11 s whose passes are counted in parts. */
static void begin_parts(const char *arrivals)
{
	struct nm_arrivals law;
	char why[512];

	memset((void *)parts, 0, sizeof parts);
	ck_assert_int_eq(nm_arrivals_parse(arrivals, 10 * S, &law, why, sizeof why), 0);
	f.stats.parts = parts;
	f.stats.n_parts = nm_due_count(&law, f.engine.edges_ns[0]);
	ck_assert_uint_le(f.stats.n_parts, NM_DUE_STEPS + STEPS);
	for (uint32_t i = 0; i < f.stats.n_parts; i++)
		new_latency(&parts[i].tally);
	f.worker.run.marks = NM_REQUEST_RECORDED;
	begin(arrivals, 10 * S);
}

/* The window is 2 to 9 s; what was due outside of it is counted with `outside`. */
static void begin_cut(const char *arrivals)
{
	f.phase.measured = true;
	f.engine.edges_ns[0] = S;
	f.engine.edges_ns[1] = 2 * S;
	begin_parts(arrivals);
}

static void end_parts(void)
{
	for (uint32_t i = 0; i < f.stats.n_parts; i++)
		free(parts[i].tally.latency);
	end();
}

/* A pass belongs to the window by when it was due, however late it begins and ends. */
START_TEST(passes_belong_to_the_window_in_which_they_were_due)
{
	const struct nm_counters *within = &f.stats.tally.counters;
	begin_cut("const(1k)");
	for (unsigned i = 0; i < 1000; i++)
		pass(0, 5 * S, 6 * S);
	ck_assert_uint_eq(count(&outside->counters.iterations), 1000);
	ck_assert_uint_eq(outside->latency->sum_ns, 1000 * S);
	ck_assert_uint_eq(count(&within->iterations) + count(&within->arrivals), 0);
	ck_assert_uint_eq(count(&within->delay_own) + count(&within->light), 0);
	for (unsigned i = 0; i < 7000; i++)
		pass(0, 12 * S, 12 * S + MS);
	ck_assert_uint_eq(count(&within->arrivals), 7000);
	ck_assert_uint_eq(count(&within->iterations), 7000);
	ck_assert_uint_eq(count(&within->tardy), 7000);
	ck_assert_uint_eq(f.worker.run.latency->sum_ns, 7 * S);
	nm_open_begin_pass(&f.worker, &f.flows[0].flow, 13 * S);
	f.flows[0].flow.request.outcome = NM_TIMEOUT;
	nm_request_end(&f.worker, &f.flows[0].flow, 14 * S);
	ck_assert_uint_eq(count(&within->unanswered), 0);
	ck_assert_uint_eq(count(&outside->counters.unanswered), 1);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&within->unsent), 0);
	ck_assert_uint_eq(count(&outside->counters.unsent), 1999);
	ck_assert_uint_eq(count(&within->open_ns), 7 * S);
	end_parts();
}
END_TEST

/* Little's law is that of what was due in the window, to its end. */
START_TEST(outstanding_are_those_that_were_due_in_the_window)
{
	begin_cut("const(1k)");
	nm_open_begin_pass(&f.worker, &f.flows[1].flow, S + MS);
	for (unsigned i = 0; i < 999; i++)
		pass(0, S + MS, S + 2 * MS);
	pass(0, 3 * S, 3 * S + 2 * MS);
	nm_request_end(&f.worker, &f.flows[1].flow, 4 * S);
	ck_assert_uint_eq(open_of->beside, 0);
	pass(1, 9 * S - MS, 9 * S + 3 * MS);
	nm_open_end(&f.worker);
	ck_outstanding(2 + 1, 1, 0, 3);
	end_parts();
}
END_TEST

/* What never began is counted by when it was due, too: some of it when the phase is over. */
START_TEST(what_never_began_was_due_in_the_window_or_not)
{
	f.phase.arrivals.backlog = (struct nm_backlog_rules){
		.limited = _i == 1, .queue = 100, .late_ns = _i == 2 ? 10 * MS : 0};
	begin_cut("const(1k)");
	(void)nm_open_take_free(&f.worker);
	(void)nm_open_take_free(&f.worker);
	nm_open_look(&f.worker, 4 * S);
	nm_open_look(&f.worker, 10 * S);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&counted->unsent) + count(&counted->dropped_queue) +
				  count(&counted->dropped_late),
			  7000);
	ck_assert_uint_eq(count(&outside->counters.unsent) +
				  count(&outside->counters.dropped_queue) +
				  count(&outside->counters.dropped_late),
			  3000);
	ck_assert_uint_eq(count(&counted->dropped_queue) > 0, _i == 1);
	ck_assert_uint_eq(count(&counted->dropped_late) > 0, _i == 2);
	end_parts();
}
END_TEST

/* More than are counted one by one; what is more than a queue lets wait was dropped from it. */
START_TEST(many_that_never_began_were_due_in_the_window_or_not)
{
	f.phase.arrivals.backlog = (struct nm_backlog_rules){.limited = _i, .queue = 100};
	begin_cut("const(3M/s)");
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&counted->unsent) + count(&counted->dropped_queue), 21000000);
	/* What is reckoned is rounded down. */
	ck_assert_uint_eq(
		(count(&outside->counters.unsent) + count(&outside->counters.dropped_queue) + 1) /
			10,
		900000);
	end_parts();
}
END_TEST

/* An interrupt before the window begins leaves nothing in it. */
START_TEST(an_interrupt_ends_the_window)
{
	begin_cut("const(1k)");
	nm_open_stop(&f.worker, _i ? S + S / 2 : 4 * S, true);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&counted->open_ns), _i ? 0 : 2 * S);
	ck_assert_uint_eq(count(&counted->unsent), _i ? 0 : 2000);
	ck_assert_uint_eq(count(&outside->counters.unsent), _i ? 500 : 1000);
	end_parts();
}
END_TEST

static const struct nm_counters *step_counters(unsigned step)
{
	return &parts[NM_DUE_STEPS + step].tally.counters;
}

/* In 10 s: 1000, 2000 and 3000 in 2 s each, and the first two of these once more. */
#define HELD "steps(500,1500,500,2s)"

/* Each pass belongs to the step in which it was due, also where it ends in a later one, which is
 * then late for its own. */
START_TEST(passes_belong_to_the_step_in_which_they_were_due)
{
	begin_parts(HELD);
	for (unsigned i = 0; i < 1000; i++)
		pass(0, 3 * S - MS, i < 10 ? 3 * S : 3 * S - 1);
	for (unsigned i = 0; i < 2000; i++)
		pass(0, i < 7 ? 5 * S : 5 * S - 1, 12 * S);
	ck_assert_uint_eq(count(&step_counters(0)->iterations), 1000);
	ck_assert_uint_eq(count(&step_counters(1)->iterations), 2000);
	ck_assert_uint_eq(count(&step_counters(2)->arrivals), 0);
	ck_assert_uint_eq(count(&parts[NM_DUE_STEPS].tardy), 10);
	ck_assert_uint_eq(count(&parts[NM_DUE_STEPS].overdue), 0);
	ck_assert_uint_eq(count(&parts[NM_DUE_STEPS + 1].overdue), 7);
	ck_assert_uint_eq(count(&parts[NM_DUE_STEPS + 1].tardy), 2000);
	/* By the end of the window, as without steps. */
	ck_assert_uint_eq(count(&step_counters(0)->tardy), 0);
	ck_assert_uint_eq(count(&step_counters(1)->tardy), 2000);
	ck_assert_uint_eq(parts[NM_DUE_STEPS].tally.latency->max_ns, MS);
	ck_assert_uint_eq(parts[NM_DUE_STEPS + 1].tally.latency->max_ns, 7 * S + 1);
	ck_assert_uint_eq(count(&counted->iterations) + count(&counted->arrivals), 0);
	end_parts();
}
END_TEST

/* What never began was due in its step, in both rounds of it; with a limited queue, with one for
 * what is late, and with none. */
START_TEST(what_never_began_was_due_in_a_step)
{
	static const uint64_t due[] = {1000 + 1000, 2000 + 2000, 3000};
	uint64_t sum = 0;

	f.phase.arrivals.backlog = (struct nm_backlog_rules){
		.limited = _i == 1, .queue = 100, .late_ns = _i == 2 ? 10 * MS : 0};
	begin_parts(HELD);
	(void)nm_open_take_free(&f.worker);
	(void)nm_open_take_free(&f.worker);
	nm_open_look(&f.worker, 4 * S);
	nm_open_look(&f.worker, 10 * S);
	nm_open_end(&f.worker);
	for (unsigned i = 0; i < 3; i++) {
		const struct nm_counters *of = step_counters(i);
		uint64_t never =
			count(&of->unsent) + count(&of->dropped_queue) + count(&of->dropped_late);

		ck_assert_uint_eq(never, due[i]);
		sum += never;
	}
	ck_assert_uint_eq(sum, 9000);
	end_parts();
}
END_TEST

/* 5 * 10^9 that never begin are neither counted one by one, step by step, nor lost. */
START_TEST(many_that_never_began_were_due_in_a_step)
{
	static const uint64_t due[] = {1200000000, 2400000000, 1800000000};

	begin_parts("steps(300M,900M,300M,2s)");
	nm_open_end(&f.worker);
	for (unsigned i = 0; i < 3; i++) {
		/* What is reckoned is rounded down. */
		ck_assert_uint_le(count(&step_counters(i)->unsent), due[i]);
		ck_assert_uint_ge(count(&step_counters(i)->unsent) + 2, due[i]);
	}
	end_parts();
}
END_TEST

/* In a window from 2 to 9 s: a second less of the first step, and the end of its next round. */
START_TEST(steps_are_cut_by_the_window)
{
	begin_cut(HELD);
	for (unsigned i = 0; i < 9000; i++)
		pass(0, 12 * S, 12 * S);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&outside->counters.iterations), 500 + 2000);
	ck_assert_uint_eq(count(&step_counters(0)->iterations), 500 + 1000);
	ck_assert_uint_eq(count(&step_counters(1)->iterations), 2000);
	ck_assert_uint_eq(count(&step_counters(2)->iterations), 3000);
	ck_assert_uint_eq(count(&step_counters(0)->open_ns), 3 * S);
	ck_assert_uint_eq(count(&step_counters(1)->open_ns), 2 * S);
	ck_assert_uint_eq(count(&step_counters(2)->open_ns), 2 * S);
	ck_assert_uint_eq(count(&counted->open_ns), 0);
	end_parts();
}
END_TEST

/* An interrupt in the second step leaves nothing in the third. */
START_TEST(an_interrupt_ends_a_step)
{
	begin_parts(HELD);
	nm_open_stop(&f.worker, 4 * S, true);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&step_counters(0)->unsent), 1000);
	ck_assert_uint_eq(count(&step_counters(1)->unsent), 1000);
	ck_assert_uint_eq(count(&step_counters(2)->unsent), 0);
	ck_assert_uint_eq(count(&step_counters(0)->open_ns), 2 * S);
	ck_assert_uint_eq(count(&step_counters(1)->open_ns), S);
	ck_assert_uint_eq(count(&step_counters(2)->open_ns), 0);
	end_parts();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("windows of open arrivals");
	TCase *tcase = one_worker_tests("windows of open arrivals");

	tcase_add_test(tcase, passes_belong_to_the_window_in_which_they_were_due);
	tcase_add_test(tcase, outstanding_are_those_that_were_due_in_the_window);
	tcase_add_loop_test(tcase, what_never_began_was_due_in_the_window_or_not, 0, 3);
	tcase_add_loop_test(tcase, many_that_never_began_were_due_in_the_window_or_not, 0, 2);
	tcase_add_loop_test(tcase, an_interrupt_ends_the_window, 0, 2);
	tcase_add_test(tcase, passes_belong_to_the_step_in_which_they_were_due);
	tcase_add_loop_test(tcase, what_never_began_was_due_in_a_step, 0, 3);
	tcase_add_test(tcase, many_that_never_began_were_due_in_a_step);
	tcase_add_test(tcase, steps_are_cut_by_the_window);
	tcase_add_test(tcase, an_interrupt_ends_a_step);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
