/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/params.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "compiled.h"

/* A profile, its parameters, and what was said about it. */
struct applied {
	struct nm_diags diags;
	struct nm_node *root;
	struct nm_params params;
};

static int environment; /* its address stands for what looks names up */

/* In the environment of the tests a name in capitals has itself as value. */
static const char *lookup(const char *name, void *arg)
{
	ck_assert_ptr_eq(arg, &environment);
	if (strcmp(name, "EMPTY") == 0)
		return "";
	return name[0] >= 'A' && name[0] <= 'Z' ? name : NULL;
}

static struct applied apply_defines(const char *text, const struct nm_define *defines, size_t count)
{
	struct applied a = {.root = NULL};

	a.root = nm_profile_parse("t.xml", text, strlen(text), &a.diags);
	ck_assert_ptr_nonnull(a.root);
	const struct nm_param_values from = {defines, count, lookup, &environment, false};

	nm_params_apply(a.root, "t.xml", &from, &a.params, &a.diags);
	return a;
}

static struct applied apply(const char *text)
{
	return apply_defines(text, NULL, 0);
}

static void applied_fini(struct applied *a)
{
	nm_params_fini(&a->params);
	nm_node_free(a->root);
	nm_diags_fini(&a->diags);
}

static void assert_said(const struct applied *a, const char *expected)
{
	char *all = said(&a->diags);

	ck_assert_str_eq(all, expected);
	free(all);
}

static const struct nm_param *param_of(const struct nm_params *params, const char *name)
{
	for (size_t i = 0; i < params->count; i++)
		if (strcmp(params->items[i].name, name) == 0)
			return &params->items[i];
	ck_abort_msg("no parameter %s", name);
	return NULL;
}

static const struct {
	const char *value, *becomes;
} values[] = {
	{"plain", "plain"},
	{"$a", "one"},
	{"${a}", "one"},
	{"$a$b", "onetwo"},
	{"${a}${b}", "onetwo"},
	{"x$a.y", "xone.y"},
	{"x${a}y", "xoney"},
	{"size=$a count=$b", "size=one count=two"},
	{"$$a", "$a"},
	{"$$$a", "$one"},
	{"$$$$", "$$"},
	{"cost: 5$$", "cost: 5$"},
	{"$e", ""},
	{"[$e]", "[]"},
	/* Values are not looked into again. */
	{"$d", "$a"},
	{"$UNDECLARED", "UNDECLARED"},
	{"[${EMPTY}]", "[]"},
};

START_TEST(names_stand_for_values)
{
	char text[512];

	(void)snprintf(text, sizeof text,
		       "<profile><param name='a' default='one'/><param name='b' default='two'/>"
		       "<param name='d' default=''/><param name='e' default=''/>"
		       "<x v='%s' w='$a $b $d $e'><y v='%s'/></x></profile>",
		       values[_i].value, values[_i].value);
	const struct nm_define define = {"d", "$a"};
	struct applied a = apply_defines(text, &define, 1);

	assert_said(&a, "");
	ck_assert_uint_eq(a.root->n_children, 1);
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), values[_i].becomes);
	ck_assert_str_eq(nm_node_attr(a.root->children[0]->children[0], "v"), values[_i].becomes);
	applied_fini(&a);
}
END_TEST

START_TEST(long_values)
{
	char *long_value = malloc(20001), *text = malloc(100000);

	ck_assert(long_value && text);
	memset(long_value, 'x', 20000);
	long_value[20000] = '\0';
	(void)snprintf(text, 100000,
		       "<profile><param name='a' default='%s'/><x v='$a-$a-$a'/></profile>",
		       long_value);
	struct applied a = apply(text);
	const char *v = nm_node_attr(a.root->children[0], "v");

	ck_assert_uint_eq(strlen(v), 60002);
	ck_assert_uint_eq(strspn(v, "x"), 20000);
	ck_assert_str_eq(v + 40002, long_value);
	applied_fini(&a);
	free(text);
	free(long_value);
}
END_TEST

/* A parameter of so many bytes, and what uses it. */
static struct applied apply_long(size_t bytes, const char *uses)
{
	char *value = malloc(bytes + 1), *text = malloc(bytes + 4000);

	ck_assert(value && text);
	memset(value, 'x', bytes);
	value[bytes] = '\0';
	(void)snprintf(text, bytes + 4000, "<profile><param name='a' default='%s'/>\n%s</profile>",
		       value, uses);
	struct applied a = apply(text);

	free(text);
	free(value);
	return a;
}

START_TEST(a_value_does_not_grow_beyond_its_limit)
{
	struct applied a = apply_long(32768, "<x v='$a$a'/>");

	assert_said(&a, "");
	ck_assert_uint_eq(strlen(nm_node_attr(a.root->children[0], "v")), 65536);
	applied_fini(&a);
	a = apply_long(32768, "<x v='$a$a.'/><y w='$a$a$a' z='$a'/>");
	assert_said(&a, "t.xml:2: error: <x> v: with $a put in, the value is longer than 65536 "
			"bytes\n");
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), NM_NO_VALUE);
	ck_assert_str_eq(nm_node_attr(a.root->children[1], "z"), NM_NO_VALUE);
	applied_fini(&a);
	a = apply_long(65536, "<param name='b' default='$a$a'/>\n<x v='$b'/>");
	assert_said(&a, "t.xml:2: error: <param> default: with $a put in, the value is longer than "
			"65536 bytes\n");
	applied_fini(&a);
}
END_TEST

START_TEST(all_values_together_do_not_grow_beyond_their_limit)
{
	char uses[1000] = "";

	for (int i = 0; i < 15; i++)
		strcat(uses, "<x v='$a'/>");
	struct applied a = apply_long(65536, uses);

	assert_said(&a, "");
	applied_fini(&a);
	strcat(uses, "<x v='$a'/>\n<x v='$a'/>");
	a = apply_long(65536, uses);
	assert_said(&a, "t.xml:3: error: <x> v: with $a put in, the values of the profile are "
			"together longer than 1048576 bytes (1 MiB)\n");
	applied_fini(&a);
}
END_TEST

START_TEST(of_many_names_without_a_value_some_are_told)
{
	char text[1000] = "<profile><x v='";

	for (int i = 0; i < 25; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "$n%d", i);
	strcat(text, "'/></profile>");
	struct applied a = apply(text);
	char *all = said(&a.diags);

	ck_assert_ptr_nonnull(strstr(all, "error: 25 names have no value: $n0 (line 1), $n1"));
	ck_assert_ptr_nonnull(strstr(all, "$n19 (line 1) and 5 more: give each one"));
	free(all);
	applied_fini(&a);
}
END_TEST

START_TEST(the_first_found_counts)
{
	const struct nm_define defines[] = {{"a", "wrong"}, {"A", "defined"}, {"a", "defined"}};
	const char *text = "<profile><param name='a' default='x'/><param name='A' default='x'/>"
			   "<param name='B' default='x'/><param name='c' default='x' help='see'/>"
			   "<x v='$a $A $B $c $D'/></profile>";
	struct applied a = apply_defines(text, defines, 3);

	assert_said(&a, "");
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), "defined defined B x D");
	ck_assert_uint_eq(a.params.count, 5);
	ck_assert_int_eq(param_of(&a.params, "a")->source, NM_PARAM_DEFINED);
	ck_assert_int_eq(param_of(&a.params, "A")->source, NM_PARAM_DEFINED);
	ck_assert_int_eq(param_of(&a.params, "B")->source, NM_PARAM_ENVIRONMENT);
	ck_assert_int_eq(param_of(&a.params, "c")->source, NM_PARAM_DEFAULT);
	ck_assert_str_eq(param_of(&a.params, "c")->help, "see");
	ck_assert_str_eq(param_of(&a.params, "a")->def, "x");
	/* Used, but not declared. */
	ck_assert_uint_eq(param_of(&a.params, "D")->line, 0);
	ck_assert_uint_eq(param_of(&a.params, "c")->line, 1);
	applied_fini(&a);
}
END_TEST

static const struct {
	const char *type, *right, *wrong, *why;
} types[] = {
	{"integer", "16", "1k", "not an integer: digits only, without a suffix"},
	{"count", "1k", "1.5x", "not a count: a number and an optional k, m or g (powers of 1000)"},
	{"size", "64KiB", "-1",
	 "not a size: a number and an optional k, m, g or t, also kb or kib (powers of 1024 "
	 "bytes)"},
	{"duration", "10ms", "2d",
	 "not a duration: a number and an optional ns, us, ms, s, min or h (seconds without one)"},
	{"rate", "0.5", "x",
	 "not a rate: a number and an optional k, m or g (powers of 1000), and an optional /s"},
	{"bitrate", "2.5Gb/s", "fast",
	 "not a bitrate: a number, an optional k, M or G, and an optional b/s, bps or B/s"},
	{"port", "65535", "65536", "not a port: a number from 0 to 65535"},
	{"host", "fe80::1%eth0", "a b", "not a host: a name, an IPv4 or IPv6 address, or local"},
	{"flag", "no", "maybe", "not a flag: yes or no"},
	{"enum' choices=' one\ttwo ", "two", "three", "must be one of:  one two "},
	{"enum' choices='one two", "one", "on", "must be one of: one two"},
};

static struct applied apply_typed(const char *type, const char *def, const struct nm_define *define)
{
	char text[512];

	(void)snprintf(text, sizeof text,
		       "<profile>\n<param name='p' type='%s' default='%s'/>\n<x v='$p'/></profile>",
		       type, def);
	return apply_defines(text, define, define ? 1 : 0);
}

START_TEST(values_are_of_their_type)
{
	const struct nm_define right = {"p", types[_i].right}, wrong = {"p", types[_i].wrong};
	char expected[512];
	struct applied a = apply_typed(types[_i].type, types[_i].right, NULL);

	assert_said(&a, "");
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), types[_i].right);
	applied_fini(&a);

	a = apply_typed(types[_i].type, types[_i].right, &right);
	assert_said(&a, "");
	applied_fini(&a);

	a = apply_typed(types[_i].type, types[_i].wrong, NULL);
	(void)snprintf(expected, sizeof expected,
		       "t.xml:2: error: <param name=\"p\">: value \"%s\" (the default): %s\n",
		       types[_i].wrong, types[_i].why);
	assert_said(&a, expected);
	applied_fini(&a);

	a = apply_typed(types[_i].type, types[_i].right, &wrong);
	(void)snprintf(expected, sizeof expected,
		       "t.xml:2: error: <param name=\"p\">: value \"%s\" (from -D): %s\n",
		       types[_i].wrong, types[_i].why);
	assert_said(&a, expected);
	applied_fini(&a);
}
END_TEST

START_TEST(a_wrong_default_is_told_also_when_it_is_not_used)
{
	const struct nm_define define = {"p", "10"};
	struct applied a = apply_typed("size", "big", &define);

	assert_said(&a, "t.xml:2: error: <param name=\"p\">: value \"big\" (the default): not a "
			"size: a number and an optional k, m, g or t, also kb or kib (powers of "
			"1024 bytes)\n");
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), "10");
	applied_fini(&a);
}
END_TEST

START_TEST(defaults_may_use_what_is_declared_before)
{
	const struct nm_define define = {"a", "64k"};
	struct applied a =
		apply_defines("<profile><param name='a' type='size' default='1'/>"
			      "<param name='b' type='size' default='$a'/>"
			      "<param name='c' default='${b}/$HOME/$$'/><x v='$c'/></profile>",
			      &define, 1);

	assert_said(&a, "");
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), "64k/HOME/$");
	ck_assert_str_eq(param_of(&a.params, "b")->def, "64k");
	applied_fini(&a);
}
END_TEST

START_TEST(what_a_flag_leaves_without_effect_is_told)
{
	static const char text[] = "<profile>\n<params names='tls ca verify'/>\n"
				   "<x v='$tls$ca$verify'/></profile>";
	const struct nm_define defines[] = {{"verify", "yes"}, {"ca", ""}, {"tls", "yes"}};
	struct applied without = apply_defines(text, defines, 2);
	struct applied with = apply_defines(text, defines, 3);
	struct applied neither = apply(text);
	/* Of its own it has a meaning of its own. */
	struct applied own =
		apply_defines("<profile><params names='tls'/><param name='verify' default=''/>"
			      "<x v='$tls$verify'/></profile>",
			      defines, 1);

	assert_said(&without, "t.xml:2: warning: verify=\"yes\" has no effect without tls=yes\n");
	assert_said(&with, "");
	assert_said(&neither, "");
	assert_said(&own, "");
	applied_fini(&without);
	applied_fini(&with);
	applied_fini(&neither);
	applied_fini(&own);
}
END_TEST

START_TEST(what_nothing_uses_is_told)
{
	struct applied a = apply("<profile>\n<param name='a' default='1'/>\n"
				 "<param name='b' default='1'/><x v='$a'/></profile>");

	assert_said(&a, "t.xml:3: warning: <param name=\"b\">: nothing uses $b\n");
	applied_fini(&a);
}
END_TEST

START_TEST(a_value_of_the_environment_is_checked)
{
	struct applied a = apply("<profile><param name='SIZE' type='size' default='1'/>"
				 "<x v='$SIZE'/></profile>");

	assert_said(&a, "t.xml:1: error: <param name=\"SIZE\">: value \"SIZE\" (from the "
			"environment): not a size: a number and an optional k, m, g or t, also kb "
			"or kib (powers of 1024 bytes)\n");
	applied_fini(&a);
}
END_TEST

static const struct {
	const char *value;
	unsigned wrong; /* the first byte that is no text; 0: all is */
} texts[] = {
	{"a\tb\n", 0},		 {"\xc3\xa9", 0},	 {"\xef\xbf\xbd", 0},
	{"\xf4\x8f\xbf\xbf", 0}, {"a\x01", 1},		 {"a\x1b[2J", 0x1b},
	{"\xff", 0xff},		 {"a\xc3", 0xc3},	 {"\xc0\x80", 0xc0},
	{"\xed\xa0\x80", 0xed},	 {"\xef\xbf\xbf", 0xef}, {"\xf4\x90\x80\x80", 0xf4},
};

/* What is no text in XML could not be sent to slaves. */
START_TEST(a_value_is_text)
{
	const struct nm_define defines[] = {{"a", texts[_i].value}, {"b", texts[_i].value}};
	struct applied a = apply_defines(
		"<profile><param name='a' default='x'/>\n<x v='$a $b'/></profile>", defines, 2);
	char expected[512] = "";

	if (texts[_i].wrong)
		(void)snprintf(
			expected, sizeof expected,
			"t.xml:1: error: $a: byte 0x%02x in its value (from -D): must be UTF-8 "
			"text, without control characters other than tabs and line ends\n"
			"t.xml:2: error: $b: byte 0x%02x in its value (from -D): must be UTF-8 "
			"text, without control characters other than tabs and line ends\n",
			texts[_i].wrong, texts[_i].wrong);
	assert_said(&a, expected);
	applied_fini(&a);
}
END_TEST

#define ERROR(text) "t.xml:2: error: " text "\n"

static const struct {
	const char *body, *said;
} mistakes[] = {
	{"<param/>", ERROR("<param>: needs a name")},
	{"<param name=''/>",
	 ERROR("<param name=\"\">: a name is made of letters, digits and underscores, "
	       "and begins with no digit")},
	{"<param name='a-b' default='1'/>",
	 ERROR("<param name=\"a-b\">: a name is made of letters, digits and underscores, "
	       "and begins with no digit")},
	{"<param name='2x' default='1'/>",
	 ERROR("<param name=\"2x\">: a name is made of letters, digits and underscores, "
	       "and begins with no digit")},
	{"<param name='x2' default='1'/><x v='$x2'/>", ""},
	{"<x v='$2x'/>",
	 ERROR("<x> v=\"$2x\": a dollar sign must begin $name or ${name}; $$ is the "
	       "sign itself")},
	{"<param name='a' type='sise' default='1'/><x v='$a'/>",
	 ERROR("<param name=\"a\"> type=\"sise\": not a type: must be count, counts, "
	       "integer, size, sizes, duration, durations, duration_range, rate, bitrate, port, "
	       "string, host, flag or enum")},
	{"<param name='a' default='1'/>\n<param name='a' default='2'/><x v='$a'/>",
	 "t.xml:3: error: <param name=\"a\">: declared twice, first at line 2\n"},
	{"<param name='a' defalt='1' default='1'/><x v='$a'/>",
	 ERROR("<param>: unknown attribute \"defalt\"; allowed are name, sets, type, default, "
	       "choices, "
	       "help")},
	{"<param name='a' type='size'/><x v='$a'/>",
	 ERROR("<x> v=\"$a\": $a has no value: give one with -D a=VALUE or in the environment")},
	{"<PARAM NAME='a' Default='1'/><x v='$a'/>", ""},
	{"<param name='size' default='1'/><x v='size=$sise $size'/>",
	 ERROR("<x> v=\"size=$sise $size\": $sise has no value: give one with -D sise=VALUE or in "
	       "the environment; did you mean $size?")},
	{"<x v='${a'/>",
	 ERROR("<x> v=\"${a\": a dollar sign must begin $name or ${name}; $$ is the "
	       "sign itself")},
	{"<x v='${}'/>",
	 ERROR("<x> v=\"${}\": a dollar sign must begin $name or ${name}; $$ is the "
	       "sign itself")},
	{"<x v='5$'/>", ERROR("<x> v=\"5$\": a dollar sign must begin $name or ${name}; $$ is the "
			      "sign itself")},
	{"<x v='$-'/>", ERROR("<x> v=\"$-\": a dollar sign must begin $name or ${name}; $$ is the "
			      "sign itself")},
	{"<param name='a' default='1'><y/></param><x v='$a'/>",
	 ERROR("<y> inside <param>: a param has no elements inside")},
	{"<x v='1'/>\n<param name='a' default='1'/><y v='$a'/>",
	 "t.xml:3: error: <param>: parameters come first, before the <x> of line 2\n"},
	{"<param name='a' default='$b'/>\n<param name='b' default='1'/><x v='$a'/>",
	 "t.xml:3: error: <param name=\"b\">: must be declared before the default that uses "
	 "it\n" ERROR("<param> default=\"$b\": $b has no value: give one with -D b=VALUE or in the "
		      "environment")},
	{"<param name='a' default='$a'/>",
	 ERROR("<param name=\"a\">: must be declared before the default that uses it")
		 ERROR("<param> default=\"$a\": $a has no value: give one with -D a=VALUE or in "
		       "the environment")},
	/* All names without a value are told together, each once, where it is used first. */
	{"<x v='$a'/>\n<y w='1' z='$b $a' u='$c'/>\n<y z='$b'/>",
	 ERROR("3 names have no value: $a (line 2), $b (line 3), $c (line 3): give each one with "
	       "-D "
	       "NAME=VALUE or in the environment")},
	{"<param name='size' type='size'/><param name='thin' default='1'/>\n"
	 "<x v='$size' w='$thim'/>",
	 "t.xml:3: error: 2 names have no value: $size (line 3), $thim (line 3; did you mean "
	 "$thin?): "
	 "give each one with -D NAME=VALUE or in the environment\n"},
	{"<param name='a' type='size' default='$b'/><x v='$a'/>",
	 ERROR("<param> default=\"$b\": $b has no value: give one with -D b=VALUE or in the "
	       "environment")},
	{"<x v='$a'/>\n<y w='$a'/>",
	 ERROR("<x> v=\"$a\": $a has no value: give one with -D a=VALUE or in the environment")},
	/* uperf takes an empty value for an option, but not for an attribute. */
	{"<x v='$EMPTY' w='h=$EMPTY'/>",
	 ERROR("<x> v=\"$EMPTY\": $EMPTY has no value: give one with -D EMPTY=VALUE or in the "
	       "environment")},

};

START_TEST(mistakes_are_told)
{
	char text[512];

	(void)snprintf(text, sizeof text, "<profile>\n%s</profile>", mistakes[_i].body);
	struct applied a = apply(text);

	assert_said(&a, mistakes[_i].said);
	applied_fini(&a);
}
END_TEST

START_TEST(a_name_may_be_63_characters_long)
{
	const char *longest = "n23456789012345678901234567890123456789012345678901234567890123";
	char text[512];

	for (int more = 0; more <= 1; more++) {
		(void)snprintf(text, sizeof text,
			       "<profile><param name='%s%s' default='1'/><x v='$%s%s'/></profile>",
			       longest, more ? "x" : "", longest, more ? "x" : "");
		struct applied a = apply(text);

		ck_assert_uint_eq(a.diags.n_errors, more ? 2 : 0);
		applied_fini(&a);
	}
}
END_TEST

static const struct {
	const char *profile, *value, *said;
} undeclared[] = {
	/* As uperf: lower case first outside, as written first among what -D says. */
	{"<x v='$ITERN'/>", "of -D itern", ""},
	{"<x v='$Both'/>", "of -D Both", ""},
	{"<x v='$ONLY'/>", "ONLY", ""},
	{"<x v='$miXed'/>", "lower mixed", ""},
	{"<x v='$DIFFER'/>", "lower differ",
	 "t.xml:2: warning: $DIFFER: the environment has differ=\"lower differ\" and "
	 "DIFFER=\"DIFFER\"; differ counts, as for uperf\n"},
	{"<x v='$SAME'/>", "SAME", ""},
	/* But what is declared is found as it is written only. */
	{"<param name='MIXED' default='1'/><x v='$MIXED'/>", "MIXED", ""},
	{"<param name='zero' default='0'/><x v='$zero'/>", "0", ""},
};

static const char *lookup_undeclared(const char *name, void *arg)
{
	(void)arg;
	if (strcmp(name, "mixed") == 0)
		return "lower mixed";
	if (strcmp(name, "differ") == 0)
		return "lower differ";
	if (strcmp(name, "same") == 0)
		return "SAME";
	return strcmp(name, "zero") == 0 ? NULL : lookup(name, &environment);
}

START_TEST(undeclared_names_are_those_of_uperf)
{
	const struct nm_define defines[] = {
		{"itern", "of -D itern"}, {"Both", "of -D Both"}, {"both", "of -D both"}};
	const struct nm_param_values from = {defines, 3, lookup_undeclared, &environment, false};
	char text[512];
	struct applied a = {.root = NULL};

	/* Uses what is not looked at here, so that no define is without a use. */
	(void)snprintf(text, sizeof text, "<profile>\n%s<x w='$itern $both $Both'/></profile>",
		       undeclared[_i].profile);
	a.root = nm_profile_parse("t.xml", text, strlen(text), &a.diags);
	nm_params_apply(a.root, "t.xml", &from, &a.params, &a.diags);
	assert_said(&a, undeclared[_i].said);
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), undeclared[_i].value);
	applied_fini(&a);
}
END_TEST

START_TEST(an_unknown_define_is_told)
{
	const struct nm_define defines[] = {{"num_flow", "1"}, {"zebra", "2"}, {"undeclared", "3"}};
	struct applied a = apply_defines("<profile><param name='num_flows' default='1'/>"
					 "<x v='$num_flows $undeclared'/></profile>",
					 defines, 3);

	assert_said(
		&a,
		"t.xml: error: -D num_flow=1: the profile has no parameter \"num_flow\"; did you "
		"mean \"num_flows\"?\n"
		"t.xml: error: -D zebra=2: the profile has no parameter \"zebra\"; --params lists "
		"them\n");
	ck_assert_str_eq(nm_node_attr(a.root->children[0], "v"), "1 3");
	applied_fini(&a);
}
END_TEST

START_TEST(listing_leaves_the_profile_alone)
{
	const char *text = "<profile><param name='a' type='size'/><param name='b' default='1'/>"
			   "<x v='$a $b $c'/></profile>";
	struct nm_diags diags = {0};
	struct nm_params params;
	const struct nm_define define = {"b", "2"};
	struct nm_node *root = nm_profile_parse("t.xml", text, strlen(text), &diags);

	const struct nm_param_values from = {&define, 1, lookup, &environment, false};

	nm_params_list(root, "t.xml", &from, &params, &diags);
	ck_assert_uint_eq(diags.count, 0);
	ck_assert_uint_eq(params.count, 2);
	ck_assert_int_eq(params.items[0].type, NM_TYPE_SIZE);
	ck_assert_ptr_null(params.items[0].value);
	ck_assert_ptr_null(params.items[0].def);
	ck_assert_str_eq(params.items[1].value, "2");
	ck_assert_str_eq(params.items[1].def, "1");
	ck_assert_uint_eq(root->n_children, 3);
	ck_assert_str_eq(nm_node_attr(root->children[2], "v"), "$a $b $c");
	nm_params_fini(&params);
	ck_assert_uint_eq(params.count, 0);
	nm_node_free(root);
	nm_diags_fini(&diags);
}
END_TEST

START_TEST(without_an_environment_only_defaults_are_left)
{
	const char *text = "<profile><param name='A' default='1'/><x v='$A'/></profile>";
	struct nm_diags diags = {0};
	struct nm_params params;
	struct nm_node *root = nm_profile_parse("t.xml", text, strlen(text), &diags);

	const struct nm_param_values from = {0};

	nm_params_apply(root, "t.xml", &from, &params, &diags);
	ck_assert_uint_eq(diags.count, 0);
	ck_assert_str_eq(nm_node_attr(root->children[0], "v"), "1");
	nm_params_fini(&params);
	nm_node_free(root);
}
END_TEST

static const struct {
	const char *text;
	bool as_uperf;
	const char *units; /* of the root, behind it; NULL: none */
	const char *said;
} readings[] = {
	{"<profile><x v='1'/></profile>", false, "uperf", ""},
	{"<profile><param name='A' default='1'/><x v='$A'/></profile>", false, NULL, ""},
	{"<profile><params names='host'/><x v='$host'/></profile>", false, NULL, ""},
	{"<profile units='netmodel'><x v='1'/></profile>", false, "netmodel", ""},
	{"<profile units='UPERF'><param name='A' default='1'/><x v='$A'/></profile>", false,
	 "uperf", ""},
	{"<profile units='netmodel'><param name='A' default='1'/><x v='$A'/></profile>", true,
	 "uperf", ""},
	{"<profile units='$A'><param name='A' default='uperf'/></profile>", false, "uperf",
	 "t.xml:1: error: <profile> units=\"$A\": must be a word, netmodel or uperf, and no "
	 "parameter\n"},
	{"<profile><param name='t' type='duration' default='1m'/><x v='$t'/></profile>", false,
	 NULL,
	 "t.xml:1: error: <param name=\"t\">: value \"1m\" (the default): m alone may mean minutes "
	 "or milliseconds: write 1min or 1ms\n"},
	{"<profile><param name='t' type='duration' default='1m'/><x v='$t'/></profile>", true,
	 "uperf", ""},
};

START_TEST(a_profile_has_its_units)
{
	struct applied a = {.root = NULL};
	const struct nm_param_values from = {.as_uperf = readings[_i].as_uperf};
	const char *text = readings[_i].text;

	a.root = nm_profile_parse("t.xml", text, strlen(text), &a.diags);
	ck_assert_ptr_nonnull(a.root);
	nm_params_apply(a.root, "t.xml", &from, &a.params, &a.diags);
	ck_assert_pstr_eq(nm_node_attr(a.root, "units"), readings[_i].units);
	assert_said(&a, readings[_i].said);
	applied_fini(&a);
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof *(table))

int main(void)
{
	Suite *suite = suite_create("params");
	TCase *tc = tcase_create("params");

	LOOP(names_stand_for_values, values);
	tcase_add_test(tc, long_values);
	tcase_add_test(tc, a_value_does_not_grow_beyond_its_limit);
	tcase_add_test(tc, all_values_together_do_not_grow_beyond_their_limit);
	tcase_add_test(tc, of_many_names_without_a_value_some_are_told);
	tcase_add_test(tc, the_first_found_counts);
	LOOP(values_are_of_their_type, types);
	tcase_add_test(tc, a_wrong_default_is_told_also_when_it_is_not_used);
	tcase_add_test(tc, defaults_may_use_what_is_declared_before);
	tcase_add_test(tc, what_a_flag_leaves_without_effect_is_told);
	tcase_add_test(tc, what_nothing_uses_is_told);
	tcase_add_test(tc, a_value_of_the_environment_is_checked);
	LOOP(a_value_is_text, texts);
	LOOP(mistakes_are_told, mistakes);
	tcase_add_test(tc, a_name_may_be_63_characters_long);
	LOOP(undeclared_names_are_those_of_uperf, undeclared);
	tcase_add_test(tc, an_unknown_define_is_told);
	tcase_add_test(tc, listing_leaves_the_profile_alone);
	tcase_add_test(tc, without_an_environment_only_defaults_are_left);
	LOOP(a_profile_has_its_units, readings);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
