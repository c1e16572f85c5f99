/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals at flows that make several passes at a time. */
#include <stdio.h>

#include "../suite.h"
#include "engine/loop/arrivals.h"
#include "engine/loop/request.h"
#include "engine/phase/reopen.h"
#include "open_phase.h"

#define DEPTH	  4u
#define STEPS(ns) ((ns) / NM_DELAY_STEP_NS)

static struct nm_pipe *pipe_of(uint32_t i)
{
	return nm_pipe_of(&f.worker.io, &f.flows[i].flow);
}

/* The flow takes what is due, as far as it has room; how many passes. */
static unsigned take_due(uint32_t i, uint64_t now_ns)
{
	struct nm_flow *flow = &f.flows[i].flow;
	unsigned n = 0;

	for (; pipe_of(i)->outstanding < DEPTH; n++) {
		if (!nm_open_is_due_for(&f.worker, flow, now_ns)) {
			nm_open_free(&f.worker, flow);
			break;
		}
		nm_open_begin_pass(&f.worker, flow, now_ns);
		pipe_of(i)->outstanding++;
	}
	return n;
}

static void end_one(uint32_t i, uint64_t now_ns)
{
	pipe_of(i)->outstanding--;
	nm_request_end(&f.worker, &f.flows[i].flow, now_ns);
	nm_open_end_pass(&f.worker, &f.flows[i].flow, now_ns);
}

static void begin_several(const char *arrivals)
{
	f.phase.pipeline = DEPTH;
	begin(arrivals, 10 * S);
}

/* Though the flow itself has ended passes since they were due. */
START_TEST(what_has_had_a_place_is_delayed_by_this_end)
{
	begin_several("const(1k)");
	ck_assert_uint_eq(take_due(0, S + 2 * MS), 2);
	end_one(0, S + 5 * MS);
	ck_assert_uint_eq(take_due(0, S + 5 * MS), 3);
	ck_assert_uint_eq(count(&counted->delay_busy), 0);
	ck_assert_uint_eq(count(&counted->delay_own), STEPS(3 * MS / 2) + STEPS(MS / 2) +
							      STEPS(5 * MS / 2) +
							      STEPS(3 * MS / 2) + STEPS(MS / 2));
	/* So does a flow that is full, as another was not. */
	end_one(0, S + 8 * MS);
	ck_assert_uint_eq(take_due(0, S + 8 * MS), 1);
	ck_assert_uint_eq(count(&counted->delay_busy), 0);
	end();
}
END_TEST

/* Of the eight that both make the first ends at 20 ms, and those of 8.5 and 9.5 ms wait for it. */
START_TEST(what_waits_for_a_place_is_delayed_by_the_other_end)
{
	begin_several("const(1k)");
	for (uint32_t i = 0; i < N_FLOWS; i++)
		ck_assert_uint_eq(take_due(i, S + 8 * MS), DEPTH);
	ck_assert_uint_eq(count(&counted->delay_busy), 0);
	const uint64_t own = count(&counted->delay_own);

	_Static_assert(N_FLOWS == 2, "that of 8.5 ms is the ninth");
	end_one(1, S + 20 * MS);
	ck_assert_uint_eq(take_due(1, S + 21 * MS), 1);
	ck_assert_uint_eq(count(&counted->delay_busy), STEPS(23 * MS / 2));
	ck_assert_uint_eq(count(&counted->delay_own) - own, STEPS(MS));
	/* A connection that has ended has no place until it is there again. */
	end_one(1, S + 22 * MS);
	nm_open_free(&f.worker, &f.flows[1].flow);
	ck_assert_uint_eq(open_of->room, 1);
	nm_open_leave(&f.worker, &f.flows[1].flow);
	ck_assert_uint_eq(open_of->room, 0);
	ck_assert_uint_eq(take_due(1, S + 30 * MS), 1);
	ck_assert_uint_eq(count(&counted->delay_busy), STEPS(23 * MS / 2) + STEPS(41 * MS / 2));
	end();
}
END_TEST

/* The first flow has sent two, and the kernel takes no more of it until 20 ms, though it has ended
 * one of them; the other has sent four. Then those of 6.5 and 7.5 ms have waited for the kernel. */
START_TEST(what_waits_for_the_kernel_is_delayed_by_that)
{
	begin_several("const(1k)");
	ck_assert_uint_eq(take_due(0, S + 2 * MS), 2);
	nm_open_refused(&f.worker, &f.flows[0].flow);
	ck_assert_uint_eq(take_due(1, S + 6 * MS), DEPTH);
	const uint64_t own = count(&counted->delay_own);

	end_one(0, S + 10 * MS);
	ck_assert_uint_eq(take_due(0, S + 20 * MS), DEPTH - 1);
	ck_assert_uint_eq(count(&counted->delay_kernel),
			  STEPS(27 * MS / 2) + STEPS(25 * MS / 2) + STEPS(23 * MS / 2));
	ck_assert_uint_eq(count(&counted->delay_busy), 0);
	ck_assert_uint_eq(count(&counted->delay_own), own);
	/* Now it is full, and what waits does so for an answer. */
	nm_open_refused(&f.worker, &f.flows[0].flow);
	end_one(0, S + 30 * MS);
	ck_assert_uint_eq(take_due(0, S + 30 * MS), 1);
	ck_assert_uint_eq(count(&counted->delay_busy), STEPS(41 * MS / 2));
	end();
}
END_TEST

/* It waits until it can send, too, but nothing has been refused. */
START_TEST(a_flow_without_a_connection_does_not_wait_for_the_kernel)
{
	struct nm_flow *flow = &f.flows[0].flow;

	begin_several("const(1k)");
	ck_assert_uint_eq(take_due(0, S + 2 * MS), 2);
	nm_open_leave(&f.worker, flow);
	flow->at = &f.worker.reconnect.openings[NM_REOPEN_OPEN];
	nm_open_refused(&f.worker, flow);
	ck_assert(!pipe_of(0)->refused);
	flow->at = &f.instrs[1];
	nm_open_refused(&f.worker, flow);
	ck_assert(pipe_of(0)->refused);
	end();
}
END_TEST

START_TEST(a_flow_that_is_to_run_keeps_its_places)
{
	begin_several("const(1k)");
	for (uint32_t i = 0; i < N_FLOWS; i++)
		f.flows[i].flow.state = NM_FLOW_READY;
	nm_worker_arrivals(&f.worker, S + 2 * MS);
	ck_assert_uint_eq(open_of->room, N_FLOWS * DEPTH);
	ck_assert_uint_eq(open_of->n_free, N_FLOWS);
	end();
}
END_TEST

/* One of the eight that may be under way. */
START_TEST(few_passes_are_under_way)
{
	const uint8_t *marks = &f.flows[0].flow.request.marks;

	begin_several("const(1k)");
	ck_assert_uint_eq(take_due(0, S + MS), 1);
	ck_assert_uint_ne(*marks & NM_REQUEST_LIGHT, 0);
	ck_assert_uint_eq(take_due(0, S + 2 * MS), 1);
	ck_assert_uint_eq(*marks & NM_REQUEST_LIGHT, 0);
	end_one(0, S + 2 * MS);
	end_one(0, S + 2 * MS);
	ck_assert_uint_eq(take_due(0, S + 3 * MS), 1);
	ck_assert_uint_ne(*marks & NM_REQUEST_LIGHT, 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("open arrivals in pipelines");
	TCase *tcase = one_worker_tests("open arrivals in pipelines");

	tcase_add_test(tcase, what_has_had_a_place_is_delayed_by_this_end);
	tcase_add_test(tcase, what_waits_for_a_place_is_delayed_by_the_other_end);
	tcase_add_test(tcase, what_waits_for_the_kernel_is_delayed_by_that);
	tcase_add_test(tcase, a_flow_without_a_connection_does_not_wait_for_the_kernel);
	tcase_add_test(tcase, a_flow_that_is_to_run_keeps_its_places);
	tcase_add_test(tcase, few_passes_are_under_way);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
