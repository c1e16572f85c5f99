/* SPDX-License-Identifier: Apache-2.0 */
/* How long a flow pauses between attempts to connect to a server that is away: by chance, so that
 * flows whose server has gone away do not come back at the same moment. A pause lies between what
 * the clock says before and after it was drawn, so that no delay of this program moves it over a
 * bound. */
#include "engine/phase/retry.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "../suite.h"
#include "app/app.h"
#include "engine/phase/reconnect.h"
#include "engine/tune.h"
#include "host/clock.h"
#include "one_worker.h"

#define LIMIT_NS UINT64_C(3600000000000)
#define DRAWS	 500

static const struct nm_app app = {.name = "app"};
static const struct nm_duration_range unset = {0};
static struct nm_opts_open opts;

/* The connect goes to a server of others. */
static void give_server(struct nm_duration_range backoff)
{
	opts = (struct nm_opts_open){.reconnect_ns = LIMIT_NS, .backoff = backoff};
	f.instrs[0].ask.app = &app;
	f.instrs[0].host = NM_NO_HOST;
	f.instrs[0].opts = &opts;
	nm_reconnect_fini(&f.worker.reconnect);
	f.worker.reconnect = (struct nm_reconnect){0};
	ck_assert_int_eq(nm_reconnect_init(&f.worker), 0);
	ck_assert_ptr_nonnull(f.worker.reconnect.retries);
}

/* The bounds of a pause. */
struct pause {
	uint64_t least_ns, most_ns;
};

/* An attempt of the flow fails. */
static struct pause fail_once(struct nm_flow *flow)
{
	const struct nm_instr *open = &f.worker.reconnect.openings[NM_REOPEN_OPEN];
	uint64_t before_ns = nm_clock_ns();

	flow->state = NM_FLOW_WAITING;
	flow->resume = f.worker.run.body;
	flow->error = ECONNREFUSED;
	flow->timer.at_ns = 0;
	ck_assert(nm_retry_goes_on(&f.worker, flow, open, false));
	ck_assert_ptr_eq(flow->at, &f.worker.reconnect.openings[NM_REOPEN_PAUSE]);

	uint64_t after_ns = nm_clock_ns(), at_ns = flow->timer.at_ns;

	return (struct pause){.least_ns = at_ns > after_ns ? at_ns - after_ns : 0,
			      .most_ns = at_ns - before_ns};
}

/* The pause after so many failures in a row. */
static struct pause pause_after(struct nm_flow *flow, uint32_t failures)
{
	struct pause pause = {0};

	nm_retry_begin(&f.worker, flow);
	for (uint32_t i = 0; i < failures; i++)
		pause = fail_once(flow);
	return pause;
}

/* After the nth failure it is anything below 10 ms, doubled n - 1 times, but for a second at
 * most. */
START_TEST(pauses_grow_and_are_by_chance)
{
	static const struct {
		uint32_t failures;
		uint64_t below_ns;
	} cases[] = {{1, NM_TUNE_BACKOFF_NS},	   {2, 2 * NM_TUNE_BACKOFF_NS},
		     {4, 8 * NM_TUNE_BACKOFF_NS},  {7, 64 * NM_TUNE_BACKOFF_NS},
		     {8, NM_TUNE_BACKOFF_MOST_NS}, {40, NM_TUNE_BACKOFF_MOST_NS}};

	give_server(unset);
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		const double below = (double)cases[c].below_ns;
		double least = 0, most = 0, shortest = below, longest = 0;

		for (uint32_t i = 0; i < DRAWS; i++) {
			struct pause pause =
				pause_after(&f.flows[i % N_FLOWS].flow, cases[c].failures);

			ck_assert_uint_lt(pause.least_ns, cases[c].below_ns);
			least += (double)pause.least_ns / DRAWS;
			most += (double)pause.most_ns / DRAWS;
			if ((double)pause.least_ns < shortest)
				shortest = (double)pause.least_ns;
			if ((double)pause.most_ns > longest)
				longest = (double)pause.most_ns;
		}
		/* 7 standard deviations of the mean; the others fail once in 10^22 times. */
		ck_assert_double_lt(least, 0.6 * below);
		ck_assert_double_gt(most, 0.4 * below);
		ck_assert_double_lt(shortest, 0.1 * below);
		ck_assert_double_gt(longest, 0.9 * below);
	}
}
END_TEST

START_TEST(backoff_says_how_long_they_are)
{
	const struct nm_duration_range backoff = {.from_ns = 3000000000, .to_ns = 20000000000};
	static const struct {
		uint32_t failures;
		double below_ns;
	} cases[] = {{1, 3e9}, {2, 6e9}, {3, 12e9}, {4, 20e9}, {40, 20e9}};

	give_server(backoff);
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		double longest = 0;

		for (uint32_t i = 0; i < DRAWS; i++) {
			struct pause pause = pause_after(&f.flows[0].flow, cases[c].failures);

			ck_assert_double_lt((double)pause.least_ns, cases[c].below_ns);
			if ((double)pause.most_ns > longest)
				longest = (double)pause.most_ns;
		}
		ck_assert_double_gt(longest, 0.9 * cases[c].below_ns);
	}
}
END_TEST

/* Whether all pauses of two runs may have been equal. */
static bool may_equal(const struct pause *a, const struct pause *b)
{
	for (uint32_t i = 0; i < DRAWS; i++)
		if (a[i].most_ns < b[i].least_ns || b[i].most_ns < a[i].least_ns)
			return false;
	return true;
}

static void draw_all(struct pause *pauses, uint64_t seed)
{
	give_server(unset);
	f.worker.io.seed = seed;
	for (uint32_t i = 0; i < DRAWS; i++)
		pauses[i] = pause_after(&f.flows[0].flow, 8);
}

START_TEST(the_same_seed_has_the_same_pauses)
{
	static struct pause first[DRAWS], second[DRAWS], other[DRAWS];

	draw_all(first, 1);
	draw_all(second, 1);
	draw_all(other, 2);
	ck_assert(may_equal(first, second));
	ck_assert(!may_equal(first, other));
}
END_TEST

/* They all began to try at the same moment. */
START_TEST(flows_do_not_come_back_together)
{
	uint32_t apart = 0;

	give_server(unset);
	for (uint32_t i = 0; i < DRAWS; i++) {
		struct pause one = pause_after(&f.flows[0].flow, 8),
			     two = pause_after(&f.flows[1].flow, 8);

		apart += one.most_ns < two.least_ns || two.most_ns < one.least_ns;
	}
	ck_assert_uint_gt(apart, DRAWS / 2);
}
END_TEST

/* Since the last attempt the connection has been good: that it fails again is the first failure. */
START_TEST(what_was_heard_of_a_server_ends_the_growth)
{
	struct nm_flow *flow = &f.flows[0].flow;

	give_server(unset);
	(void)pause_after(flow, 12);
	flow->conn->traits |= NM_CONN_HEARD;
	ck_assert_uint_lt(fail_once(flow).least_ns, NM_TUNE_BACKOFF_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attempts");
	TCase *tcase = one_worker_tests("pauses");

	tcase_add_test(tcase, pauses_grow_and_are_by_chance);
	tcase_add_test(tcase, backoff_says_how_long_they_are);
	tcase_add_test(tcase, the_same_seed_has_the_same_pauses);
	tcase_add_test(tcase, flows_do_not_come_back_together);
	tcase_add_test(tcase, what_was_heard_of_a_server_ends_the_growth);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
