/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of messages none of which has come. */
#include "control/master/losses.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"
#include "profile/tree.h"
#include "stats/counters.h"

#define HEAD                                                                                       \
	"<profile name='t'><group name='rr' nthreads='1'>\n"                                       \
	"<transaction iterations='1'>\n"                                                           \
	"<flowop type='connect' options='remotehost=a protocol=udp'/>\n"                           \
	"<flowop type='connect' options='remotehost=b protocol=udp conn=2'/>\n"                    \
	"</transaction>\n"
#define ASK                                                                                        \
	"<flowop type='write' options='size=SIZE'/>\n"                                             \
	"<flowop type='read' options='size=64 timeout=200ms'/>\n"                                  \
	"<flowop type='write' options='size=64 conn=2'/>\n"                                        \
	"<flowop type='read' options='size=64 timeout=100ms conn=2'/>\n"
#define TAIL "</group></profile>"

static struct nm_node *root;
static struct nm_plan *plans[3]; /* of the master, and of a and b */
static struct nm_diags diags;
static struct nm_losses_host hosts[3];
static char text[600];

static void compile(const char *body)
{
	static const char *const names[] = {NULL, "a", "b"};
	char profile[2048];

	(void)snprintf(profile, sizeof profile, "%s%s%s", HEAD, body, TAIL);
	diags = (struct nm_diags){.count = 0};
	root = nm_profile_parse("t.xml", profile, strlen(profile), &diags);
	for (int h = 0; h < 3; h++) {
		plans[h] = names[h] ? nm_plan_compile_mirror(root, "t.xml", names[h], &diags)
				    : nm_plan_compile(root, "t.xml", &diags);
		ck_assert_ptr_nonnull(plans[h]);
		hosts[h] = (struct nm_losses_host){.name = names[h], .group = &plans[h]->groups[0]};
	}
}

static void asks(const char *size)
{
	char body[1024] = "<transaction iterations='9'>\n" ASK "</transaction>\n";
	char *at = strstr(body, "SIZE");

	memmove(at + strlen(size), at + 4, strlen(at + 4) + 1);
	memcpy(at, size, strlen(size));
	compile(body);
}

static void end(void)
{
	for (int h = 0; h < 3; h++)
		nm_plan_free(plans[h]);
	nm_node_free(root);
	nm_diags_fini(&diags);
}

/* A host has counted that in the phase of that number. */
static void counted(int host, uint32_t phase, uint64_t sent, uint64_t received, uint64_t timeouts)
{
	const struct nm_counts counts = {
		.messages_sent = sent, .messages_received = received, .timeouts = timeouts};

	nm_losses_add(&hosts[host].count, &plans[0]->groups[0], phase, &counts);
}

static void says(const char *expected)
{
	bool any = nm_losses_text(hosts, 3, text, sizeof text);

	ck_assert_str_eq(any ? text : "", expected);
}

START_TEST(some_that_have_come_are_enough)
{
	asks("64");
	says("");
	counted(0, 1, 9, 1, 8);
	counted(1, 1, 1, 1, 0);
	counted(2, 1, 1, 1, 0);
	says("");
}
END_TEST

START_TEST(a_timeout_that_has_ended_the_passes_is_told)
{
	asks("64");
	counted(0, 1, 18, 0, 18);
	says("none of the 18 messages that the master sent has come in time: the path takes longer "
	     "than the timeout of 200 ms, or drops them");
	counted(1, 1, 9, 9, 0);
	counted(2, 1, 1, 9, 0);
	says("none of the 10 messages that slave a, slave b sent has come in time: the path takes "
	     "longer than the timeout of 200 ms, or drops them");
	hosts[0].count.timeouts = 0;
	hosts[2].count.sent = 0;
	hosts[1].count.sent = 1;
	says("the one message that slave a sent has not come in time: the path takes longer than "
	     "the test, or drops them");
}
END_TEST

START_TEST(one_of_several_slaves_is_named)
{
	asks("64");
	counted(0, 1, 18, 9, 9);
	counted(1, 1, 9, 9, 0);
	says("of the messages that the master sent none has come to slave b in time: the path "
	     "takes longer than the timeout of 200 ms, or drops them");
}
END_TEST

START_TEST(the_size_is_that_of_the_largest_message)
{
	asks("1232");
	counted(0, 1, 18, 0, 18);
	ck_assert(nm_losses_text(hosts, 3, text, sizeof text));
	ck_assert_ptr_null(strstr(text, "MTU"));
	end();
	asks("1233");
	counted(0, 1, 18, 0, 18);
	says("none of the 18 messages that the master sent has come in time: the path takes longer "
	     "than the timeout of 200 ms, or drops them, as it may drop all packets so large "
	     "(compare the MTU of all hosts)");
}
END_TEST

/* The expected loss of one phase hides that of no other. */
START_TEST(where_a_lossy_flowop_may_fail_nothing_need_come)
{
	compile("<transaction iterations='9'><flowop type='write' options='size=64 canfail'/>"
		"<flowop type='read' options='size=64 timeout=1s'/></transaction>"
		"<transaction iterations='9'>"
		"<flowop type='write' options='size=64'/>"
		"<flowop type='read' options='size=64 timeout=1s'/></transaction>");
	counted(0, 1, 9, 0, 9);
	says("");
	counted(0, 2, 9, 0, 9);
	says("none of the 9 messages that the master sent has come in time: the path takes longer "
	     "than the timeout of 1.00 s, or drops them");
}
END_TEST

START_TEST(a_flowop_of_a_stream_may_fail)
{
	compile("<transaction iterations='9'>"
		"<flowop type='connect' options='remotehost=a protocol=tcp conn=3 canfail'/>"
		"<flowop type='disconnect' options='conn=3'/>"
		"<flowop type='write' options='size=64'/></transaction>");
	counted(0, 1, 9, 0, 0);
	says("none of the 9 messages that the master sent has come in time: the path takes longer "
	     "than the test, or drops them");
}
END_TEST

START_TEST(a_server_that_answers_nothing)
{
	compile("<transaction iterations='9'>"
		"<flowop type='connect' options='server=a protocol=udp app=dns conn=3'/>"
		"<flowop type='query' options='name=a timeout=100ms conn=3'/>"
		"<flowop type='disconnect' options='conn=3'/></transaction>");
	counted(0, 1, 9, 0, 9);
	says("none of the 9 messages that the master sent was answered in time: no server is "
	     "there, the path takes longer than the timeout of 100 ms, or drops them");
	counted(0, 1, 9, 1, 8);
	says("");
	hosts[0].count.late = 1;
	says("none of the 18 messages that the master sent was answered in time: no server is "
	     "there, the path takes longer than the timeout of 100 ms, or drops them");
	hosts[0].count.refused = 17;
	says("none of the 18 messages that the master sent was answered in time: no server is "
	     "there, the path takes longer than the timeout of 100 ms, or drops them");
	hosts[0].count.refused = 18;
	says("none of the 18 messages that the master sent was answered: as the network says "
	     "(ICMP), no server listens there, or there is no way to it");
	hosts[0].count.sent = hosts[0].count.refused = 1;
	says("the one message that the master sent was not answered: as the network says (ICMP), "
	     "no server listens there, or there is no way to it");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("losses");
	TCase *words = tcase_create("words");

	tcase_add_checked_fixture(words, NULL, end);
	tcase_add_test(words, some_that_have_come_are_enough);
	tcase_add_test(words, a_timeout_that_has_ended_the_passes_is_told);
	tcase_add_test(words, one_of_several_slaves_is_named);
	tcase_add_test(words, the_size_is_that_of_the_largest_message);
	tcase_add_test(words, where_a_lossy_flowop_may_fail_nothing_need_come);
	tcase_add_test(words, a_flowop_of_a_stream_may_fail);
	tcase_add_test(words, a_server_that_answers_nothing);
	suite_add_tcase(suite, words);
	return run_suite(suite);
}
