/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/legacy/normalise.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"
#include "profile/tree.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* The warnings, a line each. */
static char *said(const struct nm_diags *diags)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < diags->count; i++) {
		char line[512];

		nm_diag_format(&diags->items[i], line, sizeof line);
		fprintf(out, "%s\n", line);
	}
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static size_t count_lines(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	return count;
}

/* Owned; NULL when there is nothing to change. Whatever it makes has the same lines, and needs no
 * more mending. */
static char *normalise(const char *text, size_t length, struct nm_diags *diags)
{
	struct nm_diags more = {0};
	char *made = NULL, *again = NULL;
	size_t n = 0, n_again;
	int r = nm_profile_normalise("p.xml", text, length, &made, &n, diags);

	ck_assert_int_ge(r, 0);
	ck_assert_uint_eq(diags->n_errors, 0);
	ck_assert_int_eq(r, diags->count != 0);
	if (!r)
		return NULL;
	ck_assert_uint_eq(count_lines(made, n), count_lines(text, length));
	ck_assert_int_eq(nm_profile_normalise("p.xml", made, n, &again, &n_again, &more), 0);
	char *terminated = strndup(made, n);

	free(made);
	ck_assert_ptr_nonnull(terminated);
	return terminated;
}

#define WARN(line, text) "p.xml:" #line ": warning: " text "\n"

/* ---- what uperf takes ---- */

struct row {
	const char *name;
	const char *text, *becomes; /* NULL: it stays as it is */
	const char *said;
};

static const struct row accepted[] = {
	{"missing </transaction>",
	 "<profile>\n<group>\n<transaction>\n<flowop/>\n<transaction>\n<flowop/>\n</transaction>\n"
	 "</group>\n</profile>\n",
	 "<profile>\n<group>\n<transaction>\n<flowop/>\n</transaction><transaction>\n<flowop/>\n"
	 "</transaction>\n</group>\n</profile>\n",
	 WARN(5, "no </transaction> for the <transaction> of line 3: it is taken to end before "
		 "this <transaction>")},
	{"missing last </transaction>",
	 "<profile><group><transaction><flowop/>\n</group></profile>",
	 "<profile><group><transaction><flowop/>\n</transaction></group></profile>",
	 WARN(2, "no </transaction> for the <transaction> of line 1: it is taken to end before "
		 "this </group>")},
	{"missing </group>",
	 "<profile>\n<group>\n<transaction/>\n<group>\n<transaction/>\n</group>\n</profile>",
	 "<profile>\n<group>\n<transaction/>\n</group><group>\n<transaction/>\n</group>\n</"
	 "profile>",
	 WARN(4, "no </group> for the <group> of line 2: it is taken to end before this <group>")},
	{"missing </profile>", "<profile>\n<group>\n</group>\n\n",
	 "<profile>\n<group>\n</group>\n\n</profile>",
	 WARN(3, "no </profile> for the <profile> of line 1: it is taken to end with the file")},
	{"missing </params>", "<profile>\n<params names=\"mark\">\n<group/>\n</profile>",
	 "<profile>\n<params names=\"mark\">\n</params><group/>\n</profile>",
	 WARN(3,
	      "no </params> for the <params> of line 2: it is taken to end before this <group>")},
	{"no end tag at all", "<profile>\n<group>\n<transaction>\n<flowop type=\"nop\"/>",
	 "<profile>\n<group>\n<transaction>\n<flowop "
	 "type=\"nop\"/></transaction></group></profile>",
	 WARN(4, "no </transaction> for the <transaction> of line 3: it is taken to end with the "
		 "file")
		 WARN(4, "no </group> for the <group> of line 2: it is taken to end with the file")
			 WARN(4, "no </profile> for the <profile> of line 1: it is taken to end "
				 "with the file")},
	{"stray </transaction>",
	 "<profile><group><transaction/>\n</transaction\n>\n</group></profile>",
	 "<profile><group><transaction/>\n\n\n</group></profile>",
	 WARN(2, "</transaction> ends nothing: it is left out")},
	{"stray </flowop>", "<profile><flowop/></flowop></profile>", "<profile><flowop/></profile>",
	 WARN(1, "</flowop> ends nothing: it is left out")},
	{"stray </group> after the end", "<profile></profile>\n</group>", "<profile></profile>\n",
	 WARN(2, "</group> ends nothing: it is left out")},
	{"stray </group> alone", "</group>", "", WARN(1, "</group> ends nothing: it is left out")},
	{"no <profile>", "<!-- c -->\n<group>\n</group>\n<group/>\n",
	 "<!-- c -->\n<profile><group>\n</group>\n<group/>\n</profile>",
	 WARN(2, "no <profile> before this <group>: it is taken to begin here")},
	{"no <profile>, but its end", "<?xml version=\"1.0\"?><group/></profile>",
	 "<?xml version=\"1.0\"?><profile><group/></profile>",
	 WARN(1, "no <profile> before this <group>: it is taken to begin here")},
	{"no <profile>, one group, well-formed", "<group></group>",
	 "<profile><group></group></profile>",
	 WARN(1, "no <profile> before this <group>: it is taken to begin here")},
	{"version without quotes", "<?xml version=1.0?>\n<profile/>",
	 "<?xml version=\"1.0\"?>\n<profile/>",
	 WARN(1, "<?xml version=1.0?>: not well-formed XML; read as if it were")},
	{"declaration in capitals, over two lines",
	 "<?XML VERSION='1.0'\nEncoding=utf-8 ?><profile/>",
	 "<?xml version=\"1.0\" encoding=\"utf-8\"\n?><profile/>",
	 WARN(1, "<?XML VERSION='1.0' Encoding=utf-8 ?>: not well-formed XML; read as if it were")},
	{"declaration without a version", "<?xml?><profile/>", "<?xml version=\"1.0\"?><profile/>",
	 WARN(1, "<?xml?>: not well-formed XML; read as if it were")},
	{"declaration not at the beginning", "<!-- c -->\n<?xml version=\"1.0\"\n?>\n<profile/>",
	 "<!-- c -->\n\n\n<profile/>",
	 WARN(2, "<?xml ...?> is not at the very beginning: it is not read")},
	{"type=write", "<profile><flowop\ntype=write options=\"size=1\"/></profile>",
	 "<profile><flowop\ntype=\"write\" options=\"size=1\"/></profile>",
	 WARN(2, "type=write: no quotes, read as type=\"write\"")},
	{"type=disconnect />", "<profile><flowop type=disconnect /></profile>",
	 "<profile><flowop type=\"disconnect\" /></profile>",
	 WARN(1, "type=disconnect: no quotes, read as type=\"disconnect\"")},
	{"iterations=3 >", "<profile><transaction iterations=3 ></transaction></profile>",
	 "<profile><transaction iterations=\"3\" ></transaction></profile>",
	 WARN(1, "iterations=3: no quotes, read as iterations=\"3\"")},
	{"iterations=3>", "<profile><transaction iterations=3></transaction></profile>",
	 "<profile><transaction iterations=\"3\"></transaction></profile>",
	 WARN(1, "iterations=3: no quotes, read as iterations=\"3\"")},
	{"type=nop/>", "<profile><flowop type=nop/></profile>",
	 "<profile><flowop type=\"nop\"/></profile>",
	 WARN(1, "type=nop: no quotes, read as type=\"nop\"")},
	{"options=remotehost=a/b/>", "<profile><flowop options=remotehost=a/b/></profile>",
	 "<profile><flowop options=\"remotehost=a/b\"/></profile>",
	 WARN(1, "options=remotehost=a/b: no quotes, read as options=\"remotehost=a/b\"")},
	{"blanks around = without quotes", "<profile><group nthreads\n= 3></group></profile>",
	 "<profile><group nthreads\n= \"3\"></group></profile>",
	 WARN(1, "nthreads=3: no quotes, read as nthreads=\"3\"")},
	{"single quotes", "<profile><flowop type='nop'/></profile>", NULL, ""},
	{"attr =\"v\"", "<profile name =\"v\"/>", NULL, ""},
	{"attr= \"v\"", "<profile name= \"v\"/>", NULL, ""},
	{"attr = \"v\"", "<profile name\t=\n\"v\"/>", NULL, ""},
	{"tags that touch",
	 "<profile><group><transaction iterations=\"1\"><flowop type=\"nop\"/><!-- c -->"
	 "</transaction></group></profile>",
	 NULL, ""},
	{"two flowops that touch",
	 "<profile><flowop type=\"write\"/><flowop type=\"read\"/></profile>", NULL, ""},
	{"attributes that touch", "<profile><flowop type=\"nop\"options='x'name=y/></profile>",
	 "<profile><flowop type=\"nop\" options='x' name=\"y\"/></profile>",
	 WARN(1, "no blank before options=: read as if there were one")
		 WARN(1, "no blank before name=: read as if there were one")
			 WARN(1, "name=y: no quotes, read as name=\"y\"")},
	{"no final newline", "<profile>\n</profile>", NULL, ""},
	{"DOCTYPE", "<!DOCTYPE profile>\n<profile/>", "\n<profile/>",
	 WARN(1, "<!DOCTYPE ...>: a document type is not looked at")},
	{"DOCTYPE from elsewhere",
	 "<?xml version='1.0'?>\n<!doctype profile\nSYSTEM \"a>b.dtd\" >\n<profile/>",
	 "<?xml version='1.0'?>\n\n\n<profile/>",
	 WARN(2, "<!DOCTYPE ...>: a document type is not looked at")},
	{"<flowop></flowop>", "<profile><flowop type=\"nop\"></flowop></profile>", NULL, ""},
	{"<flowop> without </flowop>",
	 "<profile><group><transaction>\n<flowop>\n<flowop>\n</transaction></group></profile>",
	 "<profile><group><transaction>\n<flowop>\n</flowop><flowop>\n</flowop></transaction>"
	 "</group></profile>",
	 WARN(3, "no </flowop> for the <flowop> of line 2: it is taken to end before this <flowop>")
		 WARN(4, "no </flowop> for the <flowop> of line 3: it is taken to end before this "
			 "</transaction>")},
	{"CRLF", "<profile>\r\n<group\r\nnthreads=\"1\"\r\n/>\r\n</profile>\r\n", NULL, ""},
	{"CRLF without quotes", "<profile>\r\n<group nthreads=1\r\n/>\r\n</profile>\r\n",
	 "<profile>\r\n<group nthreads=\"1\"\r\n/>\r\n</profile>\r\n",
	 WARN(2, "nthreads=1: no quotes, read as nthreads=\"1\"")},
	{"tabs and options over several lines",
	 "<profile>\t<flowop\ttype=\"write\"\toptions=\"size=1\n\tcount=2\n\"/></profile>", NULL,
	 ""},
	{"upper case", "<PROFILE><Group NTHREADS=\"1\"></Group></PROFILE>", NULL, ""},
	{"mixed case", "<Profile>\n<GROUP>\n</group>\n</profile>",
	 "<Profile>\n<GROUP>\n</GROUP>\n</Profile>",
	 WARN(3, "</group> is taken for the end of <GROUP>")
		 WARN(4, "</profile> is taken for the end of <Profile>")},
	{"comment inside a tag", "<profile><flowop <!-- a\nb --> type=\"nop\"<!--x-->/></profile>",
	 "<profile><flowop  \n type=\"nop\" /></profile>",
	 WARN(1, "a comment inside a tag: it is left out")
		 WARN(2, "a comment inside a tag: it is left out")},
	{"instruction inside a tag", "<profile><flowop <?x?>/></profile>",
	 "<profile><flowop  /></profile>", WARN(1, "a comment inside a tag: it is left out")},
	{"comment with --", "<!-- a -- b\n ---><profile/>", "<!--\n--><profile/>",
	 WARN(1, "a comment with \"--\" inside: it ends at the first \"-->\"")},
	{"comment of tags", "<!-- <group> & \" --><profile/><!---->", NULL, ""},
	{"bare &", "<profile name=\"a & b &amp; &\" x='&#38;&#x26;'/>",
	 "<profile name=\"a &amp; b &amp; &amp;\" x='&#38;&#x26;'/>",
	 WARN(1, "name=\"a & b &amp; &\": \"&\" alone, read as \"&amp;\"")},
	{"bare & without quotes", "<profile name=a&b;&/>", "<profile name=\"a&b;&amp;\"/>",
	 WARN(1, "name=a&b;&: no quotes, read as name=\"a&b;&\"")
		 WARN(1, "name=\"a&b;&\": \"&\" alone, read as \"&amp;\"")},
	{"blanks in tags",
	 "<profile>\n< group>< /group>\n</\ngroup\n><\ngroup></ \n\t group></profile>",
	 "<profile>\n<group></group>\n\n\n\n<group>\n</group></profile>",
	 WARN(2, "a blank in \"< group\": left out") WARN(2, "a blank in \"</ group\": left out")
		 WARN(3, "a blank in \"</ group\": left out")
			 WARN(4, "</group> ends nothing: it is left out")
				 WARN(5, "a blank in \"< group\": left out")
					 WARN(6, "a blank in \"</ group\": left out")},
	{"tags without >",
	 "<profile\nname=\"x\"\n<group nthreads=1\n<transaction\n<flowop type=\"nop\"\n"
	 "</transaction\n</group>\n</profile",
	 "<profile\nname=\"x\">\n<group nthreads=\"1\">\n<transaction>\n<flowop type=\"nop\"/>\n"
	 "</transaction>\n</group>\n</profile>",
	 WARN(2, "<profile: no \">\" behind it, read as if there were one") WARN(
		 3, "nthreads=1: no quotes, read as nthreads=\"1\"")
		 WARN(3, "<group: no \">\" behind it, read as if there were one") WARN(
			 4, "<transaction: no \">\" behind it, read as if there were one")
			 WARN(5, "<flowop: no \"/>\" behind it, read as if there "
				 "were one") WARN(6, "</transaction: no \">\" behind it, read "
						     "as if there were one")
				 WARN(8, "</profile: no \">\" behind it, "
					 "read as if there were one")},
	{"a param without an end", "<profile><param name=\"a\">\n<group/></profile>",
	 "<profile><param name=\"a\">\n</param><group/></profile>",
	 WARN(2, "no </param> for the <param> of line 1: it is taken to end before this <group>")},
	{"a long value is cut in the message, and not in two characters",
	 "<profile name=abcdefghijklmnopqrstuvwxyz0123456789abc\xc3\xa9zz/>",
	 "<profile name=\"abcdefghijklmnopqrstuvwxyz0123456789abc\xc3\xa9zz\"/>",
	 WARN(1, "name=abcdefghijklmnopqrstuvwxyz0123456789abc: no quotes, read as "
		 "name=\"abcdefghijklmnopqrstuvwxyz0123456789abc\"")},
};

START_TEST(what_uperf_takes)
{
	const struct row *row = &accepted[_i];
	struct nm_diags diags = {0};
	char *made = normalise(row->text, strlen(row->text), &diags);
	char *all = said(&diags);

	if (row->becomes || made)
		ck_assert_msg(made && row->becomes && strcmp(made, row->becomes) == 0,
			      "%s: becomes\n%s", row->name, made ? made : "(nothing)");
	ck_assert_msg(strcmp(all, row->said) == 0, "%s: said\n%s", row->name, all);
	free(all);
	free(made);
	nm_diags_fini(&diags);
}
END_TEST

/* And then it is XML; but for an entity and for nothing at all, which are for the parser to
 * refuse. */
START_TEST(it_becomes_xml)
{
	const struct row *row = &accepted[_i];
	struct nm_diags diags = {0};
	struct nm_node *root = nm_profile_parse("p.xml", row->text, strlen(row->text), &diags);
	bool refused = strstr(row->text, "&b;") != NULL || strcmp(row->text, "</group>") == 0;

	ck_assert_msg(refused == !root && refused == (diags.n_errors != 0), "%s: %s", row->name,
		      diags.count ? diags.items[diags.count - 1].text : "");
	nm_node_free(root);
	nm_diags_fini(&diags);
}
END_TEST

/* ---- what is left to the parser ---- */

/* Well-formed, however strange, or wrong in a way that has no plain meaning. */
static const char *const left_alone[] = {
	"",
	"\n",
	"text",
	"<profile/>",
	"<a><b/></a>",
	"<a>&amp;<![CDATA[<group>]]></a>",
	"<profile><!-- a - b --><?pi a=b <group?></profile>",
	"<?xml version='1.0' encoding=\"UTF-8\" standalone='yes' ?><profile/>",
	"<?xml-stylesheet href=x?><profile/>",
	"<profile name='a>b' x='\"' y=\"'\"/>",
	"<profile><group><group></group></group></profile>",
	"<profile><flowop><group/></flowop></profile>",
	"<profile><profile/></profile>",
	"<x:profile xmlns:x='urn:x'></x:profile >",
	/* wrong */
	"<profile></profile><profile/>",
	"<profiles><group></profiles>",
	"<gruop></group>",
	"<profile><gruop><transaction></gruop></profile>",
	"<profile><gruop></group></profile>",
	"<profile name=\"x></profile>",
	"<profile name=\"x><group type=\"y\"/></profile>",
	"<flowop type=\"write options=\"size=1\"/>",
	"<flowop type=write\" options=\"size=1\"/>",
	"<flowop type=\"a\"b\"c\"/>",
	"<profile name/>",
	"<profile name=/>",
	"<profile name= >",
	"<profile =\"x\"/>",
	"<profile \"x\"/>",
	"<profile name=\"a<b\"/>",
	"<profile><!-- <group></profile>",
	"<profile><!-- --",
	"<profile <!-- />",
	"<profile><?pi </profile>",
	"<profile><![CDATA[</profile>",
	"<profile><!group></profile>",
	"<profile",
	"<profile name=\"x\"",
	"<profile /",
	"<profile / >",
	"<profile></profile x>",
	"<unknown <profile/>",
	"</unknown",
	"a < b",
	"<>",
	"</>",
	"<1/>",
	"<!DOCTYPE profile [<!ENTITY x 'y'>]><profile/>",
	"<!DOCTYPE profile SYSTEM \"x\" []><profile/>",
	"<!DOCTYPE profile",
	"<!DOCTYPE profile \"><profile/>",
	"<!DOCTYPE <profile/>",
	"<profile/><!DOCTYPE profile>",
	"<?xml version='1.0' encoding=?><profile/>",
	"<?xml version=\"1.0?><profile/>",
	"<?xml version=1.0><profile/>",
	"<?xml version=1.0 encoding='UTF-8\n'?><profile/>",
	"<?xml version=\"1.0\" mood=\"good\"?><profile/>",
	"<profile name='&x;' y='&#1;'/>",
};

START_TEST(the_rest_is_left_alone)
{
	const char *text = left_alone[_i];
	struct nm_diags diags = {0};
	char *made = normalise(text, strlen(text), &diags);

	ck_assert_msg(!made, "%s\nbecomes\n%s", text, made);
	nm_diags_fini(&diags);
}
END_TEST

/* Behind a mistake nothing is mended: what is there may mean something else. */
START_TEST(mending_ends_with_the_first_mistake)
{
	static const char text[] = "<profile>\n<group nthreads=1>\n<transaction>\n<group>\n"
				   "<flowop type=\"x options=\"y\"/>\n<flowop type=nop>\n";
	struct nm_diags diags = {0};
	char *made = normalise(text, sizeof text - 1, &diags);
	char *all = said(&diags);

	ck_assert_str_eq(made,
			 "<profile>\n<group nthreads=\"1\">\n<transaction>\n</transaction></group>"
			 "<group>\n<flowop type=\"x options=\"y\"/>\n<flowop type=nop>\n");
	ck_assert_str_eq(
		all,
		WARN(2, "nthreads=1: no quotes, read as nthreads=\"1\"")
			WARN(4, "no </transaction> for the <transaction> of line 3: it is taken to "
				"end before this <group>")
				WARN(4, "no </group> for the <group> of line 2: it is taken to end "
					"before this <group>"));
	free(all);
	free(made);
	nm_diags_fini(&diags);
}
END_TEST

/* ---- limits ---- */

static char *repeat(const char *head, const char *what, size_t times, size_t *ret_length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_length);

	ck_assert_ptr_nonnull(out);
	fputs(head, out);
	for (size_t i = 0; i < times; i++)
		fputs(what, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

START_TEST(warnings_are_limited)
{
	struct nm_diags diags = {0};
	size_t length;
	char *text = repeat("<profile>", "<flowop type=a/>\n</group>", 1000, &length);

	free(normalise(text, length, &diags));
	ck_assert_uint_eq(diags.count, 64 + 64 + 1);
	for (size_t i = 1; i + 1 < diags.count; i++)
		ck_assert_uint_ge(diags.items[i].line, diags.items[i - 1].line);
	ck_assert_str_eq(diags.items[128].text,
			 "1873 more places are not well-formed XML, but read all the same");
	free(text);
	nm_diags_fini(&diags);
}
END_TEST

/* In a time that does not go with the square: a test has seconds. */
START_TEST(much_of_everything)
{
	static const char *const much[] = {
		"<profile>",	 "<group>",
		"</group>",	 "<profile><group></group>",
		"<transaction",	 "<flowop a=1\n",
		"<a>",		 "<profile></a>",
		"<a></profile>", "&",
		"<!--",		 "<!-- -- -->",
		"<?xml?>",	 "<!DOCTYPE a>",
		"< profile ",	 "<profile a=&&&& b=\"&",
	};
	struct nm_diags diags = {0};
	size_t length, n = 0;
	char *made = NULL;
	char *text = repeat(_i % 2 ? "<profile name=\"" : "", much[_i / 2],
			    1000000 / strlen(much[_i / 2]), &length);

	ck_assert_int_ge(nm_profile_normalise("p.xml", text, length, &made, &n, &diags), 0);
	ck_assert_uint_le(diags.count, 129);
	free(made);
	free(text);
	nm_diags_fini(&diags);
}
END_TEST

START_TEST(the_text_need_not_be_terminated)
{
	static const char whole[] =
		"<?xml version=1.0?><!DOCTYPE a><group n=1 <!-- -- --> m=\"&\"><"
		" /group></profile";

	for (size_t length = 0; length < sizeof whole; length++) {
		struct nm_diags diags = {0};
		char *text = malloc(length + 1); /* for the address sanitizer to see beyond */
		char *made = NULL;
		size_t n = 0;

		ck_assert_ptr_nonnull(text);
		memcpy(text + 1, whole, length);
		ck_assert_int_ge(nm_profile_normalise("p.xml", text + 1, length, &made, &n, &diags),
				 0);
		free(made);
		free(text);
		nm_diags_fini(&diags);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("normalise");
	TCase *tc = tcase_create("normalise");

	tcase_add_loop_test(tc, what_uperf_takes, 0, COUNT_OF(accepted));
	tcase_add_loop_test(tc, it_becomes_xml, 0, COUNT_OF(accepted));
	tcase_add_loop_test(tc, the_rest_is_left_alone, 0, COUNT_OF(left_alone));
	tcase_add_test(tc, mending_ends_with_the_first_mistake);
	tcase_add_test(tc, warnings_are_limited);
	tcase_add_loop_test(tc, much_of_everything, 0, 32);
	tcase_add_test(tc, the_text_need_not_be_terminated);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
