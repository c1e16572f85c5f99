/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs of a master and an embedded slave, in this process: over control messages, but with
 * engines that only say that they have done something. */
#include "control/master/run.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "control/master/event_loop.h"
#include "fake_engine.h"
#include "profile/tree.h"

#define BY_COUNT                                                                                   \
	"<profile name='t'><group nthreads='2'>"                                                   \
	"<transaction iterations='1'><flowop type='connect' options='remotehost=local "            \
	"protocol=tcp'/></transaction>"                                                            \
	"<transaction iterations='5'><flowop type='write' options='size=10'/>"                     \
	"<flowop type='read' options='size=10'/></transaction>"                                    \
	"<transaction iterations='1'><flowop type='disconnect'/></transaction>"                    \
	"</group></profile>"

#define BY_TIME                                                                                    \
	"<profile name='t'><group nthreads='1'>"                                                   \
	"<transaction iterations='1'><flowop type='connect' options='remotehost=local "            \
	"protocol=tcp'/></transaction>"                                                            \
	"<transaction duration='30ms'><flowop type='write' options='size=10'/></transaction>"      \
	"</group></profile>"

/* The slave connects, and begins the passes. */
#define SLAVE_LEADS                                                                                \
	"<profile name='t'><group nthreads='1'>"                                                   \
	"<transaction iterations='1'><flowop type='accept' options='remotehost=local "             \
	"protocol=tcp'/></transaction>"                                                            \
	"<transaction duration='30ms'><flowop type='read' options='size=10'/></transaction>"       \
	"</group></profile>"

static struct nm_run_options options;
static struct nm_diags diags;
static struct nm_result *result;
static int interrupt_fds[2];
static char log_text[8192];
static unsigned n_rows, n_flow_rows, n_tcp_rows, n_execs, n_traffic, n_progress, n_times;

static void on_log(void *arg, const char *line)
{
	size_t used = strlen(log_text);

	(void)arg;
	(void)snprintf(log_text + used, sizeof log_text - used, "%s\n", line);
}

static void on_interval(void *arg, const struct nm_result *so_far,
			const struct nm_result_interval *row)
{
	(void)arg;
	(void)so_far;
	(void)row;
	n_rows++;
}

static void on_flows(void *arg, const struct nm_flow_rows *rows)
{
	(void)arg;
	n_flow_rows += (unsigned)rows->count;
}

static void on_tcp(void *arg, const struct nm_tcp_rows *rows)
{
	(void)arg;
	n_tcp_rows += (unsigned)rows->count;
}

static void on_responses(void *arg, const struct nm_response_row *rows, size_t count)
{
	(void)arg;
	(void)rows;
	n_execs += (unsigned)count;
}

static void on_traffic(void *arg, const struct nm_traffic *traffic)
{
	(void)arg;
	(void)traffic;
	n_traffic++;
}

static void on_progress(void *arg, const struct nm_plan *plan, const struct nm_progress *progress)
{
	(void)arg;
	(void)plan;
	(void)progress;
	n_progress++;
}

static void on_times(void *arg, const struct nm_interval_times *times)
{
	(void)arg;
	(void)times;
	n_times++;
}

static void start(void)
{
	ck_assert_int_eq(pipe(interrupt_fds), 0);
	nm_run_options_default(&options);
	options.in_process = true;
	options.interval_ns = 10000000;
	options.interrupt_fd = interrupt_fds[0];
	options.events = (struct nm_run_events){.log = on_log,
						.interval = on_interval,
						.flows = on_flows,
						.tcp = on_tcp,
						.responses = on_responses,
						.traffic = on_traffic,
						.progress = on_progress,
						.times = on_times};
	fake_script = (struct fake_script){.works = true, .passes = 6};
	diags = (struct nm_diags){.count = 0};
	log_text[0] = '\0';
	n_rows = n_flow_rows = n_tcp_rows = n_execs = n_traffic = n_progress = n_times = 0;
}

static void end(void)
{
	result = nm_result_free(result);
	nm_diags_fini(&diags);
	(void)close(interrupt_fds[0]);
	(void)close(interrupt_fds[1]);
}

static enum nm_run_status run(const char *text)
{
	struct nm_node *root = nm_profile_parse("t.xml", text, strlen(text), &diags);

	ck_assert_ptr_nonnull(root);
	struct nm_plan *plan = nm_plan_compile(root, "t.xml", &diags);

	if (!plan || diags.n_errors) {
		char line[512];

		nm_diag_format(&diags.items[0], line, sizeof line);
		ck_abort_msg("%s", line);
	}
	const struct nm_job job = {.path = "t.xml",
				   .text = text,
				   .text_length = strlen(text),
				   .root = root,
				   .plan = plan};
	enum nm_run_status status = nm_run(&job, &options, &result, &diags);

	nm_plan_free(plan);
	nm_node_free(root);
	return status;
}

static void complete(enum nm_run_status status)
{
	ck_assert_msg(status == NM_RUN_COMPLETE, "%s\n%s",
		      result && result->verdict.incomplete_why ? result->verdict.incomplete_why
							       : "",
		      log_text);
}

START_TEST(phases_by_count_run_to_their_end)
{
	complete(run(BY_COUNT));
	ck_assert(result->complete);
	ck_assert_int_eq(result->verdict.reconciled, NM_RECONCILED_YES);
	ck_assert_uint_eq(result->groups[0].phases[1].slaves.iterations, 10);
	ck_assert_uint_eq(result->hosts[1].counts.iterations, 14);
	ck_assert(result->has_start_skew);
	ck_assert(strstr(log_text, "connected to local"));
}
END_TEST

START_TEST(a_timed_phase_is_stopped_and_followed)
{
	complete(run(BY_TIME));
	ck_assert_uint_eq(result->groups[0].phases[1].slaves.iterations, 6);
	ck_assert_int_eq(result->verdict.reconciled, NM_RECONCILED_YES);
	ck_assert_uint_gt(n_rows, 0);
	ck_assert_uint_gt(result->hosts[1].n_intervals, 0);
	ck_assert_uint_gt(result->hosts[0].n_intervals, 0);
}
END_TEST

START_TEST(a_slave_that_leads_is_stopped_and_the_master_follows)
{
	complete(run(SLAVE_LEADS));
	ck_assert_uint_eq(result->hosts[0].groups[0].iterations, 7);
	ck_assert_int_eq(result->verdict.reconciled, NM_RECONCILED_YES);
}
END_TEST

START_TEST(everything_that_may_be_told_is_told)
{
	options.statistics = NM_STAT_RAW | NM_STAT_FLOWOPS | NM_STAT_TRANSACTIONS |
			     NM_STAT_STRANDS | NM_STAT_FLOWOP_CPU | NM_STAT_RESPONSES;
	options.samples_flows = options.samples_tcp = options.samples_percentiles = true;
	options.traffic_ns = 5000000;
	options.log_passes = 3;
	options.warmup_ns = 5000000;
	options.cooldown_ns = 5000000;
	complete(run(BY_TIME));
	ck_assert_uint_gt(n_progress, 3);
	ck_assert_uint_gt(n_traffic, 0);
	ck_assert_uint_gt(n_flow_rows, 1);
	ck_assert_uint_gt(n_times, 0);
	ck_assert_ptr_nonnull(result->hosts[0].report);
	ck_assert_ptr_nonnull(result->hosts[1].report);
}
END_TEST

START_TEST(bytes_that_only_one_end_has_counted_are_an_error)
{
	fake_script.slave_sends = 1;
	ck_assert_int_eq(run(BY_COUNT), NM_RUN_FAILED);
	ck_assert_int_eq(result->verdict.reconciled, NM_RECONCILED_NO);
	ck_assert_ptr_nonnull(result->verdict.reconcile_text);
}
END_TEST

START_TEST(a_host_that_answers_nothing_has_half_of_the_timeout)
{
	struct nm_run_options asked = {.timeout_ns = 10 * UINT64_C(1000000000)};
	const struct nm_master master = {.options = &asked};

	ck_assert_uint_eq(nm_master_patience_ns(&master), 5 * UINT64_C(1000000000));
	asked.timeout_ns = 4 * UINT64_C(1000000000); /* a host that is busy */
	ck_assert_uint_eq(nm_master_patience_ns(&master), 3 * UINT64_C(1000000000));
	asked.timeout_ns = 1 * UINT64_C(1000000000);
	ck_assert_uint_eq(nm_master_patience_ns(&master), 1 * UINT64_C(1000000000));
}
END_TEST

START_TEST(a_window_lasts_as_long_as_asked_though_its_flows_come_late)
{
	fake_script.late_ns = 20000000;
	complete(run(BY_TIME));
	ck_assert_double_ge(result->totals.seconds, 0.03);
}
END_TEST

START_TEST(one_interrupt_ends_gracefully)
{
	ck_assert_int_eq(write(interrupt_fds[1], "i", 1), 1);
	ck_assert_int_eq(run(BY_TIME), NM_RUN_INTERRUPTED);
	ck_assert(result->verdict.interrupted);
	ck_assert(!result->complete);
	ck_assert(strstr(log_text, "interrupted: finishing"));
	ck_assert_str_eq(result->verdict.incomplete_why, "interrupted before the first phase");
}
END_TEST

START_TEST(two_interrupts_end_at_once)
{
	ck_assert_int_eq(write(interrupt_fds[1], "ii", 2), 2);
	ck_assert_int_eq(run(BY_TIME), NM_RUN_INTERRUPTED);
	ck_assert(!result->complete);
}
END_TEST

START_TEST(the_longest_duration_is_no_interrupt)
{
	options.max_duration.ns = 1500000000;
	ck_assert_int_eq(write(interrupt_fds[1], "L", 1), 1);
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert(!result->verdict.interrupted);
	ck_assert(strstr(result->verdict.incomplete_why, "longer than --max-duration 1.5s,"));
}
END_TEST

START_TEST(a_wait_before_the_first_phase_can_be_interrupted)
{
	options.wait.start_ns = 20000000;
	(void)close(interrupt_fds[1]);
	complete(run(BY_COUNT));
	interrupt_fds[1] = dup(interrupt_fds[0]);
}
END_TEST

START_TEST(a_phase_without_progress_has_stalled)
{
	fake_script.master_stalls = true;
	options.timeout_ns = 1000000000;
	ck_assert_int_eq(run(BY_COUNT), NM_RUN_FAILED);
	ck_assert(strstr(result->verdict.incomplete_why,
			 "no progress for 1 s in phase 1; waiting for group Group0 on the master"));
	/* As it was quiet, and once more: what is decided by is what is told. */
	ck_assert_uint_eq(fake_places_asked, 2);
}
END_TEST

START_TEST(a_flow_that_fails_here_ends_the_run)
{
	fake_script.master_fails = ECONNREFUSED;
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert_str_eq(result->verdict.incomplete_why,
			 "master: flowop connect at t.xml:7: Connection refused (1 flow)");
}
END_TEST

START_TEST(a_flow_that_fails_there_tells_less_than_its_cause_here)
{
	fake_script.master_fails = ECONNREFUSED;
	fake_script.slave_fails = ECONNRESET;
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert(strncmp(result->verdict.incomplete_why, "master: ", 8) == 0);
	ck_assert_ptr_nonnull(result->hosts[0].error);
}
END_TEST

START_TEST(a_flow_that_fails_there_ends_the_run)
{
	fake_script.slave_fails = EHOSTUNREACH;
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert_str_eq(result->verdict.incomplete_why,
			 "slave local: flowop connect at t.xml:7: No route to host (1 flow)");
}
END_TEST

START_TEST(a_slave_that_cannot_listen_says_so)
{
	fake_script.no_listen = EADDRINUSE;
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert(strstr(result->verdict.incomplete_why, "refused: Address already in use"));
}
END_TEST

START_TEST(a_slave_that_cannot_start_says_so)
{
	fake_script.no_start = EAGAIN;
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert(strstr(result->verdict.incomplete_why, "it cannot start its workers"));
}
END_TEST

START_TEST(cpus_that_a_slave_does_not_have_are_refused)
{
	options.slave_cpus = "99999";
	ck_assert_int_eq(run(BY_TIME), NM_RUN_FAILED);
	ck_assert(strstr(result->verdict.incomplete_why, "CPU list \"99999\""));
}
END_TEST

START_TEST(what_cannot_be_measured_is_refused_before_anything_is_done)
{
	options.warmup_ns = 1000000000;
	options.slave_cpus = "x";
	options.cpus = "y";
	ck_assert_int_eq(run(BY_TIME), NM_RUN_REFUSED);
	ck_assert_ptr_null(result);
	ck_assert_uint_eq(diags.n_errors, 3);
}
END_TEST

START_TEST(a_cooldown_needs_a_duration)
{
	options.cooldown_ns = 1000000;
	ck_assert_int_eq(run(BY_COUNT), NM_RUN_REFUSED);
}
END_TEST

START_TEST(connections_that_will_not_last_are_told_to_the_master)
{
	fake_script.reconnects = 1;
	complete(run(BY_TIME));
	ck_assert(strstr(log_text, "are to be replaced: local has told so"));
}
END_TEST

START_TEST(a_slave_that_does_not_listen_is_waited_for_and_then_named)
{
	char text[sizeof BY_TIME + 64];
	const char *name = strstr(BY_TIME, "local");

	/* Nobody listens on this port of this host. */
	(void)snprintf(text, sizeof text, "%.*s127.0.0.1%s", (int)(name - BY_TIME), BY_TIME,
		       name + 5);
	options.port = 1;
	options.wait.slaves_ns = 60000000;
	ck_assert_int_eq(run(text), NM_RUN_FAILED);
	ck_assert(
		strstr(result->verdict.incomplete_why,
		       "nothing listens on port 1 there: start a slave with \"netmodel -s -P 1\""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run");
	TCase *ok = tcase_create("complete"), *cut = tcase_create("cut"),
	      *failed = tcase_create("failed");

	tcase_add_checked_fixture(ok, start, end);
	tcase_add_test(ok, phases_by_count_run_to_their_end);
	tcase_add_test(ok, a_timed_phase_is_stopped_and_followed);
	tcase_add_test(ok, a_slave_that_leads_is_stopped_and_the_master_follows);
	tcase_add_test(ok, everything_that_may_be_told_is_told);
	tcase_add_test(ok, connections_that_will_not_last_are_told_to_the_master);
	tcase_add_test(ok, a_window_lasts_as_long_as_asked_though_its_flows_come_late);
	tcase_add_test(ok, a_wait_before_the_first_phase_can_be_interrupted);
	tcase_add_checked_fixture(cut, start, end);
	tcase_add_test(cut, one_interrupt_ends_gracefully);
	tcase_add_test(cut, a_host_that_answers_nothing_has_half_of_the_timeout);
	tcase_add_test(cut, two_interrupts_end_at_once);
	tcase_add_test(cut, the_longest_duration_is_no_interrupt);
	tcase_add_checked_fixture(failed, start, end);
	tcase_add_test(failed, bytes_that_only_one_end_has_counted_are_an_error);
	tcase_add_test(failed, a_phase_without_progress_has_stalled);
	tcase_add_test(failed, a_flow_that_fails_here_ends_the_run);
	tcase_add_test(failed, a_flow_that_fails_there_ends_the_run);
	tcase_add_test(failed, a_flow_that_fails_there_tells_less_than_its_cause_here);
	tcase_add_test(failed, a_slave_that_cannot_listen_says_so);
	tcase_add_test(failed, a_slave_that_cannot_start_says_so);
	tcase_add_test(failed, cpus_that_a_slave_does_not_have_are_refused);
	tcase_add_test(failed, what_cannot_be_measured_is_refused_before_anything_is_done);
	tcase_add_test(failed, a_cooldown_needs_a_duration);
	tcase_add_test(failed, a_slave_that_does_not_listen_is_waited_for_and_then_named);
	suite_add_tcase(suite, ok);
	suite_add_tcase(suite, cut);
	suite_add_tcase(suite, failed);
	return run_suite(suite);
}
