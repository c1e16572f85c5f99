/* SPDX-License-Identifier: Apache-2.0 */
/* How each side waits, by the form of its phases. */
#include "compiled.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define CONNECT			"<flowop type='connect' options='remotehost=h protocol=tcp'/>"
#define UDP			"<flowop type='connect' options='remotehost=h protocol=udp'/>"
#define WRITE			"<flowop type='write' options='size=1'/>"
#define READ			"<flowop type='read' options='size=1'/>"
#define RESET			"<flowop type='disconnect' options='close=rst'/>"
#define FIN			"<flowop type='disconnect' options='close=fin'/>"
#define THINK			"<flowop type='think' options='duration=1ms'/>"
#define PHASE(attributes, body) "<transaction " attributes ">" body "</transaction>\n"
#define LASTING(body)		PHASE("duration='1s'", body)

#define PROFILE(group, body) "<profile><group nthreads='1' " group ">\n" body "</group></profile>"

#define ONCE(body) PHASE("iterations='1'", body)

/* What is expected of one phase, at the master and at the other host; reasons NULL: not looked
 * at. */
static const struct expected {
	const char *profile;
	uint32_t phase;
	struct {
		enum nm_waiter_kind waiter;
		const char *why_waiter;
		enum nm_defer_policy defer;
		const char *why_defer;
	} sides[2];
} expected[] = {
	/* One flow, a request and its answer, on a connection that stays. */
	{PROFILE("nflows='1'", ONCE(CONNECT) LASTING(WRITE READ)),
	 1,
	 {{NM_WAITER_RECV, "", NM_DEFER_NO, "connections outlive a pass"},
	  {NM_WAITER_RECV, "", NM_DEFER_NO, "connections outlive a pass"}}},
	{PROFILE("nflows='1' wait='spin'", ONCE(CONNECT) LASTING(WRITE READ)),
	 1,
	 {{NM_WAITER_RECV, "", NM_DEFER_NO, NULL}, {NM_WAITER_RECV, "", NM_DEFER_NO, NULL}}},
	{PROFILE("nflows='1'", ONCE(UDP) LASTING(WRITE READ)),
	 1,
	 {{NM_WAITER_RECV, "", NM_DEFER_NO, NULL}, {NM_WAITER_RECV, "", NM_DEFER_NO, NULL}}},
	{PROFILE("nflows='2'", ONCE(CONNECT) LASTING(WRITE READ)),
	 1,
	 {{NM_WAITER_EPOLL, "not recv: 2 flows", NM_DEFER_NO, NULL},
	  {NM_WAITER_EPOLL, "not recv: 2 flows", NM_DEFER_NO, NULL}}},
	/* Only the side that begins the passes paces them. */
	{PROFILE("nflows='1'", ONCE(CONNECT) PHASE("duration='1s' rate='10'", WRITE READ)),
	 1,
	 {{NM_WAITER_EPOLL, "not recv: passes are paced", NM_DEFER_NO, NULL},
	  {NM_WAITER_RECV, "", NM_DEFER_NO, NULL}}},
	{PROFILE("nflows='1'", ONCE(CONNECT) LASTING(WRITE THINK READ)),
	 1,
	 {{NM_WAITER_EPOLL, "not recv: a pass is no request with its answer", NM_DEFER_NO, NULL},
	  {NM_WAITER_EPOLL, "not recv: a pass is no request with its answer", NM_DEFER_NO, NULL}}},
	/* Messages one way: who sends them waits for nothing that comes. */
	{PROFILE("nflows='1'", ONCE(CONNECT) LASTING(WRITE)),
	 1,
	 {{NM_WAITER_EPOLL, NULL, NM_DEFER_NO, NULL}, {NM_WAITER_RECV, "", NM_DEFER_NO, NULL}}},
	{PROFILE("nflows='4' engine='io_uring'", ONCE(CONNECT) LASTING(WRITE READ)),
	 1,
	 {{NM_WAITER_URING, "", NM_DEFER_NO, NULL}, {NM_WAITER_URING, "", NM_DEFER_NO, NULL}}},
	/* A connection for each pass. */
	{PROFILE("nflows='1'", LASTING(CONNECT WRITE READ RESET)),
	 0,
	 {{NM_WAITER_POLL, "", NM_DEFER_NO, "1 flow"},
	  {NM_WAITER_POLL, "", NM_DEFER_UNTIL_NEEDED, ""}}},
	{PROFILE("nflows='1' wait='spin'", LASTING(CONNECT WRITE READ RESET)),
	 0,
	 {{NM_WAITER_EPOLL, "not poll: wait=spin", NM_DEFER_NO, NULL},
	  {NM_WAITER_EPOLL, "not poll: wait=spin", NM_DEFER_NO, "wait=spin"}}},
	{PROFILE("nflows='64'", LASTING(CONNECT WRITE READ RESET)),
	 0,
	 {{NM_WAITER_EPOLL, "not poll: 64 flows", NM_DEFER_NEXT_TURN, ""},
	  {NM_WAITER_EPOLL, "not poll: 64 flows", NM_DEFER_UNTIL_NEEDED, ""}}},
	{PROFILE("nflows='2'", LASTING(CONNECT WRITE READ RESET)),
	 0,
	 {{NM_WAITER_EPOLL, "not poll: 2 flows", NM_DEFER_NEXT_TURN, ""},
	  {NM_WAITER_EPOLL, "not poll: 2 flows", NM_DEFER_NO, "2 flows"}}},
	{PROFILE("nflows='64'", LASTING(CONNECT WRITE READ FIN)),
	 0,
	 {{NM_WAITER_EPOLL, NULL, NM_DEFER_NEXT_TURN, ""},
	  {NM_WAITER_EPOLL, NULL, NM_DEFER_NO, "passes do not end by the other end's reset"}}},
	{PROFILE("nflows='64'", LASTING("<flowop type='connect' options='remotehost=h "
					"protocol=tcp canfail'/>" WRITE READ RESET)),
	 0,
	 {{NM_WAITER_EPOLL, NULL, NM_DEFER_NO, "connect of line 2 is not on a plain stream"},
	  {NM_WAITER_EPOLL, NULL, NM_DEFER_NO, "accept of line 2 is not on a plain stream"}}},
	/* Where the side that accepts measures, it must see the end of a pass when it is. */
	{PROFILE("nflows='64'", LASTING("<flowop type='accept' options='remotehost=h "
					"protocol=tcp'/>" WRITE READ RESET)),
	 0,
	 {{NM_WAITER_EPOLL, NULL, NM_DEFER_NO, NULL},
	  {NM_WAITER_EPOLL, NULL, NM_DEFER_NEXT_TURN, ""}}},
};

static void assert_shape(const struct nm_plan *plan, const struct expected *of, unsigned side)
{
	const struct nm_group *group = &plan->groups[0];
	const struct nm_phase_shape *shape = nm_phase_shape_of(group, &group->phases[of->phase], 0);

	ck_assert_str_eq(nm_waiter_name((enum nm_waiter_kind)shape->waiter),
			 nm_waiter_name(of->sides[side].waiter));
	ck_assert_str_eq(nm_defer_name((enum nm_defer_policy)shape->defer),
			 nm_defer_name(of->sides[side].defer));
	if (of->sides[side].why_waiter)
		ck_assert_str_eq(shape->why_waiter, of->sides[side].why_waiter);
	if (of->sides[side].why_defer)
		ck_assert_str_eq(shape->why_defer, of->sides[side].why_defer);
	ck_assert_int_eq(shape->wait_at != NM_NO_INSTR, shape->waiter == NM_WAITER_RECV);
	ck_assert_int_eq(shape->close_at != NM_NO_INSTR, shape->defer == NM_DEFER_UNTIL_NEEDED);
}

START_TEST(each_side_waits_as_its_phase_is)
{
	struct compiled c = compile_good(expected[_i].profile);
	struct nm_plan *slave = mirror(&c, "h");

	assert_shape(c.plan, &expected[_i], 0);
	assert_shape(slave, &expected[_i], 1);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

START_TEST(what_can_be_done_ahead_is_found)
{
	struct compiled c = compile_good(PROFILE("nflows='1'", LASTING(CONNECT WRITE READ RESET)));
	struct nm_plan *slave = mirror(&c, "h");
	const struct nm_phase_shape *master = &c.plan->groups[0].phases[0].shapes[1];
	const struct nm_phase_shape *other = &slave->groups[0].phases[0].shapes[1];

	ck_assert_uint_eq(master->make_ahead_at, 0);
	ck_assert(master->resets && master->lone_conn && !master->sleeps_in_recv);
	ck_assert_uint_eq(other->make_ahead_at, NM_NO_INSTR);
	ck_assert(!other->resets && other->lone_conn && other->sleeps_in_recv);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

/* The first worker has two flows, the other one. */
START_TEST(workers_may_wait_in_different_ways)
{
	struct compiled c = compile_good("<profile><group nthreads='2' nflows='3'>" ONCE(CONNECT)
						 LASTING(WRITE READ) "</group></profile>");
	const struct nm_group *group = &c.plan->groups[0];
	char *text = nm_plan_dump(c.plan);

	ck_assert_uint_eq(nm_phase_shape_of(group, &group->phases[1], 0)->waiter, NM_WAITER_EPOLL);
	ck_assert_uint_eq(nm_phase_shape_of(group, &group->phases[1], 1)->waiter, NM_WAITER_RECV);
	ck_assert_ptr_nonnull(strstr(text, "1 worker: waiter epoll (not recv: 2 flows), "));
	ck_assert_ptr_nonnull(strstr(text, "1 worker: waiter recv, "));
	free(text);
	compiled_fini(&c);
}
END_TEST

/* At the master and at the other host, whose phase is the first. */
static const struct {
	const char *body;
	bool awaited[2], may_miss;
} resets[] = {
	{CONNECT WRITE READ RESET, {false, true}, false},
	{CONNECT RESET, {false, true}, true},
	{CONNECT THINK RESET, {false, true}, true},
	{CONNECT FIN, {false, false}, false},
	{CONNECT READ "<flowop type='disconnect' options='close=rst by=server'/>",
	 {true, false},
	 false},
	{"<flowop type='accept' options='remotehost=h protocol=ssl'/>" RESET, {true, false}, true},
	/* Within a host no reset is lost. */
	{"<flowop type='connect' options='remotehost=local protocol=unix'/>" RESET,
	 {false, false},
	 false},
};

START_TEST(resets_that_may_be_lost_are_noted)
{
	char profile[1024];

	(void)snprintf(profile, sizeof profile,
		       "<profile><group nthreads='1'>%s%s%s</group></profile>",
		       "<transaction duration='1s'>", resets[_i].body, "</transaction>");
	struct compiled c = compile_good(profile);
	struct nm_plan *other = mirror(&c, strstr(profile, "=local") ? "local" : "h");
	const struct nm_plan *both[] = {c.plan, other};

	for (unsigned i = 0; i < 2; i++) {
		const struct nm_phase_waits *waits = &both[i]->groups[0].phases[0].waits;

		ck_assert_int_eq(waits->resets, resets[_i].awaited[i]);
		ck_assert_int_eq(waits->may_miss, resets[_i].may_miss);
		ck_assert_uint_eq(waits->think_ns, strstr(profile, "think") ? 1000000 : 0);
	}
	nm_plan_free(other);
	compiled_fini(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shape");
	TCase *tc = tcase_create("shape");

	tcase_add_loop_test(tc, each_side_waits_as_its_phase_is, 0,
			    sizeof expected / sizeof *expected);
	tcase_add_test(tc, what_can_be_done_ahead_is_found);
	tcase_add_test(tc, workers_may_wait_in_different_ways);
	tcase_add_loop_test(tc, resets_that_may_be_lost_are_noted, 0,
			    sizeof resets / sizeof *resets);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
