/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about wrong profiles: all of it, and nothing else. */
#include "compiled.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

#define AT(line, text)	  "t.xml:" #line ": error: " text "\n"
#define WARN(line, text)  "t.xml:" #line ": warning: " text "\n"
#define OP(type, options) "<flowop type='" type "' options='" options "'/>"
#define ONE(flowops)	  GROUP("<transaction>" flowops "</transaction>\n")
#define LOOP_OF(flowops)  "<transaction duration='1s'>" flowops "</transaction>\n"
#define CONNECT		  OP("connect", "remotehost=h")
#define ACCEPT		  OP("accept", "remotehost=h")
#define OPEN		  "<transaction>" CONNECT "</transaction>\n"
#define DISCONNECT	  "<flowop type='disconnect'/>"
#define WRITE		  OP("write", "size=1")
#define READ		  OP("read", "size=1")

#define CONNECT_NAMES                                                                              \
	"remotehost, protocol, port, app, server, from, path, data_host, auth_file, user, db, "    \
	"resp, "                                                                                   \
	"async_connect, reconnect, backoff, requests, lifetime, conn, count, repeat, "             \
	"batch_size, timeout, poll_timeout, canfail, when, unless, non_blocking, and those of "    \
	"--describe tcp"
#define COMMON_NAMES                                                                               \
	"conn, remotehost, count, repeat, batch_size, timeout, poll_timeout, canfail, "            \
	"when, unless, non_blocking"
/* They stand for the names of the flowops that this build has, of those with an option, and of the
 * transports. */
#define FLOWOPS		"{FLOWOPS}"
#define FLOWOPS_OF_SIZE "{FLOWOPS with rsize}"
#define TRANSPORTS	"{TRANSPORTS}"

struct mistake {
	const char *text, *said;
};

static const struct mistake elements[] = {
	{"<grup/>", AT(1, "<grup>: the outermost element must be <profile>")},
	{"<profile/>", AT(1, "<profile>: has no groups")},
	{"<profile><group/></profile>", AT(1, "<group>: has no transactions")},
	{GROUP("<transaction/>"), AT(1, "<group>: has no flowops in any of its transactions")},
	{GROUP("<transaction duration='1s'/>"),
	 AT(2,
	    "<transaction>: has no flowops; without them it may have a name only, and waits until "
	    "the other groups have done theirs")},
	{GROUPS("<gruop/>"), AT(2, "<gruop> inside <profile>: unknown element, did you mean "
				   "<group>?; here <group> is allowed")},
	{GROUPS("<zebra/>"),
	 AT(2, "<zebra> inside <profile>: unknown element; here <group> is allowed")},
	{GROUPS("<flowop type='nop'/>"),
	 AT(2, "<flowop> inside <profile>: a <flowop> belongs inside <transaction>, <mix> or "
	       "<sequence>; here <group> is allowed")},
	{GROUP("<group/>"), AT(2, "<group> inside <group>: a <group> belongs inside <profile>; "
				  "here <transaction> is allowed")},
	{ONE("<flowop type='nop'>\n<param/></flowop>"),
	 AT(3, "<param> inside <flowop>: a <param> belongs inside <profile>; here <header> is "
	       "allowed")},
	{ONE("<flowop/>"), AT(2, "<flowop>: needs type=\"...\": one of " FLOWOPS)},
	{ONE("<flowop type='wirte'/>"), AT(2, "<flowop> type=\"wirte\": unknown flowop, did you "
					      "mean \"write\"?; must be one of: " FLOWOPS)},
	{ONE("<flowop type='zebra'/>"),
	 AT(2, "<flowop> type=\"zebra\": unknown flowop; must be one of: " FLOWOPS)},
};

#define NOP	      "<transaction><flowop type='nop'/></transaction>"
#define WITH(attrs)   GROUPS("<group " attrs ">" NOP "</group>\n")
#define DURING(attrs) GROUP("<transaction " attrs ">" OP("think", "duration=1s") "</transaction>\n")

static const struct mistake attributes[] = {
	{ONE("<flowop type='nop' size='1'/>"),
	 AT(2, "<flowop> size=\"1\": not an attribute, but an option: options=\"size=1\"")},
	{ONE("<flowop type='nop' sizes='1'/>"),
	 AT(2, "<flowop>: unknown attribute \"sizes\"; allowed are type, options, text, weight")},
	{WITH("nthreads='0'"), AT(2, "<group> nthreads=\"0\": must be 1 to 4000000")},
	{WITH("nthreads='4000001'"), AT(2, "<group> nthreads=\"4000001\": must be 1 to 4000000")},
	{WITH("nthreads='-1'"), AT(2, "<group> nthreads=\"-1\": not a count: a number and an "
				      "optional k, m or g (powers of 1000)")},
	{WITH("nflows='0'"), AT(2, "<group> nflows=\"0\": must be 1 to 4000000")},
	{WITH("maxevents='0'"), AT(2, "<group> maxevents=\"0\": must be 1 to 1024")},
	{WITH("maxevents='1025'"), AT(2, "<group> maxevents=\"1025\": must be 1 to 1024")},
	{WITH("engine='aio'"), AT(2, "<group> engine=\"aio\": must be epoll or io_uring")},
	{WITH("engine='io_uring'"),
	 AT(2, "<group> engine=\"io_uring\": none of its transactions can use it: that takes reads "
	       "and writes of a fixed "
	       "size over tcp or unix, without pipeline, timeout, canfail, zerocopy and the like, "
	       "and one host that begins "
	       "each pass")},
	{WITH("nthreads='4' nflows='3'"),
	 AT(2, "<group> nflows=\"3\": must be at least nthreads=\"4\", "
	       "so that each worker has a flow")},
	{WITH("nthread='2'"),
	 AT(2, "<group>: unknown attribute \"nthread\", did you mean "
	       "\"nthreads\"?; allowed are name, nthreads, nprocs, nflows, "
	       "workers, wait, buffer, maxevents, edge_trigger, engine, connect_rate")},
	{GROUPS("<group>" NOP "</group><group nthreads='x'>" NOP "</group>"),
	 AT(2, "<group> nthreads=\"x\": not a count: a number and an optional k, m or g (powers of "
	       "1000)")},
	{GROUPS("<group nthreads='5000'>" NOP "</group><group nthreads='5000'>" NOP "</group>"),
	 "t.xml: error: the groups have 10000 workers together; at most 8192 are allowed\n"},
	{GROUPS("<group nflows='4000000'>" NOP "</group><group>" NOP "</group>"),
	 "t.xml: error: the groups have 4000001 flows together; at most 4000000 are allowed\n"},
	{DURING("duration='0'"), AT(2, "<transaction> duration=\"0\": must be at least 1 ns")},
	{DURING("duration='1d'"),
	 AT(2, "<transaction> duration=\"1d\": not a duration: a number "
	       "and an optional ns, us, ms, s, min or h (seconds without one)")},
	{DURING("duration='1m'"),
	 AT(2, "<transaction> duration=\"1m\": m alone may mean minutes or "
	       "milliseconds: write 1min or 1ms")},
	{DURING("rate='0'"), AT(2, "<transaction> rate=\"0\": must be more than 0")},
	{DURING("rate='fast'"), AT(2, "<transaction> rate=\"fast\": not a rate: a number and an "
				      "optional k, m or g (powers of 1000), and an optional /s")},
	{DURING("iterations='1.5x'"), AT(2, "<transaction> iterations=\"1.5x\": not a count: a "
					    "number and an optional k, m or g (powers of 1000)")},
	{DURING("measure='maybe'"),
	 AT(2, "<transaction> measure=\"maybe\": must be auto, yes or no")},
	{DURING("durtion='1s'"),
	 AT(2, "<transaction>: unknown attribute \"durtion\", did you mean "
	       "\"duration\"?; allowed are name, iterations, duration, total, "
	       "rate, period, spacing, arrivals, lanes, queue, late, drain, slowdown, pipeline, "
	       "fill, until, measure")},
};

static const struct mistake options[] = {
	{ONE(OP("connect", "")),
	 AT(2, "<flowop connect>: needs remotehost=...: the host at the other "
	       "end: a name, an IPv4 or IPv6 address, or local")},
	{ONE(OP("connect", "remotehost=")),
	 AT(2, "<flowop connect> remotehost=\"\": not a host: a name, an IPv4 or IPv6 address, or "
	       "local")},
	{ONE(OP("connect", "remotehost=h protocol=tpc")),
	 AT(2,
	    "<flowop connect> protocol=\"tpc\": unknown protocol, did you mean \"tcp\"?; must be "
	    "one of: " TRANSPORTS)},
	{ONE(OP("connect", "remotehost=h protocol=unix")),
	 AT(2, "<flowop connect> remotehost=\"h\": unix connections stay on one host; remotehost "
	       "must be local")},
	{ONE(OP("connect", "remotehost=h nodelya")),
	 AT(2, "<flowop connect>: unknown option \"nodelya\", did you mean \"nodelay\"?; "
	       "options: " CONNECT_NAMES)},
	{ONE(OP("accept", "from=all app=redis")),
	 AT(2, "<flowop accept> from=\"all\": must be any, or empty")},
	{ONE(OP("accept", "from=any")),
	 AT(2, "<flowop accept> from=\"any\": needs app=..., which says what is served")},
	{ONE(OP("accept", "from=any app=redis protocol=psp")),
	 AT(2,
	    "<flowop accept> from=\"any\": only over tcp, mptcp, ssl and unix, and dns over udp")},
	{ONE(OP("connect", "remotehost=local protocol=unix port=7")),
	 AT(2, "<flowop connect> port=\"7\": unix has no ports")},
	{ONE(OP("connect", "remotehost=h from=any app=redis")),
	 AT(2, "<flowop connect> from=\"any\": only of accept: a connect names whom it connects "
	       "to")},
	{ONE(OP("connect", "remotehost=h app=redis") OP("serve", "")),
	 AT(2, "<flowop serve>: the connection of line 2 is none of an accept with from=any")},
	{ONE(OP("accept", "from=any app=redis") OP("ping", "")),
	 AT(2,
	    "<flowop ping>: over the connection of line 2, which is accepted from any, only serve "
	    "and disconnect are possible")},
	{GROUP("<transaction>" OP("accept", "from=any app=redis") "</transaction>"
								  "<transaction duration='1s'>" OP(
									  "serve",
									  "") "</transaction>\n"),
	 AT(2, "<flowop serve>: the connection of line 2, which is accepted from any, is of use in "
	       "its own transaction alone")},
	{ONE(OP("accept", "from=any app=redis") OP("serve", "") OP("disconnect", "") CONNECT),
	 AT(2,
	    "<flowop connect>: the transaction has the accept of line 2 with from=any, and so no "
	    "connections but those")},
	{ONE(OP("accept", "from=any app=redis") OP("serve", "timeout=1s")),
	 AT(2,
	    "<flowop serve>: neither timeout nor canfail: who serves whoever connects waits until "
	    "the transaction is over, and no failure of theirs is its own")},
	{ONE(OP("accept", "from=any app=redis canfail=yes") OP("serve", "")),
	 AT(2, "<flowop accept>: neither timeout nor canfail: who serves whoever connects waits "
	       "until the transaction is over, and no failure of theirs is its own")},
	{ONE(OP("nop", "zebra=1")),
	 AT(2, "<flowop nop>: unknown option \"zebra\"; options: " COMMON_NAMES)},
	{ONE(CONNECT OP("write", "")),
	 AT(2, "<flowop write>: needs size=...: bytes of the message; rand(A,B) draws them "
	       "anew each time, alike at both ends")},
	{ONE(CONNECT OP("read", "size")),
	 AT(2,
	    "<flowop read> size: needs a value: a size, or a law that draws it: const, rand (also "
	    "uniform), exp, normal, lognormal, pareto, gpareto, gev, zipf, bimodal, discrete or "
	    "cdf; as in rand(1k,64k), without blanks")},
	{ONE(CONNECT OP("write", "size=12q")),
	 AT(2, "<flowop write> size=\"12q\": not a size: a number and an optional k, m, g or t, "
	       "also kb or kib (powers of 1024 bytes)")},
	{ONE(CONNECT OP("write", "size=0")),
	 AT(2, "<flowop write> size=\"0\": must be 1 to 1125899906842624 (1.00 PiB)")},
	{ONE(OP("think", "duration=1s idle busy")),
	 AT(2, "<flowop think>: idle and busy exclude each other")},
	{ONE(OP("think", "duration=1s at=home")),
	 AT(2, "<flowop think> at=\"home\": must be both, master or slave")},
	/* Commas, wherever they are meant to separate. */
	{ONE(OP("think", "duration=1s, idle")),
	 AT(2, "<flowop think>: \"duration=1s,\": options are separated by blanks, not commas")},
	{ONE(OP("connect", "remotehost=h,protocol=tcp")),
	 AT(2, "<flowop connect>: \"remotehost=h,protocol=tcp\": options are separated by blanks, "
	       "not commas")},
	{ONE(OP("connect", "remotehost=h cc=reno,nodelay")),
	 AT(2,
	    "<flowop connect>: \"cc=reno,nodelay\": options are separated by blanks, not commas")},
	{ONE(OP("connect", "remotehost=h ,nodelay")),
	 AT(2, "<flowop connect>: \",nodelay\": options are separated by blanks, not commas")},
};

static const struct mistake connections[] = {
	{ONE(WRITE),
	 AT(2, "<flowop write>: no connection is open here; connect or accept one first")},
	{ONE(DISCONNECT),
	 AT(2, "<flowop disconnect>: no connection is open here; connect or accept one first")},
	{ONE(CONNECT DISCONNECT "\n" READ),
	 AT(3, "<flowop read>: no connection is open here; connect or accept one first")},
	{ONE(CONNECT OP("write", "size=1 conn=2")),
	 AT(2, "<flowop write>: no connection conn=2 is open here; connect or accept one first")},
	{ONE(CONNECT OP("write", "size=1 remotehost=i")),
	 AT(2, "<flowop write>: no connection to i is open here; connect or accept one first")},
	{GROUP(LOOP_OF("\n" CONNECT WRITE)),
	 AT(3, "<flowop connect>: the transaction of line 2 repeats it for a time, but does not "
	       "disconnect again")},
	{GROUP(OPEN LOOP_OF(WRITE "\n" DISCONNECT)),
	 AT(4, "<flowop disconnect>: the transaction of line 3 repeats it for a time, but not the "
	       "opening of its connection")},
	{GROUP(OPEN "<transaction iterations='2'>\n" DISCONNECT "</transaction>\n"),
	 AT(4, "<flowop disconnect>: no connection is open here in pass 2 of its transaction; "
	       "connect or accept one first")},
	/* The first disconnect would concern h, all others i. */
	{GROUP(OPEN LOOP_OF(DISCONNECT "\n" OP("connect", "remotehost=i"))),
	 AT(3, "<flowop disconnect>: from pass to pass it would mean a connection to another host "
	       "or over another protocol; that of line 4; give the connections numbers (conn=N)")},
	{GROUP(OPEN LOOP_OF(WRITE DISCONNECT OP("connect", "remotehost=h protocol=null"))),
	 AT(3, "<flowop write>: from pass to pass it would mean a connection to another host or "
	       "over another protocol; that of line 3; give the connections numbers (conn=N)")},
	/* Nothing that takes time on the master, whose clock it is. */
	{GROUP(LOOP_OF("<flowop type='nop'/>")),
	 AT(2, "<transaction> duration: nothing in it takes time, so that it would only burn the "
	       "CPU")},
	{GROUP(LOOP_OF(OP("think", "duration=0"))),
	 AT(2, "<transaction> duration: nothing in it takes time, so that it would only burn the "
	       "CPU")},
	{GROUP(LOOP_OF(OP("think", "duration=1s at=slave"))),
	 AT(2, "<transaction> duration: nothing in it takes time, so that it would only burn the "
	       "CPU")},
	/* Two ends that would begin passes until they are told to stop. */
	{GROUP(LOOP_OF(CONNECT WRITE DISCONNECT "\n" OP("accept", "remotehost=i") DISCONNECT)),
	 AT(3, "<flowop accept>: host i would begin each pass, but so would the master: in a "
	       "transaction with a duration only one of them can")},
	{GROUP(LOOP_OF(ACCEPT READ DISCONNECT "\n" OP("accept", "remotehost=i") DISCONNECT)),
	 AT(3, "<flowop accept>: host i would begin each pass, but so would h: in a transaction "
	       "with a duration only one of them can")},
};

static void put_flowops(bool of_size, FILE *out)
{
	const char *between = "";

	for (size_t i = 0; nm_flowops[i]; i++) {
		if (of_size && !nm_opt_find(nm_flowops[i]->opts, "rsize"))
			continue;
		fprintf(out, "%s%s", between, nm_flowops[i]->name);
		between = ", ";
	}
}

static void put_transports(FILE *out)
{
	for (size_t i = 0; nm_transports[i]; i++) {
		fprintf(out, "%s%s", i ? ", " : "", nm_transports[i]->name);
		if (nm_transports[i]->alias)
			fprintf(out, ", %s", nm_transports[i]->alias);
	}
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* What is to be said, with the names; owned by the caller. */
static char *expected(const char *text)
{
	char *whole = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&whole, &size);

	for (const char *c = text; *c; c++) {
		if (starts(c, FLOWOPS) || starts(c, FLOWOPS_OF_SIZE))
			put_flowops(starts(c, FLOWOPS_OF_SIZE), out);
		else if (starts(c, TRANSPORTS))
			put_transports(out);
		else
			fputc(*c, out);
		if (*c == '{')
			c = strchr(c, '}');
	}
	ck_assert_int_eq(fclose(out), 0);
	return whole;
}

static void assert_said(const struct mistake *mistake)
{
	struct compiled c = compile(mistake->text);
	char *all = said(&c.diags), *right = expected(mistake->said);

	ck_assert_str_eq(all, right);
	free(right);
	ck_assert_ptr_null(c.plan);
	free(all);
	compiled_fini(&c);
}

START_TEST(wrong_elements)
{
	assert_said(&elements[_i]);
}
END_TEST

START_TEST(wrong_attributes)
{
	assert_said(&attributes[_i]);
}
END_TEST

START_TEST(wrong_options)
{
	assert_said(&options[_i]);
}
END_TEST

START_TEST(wrong_connections)
{
	assert_said(&connections[_i]);
}
END_TEST

/* The same shapes, where they are right. */
static const char *const good[] = {
	GROUP(OPEN LOOP_OF(WRITE READ)),
	GROUP(OPEN "<transaction>" DISCONNECT "</transaction>" OPEN),
	GROUP("<transaction iterations='1'>" CONNECT "</transaction>"),
	GROUP("<transaction iterations='9'>" CONNECT DISCONNECT "</transaction>"),
	/* Each pass leaves a connection to the same host. */
	GROUP(OPEN LOOP_OF(WRITE DISCONNECT CONNECT)),
	GROUP(OPEN "<transaction>" DISCONNECT OP("connect", "remotehost=i") "</transaction>"),
	GROUP(LOOP_OF(OP("think", "duration=1ns"))),
	GROUP(LOOP_OF(ACCEPT READ DISCONNECT OP("connect", "remotehost=i") DISCONNECT)),
	GROUP(LOOP_OF(ACCEPT READ DISCONNECT CONNECT DISCONNECT)),
	/* By count nobody has to be told when to end. */
	GROUP("<transaction iterations='5'>" CONNECT DISCONNECT OP("accept", "remotehost=i")
		      DISCONNECT "</transaction>"),
	GROUP("<transaction iterations='5'><flowop type='nop'/></transaction>"),
	ONE(OP("connect", "remotehost=::1 cc=reno")),
	ONE(OP("connect", " remotehost=h\tprotocol=tcp\n\r nodelay=no bind=127.0.0.1 ")),
};

START_TEST(right_profiles)
{
	struct compiled c = compile_good(good[_i]);

	compiled_fini(&c);
}
END_TEST

#define SAME(name) "<group name='" name "'>" NOP "</group>\n"

static const struct mistake warnings[] = {
	{GROUP("<transaction iterations='3' duration='1s'>" OP("think",
							       "duration=1s") "</transaction>"),
	 WARN(2, "<transaction>: has both iterations and duration; duration counts")},
	{ONE(CONNECT OP("write", "size=1 size=2")),
	 WARN(2, "<flowop write>: option \"size\" is given twice; the last one counts")},
	{ONE(CONNECT OP("write", "size=1 -x 1size=2")),
	 WARN(2, "<flowop write>: \"-x\" is left out: the name of an option begins with a letter")
		 WARN(2,
		      "<flowop write>: \"1size\" is left out: the name of an option begins with a "
		      "letter")},
	{ONE(OP("connect", "remotehost=h nodelay tcp_nodelay=no")),
	 WARN(2, "<flowop connect>: option \"tcp_nodelay\" is given twice; the last one counts")},
	{GROUPS(SAME("a") SAME("b") SAME("a") SAME("a") SAME("b")),
	 WARN(4, "<group> name=\"a\": the group of line 2 has the same name")
		 WARN(6, "<group> name=\"b\": the group of line 3 has the same name")},
	{ONE(CONNECT OP("write", "size=8k rsize=7k")),
	 WARN(2, "<flowop write>: rsize has no effect: it is smaller than size")},
	{ONE(CONNECT OP("write", "size=8k rsize=8k rcvlowat=2k")),
	 WARN(2, "<flowop write>: rcvlowat has no effect: its transaction has no duration")},
	{ONE(CONNECT OP("read", "size=1 rsize=8k")),
	 WARN(2, "<flowop read>: rsize has no effect: the slave sends what is received here, "
		 "exactly `size` bytes")},
	{ONE(OP("connect", "remotehost=h protocol=udp") OP("write", "size=1 rsize=8k")),
	 WARN(2, "<flowop write>: rsize has no effect: its connection keeps messages apart")},
	{ONE(CONNECT OP("write", "size=1 rsize=8k") OP("sendfile", "dir=.")),
	 WARN(2, "<flowop write>: rsize has no effect: where files are sent, nothing is received "
		 "before its turn")},
	{ONE(CONNECT OP("sendfile", "dir=. rsize=8k")),
	 WARN(2, "<flowop sendfile>: \"rsize\" has no effect: it is not an option of sendfile, but "
		 "of " FLOWOPS_OF_SIZE)},
};

START_TEST(doubtful_profiles)
{
	struct compiled c = compile(warnings[_i].text);
	char *all = said(&c.diags), *right = expected(warnings[_i].said);

	ck_assert_str_eq(all, right);
	free(right);
	ck_assert_ptr_nonnull(c.plan);
	free(all);
	compiled_fini(&c);
}
END_TEST

START_TEST(the_last_of_two_options_counts)
{
	struct compiled c = compile(ONE(CONNECT OP("write", "size=1 size=2")));

	ck_assert_uint_eq(instr_at(c.plan, 0, 1)->size, 2);
	compiled_fini(&c);
}
END_TEST

START_TEST(all_mistakes_are_told_at_once)
{
	static const struct mistake several = {
		"<profile nmae='x'>\n"
		"<group nthreads='x'>\n"
		"<transaction duration='2d'>\n" OP("conect", "remotehost=h") "\n" OP(
			"read", "size=q") "\n"
					  "</transaction></group>\n"
					  "<gruop/></profile>\n",
		AT(1, "<profile>: unknown attribute \"nmae\", did you mean \"name\"?; allowed are "
		      "name, throughput, units") AT(2, "<group> nthreads=\"x\": not a count: a "
						       "number and "
						       "an optional "
						       "k, m or g (powers of 1000)")
			AT(3, "<transaction> duration=\"2d\": not a duration: a number and an "
			      "optional ns, us, ms, s, min or h (seconds without one)")
				AT(4, "<flowop> type=\"conect\": unknown flowop, did you "
				      "mean \"connect\"?; must be one of: " FLOWOPS)
					AT(5, "<flowop read> size=\"q\": not a size: a number and "
					      "an optional "
					      "k, m, g or t, also kb or kib (powers of 1024 bytes)")
						AT(7, "<gruop> inside <profile>: unknown "
						      "element, did you mean <group>?; "
						      "here <group> is allowed")
							AT(5, "<flowop read>: no connection "
							      "is open here; connect or "
							      "accept one first"),
	};

	assert_said(&several);
}
END_TEST

/* A profile of `count` times `item`, between `before` and `after`. */
static char *many(const char *before, const char *item, int count, const char *after)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fputs(before, out);
	for (int i = 0; i < count; i++)
		fprintf(out, item, i);
	fputs(after, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static const struct {
	const char *before, *item, *after;
	int most;
	const char *said;
} limits[] = {
	{"<profile>", "<group>" NOP "</group>", "</profile>", NM_PLAN_MAX_GROUPS,
	 AT(1, "<profile>: has 1025 groups; at most 1024 are allowed")},
	{"<profile><group>", NOP, "</group></profile>", NM_PLAN_MAX_PHASES,
	 AT(1, "<group>: has 1001 transactions and 1001 flowops; at most 1000 and 10000 are "
	       "allowed")},
	{"<profile><group><transaction>", "<flowop type='nop'/>",
	 "</transaction></group></profile>", NM_PLAN_MAX_INSTRS,
	 AT(1, "<group>: has 1 transactions and 10001 flowops; at most 1000 and 10000 are "
	       "allowed")},
	{"<profile><group><transaction>",
	 "<flowop type='connect' options='remotehost=h%d'/><flowop type='disconnect'/>",
	 "</transaction></group></profile>", NM_PLAN_MAX_HOSTS,
	 AT(1, "the profile names more than 1024 hosts")},
};

START_TEST(limits_hold)
{
	for (int over = 0; over <= 1; over++) {
		char *text = many(limits[_i].before, limits[_i].item, limits[_i].most + over,
				  limits[_i].after);
		struct compiled c = compile(text);
		char *all = said(&c.diags);

		ck_assert_str_eq(all, over ? limits[_i].said : "");
		ck_assert_int_eq(c.plan == NULL, over);
		free(all);
		compiled_fini(&c);
		free(text);
	}
}
END_TEST

START_TEST(too_many_hosts_are_told_once)
{
	char *text = many("<profile><group><transaction>",
			  "<flowop type='connect' options='remotehost=h%d'/>"
			  "<flowop type='disconnect'/>",
			  2 * NM_PLAN_MAX_HOSTS, "</transaction></group></profile>");
	struct compiled c = compile(text);

	ck_assert_uint_eq(c.diags.count, 1);
	compiled_fini(&c);
	free(text);
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof *(table))

int main(void)
{
	Suite *suite = suite_create("check");
	TCase *tc = tcase_create("check");

	tcase_set_timeout(tc, 60); /* the largest profiles, under sanitizers, on a busy machine */
	LOOP(wrong_elements, elements);
	LOOP(wrong_attributes, attributes);
	LOOP(wrong_options, options);
	LOOP(wrong_connections, connections);
	LOOP(right_profiles, good);
	LOOP(doubtful_profiles, warnings);
	tcase_add_test(tc, the_last_of_two_options_counts);
	tcase_add_test(tc, all_mistakes_are_told_at_once);
	LOOP(limits_hold, limits);
	tcase_add_test(tc, too_many_hosts_are_told_once);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
