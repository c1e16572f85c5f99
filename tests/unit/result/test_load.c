/* SPDX-License-Identifier: Apache-2.0 */
#include "result/load.h"

#include <check.h>
#include <string.h>

#include "../suite.h"
#include "result/result.h"

#define NS_OF_MS 1000000u

/* 1000 passes of 1 ms in one second, that were all due, begun and ended in time, over 10 flows. */
static struct nm_result_phase phase;
static struct nm_result_group group;
static struct nm_result result;

static void setup(void)
{
	phase = (struct nm_result_phase){
		.measured = true,
		.arrivals = (char *)"const(1000/s)",
		.whole = {.seconds = 1.5,
			  .counts = {.iterations = 1000,
				     .arrivals = 1000,
				     .light = 900,
				     .light_ns = UINT64_C(900) * NS_OF_MS,
				     .open_ns = UINT64_C(2000) * NS_OF_MS},
			  .latency = {.count = 1000, .min_s = 0.0005, .mean_s = 0.001}}};
	group = (struct nm_result_group){
		.n_flows = 10, .n_workers = 2, .phases = &phase, .n_phases = 1};
	result = (struct nm_result){.groups = &group, .n_groups = 1, .complete = true};
}

static struct nm_load judged(void)
{
	struct nm_load load;

	ck_assert(nm_phase_load(&result, &group, &phase, &load));
	return load;
}

START_TEST(as_asked_for)
{
	struct nm_load load = judged();

	ck_assert_str_eq(load.name, "ok");
	ck_assert_double_eq(load.offered_per_s, 1000);
	ck_assert_double_eq(load.achieved_per_s, 1000);
	/* Of 1000 a second that take 1 ms each one is under way at a time, and by chance twice as
	 * many; and one of a hundred may be late. */
	phase.whole.counts.tardy = 13;
	ck_assert_int_eq(judged().verdict, NM_LOAD_OK);
	ck_assert_double_eq(judged().achieved_per_s, 987);
	phase.whole.counts.tardy = 14;
	ck_assert_int_ne(judged().verdict, NM_LOAD_OK);
	phase.whole.counts.tardy = phase.whole.counts.overdue = 10;
	ck_assert_int_eq(judged().verdict, NM_LOAD_OK);
	phase.whole.counts.overdue = 11;
	ck_assert_int_ne(judged().verdict, NM_LOAD_OK);
}
END_TEST

START_TEST(passes_that_take_long_may_be_under_way)
{
	phase.whole.counts.light_ns *= 50;
	phase.whole.counts.tardy = 100;
	ck_assert_int_eq(judged().verdict, NM_LOAD_OK);
	phase.whole.counts.tardy = 120;
	ck_assert_int_ne(judged().verdict, NM_LOAD_OK);
}
END_TEST

/* The time of passes, in steps, for which half a pass is outstanding. */
#define HALF (500u * (uint64_t)NS_OF_MS / NM_DELAY_STEP_NS)

/* In a second 1000 passes of 1 ms: by Little's law one is outstanding. Half as much are those that
 * failed, and of those with an answer a quarter was after the time. */
START_TEST(what_is_outstanding_is_the_rate_by_the_time)
{
	struct nm_counts *counts = &phase.whole.counts;

	counts->outstanding = 2 * HALF;
	counts->outstanding_most = 3;
	ck_assert(judged().keeps_law);
	ck_assert_double_eq_tol(judged().outstanding_mean, 1, 1e-9);
	ck_assert_uint_eq(judged().outstanding_max, 3);
	counts->outstanding_failed = HALF;
	ck_assert(!judged().keeps_law);
	ck_assert_double_eq_tol(judged().outstanding_by_law, 1.5, 1e-9);
	counts->outstanding_after = HALF / 2;
	counts->outstanding = 5 * HALF / 2;
	ck_assert(judged().keeps_law);
	ck_assert_double_eq_tol(judged().outstanding_mean, 1.25, 1e-9);
	counts->outstanding = 5 * HALF / 2 * 1009 / 1000;
	ck_assert(judged().keeps_law);
	counts->outstanding = 5 * HALF / 2 * 1011 / 1000;
	ck_assert(!judged().keeps_law);
	counts->outstanding = 5 * HALF / 2 * 989 / 1000;
	ck_assert(!judged().keeps_law);
}
END_TEST

/* Of very few short passes each worker has rounded more than a hundredth. */
START_TEST(the_law_may_be_off_by_steps)
{
	phase.whole.latency = (struct nm_latency){.count = 1, .mean_s = 300e-9};
	phase.whole.counts.outstanding = 0;
	ck_assert(judged().keeps_law);
	phase.whole.latency.mean_s = 400e-9;
	ck_assert(!judged().keeps_law);
}
END_TEST

START_TEST(what_was_not_measured_is_not_judged)
{
	struct nm_load load;

	phase.measured = false;
	ck_assert(!nm_phase_load(&result, &group, &phase, &load));
	phase.measured = true;
	result.complete = false;
	ck_assert(!nm_phase_load(&result, &group, &phase, &load));
	result.verdict.interrupted = true;
	ck_assert(nm_phase_load(&result, &group, &phase, &load));
	phase.whole.counts.open_ns = 0;
	ck_assert(!nm_phase_load(&result, &group, &phase, &load));
}
END_TEST

START_TEST(the_other_end_is_the_limit)
{
	phase.whole.counts.tardy = 500;
	phase.whole.counts.delay_busy = UINT64_C(1000) * NS_OF_MS / NM_DELAY_STEP_NS;
	phase.whole.latency.mean_s = 0.010;
	ck_assert_str_eq(judged().name, "overload");
	ck_assert_str_eq(judged().advice,
			 "the other end, or the CPU of this one, does 500/s at most: the backlog "
			 "grows by 500/s, and response times by 1 s in each second");
	ck_assert_double_eq(judged().backlog_per_s, 500);
	ck_assert_double_eq_tol(judged().busy_s, 0.001, 1e-9);
	/* What never began counts as due. */
	phase.whole.counts.tardy = 0;
	phase.whole.counts.unsent = 500;
	ck_assert_int_eq(judged().verdict, NM_LOAD_OVERLOAD);
	ck_assert_uint_eq(judged().due, 1500);
}
END_TEST

START_TEST(the_connections_are_the_limit)
{
	phase.whole.counts.tardy = 500;
	phase.whole.counts.delay_busy = UINT64_C(1000) * NS_OF_MS / NM_DELAY_STEP_NS;
	ck_assert_str_eq(judged().name, "connections");
	ck_assert_str_eq(judged().advice, "10 connections carry 10000/s at most, as each pass "
					  "takes 1 ms: use nflows=11");
	phase.pipeline = 8;
	ck_assert_str_eq(judged().advice,
			 "10 connections with 8 requests outstanding each carry 80000/s at most, "
			 "as each pass takes 1 ms: use nflows=11, or a deeper pipeline");
	phase.pipeline = 0;
	/* Of 1000/s that take 100 ms 100 are under way, by chance some more. */
	phase.whole.latency.mean_s = phase.whole.latency.min_s = 0.1;
	phase.whole.counts.light_ns *= 100;
	ck_assert_str_eq(judged().advice, "10 connections carry 100/s at most, as each pass takes "
					  "100 ms: use nflows=120");
	phase.whole.counts.light_ns /= 100;
	phase.whole.latency.mean_s = 0.001;
	phase.whole.latency.min_s = 0.0005;
	/* With too few passes that had the other end for themselves the shortest is asked. */
	phase.whole.counts.light = 99;
	ck_assert_int_eq(judged().verdict, NM_LOAD_OVERLOAD);
	phase.whole.latency.min_s = 0.0009;
	ck_assert_int_eq(judged().verdict, NM_LOAD_CONNECTIONS);
}
END_TEST

START_TEST(this_end_is_the_limit)
{
	phase.whole.counts.tardy = 500;
	phase.whole.counts.delay_own = 1000;
	phase.whole.counts.delay_busy = 900;
	ck_assert_str_eq(judged().name, "generator");
	ck_assert_str_eq(judged().advice, "this end began passes too late, though connections were "
					  "free: use more workers, or more CPU");
	/* Of what was slowed down by more the other end is the limit. */
	phase.whole.latency.mean_s = 0.0011;
	phase.whole.counts.delay_own = UINT64_C(100) * NS_OF_MS / NM_DELAY_STEP_NS + 1000;
	ck_assert_str_eq(judged().name, "generator");
	phase.whole.counts.delay_own -= 2000;
	ck_assert_str_eq(judged().name, "overload");
	phase.whole.latency.mean_s = 0.001;
	phase.whole.counts.delay_own = 1000;
	result.hosts = &(struct nm_result_host){
		.is_master = true,
		.has_usage = true,
		.usage = {.at_ns = 1000 * NS_OF_MS,
			  .process = {.utime_ns = 600 * NS_OF_MS, .stime_ns = 390 * NS_OF_MS}}};
	result.n_hosts = 1;
	ck_assert_str_eq(judged().advice, "this end began passes too late, though connections were "
					  "free, and took 99 % of a CPU, with 2 workers: use more "
					  "workers, or more CPU");
	/* The workers of several groups have shared it. */
	result.n_groups = 2;
	ck_assert_str_eq(judged().advice, "this end began passes too late, though connections were "
					  "free: use more workers, or more CPU");
	result.n_groups = 1;
	phase.whole.counts.arrivals = 600;
	phase.whole.counts.unsent = 400;
	phase.whole.counts.starved = 200;
	ck_assert_str_eq(judged().name, "generator");
	phase.whole.counts.starved = 201;
	ck_assert_str_eq(judged().name, "connections");
	ck_assert_str_eq(judged().advice, "connections could not be opened anew, as the server was "
					  "away, and 400 of the 1000 that were due never began");
}
END_TEST

/* With a full send buffer a connection is not free, though its passes are as short as ever. */
START_TEST(the_kernel_takes_no_more)
{
	phase.whole.counts.tardy = 500;
	phase.whole.counts.delay_own = 150;
	phase.whole.counts.delay_busy = 100;
	phase.whole.counts.delay_kernel = 90;
	ck_assert_str_eq(judged().name, "connections");
	ck_assert_double_eq_tol(judged().kernel_s, 90e-3 * NM_DELAY_STEP_NS / 1e9, 1e-15);
	phase.whole.counts.delay_kernel = 110;
	ck_assert_str_eq(judged().name, "overload");
}
END_TEST

/* Passes that begin at once or never do not wait for a flow, but for this end; that is the limit
 * only where it takes longer than the passes of 1 ms. */
START_TEST(what_would_have_waited_was_dropped)
{
	phase.whole.counts.iterations = phase.whole.counts.arrivals = 200;
	phase.whole.counts.dropped_queue = 700;
	phase.whole.counts.dropped_late = 60;
	phase.whole.counts.unsent = 40;
	phase.whole.counts.delay_own = UINT64_C(200) * NS_OF_MS / NM_DELAY_STEP_NS;
	ck_assert_str_eq(judged().name, "connections");
	ck_assert_str_eq(
		judged().advice,
		"10 connections carry 10000/s at most, as each pass takes 1 ms: use "
		"nflows=11, and 800 of the 1000 that were due never began (queue dropped 700, "
		"late dropped 60)");
	phase.whole.counts.delay_own = phase.whole.counts.delay_own * 11 / 10;
	ck_assert_str_eq(judged().name, "generator");
	phase.whole.counts.starved = 401;
	ck_assert_str_eq(judged().name, "connections");
	ck_assert_ptr_nonnull(strstr(judged().advice, "as the server was away"));
}
END_TEST

/* A backlog that is at its limit for longer than it took to grow does not grow. */
START_TEST(a_backlog_grows_until_as_much_is_dropped)
{
	struct nm_counts *counts = &phase.whole.counts;

	counts->tardy = 13;
	ck_assert(!judged().grows);
	counts->tardy = 50;
	ck_assert(judged().grows);
	counts->unsent = 50;
	counts->dropped_queue = 60;
	counts->dropped_late = 39;
	ck_assert(judged().grows);
	counts->dropped_late = 40;
	ck_assert(!judged().grows);
	counts->unanswered = 500;
	counts->dropped_queue = 0;
	ck_assert_int_eq(judged().verdict, NM_LOAD_ERRORS);
	ck_assert(judged().grows);
}
END_TEST

/* What is dropped waits for nothing, so that no response time grows. */
START_TEST(the_other_end_is_the_limit_and_nothing_waits)
{
	phase.whole.latency.mean_s = 0.010;
	phase.whole.counts.delay_busy = UINT64_C(1000) * NS_OF_MS / NM_DELAY_STEP_NS;
	phase.whole.counts.dropped_queue = 500;
	ck_assert_str_eq(judged().advice, "the other end, or the CPU of this one, does 1000/s at "
					  "most, and 500 of the 1500 that were due never began "
					  "(queue dropped 500)");
	phase.whole.counts.dropped_queue = 0;
	phase.whole.counts.dropped_late = 500;
	phase.whole.counts.tardy = 50;
	ck_assert_ptr_null(strstr(judged().advice, "response"));
}
END_TEST

START_TEST(advice_that_has_no_room_is_cut)
{
	phase.whole.counts.dropped_queue = phase.whole.counts.dropped_late = UINT64_MAX / 4;
	phase.whole.latency.mean_s = 1e-150;
	ck_assert_str_eq(judged().name, "connections");
	ck_assert_uint_eq(strlen(judged().advice), sizeof judged().advice - 1);
}
END_TEST

START_TEST(too_many_fail)
{
	phase.whole.counts.iterations = 989;
	phase.whole.counts.unanswered = 11;
	ck_assert_str_eq(judged().name, "errors");
	ck_assert_str_eq(judged().advice, "1.1 failures for each 100 passes");
}
END_TEST

START_TEST(some_fail_and_others_never_begin)
{
	phase.whole.counts.arrivals = 300;
	phase.whole.counts.unsent = 700;
	phase.whole.counts.unanswered = 30;
	ck_assert_str_eq(judged().name, "errors");
	ck_assert_str_eq(judged().advice,
			 "3 failures for each 100 passes, and 700 of the 1000 that "
			 "were due never began");
}
END_TEST

START_TEST(the_worst_counts)
{
	struct nm_result_phase phases[3] = {phase, phase, phase};
	struct nm_load load;

	group.phases = phases;
	group.n_phases = 3;
	phases[0].arrivals = NULL;
	phases[1].whole.counts.unsent = 500;
	ck_assert(nm_result_load(&result, &load));
	ck_assert_uint_eq(load.unsent, 500);
	phases[1].measured = false;
	ck_assert(nm_result_load(&result, &load));
	ck_assert_int_eq(load.verdict, NM_LOAD_OK);
	phases[2].arrivals = NULL;
	ck_assert(!nm_result_load(&result, &load));
}
END_TEST

/* A step is judged by its own counts, in which tardy is what ended after it. */
START_TEST(a_step_has_a_verdict_of_its_own)
{
	struct nm_result_step step = {.window = phase.whole};
	struct nm_load load;

	step.window.counts.open_ns = UINT64_C(1000) * NS_OF_MS;
	ck_assert(nm_step_load(&result, &group, &step, &load));
	ck_assert_str_eq(load.name, "ok");
	ck_assert_double_eq(load.offered_per_s, 2000);
	step.window.counts.tardy = step.window.counts.overdue = 500;
	phase.whole.counts.tardy = 1;
	ck_assert(nm_step_load(&result, &group, &step, &load));
	ck_assert_str_ne(load.name, "ok");
	ck_assert_double_eq(load.achieved_per_s, 1000);
	ck_assert_str_eq(judged().name, "ok");
	/* Nothing came to be due in it, or in a run that has failed. */
	step.window.counts.open_ns = 0;
	ck_assert(!nm_step_load(&result, &group, &step, &load));
	step.window.counts.open_ns = 1;
	result.complete = false;
	ck_assert(!nm_step_load(&result, &group, &step, &load));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("load");
	TCase *tcase = tcase_create("load");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_step_has_a_verdict_of_its_own);
	tcase_add_test(tcase, as_asked_for);
	tcase_add_test(tcase, passes_that_take_long_may_be_under_way);
	tcase_add_test(tcase, what_is_outstanding_is_the_rate_by_the_time);
	tcase_add_test(tcase, the_law_may_be_off_by_steps);
	tcase_add_test(tcase, what_was_not_measured_is_not_judged);
	tcase_add_test(tcase, the_other_end_is_the_limit);
	tcase_add_test(tcase, the_connections_are_the_limit);
	tcase_add_test(tcase, this_end_is_the_limit);
	tcase_add_test(tcase, the_kernel_takes_no_more);
	tcase_add_test(tcase, what_would_have_waited_was_dropped);
	tcase_add_test(tcase, a_backlog_grows_until_as_much_is_dropped);
	tcase_add_test(tcase, the_other_end_is_the_limit_and_nothing_waits);
	tcase_add_test(tcase, advice_that_has_no_room_is_cut);
	tcase_add_test(tcase, too_many_fail);
	tcase_add_test(tcase, some_fail_and_others_never_begin);
	tcase_add_test(tcase, the_worst_counts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
