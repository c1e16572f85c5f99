/* SPDX-License-Identifier: Apache-2.0 */
/* What profiles write short, written out: standard parameters, and parameters that set options. */
#include "plan/shorthand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "compiled.h"
#include "flowop/flowop.h"
#include "plan/standard.h"

struct expanded {
	struct nm_diags diags;
	char *text; /* what the tree has become */
};

static struct expanded expand(const char *text)
{
	struct expanded e = {.text = NULL};
	struct nm_node *root = nm_profile_parse("t.xml", text, strlen(text), &e.diags);

	ck_assert_ptr_nonnull(root);
	nm_shorthand_expand(root, "t.xml", &e.diags);
	e.text = nm_profile_print(root);
	ck_assert_ptr_nonnull(e.text);
	nm_node_free(root);
	return e;
}

static void expanded_fini(struct expanded *e)
{
	free(e->text);
	nm_diags_fini(&e->diags);
}

#define STEPS(steps) "<group><transaction>" steps "</transaction></group>"
#define MARK                                                                                       \
	"<param name=\"m\" default=\"7\" type=\"integer\" help=\"mark of the packets for routing " \
	"and filters (SO_MARK), at both ends; needs CAP_NET_ADMIN; 0: none\"/>"

/* The body of a profile, and what it is short for. */
static const struct {
	const char *body, *is;
} bodies[] = {
	/* Nothing is short here. */
	{"<param name=\"a\" default=\"1\"/><group wait=\"$a\"/>",
	 "<param name=\"a\" default=\"1\"/><group wait=\"$a\"/>"},
	/* Standard parameters, in their order, with their defaults or others. */
	{"<params names=' request_size  num_flows=8 '/>",
	 "<param name=\"request_size\" type=\"size\" default=\"1\" help=\"bytes of a request\"/>"
	 "<param name=\"num_flows\" type=\"count\" default=\"8\" help=\"connections\"/>"},
	{"<params names='close_by='/>",
	 "<param name=\"close_by\" type=\"enum\" choices=\"client server\" default=\"\" "
	 "help=\"which end closes first\"/>"},
	/* A parameter takes from the option what it does not say itself. */
	{"<param name='m' sets='connect.mark' default='7'/>", MARK},
	{"<param name='n' sets='connect.nodelay' help='h'/>",
	 "<param name=\"n\" help=\"h\" type=\"flag\" default=\"no\"/>"},
	{"<param name='b' sets='disconnect.by' help='h'/>",
	 "<param name=\"b\" help=\"h\" type=\"enum\" choices=\"client server\" "
	 "default=\"client\"/>"},
	/* It sets the option of each such flowop, but where that has it. */
	{"<param name='m' sets='connect.mark' default='7'/>" STEPS(
		 "<flowop type='connect'/><flowop type='connect' options='mark=3'/>"
		 "<flowop type='accept'/><flowop type='CONNECT' options='port=2'/>"),
	 MARK STEPS("<flowop type=\"connect\" options=\" mark=$m\"/>"
		    "<flowop type=\"connect\" options=\"mark=3\"/><flowop type=\"accept\"/>"
		    "<flowop type=\"CONNECT\" options=\"port=2 mark=$m\"/>")},
	/* Nor where the option is given by its other name. */
	{"<param name='d' sets='connect.nodelay' help='h'/>" STEPS(
		 "<flowop type='connect' options='tcp_nodelay=no'/>"),
	 "<param name=\"d\" help=\"h\" type=\"flag\" default=\"no\"/>" STEPS(
		 "<flowop type=\"connect\" options=\"tcp_nodelay=no\"/>")},
	/* Only over protocols that have it; the last protocol counts, and one that is not known yet
	 * may have it. */
	{"<param name='d' sets='connect.nodelay' help='h'/>" STEPS(
		 "<flowop type='connect' options='protocol=udp'/>"
		 "<flowop type='connect' options='protocol=udp Protocol=tcp'/>"
		 "<flowop type='connect' options='protocol=$p'/>"),
	 "<param name=\"d\" help=\"h\" type=\"flag\" default=\"no\"/>" STEPS(
		 "<flowop type=\"connect\" options=\"protocol=udp\"/>"
		 "<flowop type=\"connect\" options=\"protocol=udp Protocol=tcp nodelay=$d\"/>"
		 "<flowop type=\"connect\" options=\"protocol=$p nodelay=$d\"/>")},
	/* Options of all flowops, of messages, and several at once. */
	{"<param name='t' sets='read.timeout' default='1s' help='h'/>"
	 "<param name='s' sets='write.sctp_stream_id read.sctp_stream_id' default='1' "
	 "help='h'/>" STEPS(
		 "<flowop type='write' options='size=1'/><flowop type='read' options='size=1'/>"),
	 "<param name=\"t\" default=\"1s\" help=\"h\" type=\"duration\"/>"
	 "<param name=\"s\" default=\"1\" help=\"h\" type=\"count\"/>" STEPS(
		 "<flowop type=\"write\" options=\"size=1 sctp_stream_id=$s\"/>"
		 "<flowop type=\"read\" options=\"size=1 timeout=$t sctp_stream_id=$s\"/>")},
	/* Attributes of groups. */
	{"<param name='w' sets='group.maxevents' help='h'/><group/><group maxevents='1'/>",
	 "<param name=\"w\" help=\"h\" type=\"count\" default=\"256\"/>"
	 "<group maxevents=\"$w\"/><group maxevents=\"1\"/>"},
	/* A flowop of another name, and one whose name is not known yet. */
	{"<param name='m' sets='connect.mark' default='7'/>" STEPS(
		 "<flowop type='$t'/><flowop type='conect'/><flowop/>"),
	 MARK STEPS("<flowop type=\"$t\"/><flowop type=\"conect\"/><flowop/>")},
};

START_TEST(what_is_short_is_written_out)
{
	char text[2048], expected[2048];

	(void)snprintf(text, sizeof text, "<profile>%s</profile>", bodies[_i].body);
	(void)snprintf(expected, sizeof expected, "<profile>%s</profile>\n", bodies[_i].is);
	struct expanded e = expand(text);

	ck_assert_uint_eq(e.diags.count, 0);
	ck_assert_str_eq(e.text, expected);
	struct expanded again = expand(e.text);

	ck_assert_uint_eq(again.diags.count, 0);
	ck_assert_str_eq(again.text, e.text);
	expanded_fini(&again);
	expanded_fini(&e);
}
END_TEST

/* Nothing is set after a mistake, which may be about what sets it; and no mistake stops it. */
static const struct {
	const char *body, *told;
} mistakes[] = {
	{"<params names='mark hots'/>",
	 "t.xml:1: error: <params>: \"hots\" is no standard parameter, did you mean \"host\"?; "
	 "--describe parameters lists them\n"},
	{"<param name='a' sets='connect.mark connect.cc' default='1'/>",
	 "t.xml:1: error: <param name=\"a\">: sets options of two types, integer and string\n"},
	{"<param name='a' sets='.mark'/>",
	 "t.xml:1: error: <param name=\"a\"> sets=\".mark\": must be a flowop and one of its "
	 "options, as connect.cc, or group and an attribute, as group.wait\n"},
	{"<param name='a' sets='connect.'/>",
	 "t.xml:1: error: <param name=\"a\"> sets=\"connect.\": connect has no option \"\"\n"},
	{"<param name='a' sets='group.nthread'/>",
	 "t.xml:1: error: <param name=\"a\"> sets=\"group.nthread\": group has no attribute "
	 "\"nthread\", did you mean \"nthreads\"?\n"},
	/* Both have been told of otherwise: that there is no name, and that it is none. */
	{"<param sets='connect.mark'/>", ""},
	{"<param name='1' sets='connect.mark'/>", ""},
};

START_TEST(a_mistake_sets_nothing)
{
	char text[1024];

	(void)snprintf(text, sizeof text,
		       "<profile>%s<group><transaction><flowop type='connect'/></transaction>"
		       "</group></profile>",
		       mistakes[_i].body);
	struct expanded e = expand(text);
	char *all = said(&e.diags);

	ck_assert_str_eq(all, mistakes[_i].told);
	ck_assert_ptr_nonnull(strstr(e.text, "<flowop type=\"connect\"/>"));
	ck_assert_ptr_null(strstr(e.text, "sets="));
	free(all);
	expanded_fini(&e);
}
END_TEST

/* 1 MiB can name more parameters than a profile may have elements. */
START_TEST(their_number_is_limited)
{
	const size_t count = NM_PROFILE_MAX_VALUE / 5;
	char *text = malloc(6 * (5 * count + 64) + 64), *end = text;

	ck_assert_ptr_nonnull(text);
	end += sprintf(end, "<profile>");
	for (int i = 0; i < 6; i++) {
		end += sprintf(end, "<params names='");
		for (size_t k = 0; k < count; k++)
			end = stpcpy(end, "mark ");
		end += sprintf(end, "'/>");
	}
	(void)stpcpy(end, "</profile>");
	struct expanded e = expand(text);

	ck_assert_uint_eq(e.diags.count, 1);
	ck_assert_ptr_nonnull(strstr(e.diags.items[0].text, "more than 65536 elements"));
	expanded_fini(&e);
	free(text);
}
END_TEST

/* ---- the table ---- */

static size_t standard_count(void)
{
	size_t count = 0;

	while (nm_standard_params[count].name)
		count++;
	return count;
}

START_TEST(standard_parameters_are_right)
{
	const struct nm_standard_param *p = &nm_standard_params[_i];
	char why[160];

	ck_assert_ptr_eq(nm_standard_param_find(p->name), p);
	ck_assert_ptr_nonnull(p->def);
	ck_assert(p->help && *p->help);
	ck_assert_int_eq(p->type == NM_TYPE_ENUM, p->choices != NULL);
	enum nm_type type = nm_shorthand_type(p);

	if (type != NM_TYPE_ENUM)
		ck_assert_msg(nm_type_check(type, NM_READING_NETMODEL, p->def, why, sizeof why) ==
				      0,
			      "%s: %s", p->name, why);
	for (const char *target = p->option; target && *target; target += strspn(target, " ")) {
		const struct nm_flowop *op;
		const struct nm_opt *opt = nm_shorthand_option(target, &op);
		_Alignas(max_align_t) char field[64] = {0};
		struct nm_opt alone;

		ck_assert_msg(opt, "%s sets %s", p->name, target);
		ck_assert_int_eq(opt->type, type);
		alone = *opt;
		alone.offset = 0;
		ck_assert_msg(nm_opt_set(&alone, field, p->def, why, sizeof why) == 0, "%s: %s",
			      p->name, why);
		if (type == NM_TYPE_STRING || type == NM_TYPE_HOST)
			free(*(char **)(void *)field);
		target += strcspn(target, " ");
	}
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof *(table))

int main(void)
{
	Suite *suite = suite_create("shorthand");
	TCase *tc = tcase_create("shorthand");

	LOOP(what_is_short_is_written_out, bodies);
	LOOP(a_mistake_sets_nothing, mistakes);
	tcase_add_test(tc, their_number_is_limited);
	tcase_add_loop_test(tc, standard_parameters_are_right, 0, (int)standard_count());
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
