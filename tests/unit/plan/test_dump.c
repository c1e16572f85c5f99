/* SPDX-License-Identifier: Apache-2.0 */
#include "compiled.h"

#include <check.h>
#include <stdlib.h>

#include "../suite.h"

/* How a phase is waited in that no other waiter than epoll suits, by the reason. */
#define EPOLL(why, deferral) "       waiter epoll (not " why "), deferral none (" deferral ")\n"
#define MANY		     EPOLL("recv: 2 flows", "connections outlive a pass")

#define WAITS EPOLL("recv: a pass is no request with its answer", "connections outlive a pass")

static const char profile[] =
	"<profile name='p'>\n"
	"<group name='g' nthreads='2' nflows='4'>\n"
	"<transaction name='open'>\n"
	"<flowop type='connect' options='remotehost=h nodelay cc=reno wndsz=64k'/>\n"
	"</transaction>\n"
	"<transaction duration='1500ms' rate='0.5'>\n"
	"<flowop type='write' options='size=100k'/>\n"
	"<flowop type='think' options='duration=1500us busy at=master'/>\n"
	"<flowop type='read' options='size=1'/>\n"
	"</transaction>\n"
	"<transaction iterations='0'><flowop type='nop'/></transaction>\n"
	"<transaction iterations='2'><flowop type='think' options='duration=2s'/></transaction>\n"
	"<transaction><flowop type='disconnect' options='close=rst'/></transaction>\n"
	"</group>\n"
	"<group>\n"
	"<transaction>\n"
	"<flowop type='accept' options='remotehost=i protocol=tcp bind=10.0.0.1'/>\n"
	"<flowop type='disconnect' options='close=fin'/>\n"
	"</transaction>\n"
	"</group>\n"
	"</profile>\n";

static const char master[] =
	"master of profile \"p\", 5 phases\n"
	"group g: 4 flows on 2 workers, at most 102400 bytes a call  (line 2)\n"
	"  phase 1 open: 1 time, leads  (line 3)\n" MANY
	"       0  connect    opening=0 over=tcp host=h nodelay=yes cc=reno wndsz=65536  (line 4)\n"
	"       1  again\n"
	"  phase 2: for 1500ms, 0.5 a second, leads, measured  (line 6)\n" MANY
	"       2  write      size=102400 over=tcp host=h  (line 7)\n"
	"       3  think      duration=1500us busy=yes at=master  (line 8)\n"
	"       4  read       size=1 over=tcp host=h  (line 9)\n"
	"       5  again\n"
	"  phase 3: nothing to do  (line 11)\n"
	"  phase 4: 2 times, leads  (line 12)\n" MANY
	"       7  think      duration=2s  (line 12)\n"
	"       8  again\n"
	"  phase 5: 1 time, leads  (line 13)\n" MANY
	"       9  disconnect over=tcp host=h close=rst  (line 13)\n"
	"      10  again\n"
	"group Group1: 1 flow on 1 worker, at most 4096 bytes a call  (line 15)\n"
	"  phase 1: 1 time, follows  (line 16)\n"
	"       waiter epoll (not recv: a pass is no request with its answer), deferral none "
	"(accept "
	"of line 17 is not on a plain stream)\n"
	"       0  accept     opening=0 over=tcp host=i localhost=10.0.0.1  (line 17)\n"
	"       1  disconnect over=tcp host=i  (line 18)\n"
	"       2  again\n";

static const char slave[] =
	"slave of profile \"p\", 5 phases\n"
	"group g: 4 flows on 2 workers, at most 102400 bytes a call  (line 2)\n"
	"  phase 1 open: 1 time, follows  (line 3)\n" MANY
	"       0  accept     opening=0 over=tcp host=master nodelay=yes "
	"cc=reno wndsz=65536  (line "
	"4)\n"
	"       1  again\n"
	"  phase 2: for 1500ms, 0.5 a second, follows, measured  (line 6)\n" MANY
	"       2  read       size=102400 over=tcp host=master  (line 7)\n"
	"       3  write      size=1 over=tcp host=master  (line 9)\n"
	"       4  again\n"
	"  phase 3: nothing to do  (line 11)\n"
	"  phase 4: nothing to do  (line 12)\n"
	"  phase 5: 1 time, follows  (line 13)\n" MANY
	"       7  disconnect over=tcp host=master close=rst  (line 13)\n"
	"       8  again\n"
	"group Group1: 1 flow on 1 worker, not run here  (line 15)\n";

static void assert_dump(const struct nm_plan *plan, const char *expected)
{
	char *text = nm_plan_dump(plan), *again = nm_plan_dump(plan);

	ck_assert_str_eq(text, expected);
	ck_assert_str_eq(again, text);
	free(text);
	free(again);
}

START_TEST(both_sides_can_be_read)
{
	struct compiled c = compile_good(profile);
	struct nm_plan *plan = mirror(&c, "h");

	assert_dump(c.plan, master);
	assert_dump(plan, slave);
	nm_plan_free(plan);
	compiled_fini(&c);
}
END_TEST

START_TEST(a_connection_without_peer_has_no_host)
{
	struct compiled c = compile_good(
		GROUP("<transaction><flowop type='connect' options='remotehost=h protocol=null'/>"
		      "<flowop type='read' options='size=1'/></transaction>\n"));

	assert_dump(c.plan,
		    "master of profile \"\", 1 phase\n"
		    "group Group0: 1 flow on 1 worker, at most 4096 bytes a call  (line 1)\n"
		    "  phase 1: 1 time, leads, measured  (line 2)\n" WAITS
		    "       0  connect    opening=0 over=null  (line 2)\n"
		    "       1  read       size=1 over=null  (line 2)\n"
		    "       2  again\n");
	compiled_fini(&c);
}
END_TEST

/* A name adds no line, and does not look like something else. */
START_TEST(names_are_told_from_the_text_around_them)
{
	struct compiled c = compile_good(
		"<profile name='a \"b\"'><group name='x: 9 flows&#10;group y'>\n"
		"<transaction name='tab&#9;&#x9b;\\'><flowop type='connect' options='remotehost=h "
		"protocol=null'/></transaction><transaction name='p\xc3\xa9-1.2' iterations='0'>"
		"<flowop type='nop'/></transaction></group></profile>");

	assert_dump(
		c.plan,
		"master of profile \"a \\\"b\\\"\", 2 phases\n"
		"group \"x: 9 flows\\x0agroup y\": 1 flow on 1 worker, at most 4096 bytes a "
		"call  (line 1)\n"
		"  phase 1 \"tab\\x09\\xc2\\x9b\\\\\": 1 time, leads, measured  (line 2)\n" WAITS
		"       0  connect    opening=0 over=null  (line 2)\n"
		"       1  again\n"
		"  phase 2 p\xc3\xa9-1.2: nothing to do  (line 2)\n");
	compiled_fini(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump");
	TCase *tc = tcase_create("dump");

	tcase_add_test(tc, both_sides_can_be_read);
	tcase_add_test(tc, a_connection_without_peer_has_no_host);
	tcase_add_test(tc, names_are_told_from_the_text_around_them);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
