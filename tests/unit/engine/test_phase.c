/* SPDX-License-Identifier: Apache-2.0 */
/* One worker of two flows, driven through a phase by hand over a transport that follows a script:
 * what happens after the last pass, when connections are replaced, and when passes are due. */
#include "engine/phase/phase.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../suite.h"
#include "engine/engine_priv.h"
#include "engine/events.h"
#include "engine/loop/commands.h"
#include "engine/loop/fault.h"
#include "engine/loop/pacer.h"
#include "engine/phase/reconnect.h"
#include "flowop/flowop.h"
#include "transport/address.h"
#include "transport/optional.h"
#include "transport/transport.h"

#define N_FLOWS 2
#define CHUNK	4096
#define MS	UINT64_C(1000000)

/* What the transport answers: to each receive and send the next number, and -EAGAIN behind the
 * last. */
static struct script {
	ssize_t answers[8];
	unsigned next, closed;
	bool expired;
	enum nm_transport_event events[4];
	unsigned next_event;
} script;

static ssize_t scripted(size_t size)
{
	ssize_t answer = script.next < 8 ? script.answers[script.next++] : 0;

	return !answer ? -EAGAIN : answer > (ssize_t)size ? (ssize_t)size : answer;
}

static ssize_t fake_send(struct nm_conn *conn, const void *opts, void *data, size_t size)
{
	(void)conn;
	(void)opts;
	(void)data;
	return scripted(size);
}

static ssize_t fake_recv(struct nm_conn *conn, void *data, size_t size)
{
	(void)conn;
	(void)data;
	return scripted(size);
}

static void fake_close(struct nm_conn *conn, bool reset)
{
	(void)reset;
	script.closed++;
	conn->flags = 0;
}

static bool fake_expired(const struct nm_conn *conn, const void *started, char *why, size_t size)
{
	(void)conn;
	(void)started;
	if (script.expired)
		(void)snprintf(why, size, "its key is too old");
	return script.expired;
}

static int fake_event_fd(const void *started)
{
	return *(const int *)started;
}

static enum nm_transport_event fake_event(void *started, char *why, size_t size)
{
	enum nm_transport_event event = script.events[script.next_event];

	(void)started;
	script.next_event += event != NM_TRANSPORT_EVENT_NONE;
	if (event == NM_TRANSPORT_EVENT_LOST)
		(void)snprintf(why, size, "the device is gone");
	return event;
}

static const struct nm_transport_events fake_events = {
	.fd = fake_event_fd, .next = fake_event, .expired = fake_expired};
static const struct nm_transport fake = {.name = "fake",
					 .caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_RECONNECTS,
					 .send = fake_send,
					 .recv = fake_recv,
					 .close = fake_close,
					 .events = &fake_events};

/* A connect, and a phase of one read behind it. */
static struct {
	struct nm_instr instrs[3];
	struct nm_phase phase;
	struct nm_group group;
	struct nm_plan plan;
	struct nm_engine engine;
	struct nm_engine_group engine_group;
	struct nm_worker worker;
	struct {
		struct nm_flow flow;
		struct nm_conn conn;
	} flows[N_FLOWS];
	struct nm_phase_stats stats;
	struct nm_listener listener;
	char rx[CHUNK + 1], tx[CHUNK];
	void *started;
	int fd;
} f;

static void make_flows(void)
{
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		struct nm_flow *flow = nm_worker_flow(&f.worker, i);

		f.flows[i].conn =
			(struct nm_conn){.fd = -1,
					 .transport = &fake,
					 .flow = flow,
					 .flags = NM_CONN_OPEN | NM_CONN_ARMED | NM_CONN_ARMED_OUT};
		*flow = (struct nm_flow){.index = i,
					 .at = &f.instrs[1],
					 .state = NM_FLOW_WAITING,
					 .iterations_left = 10,
					 .conns = &f.flows[i].conn,
					 .conn = &f.flows[i].conn};
	}
}

static void setup(void)
{
	memset(&f, 0, sizeof f);
	memset(&script, 0, sizeof script);
	f.instrs[0] =
		(struct nm_instr){.op = nm_flowop_find("connect"), .transport = &fake, .line = 3};
	f.instrs[1] = (struct nm_instr){.op = nm_flowop_find("read"),
					.step = nm_flowop_find("read")->step,
					.transport = &fake,
					.size = 100,
					.pass = {.drains = true, .rekey_point = true},
					.line = 5};
	f.phase = (struct nm_phase){.first = 1, .n_instrs = 1, .leader = NM_NO_HOST, .leads = true};
	f.group = (struct nm_group){.name = (char *)"g",
				    .n_workers = 1,
				    .n_flows = N_FLOWS,
				    .n_conns = 1,
				    .n_openings = 1,
				    .instrs = f.instrs,
				    .n_instrs = 3,
				    .phases = &f.phase,
				    .n_phases = 1,
				    .runs = true};
	f.plan = (struct nm_plan){.groups = &f.group, .n_groups = 1};
	f.fd = eventfd(0, EFD_NONBLOCK);
	f.started = &f.fd;
	f.engine_group = (struct nm_engine_group){
		.plan = &f.group, .workers = &f.worker, .n_workers = 1, .started = &f.started};
	f.engine = (struct nm_engine){
		.plan = &f.plan, .groups = &f.engine_group, .event_fd = eventfd(0, EFD_NONBLOCK)};
	f.worker = (struct nm_worker){.engine = &f.engine,
				      .group = &f.group,
				      .flows = (char *)f.flows,
				      .flow_bytes = sizeof f.flows[0],
				      .n_flows = N_FLOWS,
				      .stats = &f.stats,
				      .epoll_fd = -1,
				      .wake_fd = eventfd(0, EFD_NONBLOCK)};
	f.worker.waiter.ops = &nm_waiter_epoll;
	f.worker.accept.listeners = &f.listener;
	f.worker.io = (struct nm_io){.rx = f.rx,
				     .tx = f.tx,
				     .chunk = CHUNK,
				     .count = &f.stats.counters,
				     .in_kept = ~(uint32_t)NM_CONN_IN,
				     .started = f.engine_group.started,
				     .n_conns = 1};
	ck_assert_int_eq(nm_timers_init(&f.worker.timers, N_FLOWS + NM_TIMER__COUNT), 0);
	atomic_store(&f.worker.commands.drain, UINT64_MAX);
	atomic_store(&f.worker.commands.follow, UINT64_MAX);
	ck_assert_int_eq(nm_reconnect_init(&f.worker), 0);
	make_flows();
	f.worker.run = (struct nm_phase_run){.phase = &f.phase,
					     .body = &f.instrs[1],
					     .state = NM_PHASE_RUN,
					     .n_active = N_FLOWS,
					     .end_at = UINT64_MAX};
}

static void teardown(void)
{
	nm_timers_fini(&f.worker.timers);
	free(f.worker.reconnect.openings);
	(void)close(f.fd);
	(void)close(f.engine.event_fd);
	(void)close(f.worker.wake_fd);
}

static void assert_ended(void)
{
	ck_assert_ptr_null(f.worker.run.phase);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_IDLE);
	ck_assert_uint_eq(atomic_load(&f.worker.answers.done), 1);
	ck_assert_uint_gt(atomic_load(&f.stats.end_ns), 0);
	ck_assert_uint_eq(f.worker.timers.count, 0);
	for (unsigned i = 0; i < N_FLOWS; i++)
		ck_assert_int_eq(f.flows[i].flow.state, NM_FLOW_IDLE);
}

/* --- the end of a phase --- */

START_TEST(the_last_flow_ends_the_phase)
{
	nm_phase_flow_done(&f.worker, &f.flows[0].flow);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	nm_phase_flow_done(&f.worker, &f.flows[1].flow);
	assert_ended();
}
END_TEST

START_TEST(open_senders_are_drained)
{
	f.phase.drains = true;
	f.flows[0].conn.ahead = 5;
	f.flows[1].conn.flags |= NM_CONN_IN;
	script.answers[0] = 40;
	nm_phase_passes_done(&f.worker);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_DRAIN);
	ck_assert_uint_eq(atomic_load(&f.worker.answers.passed), 1);
	ck_assert_uint_eq(f.worker.run.drained, 45);

	f.flows[0].conn.flags |= NM_CONN_IN;
	script.next = 0;
	nm_phase_conn_event(&f.worker, &f.flows[0].conn);
	ck_assert_uint_eq(f.worker.run.drained, 85);

	atomic_store(&f.worker.commands.drain, 100);
	nm_worker_commands(&f.worker);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_DRAIN);
	f.flows[1].conn.flags |= NM_CONN_IN;
	script.next = 0;
	script.answers[0] = 15;
	nm_phase_conn_event(&f.worker, &f.flows[1].conn);
	assert_ended();
}
END_TEST

START_TEST(all_that_was_told_has_come_already)
{
	f.phase.drains = true;
	f.flows[0].conn.ahead = 5;
	nm_phase_passes_done(&f.worker);
	atomic_store(&f.worker.commands.drain, 5);
	nm_worker_commands(&f.worker);
	assert_ended();
}
END_TEST

/* The other end has closed: nothing more comes, and nobody looks for it again and again. */
START_TEST(draining_survives_the_end_of_a_stream)
{
	f.phase.drains = true;
	f.phase.counts.may_lose = true;
	f.flows[0].conn.flags |= NM_CONN_IN | NM_CONN_HUP;
	script.answers[0] = -ECONNRESET;
	nm_phase_passes_done(&f.worker);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_DRAIN);
	ck_assert(!(f.flows[0].conn.flags & (NM_CONN_IN | NM_CONN_HUP)));
	atomic_store(&f.worker.commands.drain, 1000);
	nm_worker_commands(&f.worker);
	ck_assert(nm_quiesce_looks(&f.worker.run.quiesce));
	nm_phase_look(&f.worker, f.worker.run.quiesce.moved_ns + 101 * MS);
	assert_ended();
}
END_TEST

START_TEST(abandoned_messages_move_to_their_end)
{
	f.group.messages.gives_up = true;
	f.flows[0].conn.abandoned_in = 100;
	f.flows[0].conn.flags |= NM_CONN_IN;
	f.flows[1].conn.abandoned_out = 30;
	script.answers[0] = 40;
	nm_phase_passes_done(&f.worker);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_FLUSH);
	ck_assert_uint_eq(f.worker.run.n_abandoning, 2);
	ck_assert_uint_eq(f.flows[0].conn.abandoned_in, 60);

	nm_worker_commands(&f.worker); /* which change nothing now */
	f.flows[0].conn.flags |= NM_CONN_IN;
	script = (struct script){.answers = {60}};
	nm_phase_conn_event(&f.worker, &f.flows[0].conn);
	ck_assert_uint_eq(f.worker.run.n_abandoning, 1);
	f.flows[1].conn.flags |= NM_CONN_OUT;
	script = (struct script){.answers = {30}};
	nm_phase_conn_event(&f.worker, &f.flows[1].conn);
	assert_ended();
}
END_TEST

START_TEST(what_cannot_be_flushed_is_forgotten)
{
	f.group.messages.gives_up = true;
	f.flows[0].conn.abandoned_in = 100;
	f.flows[0].conn.flags |= NM_CONN_IN;
	script.answers[0] = -ECONNRESET;
	nm_phase_passes_done(&f.worker);
	ck_assert_uint_eq(f.flows[0].conn.abandoned_in, 0);
	assert_ended();
}
END_TEST

/* --- quiescence --- */

START_TEST(a_phase_that_stands_still_ends_when_it_last_moved)
{
	f.phase.counts.may_lose = true;
	f.instrs[1].lossy = true;
	nm_phase_await_quiescence(&f.worker);
	uint64_t began_ns = f.worker.run.quiesce.moved_ns;

	ck_assert_uint_gt(f.worker.run.quiesce_timer.at_ns, began_ns);
	nm_phase_look(&f.worker, began_ns + 99 * MS);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	nm_counter_add(&f.stats.counters.bytes_received, 1);
	nm_phase_look(&f.worker, began_ns + 100 * MS);
	nm_phase_look(&f.worker, began_ns + 199 * MS);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	nm_phase_look(&f.worker, began_ns + 200 * MS);
	assert_ended();
	ck_assert_uint_eq(atomic_load(&f.stats.end_ns), began_ns + 100 * MS);
}
END_TEST

START_TEST(who_waits_for_what_cannot_be_lost_is_patient)
{
	f.phase.counts.may_lose = true;
	f.phase.wait_ns = 1000 * MS;
	nm_phase_await_quiescence(&f.worker);
	uint64_t began_ns = f.worker.run.quiesce.moved_ns;

	nm_phase_look(&f.worker, began_ns + 5999 * MS);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	f.flows[0].flow.state = NM_FLOW_ASLEEP;
	nm_phase_look(&f.worker, began_ns + 60000 * MS);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	f.flows[0].flow.state = NM_FLOW_PARKED;
	nm_phase_look(&f.worker, began_ns + 60001 * MS);
	assert_ended();
}
END_TEST

START_TEST(where_nothing_is_lost_nobody_looks)
{
	nm_phase_await_quiescence(&f.worker);
	ck_assert(!nm_quiesce_looks(&f.worker.run.quiesce));
	ck_assert_uint_eq(f.worker.timers.count, 0);
}
END_TEST

/* --- commands --- */

START_TEST(a_leader_is_told_to_stop)
{
	f.phase.counts.may_lose = true;
	nm_worker_commands(&f.worker);
	ck_assert_uint_eq(f.worker.run.end_at, UINT64_MAX);
	atomic_store(&f.worker.commands.stop, true);
	nm_worker_commands(&f.worker);
	ck_assert_uint_eq(f.worker.run.end_at, 0);
	ck_assert(nm_quiesce_looks(&f.worker.run.quiesce));
}
END_TEST

START_TEST(a_follower_ends_after_the_passes_it_is_told)
{
	f.phase.leads = false;
	nm_worker_commands(&f.worker);
	ck_assert_uint_eq(f.worker.run.end_at, UINT64_MAX);
	atomic_store(&f.worker.commands.follow, 3);
	nm_counter_add(&f.stats.counters.iterations, 2);
	nm_worker_commands(&f.worker);
	ck_assert_uint_eq(f.worker.run.end_at, 3);
	nm_counter_add(&f.stats.counters.iterations, 1);
	nm_worker_commands(&f.worker);
	assert_ended();
}
END_TEST

/* --- replacing connections --- */

static void ask_to_reconnect(void)
{
	f.phase.reconnects = true;
	nm_engine_reconnect(&f.engine, 0);
	nm_worker_commands(&f.worker);
}

/* The read has found the end of the stream, where a message would begin. */
static enum nm_reconnect_answer after_end(struct nm_flow *flow)
{
	flow->ended = true;
	return nm_reconnect_goes_on(&f.worker, flow, &f.instrs[1]);
}

START_TEST(a_leader_replaces_before_the_next_pass)
{
	ask_to_reconnect();
	ck_assert_uint_eq(f.worker.reconnect.pending, 2);
	ck_assert_uint_eq(f.worker.run.check_at, 0); /* the end of each pass is looked at */

	struct nm_flow *flow = &f.flows[1].flow;

	ck_assert(nm_reconnect_before_pass(&f.worker, flow));
	ck_assert_uint_eq(script.closed, 1);
	ck_assert_int_eq(flow->state, NM_FLOW_READY);
	ck_assert_ptr_eq(nm_reconnect_original(&f.worker, flow->at), &f.instrs[0]);
	flow->conn->flags = NM_CONN_OPEN;
	ck_assert_int_eq(nm_reconnect_goes_on(&f.worker, flow, flow->at + 1), NM_RECONNECT_DONE);
	ck_assert_ptr_eq(flow->at, f.worker.run.body);
	ck_assert_uint_eq(f.worker.reconnect.pending, 1);
	ck_assert(!nm_reconnect_before_pass(&f.worker, flow));
	ck_assert(nm_reconnect_before_pass(&f.worker, &f.flows[0].flow));
	f.flows[0].conn.flags = NM_CONN_OPEN;
	ck_assert_int_eq(nm_reconnect_goes_on(&f.worker, &f.flows[0].flow, f.flows[0].flow.at + 1),
			 NM_RECONNECT_DONE);
	ck_assert_uint_eq(f.worker.run.check_at, UINT64_MAX);
}
END_TEST

START_TEST(a_follower_replaces_when_the_stream_ends)
{
	struct nm_flow *flow = &f.flows[0].flow;

	f.phase.leads = false;
	ask_to_reconnect();
	ck_assert_uint_eq(f.worker.reconnect.pending, 0);
	ck_assert(!nm_reconnect_before_pass(&f.worker, flow));
	ck_assert_int_eq(after_end(flow), NM_RECONNECT_BEGUN);
	ck_assert_ptr_eq(flow->resume, &f.instrs[1]);
	ck_assert_uint_eq(script.closed, 1);
}
END_TEST

START_TEST(elsewhere_the_end_of_a_stream_is_a_failure)
{
	struct nm_flow *flow = &f.flows[0].flow;

	ck_assert_int_eq(after_end(flow), NM_RECONNECT_NO);
	f.phase.reconnects = true;
	ck_assert_int_eq(after_end(flow), NM_RECONNECT_NO);
	f.phase.leads = false;
	f.instrs[1].pass.rekey_point = false;
	ck_assert_int_eq(after_end(flow), NM_RECONNECT_NO);
	f.instrs[1].pass.rekey_point = true;
	flow->repeated = 1;
	ck_assert_int_eq(after_end(flow), NM_RECONNECT_NO);
	ck_assert_uint_eq(script.closed, 0);
}
END_TEST

START_TEST(flows_that_sleep_until_their_pass_need_not_wait_to_replace)
{
	struct nm_flow *flow = &f.flows[0].flow;

	flow->state = NM_FLOW_ASLEEP;
	flow->paced = true;
	flow->timer.at_ns = UINT64_MAX;
	nm_timers_add(&f.worker.timers, &flow->timer);
	ask_to_reconnect();
	ck_assert(!flow->paced);
	ck_assert_uint_eq(flow->timer.slot, 0);
	ck_assert_uint_eq(script.closed, 1);
}
END_TEST

START_TEST(what_was_not_replaced_in_time_fails)
{
	struct nm_flow *flow = &f.flows[0].flow;

	script.expired = true;
	f.flows[1].flow.state = NM_FLOW_PARKED; /* which finds out by itself */
	nm_reconnect_count(&f.worker);
	ck_assert_uint_gt(f.worker.reconnect.timer.at_ns, 0);
	ck_assert(!nm_reconnect_is_in_vain(&f.worker, &f.flows[1].flow));
	ck_assert(nm_reconnect_is_in_vain(&f.worker, flow));
	flow->error = EKEYEXPIRED;
	nm_worker_fail_flow(&f.worker, flow, flow->at);
	ck_assert(!nm_reconnect_is_in_vain(&f.worker, flow));
	ck_assert(atomic_load(&f.worker.answers.failed));
	ck_assert_int_eq(f.worker.answers.error.error, EKEYEXPIRED);
	ck_assert_str_eq(f.worker.answers.error.why, "its key is too old");
	ck_assert_uint_eq(atomic_load(&f.worker.answers.n_failed), 1);
	script.expired = false;
	nm_reconnect_count(&f.worker);
	ck_assert_uint_eq(f.worker.reconnect.timer.at_ns, 0);
}
END_TEST

/* --- failures --- */

START_TEST(an_expected_failure_ends_nothing)
{
	struct nm_flow *flow = &f.flows[0].flow;

	f.instrs[1].can_fail = true;
	flow->error = ETIMEDOUT;
	nm_worker_fail_flow(&f.worker, flow, &f.instrs[1]);
	ck_assert_int_eq(flow->state, NM_FLOW_READY);
	ck_assert_ptr_eq(flow->at, &f.instrs[2]);
	ck_assert_uint_eq(flow->conn->abandoned_in, 100);
	ck_assert(!atomic_load(&f.worker.answers.failed));
	ck_assert_uint_eq(nm_counter_read(&f.stats.counters.errors), 1);
}
END_TEST

/* A read that finds the connection refused tells of the connect before it. */
START_TEST(the_connect_is_to_blame)
{
	struct nm_flow *flow = &f.flows[0].flow;

	struct nm_addr endpoint = {.len = sizeof(struct sockaddr_in), .sa.ss_family = AF_INET};

	nm_addr_set_port(&endpoint, 41234);
	f.worker.io.endpoints = &endpoint;
	flow->conn->flags |= NM_CONN_CONNECTING;
	flow->error = ECONNREFUSED;
	nm_worker_fail_flow(&f.worker, flow, &f.instrs[1]);
	ck_assert_str_eq(f.worker.answers.error.flowop, "connect");
	ck_assert_uint_eq(f.worker.answers.error.port, 41234);
	ck_assert_uint_eq(f.worker.answers.error.line, 3);
	ck_assert_uint_eq(script.closed, 1);
}
END_TEST

/* --- when passes are due --- */

static uint64_t every_second(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns)
{
	(void)pacer;
	(void)index;
	return at_ns + 1000 * MS;
}

static const struct nm_arrival_law law = {.name = "second", .next_ns = every_second};

static void pace(uint64_t begin_ns, uint64_t last_ns)
{
	f.worker.run.pacer = (struct nm_pacer){.law = &law,
					       .period_ns = 1000 * MS,
					       .begin_ns = begin_ns,
					       .last_ns = last_ns,
					       .n_flows = N_FLOWS};
}

START_TEST(a_flow_sleeps_until_its_pass_is_due)
{
	struct nm_flow *flow = &f.flows[0].flow;

	pace(1, 5000 * MS);
	flow->plan_ns = nm_pacer_next(&f.worker.run.pacer, flow, 1);
	ck_assert(nm_worker_pace(&f.worker, flow, 500 * MS));
	ck_assert_int_eq(flow->state, NM_FLOW_ASLEEP);
	ck_assert_uint_eq(flow->timer.at_ns, 1000 * MS + 1);
	ck_assert_ptr_null(nm_timers_take(&f.worker.timers, 1000 * MS));
	ck_assert_ptr_eq(nm_timers_take(&f.worker.timers, 1000 * MS + 1), &flow->timer);
	ck_assert(nm_worker_begin_paced_pass(&f.worker, flow, 1000 * MS + 7));
	ck_assert_uint_eq(flow->start_ns, 1000 * MS + 7);
	ck_assert(!flow->paced && !flow->timer.at_ns);
	/* Who is late goes on at once. */
	flow->plan_ns = nm_pacer_next(&f.worker.run.pacer, flow, flow->plan_ns);
	ck_assert(!nm_worker_pace(&f.worker, flow, 2500 * MS));
}
END_TEST

START_TEST(a_flow_stays_until_the_time_is_over)
{
	struct nm_flow *flow = &f.flows[0].flow;

	pace(1, 1500 * MS);
	flow->plan_ns = 2000 * MS;
	ck_assert(nm_worker_pace(&f.worker, flow, 1200 * MS));
	ck_assert_uint_eq(flow->timer.at_ns, 1500 * MS);
	ck_assert_uint_eq(f.worker.run.n_active, N_FLOWS);
	ck_assert(!nm_worker_begin_paced_pass(&f.worker, flow, 1500 * MS));
	ck_assert_uint_eq(f.worker.run.n_active, N_FLOWS - 1);
	f.flows[1].flow.plan_ns = 2000 * MS;
	ck_assert(nm_worker_pace(&f.worker, &f.flows[1].flow, 1600 * MS));
	assert_ended();
}
END_TEST

START_TEST(who_is_told_to_stop_waits_for_no_pass)
{
	pace(1, UINT64_MAX);
	for (unsigned i = 0; i < N_FLOWS; i++) {
		f.flows[i].flow.plan_ns = 2000 * MS;
		nm_worker_await_pass(&f.worker, &f.flows[i].flow);
	}
	atomic_store(&f.worker.commands.stop, true);
	nm_worker_commands(&f.worker);
	assert_ended();
}
END_TEST

START_TEST(a_pass_that_was_due_in_time_is_made)
{
	f.phase.duration_ns = 1;
	f.worker.commands.begin_ns = 1;
	pace(1, 3000 * MS);
	f.flows[0].flow.plan_ns = 2000 * MS;
	f.flows[1].flow.plan_ns = 4000 * MS;
	for (unsigned i = 0; i < N_FLOWS; i++)
		nm_worker_await_pass(&f.worker, &f.flows[i].flow);
	nm_worker_release_paced(&f.worker);
	ck_assert_int_eq(f.flows[0].flow.state, NM_FLOW_ASLEEP);
	ck_assert_int_eq(f.flows[1].flow.state, NM_FLOW_IDLE);
}
END_TEST

START_TEST(after_a_replacement_the_pass_may_not_be_due_yet)
{
	struct nm_flow *flow = &f.flows[0].flow;

	flow->start_ns = 5;
	nm_worker_resume_pass(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_READY);
	pace(1, UINT64_MAX);
	flow = &f.flows[1].flow;
	flow->plan_ns = 6;
	flow->start_ns = 5;
	nm_worker_resume_pass(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_ASLEEP);
}
END_TEST

/* --- what transports tell --- */

START_TEST(transports_ask_for_replacements_and_tell_of_losses)
{
	struct nm_engine_error error;

	ck_assert_int_eq(nm_events_open(&f.engine), 0);
	ck_assert_int_ne(nm_events_fd(&f.engine), f.engine.event_fd);
	nm_events_read(&f.engine);
	ck_assert_uint_eq(nm_engine_reconnects(&f.engine, 0), 0);
	script.events[0] = script.events[1] = NM_TRANSPORT_EVENT_RENEW;
	nm_events_read(&f.engine);
	ck_assert_uint_eq(nm_engine_reconnects(&f.engine, 0), 1);
	ck_assert_uint_eq(atomic_load(&f.worker.commands.reconnect), 1);
	ck_assert(!nm_events_lost(&f.engine, &error));
	script.events[2] = NM_TRANSPORT_EVENT_LOST;
	nm_events_read(&f.engine);
	ck_assert(nm_events_lost(&f.engine, &error));
	ck_assert_int_eq(error.error, ENODEV);
	ck_assert_str_eq(error.why, "the device is gone");
	f.engine.events = nm_events_free(f.engine.events);
	ck_assert_int_eq(nm_events_fd(&f.engine), f.engine.event_fd);
}
END_TEST

START_TEST(without_such_transports_there_is_nothing_to_hear)
{
	f.started = NULL;
	ck_assert_int_eq(nm_events_open(&f.engine), 0);
	ck_assert_ptr_null(f.engine.events);
	nm_events_read(&f.engine);
}
END_TEST

static TCase *tests(const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("phases of a worker");
	TCase *end = tests("end"), *replace = tests("replace"), *due = tests("due");

	tcase_add_test(end, the_last_flow_ends_the_phase);
	tcase_add_test(end, open_senders_are_drained);
	tcase_add_test(end, all_that_was_told_has_come_already);
	tcase_add_test(end, draining_survives_the_end_of_a_stream);
	tcase_add_test(end, abandoned_messages_move_to_their_end);
	tcase_add_test(end, what_cannot_be_flushed_is_forgotten);
	tcase_add_test(end, a_phase_that_stands_still_ends_when_it_last_moved);
	tcase_add_test(end, who_waits_for_what_cannot_be_lost_is_patient);
	tcase_add_test(end, where_nothing_is_lost_nobody_looks);
	tcase_add_test(end, a_leader_is_told_to_stop);
	tcase_add_test(end, a_follower_ends_after_the_passes_it_is_told);
	tcase_add_test(replace, a_leader_replaces_before_the_next_pass);
	tcase_add_test(replace, a_follower_replaces_when_the_stream_ends);
	tcase_add_test(replace, elsewhere_the_end_of_a_stream_is_a_failure);
	tcase_add_test(replace, flows_that_sleep_until_their_pass_need_not_wait_to_replace);
	tcase_add_test(replace, what_was_not_replaced_in_time_fails);
	tcase_add_test(replace, an_expected_failure_ends_nothing);
	tcase_add_test(replace, the_connect_is_to_blame);
	tcase_add_test(replace, transports_ask_for_replacements_and_tell_of_losses);
	tcase_add_test(replace, without_such_transports_there_is_nothing_to_hear);
	tcase_add_test(due, a_flow_sleeps_until_its_pass_is_due);
	tcase_add_test(due, a_flow_stays_until_the_time_is_over);
	tcase_add_test(due, who_is_told_to_stop_waits_for_no_pass);
	tcase_add_test(due, a_pass_that_was_due_in_time_is_made);
	tcase_add_test(due, after_a_replacement_the_pass_may_not_be_due_yet);
	suite_add_tcase(suite, end);
	suite_add_tcase(suite, replace);
	suite_add_tcase(suite, due);
	return run_suite(suite);
}
