/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a plan: descriptors, flows, the longest wait, and what wakes a receiver. */
#include "plan/plan.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "compiled.h"

#define CONNECT "<transaction><flowop type='connect' options='remotehost=h'/></transaction>"

#define CLOSE		    "<transaction><flowop type='disconnect'/></transaction>"
#define RUN(attrs, steps)   "<transaction duration='1s' " attrs ">" steps "</transaction>"
#define PROFILE(group, run) "<profile><group " group ">" CONNECT run CLOSE "</group></profile>"
#define WRITE(options)	    "<flowop type='write' options='" options "'/>"
#define READ(options)	    "<flowop type='read' options='" options "'/>"
#define RR		    RUN("", WRITE("size=1") READ("size=1"))

/* ---- descriptors: of each worker an epoll and what wakes it, listeners, connections ---- */

static const struct {
	const char *text;
	uint64_t master, slave, flows;
} sizes[] = {
	/* One worker, one flow: two of its own, a connection, one to spare; and a listener, with
	 * two by which connections get to the worker. */
	{PROFILE("", RR), 4, 7, 1},
	/* Workers with several flows have none to spare. */
	{PROFILE("nflows='8'", RR), 10, 13, 8},
	{PROFILE("nflows='8' nthreads='2'", RR), 12, 18, 8},
	/* Processes of the master share nothing: the largest has four flows. */
	{PROFILE("nflows='8' nprocs='2'", RR), 8, 18, 8},
	/* A listening socket serves 2048 flows. */
	{PROFILE("nflows='4096'", RR), 4098, 4102, 4096},
	/* io_uring needs one more. */
	{PROFILE("engine='io_uring' nflows='8'", RR), 11, 14, 8},
};

START_TEST(descriptors_are_counted)
{
	struct compiled c = compile_good(sizes[_i].text);
	struct nm_plan *slave = mirror(&c, "h");

	ck_assert_uint_eq(nm_plan_descriptors(c.plan), sizes[_i].master);
	ck_assert_uint_eq(nm_plan_descriptors(slave), sizes[_i].slave);
	ck_assert_uint_eq(nm_plan_flows(c.plan), sizes[_i].flows);
	ck_assert_uint_eq(nm_plan_flows(slave), sizes[_i].flows);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

/* ---- durations ---- */

START_TEST(a_run_takes_the_longest_of_each_phase)
{
	struct compiled c =
		compile_good("<profile><group>" CONNECT RR RR CLOSE "</group>"
			     "<group>" CONNECT
			     "<transaction duration='3s'>" WRITE("size=1") "</transaction>" CLOSE
									   "</group></profile>");

	ck_assert_uint_eq(nm_plan_duration_ns(c.plan), UINT64_C(4000000000));
	compiled_fini(&c);
	c = compile_good("<profile><group>" CONNECT CLOSE "</group></profile>");
	ck_assert_uint_eq(nm_plan_duration_ns(c.plan), 0);
	compiled_fini(&c);
}
END_TEST

/* ---- waits ---- */

#define THINK(options) "<flowop type='think' options='" options "'/>"

static const struct {
	const char *text;
	uint64_t wait_ns;
} waits[] = {
	{PROFILE("", RR), 0},
	{PROFILE("", RUN("rate='2'", WRITE("size=1"))), 500000000},
	{PROFILE("", RUN("", WRITE("size=1") THINK("duration=3s at=slave"))), 3000000000},
	{PROFILE("", RUN("", THINK("duration=3s") THINK("duration=4s"))), 7000000000},
	{PROFILE("", RUN("rate='0.1'", THINK("duration=3s"))), 10000000000},
	{PROFILE("", RUN("", WRITE("size=1") READ("size=1 timeout=2s"))), 2000000000},
	{"<profile><group><transaction><flowop type='connect' options='app=ping server=a "
	 "remotehost=b reconnect=1s backoff=1s..30s'/></transaction><transaction>"
	 "<flowop type='ping'/></transaction></group></profile>",
	 30000000000},
	/* Centuries together are as good as for ever, and can still be added to. */
	{PROFILE("", RUN("", THINK("duration=720000000s") THINK("duration=720000000s"))),
	 NM_PLAN_MAX_WAIT_NS},
};

START_TEST(the_longest_wait_is_known)
{
	struct compiled c = compile_good(waits[_i].text);

	ck_assert_uint_eq(nm_plan_longest_wait_ns(c.plan), waits[_i].wait_ns);
	compiled_fini(&c);
}
END_TEST

/* ---- rcvlowat ---- */

static const struct {
	const char *text;
	int master, slave; /* of the second phase */
} lowats[] = {
	{PROFILE("", RUN("", WRITE("size=4k rcvlowat=1k"))), 0, 1024},
	{PROFILE("", RUN("", READ("size=4k rcvlowat=1k"))), 1024, 0},
	{PROFILE("", RUN("", READ("size=4k rcvlowat=1k count=3"))), 1024, 0},
	{PROFILE("", RUN("", WRITE("size=4k"))), 0, 0},
	/* What comes at a rate is to be seen in each interval. */
	{PROFILE("", RUN("rate='10'", WRITE("size=4k rcvlowat=1k"))), 0, 0},
};

START_TEST(a_receiver_is_woken_for_so_many_bytes)
{
	struct compiled c = compile_good(lowats[_i].text);
	struct nm_plan *slave = mirror(&c, "h");

	ck_assert_int_eq(c.plan->groups[0].phases[1].rcvlowat, lowats[_i].master);
	ck_assert_int_eq(slave->groups[0].phases[1].rcvlowat, lowats[_i].slave);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

START_TEST(where_it_would_keep_the_last_bytes_it_has_no_effect)
{
	struct compiled c =
		compile(PROFILE("", RUN("", WRITE("size=4k rcvlowat=1k") READ("size=1"))));
	struct nm_plan *slave = mirror(&c, "h");

	ck_assert_uint_eq(c.diags.count, 1);
	ck_assert_int_eq(slave->groups[0].phases[1].rcvlowat, 0);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof *(table))

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tc = tcase_create("plan");

	LOOP(descriptors_are_counted, sizes);
	tcase_add_test(tc, a_run_takes_the_longest_of_each_phase);
	LOOP(the_longest_wait_is_known, waits);
	LOOP(a_receiver_is_woken_for_so_many_bytes, lowats);
	tcase_add_test(tc, where_it_would_keep_the_last_bytes_it_has_no_effect);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
