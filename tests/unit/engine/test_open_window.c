/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/phase/due.h"

#include <stdlib.h>

#include "../suite.h"
#include "engine/loop/request.h"
#include "open_phase.h"

/* The window is 2 to 9 s, of a phase from 1 to 11 s; what was due outside of it is
 * counted with `outside`. */
static void begin_cut(const char *arrivals, struct nm_tally *outside)
{
	struct nm_hist *latency = calloc(1, sizeof *latency);

	ck_assert_ptr_nonnull(latency);
	nm_hist_init_zeroed(latency);
	outside->latency = latency;
	f.engine.edges_ns[0] = S;
	f.engine.edges_ns[1] = 2 * S;
	f.stats.outside = f.worker.io.apps.outside = outside;
	f.worker.run.marks = NM_REQUEST_RECORDED;
	begin(arrivals, 10 * S);
}

/* A pass belongs to the window by when it was due, however late it begins and ends. */
START_TEST(passes_belong_to_the_window_in_which_they_were_due)
{
	const struct nm_counters *within = &f.stats.tally.counters;
	struct nm_tally outside = {.n_verbs = 0};

	begin_cut("const(1k)", &outside);
	for (unsigned i = 0; i < 1000; i++)
		pass(0, 5 * S, 6 * S);
	ck_assert_uint_eq(count(&outside.counters.iterations), 1000);
	ck_assert_uint_eq(outside.latency->sum_ns, 1000 * S);
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
	ck_assert_uint_eq(count(&outside.counters.unanswered), 1);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&within->unsent), 0);
	ck_assert_uint_eq(count(&outside.counters.unsent), 1999);
	ck_assert_uint_eq(count(&within->open_ns), 7 * S);
	free(outside.latency);
	end();
}
END_TEST

/* Little's law is that of what was due in the window, to its end. */
START_TEST(outstanding_are_those_that_were_due_in_the_window)
{
	struct nm_tally outside = {.n_verbs = 0};

	begin_cut("const(1k)", &outside);
	nm_open_begin_pass(&f.worker, &f.flows[1].flow, S + MS);
	for (unsigned i = 0; i < 999; i++)
		pass(0, S + MS, S + 2 * MS);
	pass(0, 3 * S, 3 * S + 2 * MS);
	nm_request_end(&f.worker, &f.flows[1].flow, 4 * S);
	ck_assert_uint_eq(open_of->beside, 0);
	pass(1, 9 * S - MS, 9 * S + 3 * MS);
	nm_open_end(&f.worker);
	ck_outstanding(2 + 1, 1, 0, 3);
	free(outside.latency);
	end();
}
END_TEST

/* What never began is counted by when it was due, too: some of it when the phase is over. */
START_TEST(what_never_began_was_due_in_the_window_or_not)
{
	struct nm_tally outside = {.n_verbs = 0};

	f.phase.arrivals.backlog = (struct nm_backlog_rules){
		.limited = _i == 1, .queue = 100, .late_ns = _i == 2 ? 10 * MS : 0};
	begin_cut("const(1k)", &outside);
	(void)nm_open_take_free(&f.worker);
	(void)nm_open_take_free(&f.worker);
	nm_open_look(&f.worker, 4 * S);
	nm_open_look(&f.worker, 10 * S);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&counted->unsent) + count(&counted->dropped_queue) +
				  count(&counted->dropped_late),
			  7000);
	ck_assert_uint_eq(count(&outside.counters.unsent) + count(&outside.counters.dropped_queue) +
				  count(&outside.counters.dropped_late),
			  3000);
	ck_assert_uint_eq(count(&counted->dropped_queue) > 0, _i == 1);
	ck_assert_uint_eq(count(&counted->dropped_late) > 0, _i == 2);
	free(outside.latency);
	end();
}
END_TEST

/* More than are counted one by one; what is more than a queue lets wait was dropped from it. */
START_TEST(many_that_never_began_were_due_in_the_window_or_not)
{
	struct nm_tally outside = {.n_verbs = 0};

	f.phase.arrivals.backlog = (struct nm_backlog_rules){.limited = _i, .queue = 100};
	begin_cut("const(3M/s)", &outside);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&counted->unsent) + count(&counted->dropped_queue), 21000000);
	/* What is reckoned is rounded down. */
	ck_assert_uint_eq(
		(count(&outside.counters.unsent) + count(&outside.counters.dropped_queue) + 1) / 10,
		900000);
	free(outside.latency);
	end();
}
END_TEST

/* An interrupt before the window begins leaves nothing in it. */
START_TEST(an_interrupt_ends_the_window)
{
	struct nm_tally outside = {.n_verbs = 0};

	begin_cut("const(1k)", &outside);
	nm_open_stop(&f.worker, _i ? S + S / 2 : 4 * S, true);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&counted->open_ns), _i ? 0 : 2 * S);
	ck_assert_uint_eq(count(&counted->unsent), _i ? 0 : 2000);
	ck_assert_uint_eq(count(&outside.counters.unsent), _i ? 500 : 1000);
	free(outside.latency);
	end();
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
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
