/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of data ports that do not answer. */
#include "control/master/blocked.h"

#include <check.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"
#include "plan/shape.h"
#include "profile/tree.h"

#define S UINT64_C(1000000000)

#define PROFILE                                                                                    \
	"<profile name='t'><group name='one' nthreads='1'>\n"                                      \
	"<transaction iterations='1'>\n"                                                           \
	"<flowop type='connect' options='remotehost=h'/>\n"                                        \
	"<flowop type='write' options='size=10'/>\n"                                               \
	"</transaction></group>\n"                                                                 \
	"<group name='two' nthreads='1'><transaction iterations='1'>\n"                            \
	"<flowop type='connect' options='remotehost=h port=5001 timeout=20s'/>\n"                  \
	"</transaction></group>\n"                                                                 \
	"<group name='three' nthreads='1'><transaction iterations='1'>\n"                          \
	"<flowop type='accept' options='remotehost=g'/>\n"                                         \
	"</transaction></group></profile>"

static struct nm_node *root;
static struct nm_plan *plan;
static struct nm_diags diags;
static struct nm_flow_places places;
static struct nm_blocked blocked;
static char text[600];

static void start(void)
{
	diags = (struct nm_diags){.count = 0};
	root = nm_profile_parse("t.xml", PROFILE, strlen(PROFILE), &diags);
	plan = nm_plan_compile(root, "t.xml", &diags);
	ck_assert_ptr_nonnull(plan);
	places = (struct nm_flow_places){.count = 0};
	blocked = (struct nm_blocked){.places = &places,
				      .plan = plan,
				      .slave = "10.0.0.7",
				      .limit_ns = 5 * S,
				      .file = "t.xml"};
}

static void end(void)
{
	nm_plan_free(plan);
	nm_node_free(root);
	nm_diags_fini(&diags);
}

/* Flows of a group wait at its flowop of that number for connections. */
static struct nm_flow_place *wait_at(uint32_t group, uint32_t flowop, uint32_t flows, uint32_t port)
{
	const struct nm_group *g = &plan->groups[group];
	struct nm_flow_place *place = &places.list[places.count++];
	uint32_t site = 0;

	while (!g->instrs[site].op || g->instrs[site].site != flowop)
		site++;
	*place = (struct nm_flow_place){.group = group,
					.site = site,
					.wait = NM_FLOW_WAIT_CONNECTION,
					.flows = flows,
					.ports = {{port}},
					.n_ports = 1};
	return place;
}

static void says(const char *expected)
{
	ck_assert(nm_blocked_any(&blocked));
	ck_assert_str_eq(nm_blocked_text(&blocked, text, sizeof text), expected);
}

START_TEST(one_port_is_named_with_what_would_fix_it)
{
	(void)wait_at(0, 0, 1, 41234);
	says("the control connection to 10.0.0.7 works, but its data port 41234 did not answer "
	     "within 5 s: 1 flow of group one waits in connect at t.xml:3; a firewall? Let it "
	     "through, or choose a port that is open with the option port=N there");
	blocked.fix_port = "-D port=N";
	says("the control connection to 10.0.0.7 works, but its data port 41234 did not answer "
	     "within 5 s: 1 flow of group one waits in connect at t.xml:3; a firewall? Let it "
	     "through, or choose a port that is open with -D port=N");
}
END_TEST

START_TEST(several_ports_are_named_as_ranges)
{
	struct nm_flow_place *place = wait_at(0, 0, 64, 41237);

	place->ports[1].port = 41235;
	place->ports[2].port = 41236;
	place->ports[3].port = 50000;
	place->n_ports = 4;
	says("the control connection to 10.0.0.7 works, but its data ports 41235-41237, 50000 did "
	     "not answer within 5 s: 64 flows of group one wait in connect at t.xml:3; a firewall? "
	     "Let them through, or choose a port that is open with the option port=N there");
	place->more_ports = true;
	ck_assert(strstr(nm_blocked_text(&blocked, text, sizeof text), "50000 and others did not"));
	for (size_t i = 0; i < NM_PLACE_PORTS; i++)
		place->ports[i].port = 1 + 2 * (uint32_t)i;
	place->n_ports = NM_PLACE_PORTS;
	(void)wait_at(0, 0, 1, 60001);
	ck_assert(strstr(nm_blocked_text(&blocked, text, sizeof text),
			 "ports 1, 3, 5, 7, 9, 11, 13, 15 and others did not"));
}
END_TEST

START_TEST(the_other_direction_is_told)
{
	blocked.master = "10.0.0.1";
	(void)wait_at(0, 0, 2, 41234);
	says("the control connection to 10.0.0.7 works, but this host, 10.0.0.1, did not answer it "
	     "at data port 41234 within 5 s: 2 flows of group one wait in connect at t.xml:3; a "
	     "firewall? Let it through, or choose a port that is open with the option port=N "
	     "there");
}
END_TEST

START_TEST(groups_that_share_a_port_are_told_together)
{
	blocked.limit_ns = 20 * S;
	(void)wait_at(1, 0, 2, 5001);
	(void)wait_at(0, 0, 3, 5001);
	says("the control connection to 10.0.0.7 works, but its data port 5001 did not answer "
	     "within 20 s: 5 flows of group two and others wait in connect at t.xml:7; a firewall? "
	     "Let it through, or choose another port with the option port=N there");
}
END_TEST

START_TEST(a_connection_without_a_port_is_told)
{
	wait_at(0, 0, 1, 0)->n_ports = 0;
	says("the control connection to 10.0.0.7 works, but no connection of the "
	     "traffic was answered within 5 s: 1 flow of group one waits in connect at t.xml:3");
}
END_TEST

START_TEST(flows_that_wait_for_something_else_are_not_blocked)
{
	ck_assert(!nm_blocked_any(&blocked));
	ck_assert_str_eq(nm_blocked_text(&blocked, text, sizeof text), "");
	(void)wait_at(0, 1, 1, 0);
	(void)wait_at(1, 0, 1, 5001); /* its own limit is longer */
	(void)wait_at(2, 0, 1, 0);    /* accepts */
	wait_at(0, 0, 1, 4000)->wait = NM_FLOW_WAIT_TIME;
	ck_assert(!nm_blocked_any(&blocked));
	(void)wait_at(0, 0, 1, 4000);
	blocked.host = 1;
	ck_assert(!nm_blocked_any(&blocked));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blocked");
	TCase *tc = tcase_create("blocked");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, one_port_is_named_with_what_would_fix_it);
	tcase_add_test(tc, several_ports_are_named_as_ranges);
	tcase_add_test(tc, the_other_direction_is_told);
	tcase_add_test(tc, groups_that_share_a_port_are_told_together);
	tcase_add_test(tc, a_connection_without_a_port_is_told);
	tcase_add_test(tc, flows_that_wait_for_something_else_are_not_blocked);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
