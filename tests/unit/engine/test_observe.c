/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of flowops, flows and connections, and what the control thread reads of it. */
#include "engine/engine_priv.h"
#include "engine/loop/request.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../suite.h"
#include "engine/observe/exec_log.h"
#include "engine/tcp_sampler.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

#define N_WORKERS 2
#define N_FLOWS	  3 /* of a worker */
#define ALL_FLAGS (NM_OBSERVE_STEPS | NM_OBSERVE_TCP)

/* Two groups, of which this host runs the first: a write, a read that may fail, and an end. */
static struct {
	struct nm_instr instrs[3];
	struct nm_phase phase;
	struct nm_group groups[2];
	struct nm_plan plan;
	struct nm_engine engine;
	struct nm_engine_group engine_groups[2];
	struct nm_worker workers[N_WORKERS];
	struct {
		struct nm_flow flow;
		struct nm_conn conn;
	} flows[N_WORKERS][N_FLOWS];
	struct nm_phase_stats stats[N_WORKERS][1];
} e;

static enum nm_step answer;
static uint64_t to_send, to_receive, to_err;

static enum nm_step fake_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	(void)flow;
	(void)instr;
	nm_counter_add(&io->count->bytes_sent, to_send);
	nm_counter_add(&io->count->bytes_received, to_receive);
	nm_counter_add(&io->count->errors, to_err);
	return answer;
}

static int fake_fields(const struct nm_conn *conn, uint64_t *ret_values)
{
	for (unsigned i = 0; i < NM_TCP_N_FIELDS; i++)
		ret_values[i] = (uint64_t)conn->fd;
	return conn->fd == 13 ? -1 : 0;
}

static const struct nm_transport with_fields = {.tcp_fields = fake_fields}, without = {.name = ""};

static void make_worker(uint32_t w, unsigned flags)
{
	struct nm_worker *worker = &e.workers[w];

	*worker = (struct nm_worker){.engine = &e.engine,
				     .group = &e.groups[0],
				     .worker_no = w,
				     .flows = (char *)e.flows[w],
				     .flow_bytes = sizeof e.flows[w][0],
				     .n_flows = N_FLOWS,
				     .stats = e.stats[w],
				     .wake_fd = eventfd(0, EFD_NONBLOCK)};
	ck_assert_int_eq(nm_timers_init(&worker->timers, NM_TIMER__COUNT), 0);
	worker->run.phase = &e.phase;
	worker->observe.counts_passes = true;
	worker->io.count = &e.stats[w][0].tally.counters;
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		e.flows[w][i].conn = (struct nm_conn){.fd = (int)(10 * w + i),
						      .flags = NM_CONN_OPEN,
						      .transport = &with_fields,
						      .flow = &e.flows[w][i].flow};
		e.flows[w][i].flow =
			(struct nm_flow){.index = i * N_WORKERS + w, .conn = &e.flows[w][i].conn};
	}
	ck_assert_int_eq(nm_flowop_stats_new(worker, flags, w == 1, &worker->observe.stats), 0);
	ck_assert_int_eq(nm_tcp_sampler_new(worker, flags, w == 1, &worker->observe.tcp), 0);
}

static void make_engine(unsigned flags)
{
	memset(&e, 0, sizeof e);
	e.instrs[0] = (struct nm_instr){.op = nm_flowop_find("write"), .step = fake_step};
	e.instrs[1] = (struct nm_instr){
		.op = nm_flowop_find("read"), .step = fake_step, .can_fail = true};
	e.phase = (struct nm_phase){.n_instrs = 2, .measured = true};
	e.groups[0] = (struct nm_group){.instrs = e.instrs,
					.n_instrs = 3,
					.phases = &e.phase,
					.n_phases = 1,
					.n_workers = N_WORKERS,
					.n_flows = N_WORKERS * N_FLOWS,
					.n_conns = 1,
					.runs = true};
	e.plan = (struct nm_plan){.groups = e.groups, .n_groups = 2};
	e.engine = (struct nm_engine){.plan = &e.plan,
				      .measures = true,
				      .details = flags,
				      .log.passes = 2,
				      .event_fd = eventfd(0, EFD_NONBLOCK),
				      .groups = e.engine_groups,
				      .begun = 1};
	e.engine_groups[0] = (struct nm_engine_group){
		.plan = &e.groups[0], .workers = e.workers, .n_workers = N_WORKERS};
	e.engine_groups[1] = (struct nm_engine_group){.plan = &e.groups[1]};
	for (uint32_t w = 0; w < N_WORKERS; w++)
		make_worker(w, flags);
	answer = NM_STEP_NEXT;
	to_send = to_receive = to_err = 0;
}

static void setup(void)
{
	make_engine(ALL_FLAGS);
}

static void teardown(void)
{
	for (uint32_t w = 0; w < N_WORKERS; w++) {
		struct nm_observe *observe = &e.workers[w].observe;

		observe->stats = nm_flowop_stats_free(observe->stats);
		observe->tcp = nm_tcp_sampler_free(observe->tcp, w == 1);
		nm_timers_fini(&e.workers[w].timers);
		close(e.workers[w].wake_fd);
	}
	close(e.engine.event_fd);
}

static bool is_told(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof count) == sizeof count;
}

/* Runs the measured step of an instruction. */
static enum nm_step run(uint32_t w, uint32_t flow, uint32_t instr)
{
	const struct nm_instr *one =
		&nm_observe_program(&e.workers[w].observe, &e.groups[0])[instr];

	return one->step(&e.workers[w].io, &e.flows[w][flow].flow, one);
}

static struct nm_flowop_sums step_sums(uint32_t instr)
{
	struct nm_flowop_sums sums;

	nm_engine_step_sums(&e.engine, 0, instr, &sums, NULL);
	return sums;
}

static struct nm_flowop_sums flow_sums(uint32_t flow)
{
	struct nm_flowop_sums sums;

	nm_engine_flow_sums(&e.engine, 0, flow, &sums);
	return sums;
}

static struct nm_flow_sample sample_of(uint32_t flow)
{
	struct nm_flow_sample sample;

	nm_engine_flow_sample(&e.engine, 0, flow, &sample);
	return sample;
}

/* --- the log --- */

START_TEST(a_log_gives_back_what_was_added_in_order)
{
	struct nm_exec_entry entries[4];
	struct nm_exec_log log = {.size = 4, .entries = entries};
	struct nm_exec_record list[4];
	uint32_t next = 0;

	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < 3; i++)
			nm_exec_log_add(&log, &(struct nm_exec_entry){.end_ns = next++, .flow = i});
		ck_assert_uint_eq(nm_exec_log_take(&log, 7, list, 2), 2);
		ck_assert_uint_eq(list[0].end_ns, next - 3);
		ck_assert_uint_eq(list[0].group, 7);
		ck_assert_uint_eq(list[1].flow, 1);
		ck_assert_uint_eq(nm_exec_log_take(&log, 7, list, 4), 1);
		ck_assert_uint_eq(list[0].end_ns, next - 1);
		ck_assert_uint_eq(nm_exec_log_take(&log, 7, list, 4), 0);
	}
	ck_assert_uint_eq(nm_counter_read(&log.lost), 0);
}
END_TEST

START_TEST(a_log_tells_when_it_is_half_full_and_counts_what_is_lost)
{
	struct nm_exec_entry entries[4];
	struct nm_exec_log log = {.size = 4, .entries = entries};
	const struct nm_exec_entry one = {.instr = 3 | NM_EXEC_FAILED};
	struct nm_exec_record list[4];

	ck_assert(!nm_exec_log_add(&log, &one));
	ck_assert(nm_exec_log_add(&log, &one));
	ck_assert(!nm_exec_log_add(&log, &(struct nm_exec_entry){.instr = 3 | NM_EXEC_PASS}));
	ck_assert(!nm_exec_log_add(&log, &one));
	ck_assert(!nm_exec_log_add(&log, &one));
	ck_assert_uint_eq(nm_counter_read(&log.lost), 1);
	ck_assert_uint_eq(nm_exec_log_take(&log, 0, list, 4), 4);
	ck_assert(list[1].failed && !list[1].is_pass && list[1].instr == 3);
	ck_assert(!list[2].failed && list[2].is_pass && list[2].instr == 3);
}
END_TEST

START_TEST(logs_share_their_memory)
{
	ck_assert_uint_eq(nm_exec_log_size(0, 1, 1), 65536);
	ck_assert_uint_eq(nm_exec_log_size(1000, 1000, 1), 1u << 20); /* room for all */
	ck_assert_uint_lt(nm_exec_log_size(0, 1, 1000), 65536);
	ck_assert_uint_eq(nm_exec_log_size(0, 1, 1000000), 256); /* never less */
}
END_TEST

/* --- steps --- */

START_TEST(each_step_counts_what_it_moves)
{
	to_send = 100;
	ck_assert_int_eq(run(0, 1, 0), NM_STEP_NEXT);
	ck_assert_int_eq(run(1, 0, 0), NM_STEP_NEXT);
	to_send = 0;
	to_receive = 7;
	to_err = 1;
	answer = NM_STEP_NEXT_WAIT_IN;
	ck_assert_int_eq(run(0, 1, 1), NM_STEP_NEXT_WAIT_IN);
	ck_assert_uint_eq(step_sums(0).operations, 2);
	ck_assert_uint_eq(step_sums(0).bytes_sent, 200);
	ck_assert_uint_eq(step_sums(0).bytes_received, 0);
	ck_assert_uint_eq(step_sums(1).bytes_received, 7);
	ck_assert_uint_eq(step_sums(1).errors, 1);
	ck_assert_uint_eq(step_sums(2).operations, 0);
	ck_assert_uint_eq(step_sums(99).operations, 0);
	ck_assert_uint_eq(flow_sums(2).bytes_sent, 100);
	ck_assert_uint_eq(flow_sums(2).operations, 2);
	ck_assert_uint_eq(flow_sums(1).bytes_sent, 100);
	ck_assert_uint_eq(flow_sums(99).operations, 0);
	ck_assert_uint_eq(nm_engine_operations(&e.engine, 0, 0), 3);
	ck_assert_uint_eq(nm_engine_operations(&e.engine, 0, 1), 0);
}
END_TEST

START_TEST(a_step_that_waits_is_no_operation_yet)
{
	answer = NM_STEP_WAIT_IN;
	to_receive = 3;
	ck_assert_int_eq(run(0, 0, 1), NM_STEP_WAIT_IN);
	ck_assert_uint_eq(step_sums(1).operations, 0);
	ck_assert_uint_eq(step_sums(1).bytes_received, 3);
}
END_TEST

START_TEST(times_are_kept_by_step)
{
	struct nm_flowop_sums sums;
	struct nm_hist_snap times;

	(void)run(0, 0, 0);
	nm_engine_step_sums(&e.engine, 0, 0, &sums, &times);
	ck_assert_uint_eq(times.count, 1);
	ck_assert_uint_eq(times.sum_ns, sums.busy_ns);
	nm_engine_step_sums(&e.engine, 0, 1, &sums, &times);
	ck_assert_uint_eq(times.count, 0);
}
END_TEST

START_TEST(a_failure_is_an_error_and_an_operation_where_it_was_expected)
{
	const struct nm_instr *program = nm_observe_program(&e.workers[0].observe, &e.groups[0]);

	nm_flowop_stats_failed(&e.workers[0], &e.flows[0][0].flow, &program[0]);
	nm_flowop_stats_failed(&e.workers[0], &e.flows[0][0].flow, &program[1]);
	nm_flowop_stats_expired(&e.workers[0], &e.flows[0][0].flow, &program[1]);
	ck_assert_uint_eq(step_sums(0).errors, 1);
	ck_assert_uint_eq(step_sums(0).operations, 0);
	ck_assert_uint_eq(step_sums(1).errors, 1);
	ck_assert_uint_eq(step_sums(1).operations, 2);
	ck_assert_uint_eq(flow_sums(0).errors, 2);
}
END_TEST

START_TEST(what_comes_after_the_last_pass_counts_for_a_read_that_drains)
{
	nm_flowop_stats_drained(&e.workers[0], &e.flows[0][0].conn, 5);
	ck_assert_uint_eq(step_sums(1).bytes_received, 0);
	e.instrs[1].pass.drains = true;
	nm_flowop_stats_drained(&e.workers[0], &e.flows[0][0].conn, 5);
	ck_assert_uint_eq(step_sums(1).bytes_received, 5);
	ck_assert_uint_eq(flow_sums(0).bytes_received, 5);
}
END_TEST

START_TEST(what_was_given_up_counts_where_it_may_fail)
{
	nm_flowop_stats_settled(&e.workers[0], &e.flows[0][0].conn, 11, 13);
	ck_assert_uint_eq(step_sums(0).bytes_sent, 0);
	ck_assert_uint_eq(step_sums(1).bytes_received, 13);
	ck_assert_uint_eq(flow_sums(0).bytes_sent, 11);
	e.instrs[0].can_fail = true;
	nm_flowop_stats_settled(&e.workers[0], &e.flows[0][0].conn, 11, 0);
	ck_assert_uint_eq(step_sums(0).bytes_sent, 11);
}
END_TEST

START_TEST(without_flags_nothing_is_kept)
{
	teardown();
	make_engine(0);
	ck_assert_ptr_null(e.workers[0].observe.stats);
	ck_assert_ptr_null(e.workers[0].observe.tcp);
	ck_assert_ptr_eq(nm_observe_program(&e.workers[0].observe, &e.groups[0]), e.instrs);
	ck_assert_uint_eq(nm_engine_details(&e.engine), 0);
	ck_assert_uint_eq(step_sums(0).operations, 0);
	ck_assert_uint_eq(flow_sums(0).operations, 0);
	ck_assert_uint_eq(sample_of(0).passes, 0);
	ck_assert_uint_eq(nm_engine_operations(&e.engine, 0, 0), 0);
	ck_assert_uint_eq(nm_engine_lost_execs(&e.engine), 0);
	ck_assert_uint_eq(nm_engine_take_execs(&e.engine, NULL, 1), 0);
	nm_engine_flow_epoch(&e.engine);
	nm_engine_tcp_ask(&e.engine);
	ck_assert(nm_engine_tcp_answered(&e.engine));
}
END_TEST

START_TEST(counts_alone_cost_no_times)
{
	struct nm_flowop_sums sums;
	struct nm_hist_snap times;

	teardown();
	make_engine(NM_OBSERVE_COUNTS);
	(void)run(0, 0, 0);
	nm_engine_step_sums(&e.engine, 0, 0, &sums, &times);
	ck_assert_uint_eq(sums.operations, 1);
	ck_assert_uint_eq(sums.busy_ns + sums.cpu_ns, 0);
	ck_assert_uint_eq(times.count, 0);
	ck_assert(!nm_engine_flow_times(&e.engine, 0, 0, &times));
}
END_TEST

/* --- passes --- */

/* A pass of the flow from begin_ns on that lasts so long. */
static void pass(uint32_t w, uint32_t flow, uint64_t begin_ns, uint64_t ns)
{
	e.flows[w][flow].flow.request.sent_ns = begin_ns;
	(void)run(w, flow, 0);
	nm_request_end(&e.workers[w], &e.flows[w][flow].flow, begin_ns + ns);
}

START_TEST(passes_have_sums_and_extremes_of_the_epoch_before)
{
	pass(0, 0, 1000, 50);
	ck_assert_uint_eq(sample_of(0).max_ns, 0); /* the epoch lasts */
	nm_engine_flow_epoch(&e.engine);
	pass(0, 0, 2000, 70);
	struct nm_flow_sample sample = sample_of(0);

	ck_assert_uint_eq(sample.passes, 2);
	ck_assert_uint_eq(sample.sum_ns, 120);
	ck_assert_uint_eq(sample.min_ns, 50);
	ck_assert_uint_eq(sample.max_ns, 50);
	ck_assert_double_eq_tol(sample.squares, 50e-9 * 50e-9 + 70e-9 * 70e-9, 1e-18);
	pass(0, 0, 3000, 30);
	pass(0, 0, 3000, 90);
	nm_engine_flow_epoch(&e.engine);
	sample = sample_of(0);
	ck_assert_uint_eq(sample.min_ns, 30);
	ck_assert_uint_eq(sample.max_ns, 90);
	nm_engine_flow_epoch(&e.engine);
	ck_assert_uint_eq(sample_of(0).max_ns, 0);
	ck_assert_uint_eq(sample_of(99).passes, 0);
}
END_TEST

START_TEST(passes_without_times_are_counted_only)
{
	pass(0, 0, 0, 0);
	e.engine.measures = false;
	pass(0, 0, 1000, 50);
	e.flows[0][0].flow.request.outcome = NM_TIMEOUT;
	pass(0, 0, 1000, 50);
	ck_assert_uint_eq(sample_of(0).passes, 2);
	ck_assert_uint_eq(sample_of(0).sum_ns, 0);
}
END_TEST

START_TEST(a_flow_has_a_histogram_of_its_passes)
{
	struct nm_hist_snap times;

	pass(1, 2, 1000, 50);
	ck_assert(nm_engine_flow_times(&e.engine, 0, 5, &times));
	ck_assert_uint_eq(times.count, 1);
	ck_assert(!nm_engine_flow_times(&e.engine, 0, 99, &times));
	ck_assert(!nm_engine_flow_times(&e.engine, 1, 0, &times));
}
END_TEST

START_TEST(executions_of_all_workers_are_taken_in_turn)
{
	struct nm_exec_record list[16];

	for (unsigned i = 0; i < 3; i++)
		pass(0, 1, 1000, 50); /* of which two are logged as passes */
	pass(1, 2, 1000, 50);
	ck_assert_uint_eq(nm_engine_take_execs(&e.engine, list, 4), 4);
	ck_assert(!list[0].is_pass && list[1].is_pass);
	ck_assert_uint_eq(list[0].flow, 2);
	ck_assert_uint_eq(nm_engine_take_execs(&e.engine, list, 16), 3);
	ck_assert_uint_eq(list[1].flow, 5); /* the other worker's come first this time */
	ck_assert_uint_eq(list[1].end_ns, 1050);
	ck_assert_uint_eq(list[1].elapsed_ns, 50);
	ck_assert_uint_eq(list[2].flow, 2);
	ck_assert_uint_eq(nm_engine_take_execs(&e.engine, list, 16), 0);
	ck_assert_uint_eq(nm_engine_lost_execs(&e.engine), 0);
}
END_TEST

START_TEST(the_owner_is_told_of_a_log_that_fills)
{
	for (unsigned i = 0; i < 32768; i++)
		(void)run(0, 0, 0);
	ck_assert(is_told(e.engine.event_fd));
	ck_assert(!is_told(e.engine.event_fd));
}
END_TEST

/* --- TCP_INFO --- */

static unsigned n_samples, flows_sampled;

static void count_sample(void *arg, const struct nm_tcp_sample *sample)
{
	ck_assert_ptr_eq(arg, &n_samples);
	ck_assert_uint_eq(sample->values[0], 10 * (sample->flow % 2) + sample->flow / 2);
	ck_assert_uint_gt(sample->at_ns, 0);
	flows_sampled |= 1u << sample->flow;
	n_samples++;
}

START_TEST(workers_sample_when_they_are_asked)
{
	ck_assert(nm_engine_tcp_answered(&e.engine));
	nm_tcp_sampler_command(&e.workers[0]);
	ck_assert(!e.workers[0].observe.sampler_timer.at_ns); /* nobody asks */
	nm_engine_tcp_ask(&e.engine);
	ck_assert(!nm_engine_tcp_answered(&e.engine));
	ck_assert(is_told(e.workers[0].wake_fd) && is_told(e.workers[1].wake_fd));
	nm_engine_tcp_ask(&e.engine); /* they have not answered: they are not asked again */
	ck_assert(!is_told(e.workers[0].wake_fd));
	e.flows[1][0].conn.flags = 0;
	e.flows[0][2].conn.transport = &without;
	e.flows[0][1].conn.fd = 13;
	for (uint32_t w = 0; w < N_WORKERS; w++) {
		nm_tcp_sampler_command(&e.workers[w]);
		nm_tcp_sampler_command(&e.workers[w]);
		struct nm_timer *timer = &e.workers[w].observe.sampler_timer;

		ck_assert_ptr_eq(nm_timers_take(&e.workers[w].timers, UINT64_MAX), timer);
		timer->at_ns = 0;
		nm_tcp_sampler_run(&e.workers[w], 1);
		ck_assert(!timer->at_ns);
	}
	ck_assert(is_told(e.engine.event_fd));
	ck_assert(nm_engine_tcp_answered(&e.engine));
	n_samples = flows_sampled = 0;
	nm_engine_tcp_read(&e.engine, count_sample, &n_samples);
	ck_assert_uint_eq(n_samples, 3);
	ck_assert_uint_eq(flows_sampled, 1u << 0 | 1u << 3 | 1u << 5);
}
END_TEST

START_TEST(the_last_samples_of_a_phase_are_kept)
{
	nm_tcp_sampler_end(&e.workers[0]);
	nm_tcp_sampler_end(&e.workers[1]);
	e.flows[0][0].conn.flags = 0;
	n_samples = flows_sampled = 0;
	nm_engine_tcp_read(&e.engine, count_sample, &n_samples);
	ck_assert_uint_eq(n_samples, 0);
	nm_engine_tcp_read_last(&e.engine, count_sample, &n_samples);
	ck_assert_uint_eq(n_samples, 6);
}
END_TEST

/* --- the run --- */

START_TEST(a_group_is_done_when_all_its_workers_are)
{
	ck_assert(!nm_engine_group_done(&e.engine, 0));
	ck_assert(nm_engine_group_done(&e.engine, 1)); /* it has no phase */
	atomic_store(&e.workers[0].answers.done, 1);
	ck_assert(!nm_engine_group_done(&e.engine, 0) && !nm_engine_group_passed(&e.engine, 0));
	atomic_store(&e.workers[1].answers.passed, 1);
	ck_assert(!nm_engine_group_done(&e.engine, 0) && nm_engine_group_passed(&e.engine, 0));
	ck_assert(!nm_engine_done(&e.engine));
	atomic_store(&e.workers[1].answers.done, 1);
	ck_assert(nm_engine_done(&e.engine));
}
END_TEST

START_TEST(a_phase_lasts_from_the_first_to_the_last)
{
	uint64_t begin_ns, end_ns;

	atomic_store(&e.stats[0][0].begin_ns, 100);
	atomic_store(&e.stats[1][0].begin_ns, 90);
	atomic_store(&e.stats[0][0].end_ns, 200);
	nm_engine_times(&e.engine, 0, 0, &begin_ns, &end_ns);
	ck_assert_uint_eq(begin_ns, 90);
	ck_assert_uint_eq(end_ns, 0);
	atomic_store(&e.stats[1][0].end_ns, 190);
	nm_engine_times(&e.engine, 0, 0, &begin_ns, &end_ns);
	ck_assert_uint_eq(end_ns, 200);
	nm_engine_times(&e.engine, 0, 1, &begin_ns, &end_ns);
	ck_assert_uint_eq(begin_ns, 0);
}
END_TEST

START_TEST(counters_are_summed_over_workers)
{
	struct nm_hist *hist = calloc(1, sizeof *hist);
	struct nm_tally_snap sample;
	struct nm_counts counts;
	uint64_t before = nm_engine_progress(&e.engine);

	nm_hist_init_zeroed(hist);
	nm_hist_record(hist, 77);
	nm_counter_add(&e.stats[0][0].tally.counters.bytes_sent, 3);
	nm_counter_add(&e.stats[1][0].tally.counters.bytes_sent, 4);
	nm_counter_add(&e.stats[1][0].tally.counters.iterations, 5);
	nm_engine_counts(&e.engine, 0, 0, &counts);
	ck_assert_uint_eq(counts.bytes_sent, 7);
	ck_assert_uint_eq(nm_engine_iterations(&e.engine, 0, 1), 5);
	ck_assert_uint_eq(nm_engine_iterations(&e.engine, 0, 2), 0);
	ck_assert_uint_eq(nm_engine_progress(&e.engine), before + 12);
	e.stats[0][0].tally.latency = hist;
	nm_tally_snap_init(&sample);
	nm_engine_sample(&e.engine, 0, 0, &sample);
	ck_assert(nm_tally_keeps(&sample, NM_TIME_LATENCY) &&
		  !nm_tally_keeps(&sample, NM_TIME_RESPONSE));
	ck_assert_uint_eq(sample.latency.count, 1);
	ck_assert_uint_eq(sample.counts.bytes_sent, 7);
	e.stats[1][0].tally.response = hist;
	nm_engine_sample(&e.engine, 0, 0, &sample);
	ck_assert(nm_tally_keeps(&sample, NM_TIME_RESPONSE) &&
		  !nm_tally_keeps(&sample, NM_TIME_PASS));
	e.stats[0][0].tally.pass = hist;
	nm_engine_sample(&e.engine, 0, 0, &sample);
	ck_assert(nm_tally_keeps(&sample, NM_TIME_PASS));
	ck_assert_uint_eq(sample.pass.count, 1);
	free(hist);
}
END_TEST

START_TEST(connections_are_summed_up_of_workers_that_are_done)
{
	struct nm_conn_summary sum;

	e.stats[0][0].conns = (struct nm_conn_summary){.connections = 1,
						       .min_rtt_s = 0.5,
						       .srtt_min_s = 2,
						       .srtt_mean_s = 2,
						       .srtt_max_s = 2,
						       .mss_min = 1000,
						       .mss_max = 1000};
	e.stats[1][0].conns = (struct nm_conn_summary){.connections = 3,
						       .srtt_min_s = 1,
						       .srtt_mean_s = 6,
						       .srtt_max_s = 9,
						       .mss_min = 500,
						       .cut.mss_asked = 1460,
						       .cut.mss_given = 500,
						       .mss_max = 1500,
						       .retransmits = 4};
	nm_engine_conn_summary(&e.engine, 0, 0, &sum);
	ck_assert_uint_eq(sum.connections, 0);
	atomic_store(&e.workers[0].answers.done, 1);
	atomic_store(&e.workers[1].answers.done, 1);
	nm_engine_conn_summary(&e.engine, 0, 0, &sum);
	ck_assert_uint_eq(sum.connections, 4);
	ck_assert_double_eq(sum.srtt_mean_s, 5);
	ck_assert_double_eq(sum.min_rtt_s, 0.5); /* the other worker knows none */
	ck_assert_double_eq(sum.srtt_min_s, 1);
	ck_assert_double_eq(sum.srtt_max_s, 9);
	ck_assert_uint_eq(sum.mss_min, 500);
	ck_assert_uint_eq(sum.cut.mss_asked, 1460);
	ck_assert_uint_eq(sum.cut.mss_given, 500);
	ck_assert_uint_eq(sum.mss_max, 1500);
	ck_assert_uint_eq(sum.retransmits, 4);
}
END_TEST

START_TEST(the_first_failure_is_told_and_all_are_counted)
{
	struct nm_engine_error error = {.line = 0};

	ck_assert(!nm_engine_failed(&e.engine, &error));
	e.workers[0].answers.error = (struct nm_engine_error){.line = 5};
	e.workers[1].answers.error = (struct nm_engine_error){.line = 6, .of_process = true};
	atomic_store(&e.workers[0].answers.n_failed, 2);
	atomic_store(&e.workers[1].answers.n_failed, 1);
	atomic_store(&e.workers[0].answers.failed, true);
	ck_assert(nm_engine_failed(&e.engine, &error));
	ck_assert_uint_eq(error.line, 5);
	ck_assert_uint_eq(error.count, 2);
	atomic_store(&e.workers[1].answers.failed, true);
	ck_assert(nm_engine_failed(&e.engine, &error));
	ck_assert_uint_eq(error.line, 6); /* its end is what makes flows of others fail */
	ck_assert_uint_eq(error.count, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("observe");
	TCase *tcase = tcase_create("observe");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_log_gives_back_what_was_added_in_order);
	tcase_add_test(tcase, a_log_tells_when_it_is_half_full_and_counts_what_is_lost);
	tcase_add_test(tcase, logs_share_their_memory);
	tcase_add_test(tcase, each_step_counts_what_it_moves);
	tcase_add_test(tcase, a_step_that_waits_is_no_operation_yet);
	tcase_add_test(tcase, times_are_kept_by_step);
	tcase_add_test(tcase, a_failure_is_an_error_and_an_operation_where_it_was_expected);
	tcase_add_test(tcase, what_comes_after_the_last_pass_counts_for_a_read_that_drains);
	tcase_add_test(tcase, what_was_given_up_counts_where_it_may_fail);
	tcase_add_test(tcase, without_flags_nothing_is_kept);
	tcase_add_test(tcase, counts_alone_cost_no_times);
	tcase_add_test(tcase, passes_have_sums_and_extremes_of_the_epoch_before);
	tcase_add_test(tcase, passes_without_times_are_counted_only);
	tcase_add_test(tcase, a_flow_has_a_histogram_of_its_passes);
	tcase_add_test(tcase, executions_of_all_workers_are_taken_in_turn);
	tcase_add_test(tcase, the_owner_is_told_of_a_log_that_fills);
	tcase_add_test(tcase, workers_sample_when_they_are_asked);
	tcase_add_test(tcase, the_last_samples_of_a_phase_are_kept);
	tcase_add_test(tcase, a_group_is_done_when_all_its_workers_are);
	tcase_add_test(tcase, a_phase_lasts_from_the_first_to_the_last);
	tcase_add_test(tcase, counters_are_summed_over_workers);
	tcase_add_test(tcase, connections_are_summed_up_of_workers_that_are_done);
	tcase_add_test(tcase, the_first_failure_is_told_and_all_are_counted);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
