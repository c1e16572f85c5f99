/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of both ends, and the verdict on them. */
#include "control/master/reconcile.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static struct nm_phases phases;
static struct nm_phase plan_phase;
static struct nm_group plan_group;
static char host_name[] = "10.0.0.7";
static char *host_names[] = {host_name};
static struct nm_plan plan;
static struct nm_counts here;
static struct nm_result *result;

/* One group of one worker, which has done three passes on both hosts. */
static void start(void)
{
	static char name[] = "web";
	const uint32_t n_workers = 1;
	const uint64_t passes = 3;
	const struct nm_counts there = {.bytes_sent = 200, .bytes_received = 100};

	plan_phase = (struct nm_phase){.line = 12, .counts.reliable = true};
	plan_group = (struct nm_group){
		.name = name, .n_workers = 1, .n_phases = 1, .phases = &plan_phase, .runs = true};
	plan = (struct nm_plan){
		.hosts = host_names, .n_hosts = 1, .groups = &plan_group, .n_groups = 1};
	ck_assert_int_eq(nm_phases_init(&phases, &n_workers, 1, 1), 0);
	phases.groups[0].runs = true;
	phases.hosts[0].parts[0].runs = true;
	nm_phases_begin(&phases, 0, 0);
	phases.groups[0].passes[0] = passes;
	ck_assert_int_eq(nm_phases_done(&phases, 0, 0, 0, &passes, &there), 0);
	here = (struct nm_counts){.bytes_sent = 100, .bytes_received = 200};
	result = nm_result_new();
	ck_assert_ptr_nonnull(result);
	result->groups = calloc(1, sizeof *result->groups);
	result->n_groups = 1;
}

static void end(void)
{
	nm_phases_fini(&phases);
	result = nm_result_free(result);
}

static enum nm_reconciled reconcile(bool interrupted)
{
	const struct nm_reconcile in = {.plan = &plan,
					.file = "t.xml",
					.phases = &phases,
					.here = &here,
					.interrupted = interrupted};

	nm_reconcile_phase(&in, result);
	return result->verdict.reconciled;
}

START_TEST(equal_counts_agree)
{
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_YES);
	ck_assert_ptr_null(result->verdict.reconcile_text);
}
END_TEST

START_TEST(passes_that_differ_are_named_by_worker_and_host)
{
	phases.groups[0].passes[0] = 4;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
	ck_assert_str_eq(result->verdict.reconcile_text,
			 "group web, transaction at t.xml:12: worker 0 has done 4 iterations on "
			 "the master and 3 on 10.0.0.7");
}
END_TEST

START_TEST(bytes_that_differ_are_told_by_direction)
{
	here.bytes_received++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
	ck_assert_str_eq(result->verdict.reconcile_text,
			 "group web, transaction at t.xml:12: the master has received 201 bytes "
			 "and its slaves have sent 200");
}
END_TEST

START_TEST(the_first_difference_stays)
{
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
	here.bytes_received++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
	ck_assert_str_eq(result->verdict.reconcile_text,
			 "group web, transaction at t.xml:12: the master has sent 101 bytes and "
			 "its slaves have received 100");
}
END_TEST

START_TEST(a_cut_forgives_what_it_may_have_made)
{
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(true), NM_RECONCILED_UNKNOWN);
	ck_assert_ptr_null(result->verdict.reconcile_text);
}
END_TEST

START_TEST(a_cut_does_not_forgive_what_differed_before)
{
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
	ck_assert_int_eq(reconcile(true), NM_RECONCILED_NO);
}
END_TEST

START_TEST(failures_that_are_allowed_end_the_comparison)
{
	plan_phase.counts.can_fail = true;
	here.errors = 2;
	here.bytes_sent = 7;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_FORGIVEN);
	ck_assert_str_eq(result->verdict.reconcile_text,
			 "group web, transaction at t.xml:12: flowops that may fail have failed, "
			 "2 times");
	here.errors = 0;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_FORGIVEN);
}
END_TEST

START_TEST(a_difference_is_worse_than_what_is_forgiven)
{
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
	plan_phase.counts.can_fail = true;
	here.errors = 1;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
}
END_TEST

START_TEST(what_may_be_lost_is_not_compared)
{
	plan_phase.counts.reliable = false;
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_UNKNOWN);
}
END_TEST

START_TEST(what_is_expected_here_may_be_refused_there)
{
	here.refused = 1;
	plan_phase.counts.expects = true;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_YES);
	plan_phase.counts.expects = false;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_NO);
}
END_TEST

START_TEST(without_a_peer_there_is_nothing_to_compare)
{
	phases.hosts[0].parts[0].empty = true;
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_UNKNOWN);
}
END_TEST

START_TEST(hosts_that_send_freely_need_not_make_as_many_passes)
{
	phases.hosts[0].parts[0].free = true;
	phases.groups[0].passes[0] = 4;
	plan_phase.counts.unmatched = true;
	here.bytes_sent++;
	ck_assert_int_eq(reconcile(false), NM_RECONCILED_YES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reconcile");
	TCase *verdict = tcase_create("verdict");

	tcase_add_checked_fixture(verdict, start, end);
	tcase_add_test(verdict, equal_counts_agree);
	tcase_add_test(verdict, passes_that_differ_are_named_by_worker_and_host);
	tcase_add_test(verdict, bytes_that_differ_are_told_by_direction);
	tcase_add_test(verdict, the_first_difference_stays);
	tcase_add_test(verdict, a_cut_forgives_what_it_may_have_made);
	tcase_add_test(verdict, a_cut_does_not_forgive_what_differed_before);
	tcase_add_test(verdict, failures_that_are_allowed_end_the_comparison);
	tcase_add_test(verdict, a_difference_is_worse_than_what_is_forgiven);
	tcase_add_test(verdict, what_may_be_lost_is_not_compared);
	tcase_add_test(verdict, what_is_expected_here_may_be_refused_there);
	tcase_add_test(verdict, without_a_peer_there_is_nothing_to_compare);
	tcase_add_test(verdict, hosts_that_send_freely_need_not_make_as_many_passes);
	suite_add_tcase(suite, verdict);
	return run_suite(suite);
}
