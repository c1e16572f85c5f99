/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass's latency is, by a clock that only this test moves: an exchange and a think time are
 * interpreted by hand. */
#include "engine/loop/interp.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"
#include "engine/engine_priv.h"
#include "engine/loop/request.h"
#include "engine/observe/observe.h"
#include "engine/phase/phase.h"
#include "flowop/flowop.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static uint64_t now_ns, tick_ns;

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	now_ns += tick_ns;
	*ts = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
				.tv_nsec = (long)(now_ns % 1000000000u)};
	return 0;
}

/* One flow that asks, which takes 90 us, and thinks for 5 ms. */
static struct {
	struct nm_instr instrs[4];
	struct nm_phase phase;
	struct nm_group group;
	struct nm_plan plan;
	struct nm_engine engine;
	struct nm_worker worker;
	struct nm_phase_stats stats;
	struct {
		struct nm_flow flow;
		struct nm_conn conn;
	} flows[1];
	struct nm_hist latency, pass, response;
	void *think_opts;
} f;

static enum nm_step exchange(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	(void)io;
	(void)flow;
	(void)instr;
	now_ns += 90 * US;
	return NM_STEP_NEXT;
}

static void set_option(const struct nm_flowop *op, const char *name, const char *value)
{
	char why[128];

	ck_assert_int_eq(
		nm_opt_set(nm_opt_find(op->opts, name), f.think_opts, value, why, sizeof why), 0);
}

static void make_program(void)
{
	const struct nm_flowop *think = nm_flowop_find("think");

	f.think_opts = calloc(1, think->opts_size);
	ck_assert_ptr_nonnull(f.think_opts);
	set_option(think, "duration", "5ms");
	f.instrs[0] = (struct nm_instr){.op = nm_flowop_find("exchange"), .step = exchange};
	f.instrs[1] = (struct nm_instr){.op = think, .step = think->step, .opts = f.think_opts};
	f.phase = (struct nm_phase){
		.n_instrs = 2, .leader = NM_NO_HOST, .leads = true, .measured = true};
	f.group = (struct nm_group){.n_workers = 1,
				    .n_flows = 1,
				    .n_conns = 1,
				    .instrs = f.instrs,
				    .n_instrs = 3,
				    .phases = &f.phase,
				    .n_phases = 1,
				    .runs = true};
	f.plan = (struct nm_plan){.groups = &f.group, .n_groups = 1};
}

static void setup(void)
{
	memset(&f, 0, sizeof f);
	now_ns = 1000 * MS;
	tick_ns = 0;
	make_program();
	f.engine = (struct nm_engine){.plan = &f.plan, .measures = true};
	nm_hist_init_zeroed(&f.latency);
	nm_hist_init_zeroed(&f.pass);
	nm_hist_init_zeroed(&f.response);
	f.stats.tally.latency = &f.latency;
	f.stats.tally.pass = &f.pass;
	f.worker = (struct nm_worker){.engine = &f.engine,
				      .group = &f.group,
				      .flows = (char *)f.flows,
				      .flow_bytes = sizeof f.flows[0],
				      .n_flows = 1,
				      .stats = &f.stats};
	f.worker.io.count = &f.stats.tally.counters;
	ck_assert_int_eq(nm_timers_init(&f.worker.timers, NM_TIMER__COUNT), 0);
	f.worker.run = (struct nm_phase_run){.phase = &f.phase,
					     .body = f.instrs,
					     .state = NM_PHASE_RUN,
					     .latency = &f.latency,
					     .pass = &f.pass,
					     .marks = NM_REQUEST_RECORDED,
					     .budget_mask = UINT64_MAX,
					     .n_active = 1,
					     .check_at = UINT64_MAX,
					     .end_at = UINT64_MAX};
	f.flows[0].flow =
		(struct nm_flow){.at = f.instrs,
				 .state = NM_FLOW_READY,
				 .request = {.sent_ns = now_ns, .marks = NM_REQUEST_RECORDED},
				 .iterations_left = 1000,
				 .conn = &f.flows[0].conn};
}

static void teardown(void)
{
	f.worker.observe.stats = nm_flowop_stats_free(f.worker.observe.stats);
	nm_timers_fini(&f.worker.timers);
	free(f.think_opts);
}

/* The flow goes on when its sleep is over, and so much later. */
static void go_on(uint64_t late_ns)
{
	struct nm_flow *flow = &f.flows[0].flow;

	if (flow->state == NM_FLOW_ASLEEP) {
		ck_assert_uint_gt(flow->timer.at_ns, now_ns);
		now_ns = flow->timer.at_ns + late_ns;
		ck_assert_ptr_eq(nm_timers_take(&f.worker.timers, now_ns), &flow->timer);
	}
	nm_worker_run_flow(&f.worker, flow);
}

static void assert_times(const struct nm_hist *hist, uint64_t count, uint64_t min_ns,
			 uint64_t max_ns)
{
	struct nm_hist_snap snap;

	nm_hist_snap_init(&snap);
	nm_hist_collect(&snap, hist);
	ck_assert_uint_eq(snap.count, count);
	ck_assert_uint_eq(snap.min_ns, min_ns);
	ck_assert_uint_eq(snap.max_ns, max_ns);
}

START_TEST(latency_is_that_of_the_exchange)
{
	go_on(0);
	ck_assert_int_eq(f.flows[0].flow.state, NM_FLOW_ASLEEP);
	go_on(0);
	assert_times(&f.latency, 1, 90 * US, 90 * US);
	assert_times(&f.pass, 1, 5 * MS + 90 * US, 5 * MS + 90 * US);
	/* A client that is woken late thinks as much longer. */
	go_on(2 * MS);
	assert_times(&f.latency, 2, 90 * US, 90 * US);
	assert_times(&f.pass, 2, 5 * MS + 90 * US, 7 * MS + 90 * US);
}
END_TEST

START_TEST(all_thinking_of_a_pass_counts)
{
	f.instrs[2] = f.instrs[1];
	f.instrs[1] = f.instrs[0];
	f.instrs[0] = f.instrs[2];
	go_on(0);
	go_on(US);
	go_on(US);
	assert_times(&f.latency, 1, 90 * US, 90 * US);
	assert_times(&f.pass, 1, 10 * MS + 92 * US, 10 * MS + 92 * US);
}
END_TEST

/* Other flows have their turn after a time in which the CPU was burnt: the client goes on later. */
START_TEST(burning_the_cpu_is_thinking)
{
	set_option(f.instrs[1].op, "busy", "yes");
	tick_ns = US; /* the clock ticks when it is read */
	go_on(0);
	ck_assert_ptr_eq(f.worker.runq.first, &f.flows[0].flow);
	now_ns += 20 * MS;
	f.worker.runq.first = f.worker.runq.last = NULL;
	go_on(0);
	assert_times(&f.latency, 1, 92 * US, 92 * US);
	assert_times(&f.pass, 1, 25 * MS + 93 * US, 25 * MS + 93 * US);
}
END_TEST

START_TEST(a_pass_without_thinking_is_as_long_as_its_latency)
{
	f.instrs[1] = f.instrs[0];
	f.flows[0].flow.iterations_left = 3;
	f.worker.run.budget_mask = 0; /* each pass lets the others have their turn */
	go_on(0);
	assert_times(&f.latency, 1, 180 * US, 180 * US);
	assert_times(&f.pass, 1, 180 * US, 180 * US);
}
END_TEST

START_TEST(an_unanswered_pass_has_no_latency_and_takes_its_thinking_with_it)
{
	go_on(0);
	f.flows[0].flow.request.outcome = NM_TIMEOUT;
	go_on(0);
	assert_times(&f.latency, 0, UINT64_MAX, 0);
	ck_assert_uint_eq(f.stats.tally.counters.unanswered, 1);
	go_on(0);
	assert_times(&f.latency, 1, 90 * US, 90 * US);
}
END_TEST

/* Of a schedule: the response counts from when the request was due. */
START_TEST(a_request_that_is_sent_late_has_a_longer_response)
{
	struct nm_request *request = &f.flows[0].flow.request;

	f.worker.run.response = &f.response;
	*request = (struct nm_request){
		.due_ns = now_ns, .sent_ns = now_ns + 30 * US, .think_ns = 20 * US, .marks = 0xff};
	nm_request_end(&f.worker, &f.flows[0].flow, now_ns + 100 * US);
	assert_times(&f.response, 1, 100 * US, 100 * US);
	assert_times(&f.pass, 1, 70 * US, 70 * US);
	assert_times(&f.latency, 1, 50 * US, 50 * US);
	ck_assert_uint_eq(f.stats.tally.counters.iterations, 1);
	/* The next one begins. */
	ck_assert_uint_eq(request->sent_ns, now_ns + 100 * US);
	ck_assert_uint_eq(request->think_ns, 0);
	/* What the kernel has not taken delays that one. */
	ck_assert_uint_eq(request->marks, f.worker.run.marks | NM_REQUEST_REFUSED);
}
END_TEST

START_TEST(samples_of_a_flow_have_the_latency)
{
	struct nm_flow_sample sample;

	f.engine.details = NM_OBSERVE_PASSES;
	ck_assert_int_eq(
		nm_flowop_stats_new(&f.worker, NM_OBSERVE_PASSES, false, &f.worker.observe.stats),
		0);
	f.worker.observe.counts_passes = true;
	f.worker.run.check_at = 0;
	f.worker.run.body = nm_observe_program(&f.worker.observe, &f.group);
	f.flows[0].flow.at = f.worker.run.body;
	go_on(0);
	go_on(0);
	nm_flowop_stats_sample(f.worker.observe.stats, 0, &sample);
	ck_assert_uint_eq(sample.passes, 1);
	ck_assert_uint_eq(sample.sum_ns, 90 * US);
}
END_TEST

START_TEST(who_is_not_timed_thinks_for_nothing)
{
	f.worker.run.latency = f.worker.run.pass = NULL;
	f.worker.run.marks = f.flows[0].flow.request.marks = 0;
	go_on(0);
	go_on(0);
	ck_assert_uint_eq(f.stats.tally.counters.iterations, 1);
	ck_assert_uint_eq(f.flows[0].flow.request.think_ns, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("latency");
	TCase *tests = tcase_create("think times");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, latency_is_that_of_the_exchange);
	tcase_add_test(tests, all_thinking_of_a_pass_counts);
	tcase_add_test(tests, burning_the_cpu_is_thinking);
	tcase_add_test(tests, a_pass_without_thinking_is_as_long_as_its_latency);
	tcase_add_test(tests, an_unanswered_pass_has_no_latency_and_takes_its_thinking_with_it);
	tcase_add_test(tests, a_request_that_is_sent_late_has_a_longer_response);
	tcase_add_test(tests, samples_of_a_flow_have_the_latency);
	tcase_add_test(tests, who_is_not_timed_thinks_for_nothing);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
