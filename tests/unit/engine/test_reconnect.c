/* SPDX-License-Identifier: Apache-2.0 */
/* One worker of two flows over a transport that follows a script: when connections are replaced,
 * which failures end a run, and what transports tell. */
#include "engine/phase/reconnect.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>

#include "../suite.h"
#include "engine/events.h"
#include "engine/loop/commands.h"
#include "engine/loop/fault.h"
#include "flowop/ask.h"
#include "one_worker.h"
#include "transport/address.h"

/* --- replacing connections --- */

static void ask_to_reconnect(void)
{
	f.phase.anew.between_passes = true;
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
	ck_assert_ptr_eq(flow->at, &f.worker.reconnect.openings[NM_REOPEN_OPEN]);
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
	f.phase.anew.between_passes = true;
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

/* The state of the first flow's connection lies where nothing is received. */
static struct nm_life *give_life(struct nm_flow *flow)
{
	ck_assert_uint_le(nm_ask_bytes(0), sizeof f.rx);
	f.worker.io.behind.app_offset = (size_t)(f.rx - (char *)flow);
	f.phase.anew.lives = true;
	flow->conn->traits = NM_CONN_LIVES | NM_CONN_ANSWERED;
	return nm_ask_life(&f.worker.io, flow);
}

START_TEST(a_life_that_is_over_is_replaced_between_passes)
{
	struct nm_flow *flow = &f.flows[0].flow;
	struct nm_life *life = give_life(flow);

	ck_assert(!nm_reconnect_before_pass(&f.worker, flow));
	life->end_ns = NM_LIFE_OVER;
	f.phase.leads = false;
	ck_assert(!nm_reconnect_before_pass(&f.worker, flow));
	f.phase.leads = true;
	atomic_store(&f.worker.commands.stop, NM_STOP_TIME);
	ck_assert(!nm_reconnect_before_pass(&f.worker, flow));
	/* Arrivals that are due go on until they are done. */
	f.worker.run.open.on = true;
	flow->request.sent_ns = 5;
	ck_assert(nm_reconnect_before_pass(&f.worker, flow));
	ck_assert_uint_eq(script.closed, 1);
	ck_assert_ptr_eq(flow->at, &f.worker.reconnect.openings[NM_REOPEN_OPEN]);
	ck_assert_ptr_eq(flow->resume, f.worker.run.body);
	/* Whatever the time says, no pass is under way. */
	flow->request.sent_ns = 5;
	/* The new one has had no request. */
	flow->conn->flags = NM_CONN_OPEN;
	flow->conn->traits = NM_CONN_LIVES;
	ck_assert_int_eq(
		nm_reconnect_goes_on(&f.worker, flow, &f.worker.reconnect.openings[NM_REOPEN_DONE]),
		NM_RECONNECT_DONE);
	ck_assert_ptr_eq(flow->at, f.worker.run.body);
	/* What the opening has taken is no part of the pass. */
	ck_assert_uint_gt(flow->request.sent_ns, 5);
	ck_assert_uint_eq(script.closed, 1);
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
	ck_assert_uint_eq(nm_counter_read(&f.stats.tally.counters.errors), 1);
}
END_TEST

/* A read that finds the connection refused tells of the connect before it. */
START_TEST(the_connect_is_to_blame)
{
	struct nm_flow *flow = &f.flows[0].flow;
	struct nm_addr endpoint = {.len = sizeof(struct sockaddr_in), .sa.ss_family = AF_INET};
	const struct nm_servers none = {.count = 0};

	nm_addr_set_port(&endpoint, 41234);
	f.worker.io.endpoints = &endpoint;
	f.worker.io.apps.servers = &none;
	flow->conn->flags |= NM_CONN_CONNECTING;
	flow->error = ECONNREFUSED;
	nm_worker_fail_flow(&f.worker, flow, &f.instrs[1]);
	ck_assert_str_eq(f.worker.answers.error.flowop, "connect");
	ck_assert_uint_eq(f.worker.answers.error.port, 41234);
	ck_assert_uint_eq(f.worker.answers.error.line, 3);
	ck_assert_uint_eq(script.closed, 1);
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

int main(void)
{
	Suite *suite = suite_create("replaced connections");
	TCase *replace = one_worker_tests("replace"), *fail = one_worker_tests("fail");

	tcase_add_test(replace, a_leader_replaces_before_the_next_pass);
	tcase_add_test(replace, a_follower_replaces_when_the_stream_ends);
	tcase_add_test(replace, elsewhere_the_end_of_a_stream_is_a_failure);
	tcase_add_test(replace, flows_that_sleep_until_their_pass_need_not_wait_to_replace);
	tcase_add_test(replace, what_was_not_replaced_in_time_fails);
	tcase_add_test(replace, a_life_that_is_over_is_replaced_between_passes);
	tcase_add_test(fail, an_expected_failure_ends_nothing);
	tcase_add_test(fail, the_connect_is_to_blame);
	tcase_add_test(replace, transports_ask_for_replacements_and_tell_of_losses);
	tcase_add_test(replace, without_such_transports_there_is_nothing_to_hear);
	suite_add_tcase(suite, replace);
	suite_add_tcase(suite, fail);
	return run_suite(suite);
}
