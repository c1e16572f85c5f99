/* SPDX-License-Identifier: Apache-2.0 */
/* What a right profile becomes on the master's side. */
#include "compiled.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

#define OPEN  "<transaction><flowop type='connect' options='remotehost=h'/></transaction>\n"
#define CLOSE "<transaction><flowop type='disconnect'/></transaction>\n"
#define NULLS "<flowop type='connect' options='remotehost=h protocol=null'/>"

START_TEST(a_connect_rate_is_that_of_the_group)
{
	struct compiled c = compile_good("<profile><group nflows='20' connect_rate='100/s'>\n"
					 "<transaction><flowop type='connect' "
					 "options='remotehost=h count=2'/></transaction>\n"
					 "<transaction><flowop type='write' "
					 "options='size=9'/></transaction></group></profile>");
	const struct nm_group *group = &c.plan->groups[0];

	/* Each of 20 flows opens two at a time: 2.5 times a second. */
	ck_assert_double_eq(group->phases[0].rate_per_s, 2.5);
	ck_assert_double_eq(group->phases[1].rate_per_s, 0);
	compiled_fini(&c);
}
END_TEST

START_TEST(a_group_becomes_phases_that_end_each)
{
	struct compiled c =
		compile_good("<profile name='p'><group name='g' nthreads='2' nflows='5'>\n" OPEN
			     "<transaction name='rr' duration='2s' rate='10'>\n"
			     "<flowop type='write' options='size=100'/>\n"
			     "<flowop type='read' options='size=64k'/></transaction>\n" CLOSE
			     "</group></profile>");
	const struct nm_group *group = &c.plan->groups[0];
	const struct nm_phase *rr = &group->phases[1];

	ck_assert_str_eq(c.plan->name, "p");
	ck_assert(c.plan->master);
	ck_assert_uint_eq(c.plan->n_groups, 1);
	ck_assert_uint_eq(c.plan->n_phases, 3);
	ck_assert_str_eq(group->name, "g");
	ck_assert_uint_eq(group->n_workers, 2);
	ck_assert_uint_eq(group->n_flows, 5);
	ck_assert_uint_eq(group->n_instrs, 4 + 3);
	ck_assert_uint_eq(group->messages.chunk_bytes, 65536);
	ck_assert_uint_eq(group->n_openings, 1);
	ck_assert(group->runs);
	assert_program(c.plan, 0, 0, "connect");
	assert_program(c.plan, 0, 1, "write read");
	assert_program(c.plan, 0, 2, "disconnect");
	ck_assert_str_eq(group->phases[0].name, "");
	ck_assert_uint_eq(group->phases[0].iterations, 1);
	ck_assert_str_eq(rr->name, "rr");
	ck_assert_uint_eq(rr->line, 3);
	ck_assert_uint_eq(rr->iterations, 0);
	ck_assert_uint_eq(rr->duration_ns, UINT64_C(2000000000));
	ck_assert_double_eq(rr->rate_per_s, 10);
	ck_assert(!rr->counts.unmatched);
	ck_assert(rr->counts.reliable && !rr->empty);
	compiled_fini(&c);
}
END_TEST

/* The bytes of a pass on average, in the direction that has more of them, set the rate. */
START_TEST(a_load_is_a_share_of_a_link)
{
	static const struct {
		const char *flowops;
		double bytes;
	} passes[] = {
		{"<flowop type='write' options='size=1000'/><flowop type='read' "
		 "options='size=10'/>",
		 1000},
		{"<flowop type='write' options='size=100'/>"
		 "<flowop type='read' options='size=100 count=5'/>",
		 500},
		{"<flowop type='write' options='size=uniform(100,300) repeat=2'/>", 200},
		{"<flowop type='exchange' options='size=300'/>", 300},
		{"<sequence count='uniform(1,3)'><flowop type='write' options='size=100'/>"
		 "</sequence>",
		 200},
		{"<mix><flowop type='write' weight='3' options='size=100'/>"
		 "<flowop type='write' options='size=500'/></mix>",
		 200},
		{"<mix><flowop type='write' options='size=100'/><sequence weight='1' count='3'>"
		 "<flowop type='write' options='size=200'/></sequence></mix>",
		 350},
	};

	for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
		char text[1024];

		snprintf(text, sizeof text,
			 "<profile name='p'><group nthreads='1' nflows='2'>" OPEN
			 "<transaction duration='1s' "
			 "arrivals='load(0.5,8Mb/s)'>%s</transaction>" CLOSE "</group></profile>",
			 passes[i].flowops);
		struct compiled c = compile_good(text);

		ck_assert_double_eq_tol(c.plan->groups[0].phases[1].arrivals.per_s,
					500000 / passes[i].bytes, 1e-6);
		compiled_fini(&c);
	}
}
END_TEST

START_TEST(a_load_of_datagrams_counts_each)
{
	struct compiled c = compile_good(
		"<profile name='p'><group nthreads='1' nflows='2'><transaction><flowop "
		"type='connect' options='remotehost=h protocol=udp'/></transaction>"
		"<transaction duration='1s' arrivals='load(0.5,8Mb/s)'>"
		"<flowop type='write' options='size=100 repeat=2 "
		"batch_size=5'/></transaction>" CLOSE "</group></profile>");

	ck_assert_double_eq_tol(c.plan->groups[0].phases[1].arrivals.per_s, 500, 1e-6);
	compiled_fini(&c);
}
END_TEST

/* The largest message of a pass is the flow, on the side that begins the passes. */
START_TEST(a_flow_is_the_largest_message)
{
	struct compiled c = compile_good(
		"<profile name='p'><group nthreads='1' nflows='2'>" OPEN
		"<transaction duration='1s' slowdown='link=10Gb/s base=30us'>"
		"<flowop type='write' options='size=10'/>"
		"<flowop type='read' options='size=uniform(1,100k)'/></transaction>" CLOSE
		"</group></profile>");
	const struct nm_group *group = &c.plan->groups[0];
	const struct nm_phase *phase = &group->phases[1];
	struct nm_plan *other = mirror(&c, "h");

	ck_assert(nm_phase_measures_flows(phase));
	ck_assert_str_eq(group->instrs[phase->flows.instr].op->name, "read");
	ck_assert_double_eq(phase->flows.ideal.link_bps, 1e10);
	ck_assert_uint_eq(phase->flows.ideal.base_ns, 30000);
	ck_assert(!nm_phase_measures_flows(&group->phases[0]));
	ck_assert(!nm_phase_measures_flows(&other->groups[0].phases[1]));
	nm_plan_free(other);
	compiled_fini(&c);
}
END_TEST

START_TEST(flowops_know_their_connection)
{
	struct compiled c = compile_good(
		GROUP("<transaction>\n"
		      "<flowop type='connect' options='remotehost=a'/><flowop type='write' "
		      "options='size=1'/>\n"
		      "<flowop type='disconnect'/>\n"
		      "<flowop type='accept' options='remotehost=b'/><flowop type='read' "
		      "options='size=2'/>\n"
		      "<flowop type='disconnect'/><flowop type='nop'/></transaction>\n"));
	const char *const hosts[] = {"a", "a", "a", "b", "b", "b"};
	const uint32_t openings[] = {0, 0, 0, 1, 0, 0};
	const unsigned lines[] = {3, 3, 4, 5, 5, 6};

	ck_assert_uint_eq(c.plan->n_hosts, 2);
	ck_assert_uint_eq(c.plan->groups[0].n_hosts, 2);
	ck_assert_uint_eq(c.plan->groups[0].n_openings, 2);
	for (uint32_t i = 0; i < 6; i++) {
		const struct nm_instr *instr = instr_at(c.plan, 0, i);

		ck_assert_ptr_eq(instr->transport, nm_transport_find("tcp"));
		ck_assert_str_eq(c.plan->hosts[instr->host], hosts[i]);
		ck_assert_uint_eq(instr->opening, openings[i]);
		ck_assert_uint_eq(instr->line, lines[i]);
		ck_assert_ptr_eq((void *)(uintptr_t)instr->step,
				 (void *)(uintptr_t)instr->op->step);
	}
	ck_assert_ptr_null(instr_at(c.plan, 0, 6)->transport);
	compiled_fini(&c);
}
END_TEST

START_TEST(hosts_are_named_once)
{
	struct compiled c =
		compile_good(GROUPS("<group>" OPEN CLOSE "</group><group>" OPEN CLOSE "</group>"));

	ck_assert_uint_eq(c.plan->n_hosts, 1);
	ck_assert_str_eq(c.plan->hosts[0], "h");
	ck_assert_str_eq(c.plan->groups[1].name, "Group1");
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *attrs;
	uint32_t n_workers, n_flows;
} sizes[] = {
	{"", 1, 1},
	{"nthreads='3'", 3, 3},
	{"nflows='7'", 1, 7},
	{"nthreads='3' nflows='1k'", 3, 1000},
	{"nthreads='8192' nflows='4000000'", 8192, 4000000},
};

START_TEST(workers_and_flows)
{
	char text[256];

	snprintf(text, sizeof text, "<profile><group %s>" OPEN CLOSE "</group></profile>",
		 sizes[_i].attrs);
	struct compiled c = compile_good(text);

	ck_assert_uint_eq(c.plan->groups[0].n_workers, sizes[_i].n_workers);
	ck_assert_uint_eq(c.plan->groups[0].n_flows, sizes[_i].n_flows);
	compiled_fini(&c);
}
END_TEST

#define T(attrs) "<transaction " attrs "><flowop type='nop'/></transaction>"
#define D(attrs)                                                                                   \
	"<transaction duration='1s' " attrs                                                        \
	"><flowop type='think' options='duration=1ms'/></transaction>"

static const struct {
	const char *body;
	const char *measured; /* a letter for each transaction */
} measures[] = {
	{T("") T("") T("iterations='5'"), "yyy"},
	{T("") D("") T(""), "nyn"},
	{T("measure='yes'") D("") T(""), "ynn"},
	{T("") D("measure='no'") T(""), "yny"},
	{T("") D("measure='no'") D(""), "nny"},
	{T("measure='no'") T("") T("iterations='0'"), "nyn"},
	{D("measure='yes'") D("") T("measure='yes'"), "yny"},
};

START_TEST(which_transactions_count)
{
	char text[1024];

	snprintf(text, sizeof text, GROUP("%s"), measures[_i].body);
	struct compiled c = compile_good(text);

	for (uint32_t k = 0; k < 3; k++)
		ck_assert_msg(c.plan->groups[0].phases[k].measured ==
				      (measures[_i].measured[k] == 'y'),
			      "transaction %u of %s", k, measures[_i].body);
	compiled_fini(&c);
}
END_TEST

START_TEST(a_skipped_transaction_opens_nothing)
{
	struct compiled c = compile_good(
		GROUP("<transaction iterations='0'><flowop type='connect' options='remotehost=x'/>"
		      "</transaction>\n" OPEN CLOSE));

	ck_assert(c.plan->groups[0].phases[0].empty);
	assert_program(c.plan, 0, 0, "");
	ck_assert_uint_eq(c.plan->n_hosts, 1);
	ck_assert_str_eq(c.plan->hosts[0], "h");
	ck_assert_uint_eq(c.plan->groups[0].n_openings, 1);
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *options;
	bool ends_at_master;
} thinks[] = {{"", true}, {"at=both", true}, {"at=master", true}, {"at=slave", false}};

START_TEST(think_runs_where_it_is_told)
{
	char text[512];

	snprintf(text, sizeof text,
		 GROUP("<transaction><flowop type='think' options='duration=1ms %s'/>"
		       "</transaction>"),
		 thinks[_i].options);
	struct compiled c = compile_good(text);

	assert_program(c.plan, 0, 0, thinks[_i].ends_at_master ? "think" : "");
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *size, *protocol;
	uint64_t chunk_bytes;
	bool plain;
} chunks[] = {
	{"1", "tcp", 4096, true},	    {"4096", "tcp", 4096, true},
	{"64k", "tcp", 65536, true},	    {"1m", "tcp", 1 << 20, true},
	{"1048577", "tcp", 1 << 20, false}, {"8g", "tcp", 1 << 20, false},
	{"1", "null", 4096, false},
};

START_TEST(buffers_are_as_large_as_the_messages)
{
	char text[512];

	snprintf(text, sizeof text,
		 GROUP("<transaction><flowop type='connect' options='remotehost=h protocol=%s'/>"
		       "<flowop type='write' options='size=%s'/></transaction>"),
		 chunks[_i].protocol, chunks[_i].size);
	struct compiled c = compile_good(text);

	ck_assert_uint_eq(c.plan->groups[0].messages.chunk_bytes, chunks[_i].chunk_bytes);
	ck_assert_int_eq(instr_at(c.plan, 0, 1)->single_call, chunks[_i].plain);
	compiled_fini(&c);
}
END_TEST

START_TEST(a_transport_without_peer_has_no_host)
{
	struct compiled c = compile_good(
		GROUP("<transaction>" NULLS "</transaction>"
		      "<transaction duration='1s'><flowop type='read' options='size=1'/>"
		      "<flowop type='write' options='size=1'/></transaction>"));
	const struct nm_phase *phase = &c.plan->groups[0].phases[1];

	ck_assert_uint_eq(c.plan->n_hosts, 0);
	ck_assert_uint_eq(instr_at(c.plan, 0, 0)->host, NM_NO_HOST);
	/* It would wait for the other end, but there is none. */
	ck_assert(phase->leads);
	ck_assert_uint_eq(phase->leader, NM_NO_HOST);
	compiled_fini(&c);
}
END_TEST

/* Two workers, 5000 flows: 2500 a worker are more than one listening socket serves. */
static const struct {
	const char *opening;
	uint64_t flows, listeners;
} openings[] = {
	{"connect' options='remotehost=h", 5000, 0},
	{"accept' options='remotehost=h", 5000, 2 * 2},
	{"accept' options='remotehost=local protocol=unix", 5000, 2 * 2},
	{"accept' options='remotehost=h protocol=null", 0, 0},
	{"nop", 0, 0},
};

START_TEST(descriptors_are_counted)
{
	char text[512];

	snprintf(text, sizeof text,
		 "<profile><group nthreads='2' nflows='5000'><transaction><flowop type='%s'/>"
		 "</transaction></group></profile>",
		 openings[_i].opening);
	struct compiled c = compile_good(text);
	uint64_t needed = nm_plan_descriptors(c.plan),
		 least = openings[_i].flows + openings[_i].listeners;

	/* Two for each worker: its epoll and its wake-up. */
	ck_assert_uint_eq(needed, least + 2 * 2);
	compiled_fini(&c);
}
END_TEST

/* They may have a socket for the next pass, or one of the last, besides that of their flow. */
START_TEST(workers_with_one_flow_have_a_descriptor_to_spare)
{
	struct compiled lone = compile_good(
		"<profile><group nthreads='3' nflows='3'><transaction><flowop type='connect' "
		"options='remotehost=h'/></transaction></group></profile>");
	struct compiled some = compile_good(
		"<profile><group nthreads='3' nflows='5'><transaction><flowop type='connect' "
		"options='remotehost=h'/></transaction></group></profile>");

	ck_assert_uint_eq(nm_plan_descriptors(lone.plan), 3 + 2 * 3 + 3);
	ck_assert_uint_eq(nm_plan_descriptors(some.plan), 5 + 2 * 3 + 3);
	compiled_fini(&lone);
	compiled_fini(&some);
}
END_TEST

#define SECOND UINT64_C(1000000000)

static const struct {
	const char *attrs, *body;
	uint64_t wait_ns;
} waits[] = {
	{"", "<flowop type='nop'/>", 0},
	{"", "<flowop type='think' options='duration=3s'/>", 3 * SECOND},
	/* One after the other, whoever waits: nothing is heard meanwhile. */
	{"",
	 "<flowop type='think' options='duration=3s'/>"
	 "<flowop type='think' options='duration=5s at=slave'/>",
	 8 * SECOND},
	{"rate='0.5'", "<flowop type='think' options='duration=1s'/>", 2 * SECOND},
	{"rate='0.1'", "<flowop type='think' options='duration=20s'/>", 20 * SECOND},
	{"rate='0.000000000000001'", "<flowop type='nop'/>", NM_PLAN_MAX_WAIT_NS},
	{"",
	 "<flowop type='think' options='duration=900000000s'/>"
	 "<flowop type='think' options='duration=900000000s'/>",
	 NM_PLAN_MAX_WAIT_NS},
};

START_TEST(the_longest_wait_is_known)
{
	char text[512];

	snprintf(text, sizeof text, GROUP("<transaction %s>%s</transaction>"), waits[_i].attrs,
		 waits[_i].body);
	struct compiled c = compile_good(text);

	ck_assert_uint_eq(nm_plan_longest_wait_ns(c.plan), waits[_i].wait_ns);
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *body;
	const char *reads; /* a letter for each read of it: a: an answer, A: the last, -: neither */
} answers[] = {
	{"<flowop type='write' options='size=9'/><flowop type='read' options='size=9'/>", "A"},
	{"<flowop type='write' options='size=9'/><flowop type='write' options='size=9'/>"
	 "<flowop type='read' options='size=9'/><flowop type='read' options='size=9'/>",
	 "aA"},
	{"<flowop type='write' options='size=9'/><flowop type='read' options='size=9 count=2'/>",
	 "a"},
	{"<flowop type='write' options='size=9 count=5'/><flowop type='read' options='size=9'/>",
	 "A"},
	/* The other end leads: it is the one who waits for answers. */
	{"<flowop type='read' options='size=9'/><flowop type='write' options='size=9'/>", "-"},
	{"<flowop type='read' options='size=9'/><flowop type='write' options='size=9'/>"
	 "<flowop type='read' options='size=9'/>",
	 "--"},
	{"<flowop type='read' options='size=9'/>", "-"},
};

/* Over transports that may lose messages a read for what was asked has an end, and takes no answer
 * to an older one. */
START_TEST(answers_are_told_from_what_comes_by_itself)
{
	char text[2048];
	const char *expected = answers[_i].reads;

	(void)snprintf(text, sizeof text,
		       GROUP("<transaction><flowop type='connect' options='remotehost=h "
			     "protocol=udp'/></transaction><transaction iterations='9'>%s"
			     "</transaction>\n"),
		       answers[_i].body);
	struct compiled c = compile_good(text);
	const struct nm_phase *phase = &c.plan->groups[0].phases[1];

	for (uint32_t i = 0; i < phase->n_instrs; i++) {
		const struct nm_instr *instr = instr_at(c.plan, 0, phase->first + i);

		if (strcmp(instr->op->name, "read") != 0)
			continue;
		ck_assert_int_eq(instr->datagram.is_reply_last ? 'A'
				 : instr->datagram.is_reply    ? 'a'
							       : '-',
				 *expected);
		ck_assert_int_eq(instr->timeout_ns != 0, *expected != '-');
		expected++;
	}
	ck_assert_int_eq(*expected, '\0');
	compiled_fini(&c);
}
END_TEST

/* So does one for what is sent because a connection was opened in the same pass. */
START_TEST(a_read_behind_an_opening_has_an_end)
{
	struct compiled c = compile_good(
		GROUP("<transaction iterations='9'><flowop type='connect' options='remotehost=h "
		      "protocol=udp'/><flowop type='read' options='size=9'/>"
		      "<flowop type='disconnect'/></transaction>\n"));

	ck_assert(!instr_at(c.plan, 0, 1)->datagram.is_reply);
	ck_assert_uint_eq(instr_at(c.plan, 0, 1)->timeout_ns, 1000000000);
	compiled_fini(&c);
}
END_TEST

#define PSP                                                                                        \
	"<transaction><flowop type='connect' options='remotehost=h protocol=psp'/>"                \
	"<flowop type='secure'/></transaction>\n"

/* Connections over psp, where both ends know when a pass is over: the next begins with a message of
 * who leads. */
START_TEST(connections_are_renewed_between_plain_passes)
{
	static const struct {
		const char *body;
		bool renews;
	} cases[] = {
		{"<flowop type='write' options='size=9'/><flowop type='read' options='size=9'/>",
		 true},
		{"<flowop type='read' options='size=9'/>", true},
		{"<flowop type='write' options='size=rand(1,9)'/>", false},
		{"<flowop type='write' options='size=9 discard'/>", false},
		{"<flowop type='exchange' options='size=9'/>", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[1024];

		(void)snprintf(text, sizeof text,
			       GROUP(PSP "<transaction duration='1s'>%s</transaction>\n" CLOSE),
			       cases[i].body);
		struct compiled c = compile_good(text);

		ck_assert(instr_at(c.plan, 0, 0)->open.defer_handshake);
		ck_assert(instr_at(c.plan, 0, 0)->open.has_preamble);
		ck_assert(!c.plan->groups[0].phases[0].anew.between_passes);
		ck_assert_msg(c.plan->groups[0].phases[1].anew.between_passes == cases[i].renews,
			      "%s", cases[i].body);
		ck_assert(!c.plan->groups[0].phases[2].anew.between_passes);
		compiled_fini(&c);
	}
}
END_TEST

START_TEST(many_groups)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fputs("<profile>", out);
	for (int i = 0; i < NM_PLAN_MAX_GROUPS; i++)
		fprintf(out,
			"<group nflows='3'><transaction><flowop type='connect' "
			"options='remotehost=10.0.%d.%d'/></transaction></group>",
			i / 256, i % 256);
	fputs("</profile>", out);
	ck_assert_int_eq(fclose(out), 0);
	struct compiled c = compile_good(text);

	ck_assert_uint_eq(c.plan->n_groups, NM_PLAN_MAX_GROUPS);
	ck_assert_uint_eq(c.plan->n_hosts, NM_PLAN_MAX_HOSTS);
	ck_assert_uint_eq(instr_at(c.plan, 1023, 0)->host, 1023);
	compiled_fini(&c);
	free(text);
}
END_TEST

#define TIMED                                                                                      \
	"<transaction duration='1min'%s><flowop type='think' options='duration=1ms'/>"             \
	"</transaction>\n"

/* Of the measured ones alone, and only of those with a duration. */
START_TEST(measured_transactions_are_given_a_duration)
{
	static const struct {
		const char *words;
		int count;
		uint64_t ns[2];
	} cases[] = {{"", 2, {5000000, 5000000}},
		     {" measure='no'", 1, {60000000000, 5000000}},
		     {" measure='yes'", 1, {5000000, 60000000000}}};
	char text[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), GROUP(OPEN TIMED TIMED CLOSE), cases[i].words, "");
		struct compiled c = compile(text);
		const struct nm_piece *defined;

		ck_assert_ptr_nonnull(c.plan);
		nm_plan_free(c.plan);
		ck_assert_int_eq(nm_plan_set_duration(c.root, 5000000, &defined), cases[i].count);
		ck_assert_ptr_null(defined);
		c.plan = nm_plan_compile(c.root, "t.xml", &c.diags);
		ck_assert_uint_eq(c.plan->groups[0].phases[1].duration_ns, cases[i].ns[0]);
		ck_assert_uint_eq(c.plan->groups[0].phases[2].duration_ns, cases[i].ns[1]);
		compiled_fini(&c);
	}
}
END_TEST

START_TEST(a_profile_without_durations_gets_none)
{
	struct compiled c = compile(GROUP(OPEN CLOSE));
	const struct nm_piece *defined;

	ck_assert_int_eq(nm_plan_set_duration(c.root, 5000000, &defined), 0);
	compiled_fini(&c);
}
END_TEST

START_TEST(no_plan_is_freed_like_any)
{
	ck_assert_ptr_null(nm_plan_free(NULL));
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof *(table))

int main(void)
{
	Suite *suite = suite_create("compile");
	TCase *tc = tcase_create("compile");

	tcase_set_timeout(tc, 60); /* the largest profiles, under sanitizers, on a busy machine */
	tcase_add_test(tc, a_connect_rate_is_that_of_the_group);
	tcase_add_test(tc, a_group_becomes_phases_that_end_each);
	tcase_add_test(tc, a_load_is_a_share_of_a_link);
	tcase_add_test(tc, a_load_of_datagrams_counts_each);
	tcase_add_test(tc, a_flow_is_the_largest_message);
	tcase_add_test(tc, flowops_know_their_connection);
	tcase_add_test(tc, hosts_are_named_once);
	LOOP(workers_and_flows, sizes);
	LOOP(which_transactions_count, measures);
	tcase_add_test(tc, a_skipped_transaction_opens_nothing);
	LOOP(think_runs_where_it_is_told, thinks);
	LOOP(buffers_are_as_large_as_the_messages, chunks);
	tcase_add_test(tc, a_transport_without_peer_has_no_host);
	LOOP(descriptors_are_counted, openings);
	tcase_add_test(tc, workers_with_one_flow_have_a_descriptor_to_spare);
	LOOP(the_longest_wait_is_known, waits);
	LOOP(answers_are_told_from_what_comes_by_itself, answers);
	tcase_add_test(tc, a_read_behind_an_opening_has_an_end);
	tcase_add_test(tc, connections_are_renewed_between_plain_passes);
	tcase_add_test(tc, many_groups);
	tcase_add_test(tc, measured_transactions_are_given_a_duration);
	tcase_add_test(tc, a_profile_without_durations_gets_none);
	tcase_add_test(tc, no_plan_is_freed_like_any);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
