/* SPDX-License-Identifier: Apache-2.0 */
/* The other side of a profile: what each slave runs. */
#include "compiled.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "flowop/files.h"
#include "transport/transport.h"

#define OP(type, options) "<flowop type='" type "' options='" options "'/>"
#define ONCE(flowops)	  "<transaction>" flowops "</transaction>\n"
#define TIMED(flowops)	  "<transaction duration='1s'>" flowops "</transaction>\n"
#define TIMES(flowops)	  "<transaction iterations='5'>" flowops "</transaction>\n"
#define DISCONNECT	  "<flowop type='disconnect'/>"
#define WRITE		  OP("write", "size=10")
#define READ		  OP("read", "size=20")

START_TEST(each_step_has_its_counterpart)
{
	struct compiled c = compile_good(
		"<profile name='p'><group name='g' nthreads='2' nflows='6'>"
		"<transaction name='open' rate='5'>" OP(
			"connect", "remotehost=h nodelay") "</transaction>\n" TIMED(WRITE READ)
			ONCE(DISCONNECT) "</group></profile>");
	struct nm_plan *plan = mirror(&c, "h");
	const struct nm_group *group = &plan->groups[0];

	ck_assert(!plan->master);
	ck_assert_str_eq(plan->name, "p");
	ck_assert_uint_eq(plan->n_hosts, 1);
	ck_assert_str_eq(plan->hosts[0], "master");
	ck_assert_str_eq(group->name, "g");
	ck_assert_uint_eq(group->n_workers, 2);
	ck_assert_uint_eq(group->n_flows, 6);
	assert_program(plan, 0, 0, "accept");
	assert_program(plan, 0, 1, "read write");
	assert_program(plan, 0, 2, "disconnect");
	ck_assert_str_eq(group->phases[0].name, "open");
	ck_assert_double_eq(group->phases[0].rate_per_s, 5);
	ck_assert_uint_eq(group->phases[1].duration_ns, UINT64_C(1000000000));
	ck_assert_uint_eq(group->phases[1].counts.bytes_sent, 20);
	ck_assert(group->phases[1].measured && !group->phases[0].measured);
	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = instr_at(plan, 0, i);

		ck_assert_uint_eq(instr->host, 0);
		if (instr->op)
			ck_assert_ptr_eq(instr->transport, nm_transport_find("tcp"));
	}
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

/* Over SCTP, what the master sends on a stream is what the slave receives on it. */
START_TEST(a_stream_goes_in_at_the_other_end)
{
	struct compiled c = compile_good(GROUP(
		ONCE(OP("connect", "remotehost=h protocol=sctp sctp_in_streams=3 "
				   "sctp_out_streams=5 localhost=127.0.0.2"))
			TIMES(OP("write", "size=9 sctp_stream_id=4")
				      OP("read", "size=9 sctp_stream_id=2")) ONCE(DISCONNECT)));
	struct nm_plan *plan = mirror(&c, "h");
	const struct nm_transport *sctp = nm_transport_find("sctp");
	const char *ours = instr_at(c.plan, 0, 0)->open.transport_opts;
	const char *its = instr_at(plan, 0, 0)->open.transport_opts;
	size_t in = nm_opt_find(sctp->opts, "sctp_in_streams")->offset;
	size_t out = nm_opt_find(sctp->opts, "sctp_out_streams")->offset;
	size_t local = nm_opt_find(sctp->opts, "localhost")->offset;

	ck_assert_uint_eq(*(const uint64_t *)(const void *)(ours + in), 3);
	ck_assert_uint_eq(*(const uint64_t *)(const void *)(ours + out), 5);
	ck_assert_uint_eq(*(const uint64_t *)(const void *)(its + in), 5);
	ck_assert_uint_eq(*(const uint64_t *)(const void *)(its + out), 3);
	ck_assert_str_eq(*(char *const *)(const void *)(its + local), "127.0.0.2");
	ck_assert(!instr_at(c.plan, 0, 2)->lossy && c.plan->groups[0].phases[1].counts.reliable);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

/* One message that may be given up makes all of the connection's uncertain, on both ends. */
START_TEST(a_policy_makes_messages_uncertain)
{
	struct compiled c = compile_good(
		GROUP(ONCE(OP("connect", "remotehost=h protocol=sctp"))
			      TIMES(OP("write", "size=9 sctp_pr_policy=rtx sctp_pr_value=0") READ)
				      TIMES(READ) ONCE(DISCONNECT)));
	struct nm_plan *plan = mirror(&c, "h");
	const struct nm_plan *both[] = {c.plan, plan};

	for (size_t i = 0; i < 2; i++) {
		const struct nm_group *group = &both[i]->groups[0];

		for (uint32_t k = 1; k < 3; k++) {
			ck_assert(group->phases[k].counts.may_lose &&
				  !group->phases[k].counts.reliable);
			ck_assert(group->instrs[group->phases[k].first].lossy);
		}
	}
	ck_assert(instr_at(c.plan, 0, 3)->datagram.is_reply);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

START_TEST(a_policy_without_effect_changes_nothing)
{
	struct compiled c =
		compile_good(GROUP(ONCE(OP("connect", "remotehost=h protocol=sctp")) TIMES(OP(
			"write", "size=9 sctp_pr_policy=rtt sctp_pr_value=5")) ONCE(DISCONNECT)));

	ck_assert(!instr_at(c.plan, 0, 2)->lossy && !c.plan->groups[0].phases[1].counts.may_lose);
	compiled_fini(&c);
}
END_TEST

/* Two hosts in one group, and a group for one of them alone. */
#define TWO_HOSTS                                                                                  \
	GROUPS("<group>" ONCE(OP("connect", "remotehost=a")                                        \
				      WRITE DISCONNECT) ONCE(OP("think", "duration=1ms"))          \
		       ONCE(OP("accept", "remotehost=b") OP("think", "duration=1ms")               \
				    READ DISCONNECT) "</group>\n"                                  \
						     "<group>" ONCE(                               \
							     OP("connect", "remotehost=b")         \
								     DISCONNECT) "</group>\n")

START_TEST(a_host_has_only_its_own_part)
{
	struct compiled c = compile_good(TWO_HOSTS);
	struct nm_plan *a = mirror(&c, "a"), *b = mirror(&c, "b");

	assert_program(a, 0, 0, "accept read disconnect");
	/* Nothing crosses the network: the slaves have no part in it. */
	assert_program(a, 0, 1, "");
	assert_program(a, 0, 2, "");
	ck_assert(!a->groups[0].phases[0].empty);
	ck_assert(a->groups[0].phases[1].empty && a->groups[0].phases[2].empty);
	ck_assert(a->groups[0].runs && !a->groups[1].runs);
	assert_program(b, 0, 0, "");
	assert_program(b, 0, 2, "connect think write disconnect");
	ck_assert(b->groups[0].phases[0].empty && !b->groups[0].phases[2].empty);
	ck_assert(b->groups[0].runs && b->groups[1].runs);
	/* A place for every group, phase and opening, so that both sides number alike. */
	ck_assert_uint_eq(a->n_groups, 2);
	ck_assert_uint_eq(a->groups[1].n_phases, 1);
	ck_assert_uint_eq(b->groups[0].n_phases, 3);
	ck_assert_uint_eq(b->groups[0].n_openings, 2);
	ck_assert_uint_eq(instr_at(b, 0, b->groups[0].phases[2].first)->opening, 1);
	nm_plan_free(a);
	nm_plan_free(b);
	compiled_fini(&c);
}
END_TEST

/* Who begins the passes: m the master, or the host. */
static const struct {
	const char *body;
	char leader;
} led[] = {
	{TIMED(OP("connect", "remotehost=a") DISCONNECT), 'm'},
	{TIMED(OP("accept", "remotehost=a") DISCONNECT), 'a'},
	{TIMED(OP("accept", "remotehost=b") READ DISCONNECT OP("connect", "remotehost=a")
		       DISCONNECT),
	 'b'},
	{TIMES(OP("think", "duration=1ms") OP("accept", "remotehost=a") DISCONNECT), 'a'},
	{TIMED(OP("think", "duration=1ms")), 'm'},
	{TIMED(OP("connect", "remotehost=a protocol=null") READ DISCONNECT), 'm'},
	{TIMED(OP("accept", "remotehost=a protocol=null") READ DISCONNECT), 'm'},
	{ONCE(OP("accept", "remotehost=a")) ONCE(DISCONNECT), 'm'},
	{ONCE(OP("accept", "remotehost=a")) TIMED(READ WRITE), 'a'},
	{ONCE(OP("accept", "remotehost=a")) TIMED(WRITE READ), 'm'},
	/* By count two ends could begin by themselves: one of them is the leader all the same. */
	{TIMES(OP("connect", "remotehost=a") DISCONNECT OP("accept", "remotehost=b") DISCONNECT),
	 'm'},
	{TIMES(OP("accept", "remotehost=b") DISCONNECT OP("accept", "remotehost=a") DISCONNECT),
	 'b'},
};

START_TEST(both_sides_agree_who_leads)
{
	char text[1024];

	/* The second group names both hosts, so that both have a mirror. */
	(void)snprintf(
		text, sizeof text, "<profile><group>%s</group><group>%s</group></profile>",
		led[_i].body,
		ONCE(OP("connect", "remotehost=a") DISCONNECT OP("connect", "remotehost=b")));
	struct compiled c = compile_good(text);
	uint32_t last = c.plan->groups[0].n_phases - 1;
	const struct nm_phase *phase = &c.plan->groups[0].phases[last];

	ck_assert_int_eq(phase->leads, led[_i].leader == 'm');
	if (led[_i].leader == 'm')
		ck_assert_uint_eq(phase->leader, NM_NO_HOST);
	else
		ck_assert_int_eq(c.plan->hosts[phase->leader][0], led[_i].leader);
	for (uint32_t h = 0; h < c.plan->n_hosts; h++) {
		struct nm_plan *plan = mirror(&c, c.plan->hosts[h]);

		ck_assert_msg(plan->groups[0].phases[last].leads ==
				      (c.plan->hosts[h][0] == led[_i].leader),
			      "host %s of %s", c.plan->hosts[h], led[_i].body);
		nm_plan_free(plan);
	}
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *at, *master, *slave;
} thinks[] = {
	{"both", "connect think write", "accept think read"},
	{"master", "connect think write", "accept read"},
	{"slave", "connect write", "accept think read"},
};

START_TEST(think_runs_where_it_is_told)
{
	char text[512];

	(void)snprintf(
		text, sizeof text,
		GROUP(ONCE(OP("connect", "remotehost=h") OP("think", "duration=1ms at=%s") WRITE)),
		thinks[_i].at);
	struct compiled c = compile_good(text);
	struct nm_plan *plan = mirror(&c, "h");

	assert_program(c.plan, 0, 0, thinks[_i].master);
	assert_program(plan, 0, 0, thinks[_i].slave);
	/* The wait is the run's, whoever waits. */
	ck_assert_uint_eq(nm_plan_longest_wait_ns(c.plan), 1000000);
	ck_assert_uint_eq(nm_plan_longest_wait_ns(plan), 1000000);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

/* The value of an option of the transport, as the instruction has it. */
static const void *transport_value(const struct nm_instr *instr, const char *name)
{
	const struct nm_opt *opt = nm_opt_find(instr->transport->opts, name);

	ck_assert_ptr_nonnull(opt);
	return (const char *)instr->open.transport_opts + opt->offset;
}

START_TEST(both_ends_have_the_options)
{
	struct compiled c =
		compile_good(GROUP(ONCE(OP("connect", "remotehost=h nodelay wndsz=64k cc=reno")
						OP("disconnect", "close=rst"))));
	struct nm_plan *plan = mirror(&c, "h");
	const struct nm_instr *accept = instr_at(plan, 0, 0), *disconnect = instr_at(plan, 0, 1);
	const struct nm_opt *close = nm_opt_find(disconnect->op->opts, "close");

	ck_assert(*(const bool *)transport_value(accept, "nodelay"));
	ck_assert_uint_eq(*(const uint64_t *)transport_value(accept, "wndsz"), 65536);
	ck_assert_str_eq(*(char *const *)transport_value(accept, "cc"), "reno");
	ck_assert_str_eq(
		close->choices[*(const int *)(const void *)((const char *)disconnect->opts +
							    close->offset)],
		"rst");
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

START_TEST(listeners_are_on_the_side_that_accepts)
{
	struct compiled c = compile_good(
		"<profile><group nthreads='2' nflows='10'>" ONCE(OP("connect", "remotehost=h"))
			ONCE(DISCONNECT OP("accept", "remotehost=h")) "</group></profile>");
	struct nm_plan *plan = mirror(&c, "h");

	ck_assert_uint_eq(nm_plan_descriptors(plan), 10 + 2 * 2 + 2);
	ck_assert_uint_eq(nm_plan_descriptors(plan), nm_plan_descriptors(c.plan));
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

START_TEST(a_mirror_needs_no_descriptors_for_what_it_does_not_run)
{
	struct compiled c = compile_good(GROUPS("<group nflows='1000'>" ONCE(
		OP("connect", "remotehost=a")) "</group>"
					       "<group nflows='20'>" ONCE(
						       OP("connect", "remotehost=b")) "</group>"));
	struct nm_plan *plan = mirror(&c, "b");

	ck_assert_uint_eq(nm_plan_descriptors(plan), 20 + 2 + 1);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

#define CONNECTED(attributes)                                                                      \
	"<group " attributes ">" ONCE(OP("connect", "remotehost=h")) "</group>"

/* Listening sockets and what workers wait with are there before processes begin, which inherit
 * them. */
START_TEST(a_process_needs_descriptors_for_its_own_flows_only)
{
	struct compiled c = compile_good(GROUPS(CONNECTED("nprocs='2' nflows='1000'") CONNECTED(
		"nprocs='1' nflows='900'") CONNECTED("nflows='20'")));

	ck_assert_uint_eq(nm_plan_descriptors(c.plan), 900 + 2 * 4);
	compiled_fini(&c);
}
END_TEST

START_TEST(an_unknown_host_has_no_mirror)
{
	struct compiled c = compile_good(GROUP(ONCE(OP("connect", "remotehost=h"))));
	struct nm_plan *plan = nm_plan_compile_mirror(c.root, "t.xml", "i", &c.diags);
	char *all = said(&c.diags);

	ck_assert_ptr_null(plan);
	ck_assert_str_eq(all, "t.xml: error: the profile names no host \"i\"\n");
	free(all);
	compiled_fini(&c);
}
END_TEST

START_TEST(both_ends_know_how_sizes_are_drawn)
{
	struct compiled c =
		compile_good("<profile><group nflows='3'>" ONCE(OP("connect", "remotehost=h"))
				     TIMES(OP("write", "size=10") OP("send", "size=rand(5,6k)")
						   OP("read", "size=20")) "</group></profile>");
	struct nm_plan *plan = mirror(&c, "h");

	assert_program(plan, 0, 1, "read recv write");
	for (uint32_t i = 0; i < c.plan->groups[0].n_instrs; i++)
		ck_assert_uint_eq(instr_at(plan, 0, i)->site, instr_at(c.plan, 0, i)->site);
	for (int master = 0; master < 2; master++) {
		const struct nm_plan *side = master ? c.plan : plan;
		const struct nm_instr *drawn = instr_at(side, 0, 3);

		ck_assert(side->groups[0].needs_identity &&
			  instr_at(side, 0, 0)->open.has_preamble);
		ck_assert_uint_eq(side->groups[0].messages.chunk_bytes, 6144);
		ck_assert_uint_eq(drawn->site, 2);
		ck_assert_uint_eq(drawn->size, 6144);
		ck_assert(!drawn->single_call && instr_at(side, 0, 2)->single_call);
		ck_assert_ptr_nonnull(drawn->message.law);
		ck_assert_uint_eq(drawn->message.law->min, 5);
		ck_assert_ptr_null(instr_at(side, 0, 2)->message.law);
	}
	nm_plan_free(plan);
	compiled_fini(&c);
	/* Where nothing is drawn, or each worker has one flow only, it does not matter. */
	c = compile_good(GROUPS("<group nflows='3'>" ONCE(
		OP("connect", "remotehost=h")
			WRITE) "</group>\n"
			       "<group nthreads='3'>" ONCE(OP("connect", "remotehost=h") OP(
				       "write", "size=rand(1,2)")) "</group>"));
	ck_assert(!c.plan->groups[0].needs_identity && !c.plan->groups[1].needs_identity);
	compiled_fini(&c);
}
END_TEST

START_TEST(rsize_is_for_the_slave)
{
	struct compiled c = compile_good(GROUP(ONCE(OP("connect", "remotehost=h") OP(
		"write", "size=1k rsize=10k") OP("send", "size=1k rsize=8m") WRITE READ)));
	struct nm_plan *plan = mirror(&c, "h");
	const struct nm_instr *some = instr_at(plan, 0, 1), *most = some + 1, *usual = some + 2;

	assert_program(plan, 0, 0, "accept read recv read write");
	ck_assert_uint_eq(some->ahead, 9 * 1024);
	ck_assert_uint_eq(plan->groups[0].messages.chunk_bytes, 1 << 20);
	ck_assert_uint_eq(most->ahead, (1 << 20) - 1024);
	ck_assert(!some->single_call && !most->single_call);
	ck_assert_uint_eq(usual->ahead, 1);
	ck_assert(usual->single_call);
	for (uint32_t i = 1; i < 4; i++)
		ck_assert(instr_at(c.plan, 0, i)->single_call);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

START_TEST(only_the_master_has_files)
{
	struct compiled c = compile_good("<profile><group nthreads='3'>\n" ONCE(
		OP("connect", "remotehost=h") WRITE OP("sendfile", "dir=. size=5k")
			OP("sendfilev", "dir=. nfiles=7")) "</group></profile>");
	struct nm_plan *plan = mirror(&c, "h");
	const struct nm_opts_files *one, *several;

	assert_program(c.plan, 0, 0, "connect write sendfile sendfilev");
	assert_program(plan, 0, 0, "accept read recvfile recvfile");
	ck_assert(c.plan->groups[0].messages.moves_files && plan->groups[0].messages.moves_files);
	ck_assert(!c.plan->groups[0].needs_identity &&
		  !c.plan->groups[0].phases[0].counts.unmatched);
	ck_assert_ptr_nonnull(instr_at(c.plan, 0, 2)->message.files);
	ck_assert_uint_gt(instr_at(c.plan, 0, 2)->message.files->count, 0);
	ck_assert_ptr_null(instr_at(plan, 0, 2)->message.files);
	/* The length of a file must not be taken for the rest of a message. */
	ck_assert_uint_eq(instr_at(plan, 0, 1)->ahead, 0);
	ck_assert(!instr_at(plan, 0, 1)->single_call && !instr_at(plan, 0, 2)->single_call);
	ck_assert(instr_at(c.plan, 0, 1)->single_call && !instr_at(c.plan, 0, 2)->single_call);
	one = instr_at(c.plan, 0, 2)->opts;
	several = instr_at(plan, 0, 3)->opts;
	ck_assert_uint_eq(nm_files_of(one), 1);
	ck_assert_uint_eq(one->chunk_bytes, 5120);
	ck_assert_uint_eq(nm_files_of(instr_at(plan, 0, 2)->opts), 1);
	ck_assert_uint_eq(nm_files_of(several), 7);
	/* Of each flow a file, besides its connection. */
	uint64_t needed = nm_plan_descriptors(c.plan);

	c.plan->groups[0].messages.moves_files = false;
	ck_assert_uint_eq(needed, nm_plan_descriptors(c.plan) + 3);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

START_TEST(bytes_for_nobody_are_known)
{
	struct compiled c = compile_good(
		GROUP(ONCE(OP("connect", "remotehost=h protocol=null") DISCONNECT)
			      ONCE(OP("connect", "remotehost=h protocol=null") WRITE DISCONNECT)));

	ck_assert(!c.plan->groups[0].phases[0].counts.unmatched);
	ck_assert(c.plan->groups[0].phases[1].counts.unmatched);
	compiled_fini(&c);
}
END_TEST

START_TEST(warnings_are_told_once_only)
{
	struct compiled c =
		compile(GROUP(ONCE(OP("connect", "remotehost=h") OP("write", "size=1 size=2"))));

	ck_assert_uint_eq(c.diags.count, 1);
	nm_plan_free(nm_plan_compile_mirror(c.root, "t.xml", "h", &c.diags));
	ck_assert_uint_eq(c.diags.count, 1);
	compiled_fini(&c);
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof *(table))

int main(void)
{
	Suite *suite = suite_create("mirror");
	TCase *tc = tcase_create("mirror");

	tcase_add_test(tc, each_step_has_its_counterpart);
	tcase_add_test(tc, a_stream_goes_in_at_the_other_end);
	tcase_add_test(tc, a_policy_makes_messages_uncertain);
	tcase_add_test(tc, a_policy_without_effect_changes_nothing);
	tcase_add_test(tc, a_host_has_only_its_own_part);
	LOOP(both_sides_agree_who_leads, led);
	LOOP(think_runs_where_it_is_told, thinks);
	tcase_add_test(tc, both_ends_have_the_options);
	tcase_add_test(tc, listeners_are_on_the_side_that_accepts);
	tcase_add_test(tc, a_mirror_needs_no_descriptors_for_what_it_does_not_run);
	tcase_add_test(tc, a_process_needs_descriptors_for_its_own_flows_only);
	tcase_add_test(tc, an_unknown_host_has_no_mirror);
	tcase_add_test(tc, both_ends_know_how_sizes_are_drawn);
	tcase_add_test(tc, rsize_is_for_the_slave);
	tcase_add_test(tc, only_the_master_has_files);
	tcase_add_test(tc, bytes_for_nobody_are_known);
	tcase_add_test(tc, warnings_are_told_once_only);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
