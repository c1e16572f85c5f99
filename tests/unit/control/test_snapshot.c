/* SPDX-License-Identifier: Apache-2.0 */
/* What a side says about its own engine. */
#include "control/snapshot.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"
#include "fake_engine.h"
#include "flowop/flowop.h"
#include "profile/tree.h"

#define PROFILE                                                                                    \
	"<profile name='t'><group nthreads='1'>\n"                                                 \
	"<transaction iterations='1'>\n"                                                           \
	"<flowop type='connect' options='remotehost=h protocol=tcp source_port=5000'/>\n"          \
	"<flowop type='read' options='size=10 timeout=1500us'/>\n"                                 \
	"<flowop type='write' options='size=10'/>\n"                                               \
	"</transaction></group></profile>"

#define DATAGRAMS                                                                                  \
	"<profile name='t'><group nthreads='1'>\n"                                                 \
	"<transaction iterations='1'>\n"                                                           \
	"<flowop type='connect' options='remotehost=h protocol=udp timeout=500ms'/>\n"             \
	"<flowop type='write' options='size=10'/>\n"                                               \
	"</transaction></group></profile>"

static struct nm_node *root;
static struct nm_plan *plan;
static struct nm_diags diags;
static struct nm_engine_error error;
static char text[512];

static void compile(const char *profile)
{
	diags = (struct nm_diags){.count = 0};
	root = nm_profile_parse("t.xml", profile, strlen(profile), &diags);
	plan = nm_plan_compile(root, "t.xml", &diags);
	ck_assert_ptr_nonnull(plan);
	error = (struct nm_engine_error){.count = 1};
}

static void start(void)
{
	compile(PROFILE);
}

static void end(void)
{
	nm_plan_free(plan);
	nm_node_free(root);
	nm_diags_fini(&diags);
}

/* The flowop of that name has failed. */
static const char *failed(const char *name, int number)
{
	const struct nm_group *group = &plan->groups[error.group];

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (!instr->op || strcmp(instr->op->name, name) != 0)
			continue;
		error.site = i;
		error.line = instr->line;
		error.flowop = instr->op->name;
	}
	error.error = number;
	nm_failure_text(&error, plan, "t.xml", text, sizeof text);
	return text;
}

START_TEST(a_failure_names_flowop_place_and_cause)
{
	ck_assert_str_eq(failed("write", ECONNRESET),
			 "flowop write at t.xml:5: Connection reset by peer (1 flow)");
	error.count = 3;
	ck_assert_str_eq(failed("write", 0), "flowop write at t.xml:5: it failed (3 flows)");
}
END_TEST

START_TEST(the_words_of_a_transport_come_first)
{
	(void)strcpy(error.why, "the key has expired");
	ck_assert_str_eq(failed("write", EKEYEXPIRED),
			 "flowop write at t.xml:5: the key has expired (1 flow)");
}
END_TEST

START_TEST(a_flowop_with_a_limit_tells_it)
{
	ck_assert_str_eq(failed("read", ETIMEDOUT),
			 "flowop read at t.xml:4: nothing came within timeout=1500us (1 flow)");
	ck_assert_str_eq(failed("write", ETIMEDOUT),
			 "flowop write at t.xml:5: Connection timed out: the peer has acknowledged "
			 "nothing for too long: the way to it is cut, it hangs, or a full queue of "
			 "this host's interface drops all that is sent (tc -s qdisc; "
			 "net.ipv4.tcp_retries2 times half a second) (1 flow)");
}
END_TEST

START_TEST(an_error_that_says_too_little_is_explained)
{
	ck_assert_str_eq(
		failed("write", EINVAL),
		"flowop write at t.xml:5: Invalid argument: an option that the kernel "
		"refuses, or the route to the peer is a blackhole (ip route get ADDRESS) (1 "
		"flow)");
	ck_assert(strstr(failed("read", ECONNABORTED), "ended on this host, not by the peer"));
	ck_assert(!nm_failure_is_secondary(&error));
	error.flowop = NULL;
	nm_failure_text(&error, plan, "t.xml", text, sizeof text);
	ck_assert_ptr_null(strstr(text, "not by the peer"));
}
END_TEST

/* The limit of a connect that repeats its preamble is that of the repetitions. */
START_TEST(a_datagram_connect_tells_its_limit)
{
	end();
	compile(DATAGRAMS);
	ck_assert_str_eq(failed("connect", ETIMEDOUT),
			 "flowop connect at t.xml:3: no connection within timeout=500ms (1 flow)");
}
END_TEST

START_TEST(a_connection_that_fails_is_named_by_its_other_end)
{
	error.port = 41234;
	ck_assert_str_eq(failed("connect", EHOSTUNREACH),
			 "flowop connect at t.xml:3: No route to host: the peer does not answer on "
			 "its link, or a firewall, a router or the route says that it cannot be "
			 "reached (1 flow, to h port 41234)");
	error.count = 3;
	ck_assert(strstr(failed("connect", ETIMEDOUT), "(3 flows; the first to h port 41234)"));
}
END_TEST

START_TEST(a_port_that_the_profile_has_chosen_is_explained)
{
	ck_assert(strstr(failed("connect", EADDRINUSE), "its source_port is in use"));
	ck_assert(strstr(failed("connect", ECONNREFUSED), "Connection refused"));
	ck_assert_ptr_null(strstr(failed("write", EADDRINUSE), "source_port"));
	/* The kernel's word for sockets of datagrams. */
	ck_assert(strstr(failed("connect", EAGAIN), "net.ipv4.ip_local_port_range"));
}
END_TEST

START_TEST(what_is_no_flowop_is_told_as_well)
{
	error.error = ESTALE;
	nm_failure_text(&error, plan, "t.xml", text, sizeof text);
	ck_assert_str_eq(text, "flow 0 of group 0 of t.xml: a file has become shorter while it was "
			       "sent (1 flow)");
	error.of_process = true;
	(void)strcpy(error.why, "a worker has gone");
	error.error = 0;
	nm_failure_text(&error, plan, "t.xml", text, sizeof text);
	ck_assert_str_eq(text, "t.xml: a worker has gone");
}
END_TEST

START_TEST(a_site_beyond_the_program_is_no_trouble)
{
	error.flowop = "read";
	error.site = UINT32_MAX;
	error.error = ETIMEDOUT;
	nm_failure_text(&error, plan, "t.xml", text, sizeof text);
	ck_assert(strstr(text, "Connection timed out"));
}
END_TEST

START_TEST(where_flows_are_is_told_by_their_flowop)
{
	struct nm_flow_places places = {.count = 0};
	const struct nm_group *group = &plan->groups[0];
	uint32_t reads = 0;
	char room[400];

	nm_places_text(&places, plan, "t.xml", room, sizeof room);
	ck_assert_str_eq(room, "no flow is on its way");
	while (!group->instrs[reads].op || strcmp(group->instrs[reads].op->name, "read") != 0)
		reads++;
	const struct nm_flow_place waiting = {
		.site = reads, .wait = NM_FLOW_WAIT_INPUT, .flows = 2};

	places.list[places.count++] = waiting;
	places.list[places.count++] =
		(struct nm_flow_place){.site = reads, .wait = NM_FLOW_WAIT_TIME, .flows = 1};
	nm_places_text(&places, plan, "t.xml", room, sizeof room);
	char expected[400];

	(void)snprintf(
		expected, sizeof expected,
		"2 flows of group %s waiting for input in read at t.xml:4, 1 flow of group %s "
		"asleep in read at t.xml:4",
		group->name, group->name);
	ck_assert_str_eq(room, expected);
	/* A segment that the path of the control connection carries is not lost for its size. */
	places.unacked = (struct nm_unacked){.connections = 1, .bytes = 9000, .segment = 1220};
	nm_places_text(&places, plan, "t.xml", room, sizeof room);
	ck_assert_str_eq(room, expected);
	places.unacked = (struct nm_unacked){.connections = 2, .bytes = 16384, .segment = 8948};
	nm_places_text(&places, plan, "t.xml", room, sizeof room);
	ck_assert(strstr(room, "; 2 connections have 16384 bytes on the way that nothing "
			       "acknowledges, in segments of up to 8948 bytes"));
	/* Those that are many are not told one by one. */
	while (places.count < NM_PLACES_MAX)
		places.list[places.count++] = waiting;
	places.more = 6;
	places.silent = 1;
	nm_places_text(&places, plan, "t.xml", room, sizeof room);
	ck_assert(strstr(room, ", and 62 elsewhere, 1 worker does not answer"));
	nm_places_text(&places, plan, "t.xml", room, 130);
	ck_assert_uint_lt(strlen(room), 130);
}
END_TEST

START_TEST(flows_fail_so_when_their_peer_has_failed)
{
	static const int secondary[] = {ECONNRESET, EPIPE, ENODATA, 0};

	for (size_t i = 0; i < sizeof secondary / sizeof secondary[0]; i++) {
		error.error = secondary[i];
		ck_assert(nm_failure_is_secondary(&error));
	}
	error.error = ECONNREFUSED;
	ck_assert(!nm_failure_is_secondary(&error));
}
END_TEST

START_TEST(connections_of_the_last_measured_phase_are_summed_up)
{
	const struct nm_engine_config config = {.plan = plan};
	struct nm_engine *engine;
	struct nm_conn_report report;
	struct nm_buffers cut = {.mss_asked = 0};

	ck_assert_int_eq(nm_engine_new(&config, &engine), 0);
	nm_connections_read(engine, plan, &report, &cut);
	ck_assert_uint_eq(report.connections, 0);
	ck_assert_str_ne(report.why, "");
	plan->groups[0].phases[0].measured = true;
	engine->connections = (struct nm_conn_summary){.connections = 2,
						       .min_rtt_s = 0.25,
						       .srtt_min_s = 1,
						       .srtt_max_s = 3,
						       .srtt_mean_s = 2,
						       .mss_min = 536,
						       .mss_max = 1460,
						       .cut.mss_asked = 8000,
						       .cut.mss_given = 1460,
						       .retransmits = 7};
	nm_connections_read(engine, plan, &report, &cut);
	ck_assert_uint_eq(report.connections, 2);
	ck_assert_uint_eq(report.mss_max, 1460);
	ck_assert_uint_eq(cut.mss_asked, 8000);
	ck_assert_uint_eq(cut.mss_given, 1460);
	/* Another group asks for as much, and has less. */
	engine->connections.cut.mss_given = 536;
	nm_connections_read(engine, plan, &report, &cut);
	ck_assert_uint_eq(cut.mss_given, 536);
	ck_assert_double_eq(report.min_rtt_s, 0.25);
	ck_assert_double_eq(report.srtt_mean_s, 2);
	ck_assert_uint_eq(report.retransmits, 7);
	nm_engine_free(engine);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *words = tcase_create("words");

	tcase_add_checked_fixture(words, start, end);
	tcase_add_test(words, a_failure_names_flowop_place_and_cause);
	tcase_add_test(words, the_words_of_a_transport_come_first);
	tcase_add_test(words, where_flows_are_is_told_by_their_flowop);
	tcase_add_test(words, a_flowop_with_a_limit_tells_it);
	tcase_add_test(words, an_error_that_says_too_little_is_explained);
	tcase_add_test(words, a_datagram_connect_tells_its_limit);
	tcase_add_test(words, a_port_that_the_profile_has_chosen_is_explained);
	tcase_add_test(words, a_connection_that_fails_is_named_by_its_other_end);
	tcase_add_test(words, what_is_no_flowop_is_told_as_well);
	tcase_add_test(words, a_site_beyond_the_program_is_no_trouble);
	tcase_add_test(words, flows_fail_so_when_their_peer_has_failed);
	tcase_add_test(words, connections_of_the_last_measured_phase_are_summed_up);
	suite_add_tcase(suite, words);
	return run_suite(suite);
}
