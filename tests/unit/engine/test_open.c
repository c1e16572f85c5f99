/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/phase/open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../suite.h"
#include "base/rng.h"
#include "engine/loop/pacer.h"
#include "engine/loop/request.h"
#include "engine/tune.h"
#include "open_phase.h"

START_TEST(passes_go_to_flows_in_turn)
{
	const struct nm_counters *counters = &f.stats.tally.counters;

	begin("const(1k)", 10 * S);
	ck_assert_uint_eq(open_of->timer.at_ns, S + MS / 2);
	ck_assert(!nm_open_is_due(&f.worker, S + MS / 2 - 1));
	ck_assert(nm_open_is_due(&f.worker, S + MS / 2));
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		struct nm_flow *flow = nm_open_take_free(&f.worker);

		ck_assert_ptr_eq(flow, &f.flows[i].flow);
		nm_open_begin_pass(&f.worker, flow, S + 2 * MS);
		ck_assert_uint_eq(flow->request.due_ns, S + MS / 2 + i * MS);
		ck_assert_uint_eq(flow->request.sent_ns, S + 2 * MS);
	}
	ck_assert_ptr_null(nm_open_take_free(&f.worker));
	ck_assert_uint_eq(count(&counters->arrivals), 2);
	ck_assert_uint_eq(count(&counters->delay_own),
			  (MS + MS / 2) / NM_DELAY_STEP_NS + MS / 2 / NM_DELAY_STEP_NS);
	ck_assert_uint_eq(count(&counters->delay_busy), 0);
	end();
}
END_TEST

/* A flow has sent at last, and the kernel did not take it at once, or it has asked. */
START_TEST(what_waits_for_the_kernel_is_delayed_by_that)
{
	const struct nm_counters *counters = &f.stats.tally.counters;
	struct nm_flow *flow = &f.flows[0].flow;

	f.instrs[1].op = nm_flowop_find(_i ? "write" : "ping");
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++)
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + MS / 2 + i * MS);
	flow->at = &f.instrs[1];
	nm_open_refused(&f.worker, flow);
	nm_request_end(&f.worker, flow, S + 4 * MS);
	nm_open_begin_pass(&f.worker, flow, S + 4 * MS);
	ck_assert_uint_eq(count(&counters->delay_kernel), _i * 3 * MS / 2 / NM_DELAY_STEP_NS);
	ck_assert_uint_eq(count(&counters->delay_busy), !_i * 3 * MS / 2 / NM_DELAY_STEP_NS);
	/* That was of one pass. */
	nm_request_end(&f.worker, flow, S + 5 * MS);
	nm_open_begin_pass(&f.worker, flow, S + 5 * MS);
	ck_assert_uint_eq(count(&counters->delay_kernel), _i * 3 * MS / 2 / NM_DELAY_STEP_NS);
	end();
}
END_TEST

/* The third pass is due while both flows are busy: until one is free this end does not delay it. */
START_TEST(delays_have_their_cause)
{
	const struct nm_counters *counters = &f.stats.tally.counters;

	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++)
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + MS / 2 + i * MS);
	ck_assert(nm_open_is_due(&f.worker, S + 4 * MS));
	f.worker.run.marks = NM_REQUEST_RECORDED;
	nm_request_end(&f.worker, &f.flows[0].flow, S + 4 * MS);
	nm_open_begin_pass(&f.worker, &f.flows[0].flow, S + 4 * MS + 640);
	ck_assert_uint_eq(count(&counters->delay_busy), (MS + MS / 2) / NM_DELAY_STEP_NS);
	ck_assert_uint_eq(count(&counters->delay_own), 10);
	nm_request_end(&f.worker, &f.flows[0].flow, S + 5 * MS);
	ck_assert_uint_eq(f.worker.run.send_delay->max_ns, MS + MS / 2 + 640);
	ck_assert_uint_eq(f.worker.run.response->max_ns, 3 * MS + MS / 2);
	ck_assert_uint_eq(f.worker.run.latency->max_ns, 3 * MS + MS / 2);
	ck_assert_uint_eq(f.worker.run.latency->min_ns, MS - 640);
	end();
}
END_TEST

/* Also where the one before it has not ended, and has begun while few were under way. */
START_TEST(each_pass_has_its_own_marks)
{
	struct nm_request *request = &f.flows[0].flow.request;

	begin("const(1k)", 10 * S);
	f.worker.run.marks = NM_REQUEST_RECORDED;
	request->marks = NM_REQUEST_RECORDED | NM_REQUEST_LIGHT;
	(void)nm_open_take_free(&f.worker);
	nm_open_begin_pass(&f.worker, &f.flows[0].flow, S + MS);
	ck_assert_uint_eq(request->marks, NM_REQUEST_RECORDED);
	end();
}
END_TEST

/* A flow of 5000 bytes in 4 packets, which takes 42.88 us at 1 Gb/s, and 60 us more. */
START_TEST(a_pass_may_be_a_measured_flow)
{
	struct nm_flow *flow;

	f.phase.flows = (struct nm_phase_flows){
		.ideal = {.kind = NM_IDEAL_FORMULA, .link_bps = 1e9, .base_ns = 60000}, .instr = 1};
	f.worker.run.phase = &f.phase;
	f.instrs[1].size = 5000;
	begin("const(1k)", 10 * S);
	flow = nm_open_take_free(&f.worker);
	nm_open_begin_pass(&f.worker, flow, S + MS);
	nm_request_end(&f.worker, flow, S + MS / 2 + 205760);
	ck_assert_uint_eq(f.worker.run.complete_under_10kb->max_ns, 205760);
	ck_assert_uint_eq(f.worker.run.slowdown_under_10kb->max_ns, 2 * S);
	ck_assert_uint_eq(f.worker.run.slowdown->max_ns, 2 * S);
	ck_assert_uint_eq(f.worker.run.complete_10_100kb->max_ns, 0);
	end();
}
END_TEST

/* A flow that ends its pass takes the next, though another was free all the time. */
START_TEST(a_flow_that_was_free_makes_it_a_delay_of_this_end)
{
	const struct nm_counters *counters = &f.stats.tally.counters;
	struct nm_flow *busy;

	begin("const(1k)", 10 * S);
	busy = nm_open_take_free(&f.worker);
	nm_open_begin_pass(&f.worker, busy, S + MS / 2);
	nm_request_end(&f.worker, busy, S + 4 * MS);
	nm_open_begin_pass(&f.worker, busy, S + 4 * MS);
	ck_assert_uint_eq(count(&counters->delay_busy), 0);
	ck_assert_uint_eq(count(&counters->delay_own), (2 * MS + MS / 2) / NM_DELAY_STEP_NS);
	end();
}
END_TEST

/* So does one of flows that take turns: that one or another was free all the time. */
START_TEST(flows_that_are_free_in_turn_make_it_a_delay_of_this_end)
{
	const struct nm_counters *counters = &f.stats.tally.counters;

	begin("const(1k)", 10 * S);
	for (unsigned i = 0; i < 4; i++) {
		struct nm_flow *flow = nm_open_take_free(&f.worker);

		nm_open_begin_pass(&f.worker, flow, S + (8 + i) * MS);
		nm_request_end(&f.worker, flow, S + (9 + i) * MS);
		nm_open_free(&f.worker, flow);
	}
	ck_assert_uint_eq(count(&counters->delay_busy), 0);
	ck_assert_uint_eq(count(&counters->delay_own), 4 * ((7 * MS + MS / 2) / NM_DELAY_STEP_NS));
	end();
}
END_TEST

/* One flow makes a pass of 6 ms, the other meanwhile two of 3 and 1 ms; the second fails. When the
 * time is over a pass has taken 1 ms of its 4, and one of 1 ms has not begun. */
START_TEST(outstanding_passes_are_added_up_over_time)
{
	begin("const(1k)", 10 * S);
	f.worker.run.marks = NM_REQUEST_RECORDED;
	nm_open_begin_pass(&f.worker, &f.flows[1].flow, S + 2 * MS);
	pass(0, S + 3 * MS, S + 6 * MS);
	f.flows[0].flow.request.outcome = NM_TIMEOUT;
	pass(0, S + 6 * MS, S + 7 * MS);
	nm_request_end(&f.worker, &f.flows[1].flow, S + 8 * MS);
	nm_open_stop(&f.worker, 11 * S, false);
	pass(0, 11 * S - MS, 11 * S + 3 * MS);
	pass(0, 11 * S + 3 * MS, 11 * S + 4 * MS);
	nm_open_end(&f.worker);
	ck_outstanding(3 + 1 + 6 + 1, 2, 1, 3 + 1);
	/* By Little's law those with an answer: 3 + 6 + 4 + 1 ms. */
	ck_assert_uint_eq(nm_counter_read(&f.worker.run.latency->sum_ns), (11 - 1 + 4) * MS);
	end();
}
END_TEST

/* One that has not ended when the phase is given up is outstanding to the end. */
START_TEST(what_never_ends_is_outstanding)
{
	begin("const(1k)", 10 * S);
	nm_open_begin_pass(&f.worker, &f.flows[0].flow, 11 * S - 2 * MS);
	nm_open_stop(&f.worker, 11 * S, false);
	nm_open_end(&f.worker);
	ck_outstanding(2, 1, 0, 0);
	end();
}
END_TEST

/* What waits while all flows are stuck, until the phase is given up, has been due. */
START_TEST(what_never_began_is_counted)
{
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++)
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + 2 * MS);
	nm_open_stop(&f.worker, 11 * S, false);
	nm_worker_disarm(&f.worker, &open_of->timer); /* as it fires */
	f.worker.io.now_ns = 11 * S;
	nm_open_arm(&f.worker);
	ck_assert_uint_eq(open_of->timer.at_ns, 16 * S);
	nm_open_end(&f.worker);
	ck_assert_uint_eq(count(&f.stats.tally.counters.unsent), 9998);
	ck_assert_uint_eq(count(&f.stats.tally.counters.open_ns), 10 * S);
	end();
}
END_TEST

START_TEST(at_the_end_the_rest_is_begun_or_counted)
{
	struct nm_flow *flow;

	begin("const(1k)", 10 * S);
	nm_open_stop(&f.worker, 11 * S, false);
	ck_assert(!nm_worker_close_arrivals(&f.worker, 11 * S));
	for (unsigned i = 0; i < 4000; i++) {
		flow = nm_open_take_free(&f.worker);
		nm_open_begin_pass(&f.worker, flow, 11 * S);
		nm_open_free(&f.worker, flow);
	}
	ck_assert(!nm_worker_close_arrivals(&f.worker, 16 * S - 1));
	flow = nm_open_take_free(&f.worker);
	ck_assert(nm_worker_close_arrivals(&f.worker, 16 * S));
	ck_assert(!nm_open_is_due(&f.worker, 16 * S));
	ck_assert_uint_eq(count(&f.stats.tally.counters.unsent), 6000);
	ck_assert_uint_eq(count(&f.stats.tally.counters.overdue), 4000);
	/* The other flow was free, and is done with the phase. */
	ck_assert_uint_eq(f.worker.run.n_active, 1);
	ck_assert(nm_worker_close_arrivals(&f.worker, 16 * S));
	ck_assert_uint_eq(count(&f.stats.tally.counters.unsent), 6000);
	end();
}
END_TEST

START_TEST(an_interrupt_ends_what_is_due)
{
	begin("const(1k)", 10 * S);
	nm_open_stop(&f.worker, S + 10 * MS, false);
	for (unsigned i = 0; i < 10; i++) {
		ck_assert(!nm_worker_close_arrivals(&f.worker, S + 11 * MS));
		nm_open_begin_pass(&f.worker, &f.flows[0].flow, S + 11 * MS);
	}
	ck_assert(!nm_open_is_due(&f.worker, S + 20 * MS));
	ck_assert(nm_worker_close_arrivals(&f.worker, S + 20 * MS));
	ck_assert_uint_eq(count(&f.stats.tally.counters.unsent), 0);
	ck_assert_uint_eq(f.worker.run.n_active, 0);
	end();
}
END_TEST

/* The passes of 0.5 and 1.5 ms take both flows, those of 2.5 to 4.5 ms wait, and of 1000 a second
 * the others are dropped until a flow is free, 9 ms after the begin. */
START_TEST(what_comes_to_a_full_queue_is_dropped)
{
	struct nm_flow *flow;

	f.phase.arrivals.backlog = (struct nm_backlog_rules){.limited = true, .queue = 3};
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		ck_assert(nm_open_is_due(&f.worker, S + MS / 2 + i * MS));
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + MS / 2 + i * MS);
	}
	flow = &f.flows[0].flow;
	for (uint64_t k = 0; k < 3; k++) {
		nm_request_end(&f.worker, flow, S + 9 * MS);
		ck_assert(nm_open_is_due(&f.worker, S + 9 * MS));
		nm_open_begin_pass(&f.worker, flow, S + 9 * MS);
		ck_assert_uint_eq(flow->request.due_ns, S + MS / 2 + (2 + k) * MS);
	}
	ck_adds_up(5, 4, 0, 0);
	ck_assert(!nm_open_is_due(&f.worker, S + 9 * MS));
	/* That of 9.5 ms waits: there is room again. */
	ck_assert(nm_open_is_due(&f.worker, S + 10 * MS));
	nm_open_begin_pass(&f.worker, flow, S + 10 * MS);
	ck_assert_uint_eq(flow->request.due_ns, S + 9 * MS + MS / 2);
	/* Nothing is free to the end: three wait, and never begin. */
	nm_open_stop(&f.worker, 11 * S, false);
	nm_open_end(&f.worker);
	ck_adds_up(6, 10000 - 6 - 3, 0, 3);
	end();
}
END_TEST

/* Without a queue a pass is made by a flow that is free as it is due, or by none. */
START_TEST(nothing_waits_without_a_queue)
{
	f.phase.arrivals.backlog = (struct nm_backlog_rules){.limited = true};
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		ck_assert(nm_open_is_due(&f.worker, S + 9 * MS));
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + 9 * MS);
	}
	ck_assert(!nm_open_is_due(&f.worker, S + 9 * MS));
	ck_adds_up(2, 7, 0, 0);
	nm_request_end(&f.worker, &f.flows[0].flow, S + 12 * MS);
	ck_assert(!nm_open_is_due(&f.worker, S + 12 * MS));
	ck_adds_up(2, 10, 0, 0);
	nm_open_free(&f.worker, &f.flows[0].flow);
	ck_assert(nm_open_is_due(&f.worker, S + 12 * MS + MS / 2));
	end();
}
END_TEST

/* A flow that is free from 9 ms on takes the first of those that wait, not one more that came while
 * it was busy; and what comes after that waits beside it. */
START_TEST(a_flow_takes_nothing_that_came_to_a_full_queue)
{
	struct nm_flow *flow = &f.flows[0].flow;

	f.phase.arrivals.backlog = (struct nm_backlog_rules){.limited = true, .queue = 3};
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		ck_assert(nm_open_is_due(&f.worker, S + MS / 2 + i * MS));
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + MS / 2 + i * MS);
	}
	nm_request_end(&f.worker, flow, S + 9 * MS);
	nm_open_free(&f.worker, flow);
	ck_adds_up(2, 4, 0, 0);
	ck_assert(nm_open_is_due(&f.worker, S + 10 * MS));
	ck_adds_up(2, 4, 0, 0);
	ck_assert_uint_eq(open_of->backlog.count, 4);
	end();
}
END_TEST

/* At 20 ms those of 15.5 ms and later are less than 5 ms late. */
START_TEST(what_is_too_late_is_dropped_in_its_turn)
{
	f.phase.arrivals.backlog.late_ns = 5 * MS;
	begin("const(1k)", 10 * S);
	ck_assert(nm_open_is_due(&f.worker, S + 20 * MS));
	ck_adds_up(0, 0, 15, 0);
	nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + 20 * MS);
	ck_assert_uint_eq(f.flows[0].flow.request.due_ns, S + 15 * MS + MS / 2);
	/* What is exactly so late is not dropped. */
	ck_assert(nm_open_is_due(&f.worker, S + 21 * MS + MS / 2));
	ck_adds_up(1, 0, 15, 0);
	nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + 21 * MS + MS / 2);
	ck_assert_uint_eq(f.flows[1].flow.request.due_ns, S + 16 * MS + MS / 2);
	/* When all that is left is dropped the phase does not wait for the end of its drain. */
	nm_open_stop(&f.worker, 11 * S, false);
	nm_open_free(&f.worker, &f.flows[0].flow);
	ck_assert(nm_worker_close_arrivals(&f.worker, 11 * S + 6 * MS));
	ck_adds_up(2, 0, 9998, 0);
	end();
}
END_TEST

/* Of three that wait at 9 ms, those of 2.5 and 3.5 ms are more than 5 ms late. */
START_TEST(a_queue_may_have_what_is_too_late)
{
	f.phase.arrivals.backlog =
		(struct nm_backlog_rules){.limited = true, .queue = 3, .late_ns = 5 * MS};
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		ck_assert(nm_open_is_due(&f.worker, S + MS / 2 + i * MS));
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + MS / 2 + i * MS);
	}
	ck_assert(nm_open_is_due(&f.worker, S + 9 * MS));
	ck_adds_up(2, 4, 2, 0);
	nm_open_begin_pass(&f.worker, &f.flows[0].flow, S + 9 * MS);
	ck_assert_uint_eq(f.flows[0].flow.request.due_ns, S + 4 * MS + MS / 2);
	end();
}
END_TEST

START_TEST(the_profile_says_for_how_long_what_waits_may_begin)
{
	f.phase.arrivals.backlog.drain_ns = MS;
	begin("const(1k)", 10 * S);
	nm_open_stop(&f.worker, 11 * S, false);
	ck_assert(!nm_worker_close_arrivals(&f.worker, 11 * S + MS - 1));
	ck_assert(nm_worker_close_arrivals(&f.worker, 11 * S + MS));
	ck_adds_up(0, 0, 0, 10000);
	end();
}
END_TEST

/* Three wait, and one for each flow that is free. */
START_TEST(millions_that_come_to_a_full_queue_are_dropped)
{
	f.phase.arrivals.backlog = (struct nm_backlog_rules){.limited = true, .queue = 3};
	begin("const(200k)", 10 * S);
	nm_open_stop(&f.worker, 11 * S, false);
	nm_open_end(&f.worker);
	ck_adds_up(0, 2000000 - 3 - N_FLOWS, 0, 3 + N_FLOWS);
	end();
}
END_TEST

/* While both flows are busy, for whoever reads the counts; of what waits in a queue none leaves it
 * before its turn. */
START_TEST(what_is_dropped_is_counted_while_no_flow_is_free)
{
	static const struct {
		struct nm_backlog_rules rules;
		uint64_t queue, late;
	} all[] = {
		{{.limited = true}, 8, 0},
		{{.late_ns = 5 * MS}, 0, 3},
		{{.limited = true, .queue = 3, .late_ns = 5 * MS}, 5, 0},
		{{.limited = false}, 0, 0},
	};
	const uint64_t at_ns = S + 10 * MS;

	f.phase.arrivals.backlog = all[_i].rules;
	begin("const(1k)", 10 * S);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		ck_assert(nm_open_is_due(&f.worker, S + MS / 2 + i * MS));
		nm_open_begin_pass(&f.worker, nm_open_take_free(&f.worker), S + MS / 2 + i * MS);
	}
	nm_worker_disarm(&f.worker, &open_of->timer); /* as it fires */
	f.worker.io.now_ns = at_ns;
	nm_open_arm(&f.worker);
	ck_assert_uint_eq(open_of->timer.at_ns, open_of->drops ? at_ns + NM_TUNE_OPEN_LOOK_NS : 0);
	nm_open_look(&f.worker, at_ns);
	ck_adds_up(2, all[_i].queue, all[_i].late, 0);
	end();
}
END_TEST

/* What waits has a second from then on, however often the worker is told. */
START_TEST(an_interrupt_shortens_a_drain)
{
	f.phase.arrivals.backlog.drain_ns = 60 * S;
	begin("const(1k)", 10 * S);
	nm_open_stop(&f.worker, 11 * S, false);
	nm_open_stop(&f.worker, 12 * S, false);
	ck_assert(!nm_worker_close_arrivals(&f.worker, 14 * S));
	nm_open_stop(&f.worker, 14 * S, true);
	nm_open_stop(&f.worker, 14 * S + MS, true);
	ck_assert(!nm_worker_close_arrivals(&f.worker, 15 * S - 1));
	ck_assert(nm_worker_close_arrivals(&f.worker, 15 * S));
	ck_adds_up(0, 0, 0, 10000);
	end();
}
END_TEST

START_TEST(an_interrupt_lengthens_no_drain)
{
	f.phase.arrivals.backlog.drain_ns = MS;
	begin("const(1k)", 10 * S);
	nm_open_stop(&f.worker, 2 * S, false);
	ck_assert(!nm_worker_close_arrivals(&f.worker, 2 * S + MS - 1));
	ck_assert(nm_worker_close_arrivals(&f.worker, 2 * S + MS));
	ck_adds_up(0, 0, 0, 1000);
	end();
}
END_TEST

/* What answers: servers that take each request in its turn. */
struct system {
	double service_ns; /* on average */
	/* by which a service time is drawn; NULL: all are alike */
	double (*drawn)(double uniform);
	unsigned n_servers;
	uint64_t stops_ns, goes_on_ns; /* from then to then none of them works; 0: never */
};

#define MOST_SERVERS 2

/* When a request that arrives now is answered. */
static uint64_t answer_ns(const struct system *of, uint64_t free_ns[MOST_SERVERS], uint64_t now_ns,
			  uint64_t number)
{
	uint64_t *server = &free_ns[0];
	double uniform = ((double)(nm_rng(42, number) >> 11) + 0.5) * 0x1p-53;

	for (unsigned i = 1; i < of->n_servers; i++)
		server = free_ns[i] < *server ? &free_ns[i] : server;
	*server = *server > now_ns ? *server : now_ns;
	if (*server >= of->stops_ns && *server < of->goes_on_ns)
		*server = of->goes_on_ns;
	*server += (uint64_t)(of->service_ns * (of->drawn ? of->drawn(uniform) : 1));
	return *server;
}

/* Has all that becomes due in that time answered, on a clock that jumps from one event to the
 * next. */
static void run_system(const struct system *of, const char *arrivals, uint64_t duration_ns)
{
	uint64_t ends_ns[N_FLOWS] = {0}, free_ns[MOST_SERVERS] = {0}, now_ns = S, number = 0;

	begin(arrivals, duration_ns);
	for (;;) {
		struct nm_flow *flow = open_of->first;
		uint64_t due_ns = S + (uint64_t)nm_schedule_at_ns(&open_of->schedule);
		bool over = due_ns >= S + duration_ns;
		int ended = -1;

		for (int i = 0; i < N_FLOWS; i++)
			if (ends_ns[i] && (ended < 0 || ends_ns[i] < ends_ns[ended]))
				ended = i;
		if (over && ended < 0)
			break;
		if (ended >= 0 && (!flow || ends_ns[ended] <= due_ns || over)) {
			now_ns = ends_ns[ended] > now_ns ? ends_ns[ended] : now_ns;
			ends_ns[ended] = 0;
			nm_request_end(&f.worker, &f.flows[ended].flow, now_ns);
			nm_open_free(&f.worker, &f.flows[ended].flow);
			continue;
		}
		now_ns = due_ns > now_ns ? due_ns : now_ns;
		flow = nm_open_take_free(&f.worker);
		nm_open_begin_pass(&f.worker, flow, now_ns);
		ends_ns[flow->index] = answer_ns(of, free_ns, now_ns, number++);
	}
}

/* A server stands still from 3 to 4 s of ten: of 10 000 requests those of the stall and of the time
 * until it has caught up are late, the share 1 - p of them by F - (1 - p)(1 - rho) T. A closed loop
 * would see two. */
START_TEST(a_stall_is_in_the_response_of_all_that_became_due)
{
	const struct system system = {
		.service_ns = 100000, .n_servers = 1, .stops_ns = 4 * S, .goes_on_ns = 5 * S};
	struct nm_hist_snap response, latency;

	run_system(&system, "const(1k)", 10 * S);
	nm_hist_snap_init(&response);
	nm_hist_snap_init(&latency);
	nm_hist_collect(&response, f.worker.run.response);
	nm_hist_collect(&latency, f.worker.run.latency);
	ck_assert_uint_eq(response.count, count(&f.stats.tally.counters.arrivals));
	ck_assert_double_eq_tol(nm_hist_percentile_s(&response, 99), 0.91, 0.01);
	ck_assert_double_eq_tol(nm_hist_percentile_s(&response, 95), 0.55, 0.01);
	ck_assert_double_lt(nm_hist_percentile_s(&latency, 99.9), 0.001);
	end();
}
END_TEST

static double exponential(double uniform)
{
	return -log(uniform);
}

static double up_to_twice(double uniform)
{
	return 2 * uniform;
}

/* The response of queues, in service times, at a load of each server: its mean by Pollaczek and
 * Khinchin's formula, and with two servers by Erlang's; the 99th percentile of M/D/1 by its
 * distribution, of M/M/1 it is -ln(0.01) / (1 - load). The bounds, of the time of waiting and of
 * the percentile, are four times what runs of 10^5 arrivals are apart; the seed is fixed. */
static const struct queue {
	const char *name;
	double (*drawn)(double uniform);
	unsigned n_servers;
	double load, mean, p99, wait_share, p99_share; /* p99 0: by no formula */
} queues[] = {
	{"D/D/1", NULL, 1, 0.8, 1, 1, 0, 0.01},
	{"M/D/1", NULL, 1, 0.3, 1 + 0.3 / 1.4, 0, 0.08, 0},
	{"M/D/1", NULL, 1, 0.5, 1.5, 4.34, 0.08, 0.12},
	{"M/D/1", NULL, 1, 0.7, 1 + 0.7 / 0.6, 7.43, 0.08, 0.12},
	{"M/D/1", NULL, 1, 0.8, 3, 11.5, 0.12, 0.12},
	{"M/M/1", exponential, 1, 0.3, 1 / 0.7, 6.579, 0.08, 0.12},
	{"M/M/1", exponential, 1, 0.5, 2, 9.210, 0.08, 0.12},
	{"M/M/1", exponential, 1, 0.7, 1 / 0.3, 15.35, 0.08, 0.12},
	{"M/M/1", exponential, 1, 0.8, 5, 23.03, 0.12, 0.28},
	{"M/M/2", exponential, 2, 0.5, 1 + 1 / 3.0, 0, 0.08, 0},
	{"M/M/2", exponential, 2, 0.8, 1 + 0.64 / 0.36, 0, 0.12, 0},
	{"M/G/1", up_to_twice, 1, 0.5, 1 + 2 / 3.0, 0, 0.08, 0},
	{"M/G/1", up_to_twice, 1, 0.8, 1 + 8 / 3.0, 0, 0.12, 0},
};

START_TEST(queues_respond_as_theory_says)
{
	const struct queue *queue = &queues[_i];
	const double service_s = 1e-4;
	const struct system system = {.service_ns = service_s * 1e9,
				      .drawn = queue->drawn,
				      .n_servers = queue->n_servers};
	double rate = queue->load * queue->n_servers / service_s;
	struct nm_hist_snap response;
	char arrivals[32];

	(void)snprintf(arrivals, sizeof arrivals, "%s(%.0f)",
		       *queue->name == 'D' ? "const" : "poisson", rate);
	run_system(&system, arrivals, (uint64_t)(1e5 / rate * 1e9));
	nm_hist_snap_init(&response);
	nm_hist_collect(&response, f.worker.run.response);
	double wait = nm_hist_mean_s(&response) / service_s - 1;
	double p99 = nm_hist_percentile_s(&response, 99) / service_s;

	ck_assert_msg(fabs(wait - (queue->mean - 1)) <=
			      queue->wait_share * (queue->mean - 1) + 1e-3,
		      "%s at %g: waits %g, by theory %g", queue->name, queue->load, wait,
		      queue->mean - 1);
	ck_assert_msg(!(queue->p99 > 0) || fabs(p99 - queue->p99) <= queue->p99_share * queue->p99,
		      "%s at %g: p99 %g, by theory %g", queue->name, queue->load, p99, queue->p99);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("open arrivals");
	TCase *tcase = one_worker_tests("open arrivals");

	tcase_add_test(tcase, passes_go_to_flows_in_turn);
	tcase_add_test(tcase, delays_have_their_cause);
	tcase_add_loop_test(tcase, what_waits_for_the_kernel_is_delayed_by_that, 0, 2);
	tcase_add_test(tcase, each_pass_has_its_own_marks);
	tcase_add_test(tcase, a_pass_may_be_a_measured_flow);
	tcase_add_test(tcase, a_flow_that_was_free_makes_it_a_delay_of_this_end);
	tcase_add_test(tcase, flows_that_are_free_in_turn_make_it_a_delay_of_this_end);
	tcase_add_test(tcase, outstanding_passes_are_added_up_over_time);
	tcase_add_test(tcase, what_never_ends_is_outstanding);
	tcase_add_test(tcase, what_never_began_is_counted);
	tcase_add_test(tcase, at_the_end_the_rest_is_begun_or_counted);
	tcase_add_test(tcase, an_interrupt_ends_what_is_due);
	tcase_add_test(tcase, what_comes_to_a_full_queue_is_dropped);
	tcase_add_test(tcase, nothing_waits_without_a_queue);
	tcase_add_test(tcase, a_flow_takes_nothing_that_came_to_a_full_queue);
	tcase_add_test(tcase, what_is_too_late_is_dropped_in_its_turn);
	tcase_add_test(tcase, a_queue_may_have_what_is_too_late);
	tcase_add_test(tcase, the_profile_says_for_how_long_what_waits_may_begin);
	tcase_add_test(tcase, millions_that_come_to_a_full_queue_are_dropped);
	tcase_add_loop_test(tcase, what_is_dropped_is_counted_while_no_flow_is_free, 0, 4);
	tcase_add_test(tcase, an_interrupt_shortens_a_drain);
	tcase_add_test(tcase, an_interrupt_lengthens_no_drain);
	tcase_add_test(tcase, a_stall_is_in_the_response_of_all_that_became_due);
	tcase_add_loop_test(tcase, queues_respond_as_theory_says, 0,
			    sizeof queues / sizeof *queues);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
