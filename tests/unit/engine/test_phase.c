/* SPDX-License-Identifier: Apache-2.0 */
/* One worker of two flows, driven through a phase by hand over a transport that follows a script:
 * what happens after the last pass, and when passes are due. */
#include "engine/phase/phase.h"

#include <check.h>
#include <errno.h>

#include "../suite.h"
#include "engine/loop/commands.h"
#include "engine/loop/pacer.h"
#include "engine/phase/ends.h"
#include "engine/phase/reconnect.h"
#include "one_worker.h"

#define MS UINT64_C(1000000)

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
	nm_counter_add(&f.stats.tally.counters.bytes_received, 1);
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
	f.phase.waits.all_ns = 1000 * MS;
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

/* The other end has made five passes, and this one three. */
static void follow_to_five(enum nm_flow_state first, enum nm_flow_state second)
{
	f.phase.leads = false;
	f.phase.waits.may_miss = true;
	f.flows[0].flow.state = first;
	f.flows[1].flow.state = second;
	nm_counter_add(&f.stats.tally.counters.iterations, 3);
	atomic_store(&f.worker.commands.follow, 5);
	nm_worker_commands(&f.worker);
	ck_assert(nm_quiesce_looks(&f.worker.run.quiesce));
}

START_TEST(a_connection_that_never_comes_is_not_waited_for)
{
	follow_to_five(NM_FLOW_PARKED, NM_FLOW_IDLE);
	uint64_t began_ns = f.worker.run.quiesce.moved_ns;

	nm_phase_look(&f.worker, began_ns + 99 * MS);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	nm_phase_look(&f.worker, began_ns + 101 * MS);
	assert_ended();
	ck_assert_uint_eq(nm_count_passes(&f.stats.tally.counters), 5);
	ck_assert_uint_eq(nm_counter_read(&f.stats.tally.counters.iterations), 3);
	ck_assert_uint_eq(nm_counter_read(&f.stats.tally.counters.unseen_ends), 2);
}
END_TEST

START_TEST(a_connection_that_has_come_is_waited_for)
{
	follow_to_five(NM_FLOW_PARKED, NM_FLOW_WAITING);
	nm_phase_look(&f.worker, f.worker.run.quiesce.moved_ns + 600000 * MS);
	ck_assert_int_eq(f.worker.run.state, NM_PHASE_RUN);
	ck_assert_uint_eq(nm_counter_read(&f.stats.tally.counters.unseen_ends), 0);
}
END_TEST

/* --- lost resets --- */

static uint32_t found(struct nm_ends *ends, uint32_t asked, uint32_t open, bool eager)
{
	const struct nm_ends_found look = {.waiting = asked, .asked = asked, .open = open};

	return nm_ends_lost(ends, &look, eager);
}

START_TEST(what_is_over_when_it_was_asked_for_was_lost)
{
	struct nm_ends ends = {0};

	ck_assert_uint_eq(found(&ends, 3, 0, false), 0);
	ck_assert_uint_eq(found(&ends, 2, 1, false), 2);
	ck_assert_uint_eq(found(&ends, 0, 3, false), 0);
	/* The question after a usual look counts at the first eager one. */
	ck_assert_uint_eq(found(&ends, 0, 0, true), 3);
	ck_assert_uint_eq(found(&ends, 0, 1, false), 0);
}
END_TEST

START_TEST(what_an_eager_look_has_asked_for_may_have_been_late)
{
	struct nm_ends ends = {0};

	for (uint32_t i = 0; i < 5; i++)
		ck_assert_uint_eq(found(&ends, 9, 0, true), 0);
	ck_assert_uint_eq(found(&ends, 1, 0, false), 0);
	ck_assert_uint_eq(found(&ends, 0, 0, false), 1);
}
END_TEST

/* --- commands --- */

START_TEST(a_leader_is_told_to_stop)
{
	f.phase.counts.may_lose = true;
	nm_worker_commands(&f.worker);
	ck_assert_uint_eq(f.worker.run.end_at, UINT64_MAX);
	atomic_store(&f.worker.commands.stop, NM_STOP_TIME);
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
	nm_counter_add(&f.stats.tally.counters.iterations, 2);
	nm_worker_commands(&f.worker);
	ck_assert_uint_eq(f.worker.run.end_at, 3);
	nm_counter_add(&f.stats.tally.counters.iterations, 1);
	nm_worker_commands(&f.worker);
	assert_ended();
}
END_TEST

/* --- when passes are due --- */

static void pace(uint64_t begin_ns, uint64_t last_ns)
{
	f.worker.run.pacer = (struct nm_pacer){.period_ns = 1000 * MS,
					       .begin_ns = begin_ns,
					       .last_ns = last_ns,
					       .n_flows = N_FLOWS};
}

START_TEST(a_flow_sleeps_until_its_pass_is_due)
{
	struct nm_flow *flow = &f.flows[0].flow;

	pace(1, 5000 * MS);
	flow->request.due_ns = nm_pacer_next(&f.worker.run.pacer, flow, 1);
	ck_assert(nm_worker_pace(&f.worker, flow, 500 * MS));
	ck_assert_int_eq(flow->state, NM_FLOW_ASLEEP);
	ck_assert_uint_eq(flow->timer.at_ns, 1000 * MS + 1);
	ck_assert_ptr_null(nm_timers_take(&f.worker.timers, 1000 * MS));
	ck_assert_ptr_eq(nm_timers_take(&f.worker.timers, 1000 * MS + 1), &flow->timer);
	ck_assert(nm_worker_begin_paced_pass(&f.worker, flow, 1000 * MS + 7));
	ck_assert_uint_eq(flow->request.sent_ns, 1000 * MS + 7);
	ck_assert(!flow->paced && !flow->timer.at_ns);
	/* Who is late goes on at once. */
	flow->request.due_ns = nm_pacer_next(&f.worker.run.pacer, flow, flow->request.due_ns);
	ck_assert(!nm_worker_pace(&f.worker, flow, 2500 * MS));
}
END_TEST

START_TEST(a_flow_stays_until_the_time_is_over)
{
	struct nm_flow *flow = &f.flows[0].flow;

	pace(1, 1500 * MS);
	flow->request.due_ns = 2000 * MS;
	ck_assert(nm_worker_pace(&f.worker, flow, 1200 * MS));
	ck_assert_uint_eq(flow->timer.at_ns, 1500 * MS);
	ck_assert_uint_eq(f.worker.run.n_active, N_FLOWS);
	ck_assert(!nm_worker_begin_paced_pass(&f.worker, flow, 1500 * MS));
	ck_assert_uint_eq(f.worker.run.n_active, N_FLOWS - 1);
	f.flows[1].flow.request.due_ns = 2000 * MS;
	ck_assert(nm_worker_pace(&f.worker, &f.flows[1].flow, 1600 * MS));
	assert_ended();
}
END_TEST

START_TEST(who_is_told_to_stop_waits_for_no_pass)
{
	pace(1, UINT64_MAX);
	for (unsigned i = 0; i < N_FLOWS; i++) {
		f.flows[i].flow.request.due_ns = 2000 * MS;
		nm_worker_await_pass(&f.worker, &f.flows[i].flow);
	}
	atomic_store(&f.worker.commands.stop, NM_STOP_TIME);
	nm_worker_commands(&f.worker);
	assert_ended();
}
END_TEST

START_TEST(a_pass_that_was_due_in_time_is_made)
{
	f.phase.duration_ns = 1;
	f.worker.commands.begin_ns = 1;
	pace(1, 3000 * MS);
	f.flows[0].flow.request.due_ns = 2000 * MS;
	f.flows[1].flow.request.due_ns = 4000 * MS;
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

	flow->request.sent_ns = 5;
	nm_worker_resume_pass(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_READY);
	pace(1, UINT64_MAX);
	flow = &f.flows[1].flow;
	flow->request.due_ns = 6;
	flow->request.sent_ns = 5;
	nm_worker_resume_pass(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_ASLEEP);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("phases of a worker");
	TCase *end = one_worker_tests("end"), *due = one_worker_tests("due");

	tcase_add_test(end, the_last_flow_ends_the_phase);
	tcase_add_test(end, open_senders_are_drained);
	tcase_add_test(end, all_that_was_told_has_come_already);
	tcase_add_test(end, draining_survives_the_end_of_a_stream);
	tcase_add_test(end, abandoned_messages_move_to_their_end);
	tcase_add_test(end, what_cannot_be_flushed_is_forgotten);
	tcase_add_test(end, a_phase_that_stands_still_ends_when_it_last_moved);
	tcase_add_test(end, who_waits_for_what_cannot_be_lost_is_patient);
	tcase_add_test(end, where_nothing_is_lost_nobody_looks);
	tcase_add_test(end, a_connection_that_never_comes_is_not_waited_for);
	tcase_add_test(end, a_connection_that_has_come_is_waited_for);
	tcase_add_test(end, what_is_over_when_it_was_asked_for_was_lost);
	tcase_add_test(end, what_an_eager_look_has_asked_for_may_have_been_late);
	tcase_add_test(end, a_leader_is_told_to_stop);
	tcase_add_test(end, a_follower_ends_after_the_passes_it_is_told);
	tcase_add_test(due, a_flow_sleeps_until_its_pass_is_due);
	tcase_add_test(due, a_flow_stays_until_the_time_is_over);
	tcase_add_test(due, who_is_told_to_stop_waits_for_no_pass);
	tcase_add_test(due, a_pass_that_was_due_in_time_is_made);
	tcase_add_test(due, after_a_replacement_the_pass_may_not_be_due_yet);
	suite_add_tcase(suite, end);
	suite_add_tcase(suite, due);
	return run_suite(suite);
}
