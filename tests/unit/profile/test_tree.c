/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tree.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "base/diag.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static struct nm_diags diags;

static void setup(void)
{
	diags = (struct nm_diags){0};
}

static void teardown(void)
{
	nm_diags_fini(&diags);
}

static struct nm_node *parse(const char *text)
{
	return nm_profile_parse("p.xml", text, strlen(text), &diags);
}

static void assert_first(const char *expected)
{
	char text[512] = "nothing";

	if (diags.count)
		nm_diag_format(&diags.items[0], text, sizeof text);
	ck_assert_str_eq(text, expected);
}

static void assert_refused(const char *text, size_t length, const char *expected)
{
	struct nm_node *root = nm_profile_parse("p.xml", text, length, &diags);

	ck_assert_ptr_null(root);
	ck_assert_uint_ge(diags.n_errors, 1);
	assert_first(expected);
}

START_TEST(elements_attributes_and_lines)
{
	struct nm_node *root = parse("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
				     "<!-- about it -->\n"
				     "<profile name='web'>\n"
				     "\n"
				     "  <group nthreads=\"2\" nflows='4'>\n"
				     "    <transaction/><transaction duration=\"1s\"/>\n"
				     "    <?pi is not read?>\n"
				     "  </group><group/>\n"
				     "</profile>\n");

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(diags.count, 0);
	ck_assert_str_eq(root->name, "profile");
	ck_assert_uint_eq(root->line, 3);
	ck_assert_str_eq(nm_node_attr(root, "name"), "web");
	ck_assert_str_eq(nm_node_attr(root, "Name"), "web");
	ck_assert_ptr_null(nm_node_attr(root, "nam"));
	ck_assert_uint_eq(root->n_children, 2);

	const struct nm_node *group = root->children[0];

	ck_assert_uint_eq(group->line, 5);
	ck_assert_uint_eq(group->n_attrs, 2);
	ck_assert_str_eq(group->attrs[0].name, "nthreads");
	ck_assert_str_eq(group->attrs[1].value, "4");
	ck_assert_uint_eq(group->n_children, 2);
	ck_assert_uint_eq(group->children[0]->line, 6);
	ck_assert_uint_eq(group->children[0]->n_attrs, 0);
	ck_assert_uint_eq(group->children[1]->line, 6);
	ck_assert_uint_eq(root->children[1]->line, 8);
	nm_node_free(root);
}
END_TEST

START_TEST(a_declared_encoding_is_converted)
{
	struct nm_node *root = parse("<?xml version='1.0' encoding='iso-8859-1'?>\n"
				     "<!-- caf\xe9 --><profile name='\xe9\xff'/>");

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(diags.count, 0);
	ck_assert_str_eq(nm_node_attr(root, "name"), "\xc3\xa9\xc3\xbf");
	nm_node_free(root);
}
END_TEST

START_TEST(a_comment_may_have_any_bytes)
{
	struct nm_node *root =
		parse("<!-- one -->\n<!-- caf\xe9\n\xff--><profile name='\xc3\xa9'/>");

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(diags.count, 1);
	assert_first("p.xml:2: warning: byte 0xe9 in a comment is not UTF-8 text, but read all the "
		     "same");
	ck_assert_str_eq(nm_node_attr(root, "name"), "\xc3\xa9");
	nm_node_free(root);
}
END_TEST

START_TEST(a_tag_over_several_lines_is_where_it_begins)
{
	struct nm_node *root =
		parse("<a\n  x='1'\n  y='2'\n>\n<b\n\nz='\n\n'/><c/>\r\n<d\r\n/></a>");

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->line, 1);
	ck_assert_uint_eq(root->children[0]->line, 5);
	ck_assert_uint_eq(root->children[1]->line, 9);
	ck_assert_uint_eq(root->children[2]->line, 10);
	nm_node_free(root);
}
END_TEST

START_TEST(lines_after_much_text)
{
	const unsigned lines = 70000;
	char *text = malloc(lines + 64);
	size_t n = (size_t)sprintf(text, "<a>");

	memset(text + n, '\n', lines);
	n += lines;
	n += (size_t)sprintf(text + n, "<b\nx='1'/></a>");
	struct nm_node *root = nm_profile_parse("p.xml", text, n, &diags);

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->children[0]->line, lines + 1);
	nm_node_free(root);
	free(text);
}
END_TEST

static const struct {
	const char *written, *value;
} values[] = {
	{"", ""},
	{"plain", "plain"},
	{"a b", "a b"},
	{"a\tb\nc", "a b c"}, /* XML says so */
	{"&lt;&gt;&amp;&quot;&apos;", "<>&\"'"},
	{"&amp;amp;", "&amp;"},
	{"&amp;#38;", "&#38;"},
	{"&#38;", "&"},
	{"&#10;&#9;&#13;", "\n\t\r"},
	{"&#x41;&#66;", "AB"},
	{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
	{"$name ${other} $$", "$name ${other} $$"},
	{"size=64k remotehost=$h", "size=64k remotehost=$h"},
};

/* And printed, and read again. */
START_TEST(values_survive)
{
	char text[256];

	snprintf(text, sizeof text, "<a v=\"%s\"/>", values[_i].written);
	struct nm_node *root = parse(text);

	ck_assert_ptr_nonnull(root);
	ck_assert_str_eq(nm_node_attr(root, "v"), values[_i].value);
	char *printed = nm_profile_print(root);

	ck_assert_ptr_nonnull(printed);
	nm_node_free(root);
	root = parse(printed);
	ck_assert_ptr_nonnull(root);
	ck_assert_str_eq(nm_node_attr(root, "v"), values[_i].value);
	nm_node_free(root);
	free(printed);
}
END_TEST

static const struct {
	const char *text, *message;
} wrong[] = {
	/* declarations and what they could bring in */
	{"\n<!DOCTYPE a SYSTEM \"file:///etc/passwd\" []>\n<a/>",
	 "p.xml:2: error: a document type declaration (DOCTYPE) is not allowed in a profile"},
	{"<!DOCTYPE a PUBLIC \"x\" \"http://127.0.0.1:1/x.dtd\" [<!ENTITY % x \"y\">%x;]><a/>",
	 "p.xml:1: error: a document type declaration (DOCTYPE) is not allowed in a profile"},
	{"<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a v=\"&x;\"/>",
	 "p.xml:1: error: a document type declaration (DOCTYPE) is not allowed in a profile"},
	{"<!DOCTYPE a [\n<!ENTITY l0 \"ha\">\n<!ENTITY l1 \"&l0;&l0;&l0;&l0;\">\n"
	 "<!ENTITY l2 \"&l1;&l1;&l1;&l1;\">]>\n<a v=\"&l2;\"/>",
	 "p.xml:1: error: a document type declaration (DOCTYPE) is not allowed in a profile"},
	{"<a>\n<xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" "
	 "href=\"/etc/passwd\"/>\n</a>",
	 "p.xml:2: error: an include is not allowed in a profile"},
	{"<a>\n&x;</a>", "p.xml:2: error: not well-formed XML: Entity 'x' not defined"},
	{"<a v='&x;'/>", "p.xml:1: error: not well-formed XML: Entity 'x' not defined"},

	/* text */
	{"<a>text</a>", "p.xml:1: error: text is not allowed inside <a>: \"text\""},
	{"<a>\n<b>\n\n  some more\n  of it\n</b></a>",
	 "p.xml:4: error: text is not allowed inside <b>: \"some\""},
	{"<a>\n<b/>\nafter\n</a>", "p.xml:3: error: text is not allowed inside <a>: \"after\""},
	{"<a>\n<![CDATA[\nraw <b>\n]]></a>",
	 "p.xml:3: error: text is not allowed inside <a>: \"raw\""},
	{"<a>&#65;</a>", "p.xml:1: error: text is not allowed inside <a>: \"A\""},
	{"<a>&lt;</a>", "p.xml:1: error: text is not allowed inside <a>: \"<\""},
	{"<a>0123456789012345678901234567890123456789x</a>",
	 "p.xml:1: error: text is not allowed inside <a>: "
	 "\"0123456789012345678901234567890123456789\""},
	/* A character is not cut in two. */
	{"<a>012345678901234567890123456789012345678\xc3\xa9x</a>",
	 "p.xml:1: error: text is not allowed inside <a>: "
	 "\"012345678901234567890123456789012345678\""},

	/* encodings */
	{"<a>\n<b v='\xe9'/></a>",
	 "p.xml:2: error: not well-formed XML: byte 0xe9 is not UTF-8 text"},
	{"<a v='\xc0\xaf'/>", "p.xml:1: error: not well-formed XML: byte 0xc0 is not UTF-8 text"},
	{"<a v='\xed\xa0\x80'/>",
	 "p.xml:1: error: not well-formed XML: byte 0xed is not UTF-8 text"},
	{"<a v='\xf4\x90\x80\x80'/>",
	 "p.xml:1: error: not well-formed XML: byte 0xf4 is not UTF-8 text"},
	{"<a v='\xf8\x88\x80\x80\x80'/>",
	 "p.xml:1: error: not well-formed XML: byte 0xf8 is not UTF-8 text"},
	{"<a v='\x80'/>", "p.xml:1: error: not well-formed XML: byte 0x80 is not UTF-8 text"},
	{"<!-- \xc3\xa9 --><a v='\x80'/>",
	 "p.xml:1: error: not well-formed XML: byte 0x80 is not UTF-8 text"},
	{"<a/>\xe2\x82", "p.xml:1: error: not well-formed XML: byte 0xe2 is not UTF-8 text"},
	{"\xff\xfe<", "p.xml:1: error: not well-formed XML: byte 0xff is not UTF-8 text"},
	{"<?xml version='1.0' encoding='ISO-2022-JP'?><a/>",
	 "p.xml:1: error: encoding=\"ISO-2022-JP\" is not allowed: a profile is UTF-8 or "
	 "ISO-8859-1 text"},
	{"<?xml version=\"1.0\" encoding = \"UTF-16\" ?><a/>",
	 "p.xml:1: error: encoding=\"UTF-16\" is not allowed: a profile is UTF-8 or ISO-8859-1 "
	 "text"},

	/* syntax; only what all versions of libxml2 say alike */
	{"<a>\n<b>\n</a>",
	 "p.xml:3: error: not well-formed XML: Opening and ending tag mismatch: b line 2 and a"},
	{"<a x='1' x='2'/>", "p.xml:1: error: not well-formed XML: Attribute x redefined"},
	{"<a/>\n<b/>",
	 "p.xml:2: error: not well-formed XML: Extra content at the end of the document"},
	{"<a x=/>", "p.xml:1: error: not well-formed XML: AttValue: \" or ' expected"},
	{"<a x=1\"/>", "p.xml:1: error: not well-formed XML: AttValue: \" or ' expected"},
	{"<a x/>",
	 "p.xml:1: error: not well-formed XML: Specification mandates value for attribute x"},
	{"no", "p.xml:1: error: not well-formed XML: Start tag expected, '<' not found"},
	{"<x:a/>", "p.xml:1: error: not well-formed XML: Namespace prefix x on a is not defined"},
};

START_TEST(wrong_profiles)
{
	assert_refused(wrong[_i].text, strlen(wrong[_i].text), wrong[_i].message);
}
END_TEST

static const char *const malformed[] = {
	"",
	" ",
	"<",
	"<a",
	"<a>",
	"</a>",
	"<a></b>",
	"<a v='",
	"<a v='<'/>",
	"<a v='1'w/>",
	"<a v='1w='2'/>",
	"<1/>",
	"<a>&</a>",
	"<a>&#0;</a>",
	"<a v='&#x1;'/>",
	"<a v='\x01'/>",
	"<!-- ",
	"<!-- -- -> <a/>",
	"<!-->",
	"<a><![CDATA[</a>",
	"<?xml version='1.0'",
	"<a/><!DOCTYPE a>",
	"<a><!ENTITY x 'y'></a>",
	"<!ENTITY x 'y'><a/>",
	" <?xml version='1.0'><a/>",
	"<?xml version='1.0' mood='good'?><a/>",
	"<?xml version='1.0' encoding=?><a/>x",
	"<a>]]></a>",
	"<a xml:id='1'/>",
};

START_TEST(malformed_profiles)
{
	ck_assert_ptr_null(parse(malformed[_i]));
	ck_assert_uint_ge(diags.n_errors, 1);
	ck_assert_str_eq(diags.items[0].file, "p.xml");
}
END_TEST

START_TEST(zero_bytes_do_not_end_the_text)
{
	static const char text[] = "<a/>\n\0<b>";

	assert_refused(text, sizeof text - 1,
		       "p.xml:2: error: not well-formed XML: byte 0x00 is not UTF-8 text");
}
END_TEST

START_TEST(the_text_need_not_be_terminated)
{
	char *text = malloc(4); /* for the address sanitizer to see beyond */

	memcpy(text, "<a/>", 4);
	struct nm_node *root = nm_profile_parse("p.xml", text, 4, &diags);

	ck_assert_ptr_nonnull(root);
	nm_node_free(root);
	for (size_t length = 0; length < 4; length++)
		ck_assert_ptr_null(nm_profile_parse("p.xml", text, length, &diags));
	free(text);
}
END_TEST

START_TEST(a_byte_order_mark_is_no_text)
{
	struct nm_node *root =
		parse("\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n<a\n>\n<b/></a>");

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->line, 2);
	ck_assert_uint_eq(root->children[0]->line, 4);
	nm_node_free(root);
}
END_TEST

START_TEST(several_stray_texts_are_all_told)
{
	ck_assert_ptr_null(parse("<a>\none two\n<b/>\nthree&lt;four\n<b>five</b>\n</a>"));
	ck_assert_uint_eq(diags.n_errors, 3);
	ck_assert_uint_eq(diags.items[0].line, 2);
	ck_assert_uint_eq(diags.items[1].line, 4);
	ck_assert_uint_eq(diags.items[2].line, 5);
}
END_TEST

START_TEST(names_keep_their_prefix)
{
	struct nm_node *root =
		parse("<p xmlns='urn:p' xmlns:x='urn:x'><x:group x:n='1' n='2'/><group/></p>");

	ck_assert_ptr_nonnull(root);
	ck_assert_str_eq(root->name, "p");
	ck_assert_uint_eq(root->n_attrs, 0);
	ck_assert_str_eq(root->children[0]->name, "x:group");
	ck_assert_str_eq(nm_node_attr(root->children[0], "x:n"), "1");
	ck_assert_str_eq(nm_node_attr(root->children[0], "n"), "2");
	ck_assert_str_eq(root->children[1]->name, "group");
	nm_node_free(root);
}
END_TEST

/* A library does not write to the terminal of its caller, whatever libxml2 likes to do. */
START_TEST(nothing_is_printed)
{
	char path[] = "/tmp/test_tree.XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	int saved = dup(STDERR_FILENO), saved_out = dup(STDOUT_FILENO);

	fflush(stdout);
	dup2(fd, STDERR_FILENO);
	dup2(fd, STDOUT_FILENO);
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		nm_node_free(parse(wrong[i].text));
	for (size_t i = 0; i < COUNT_OF(malformed); i++)
		nm_node_free(parse(malformed[i]));
	fflush(stdout);
	dup2(saved, STDERR_FILENO);
	dup2(saved_out, STDOUT_FILENO);
	int r = fstat(fd, &st);

	close(saved);
	close(saved_out);
	close(fd);
	unlink(path);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(st.st_size, 0);
}
END_TEST

/* ---- printing, nodes, files ---- */

START_TEST(printing_keeps_lines_and_content)
{
	struct nm_node *root =
		parse("<p n='1'>\n\n <g a='&lt;&#10;' b='2'>\n<t/></g>\n<g/><g/>\n</p>");

	ck_assert_ptr_nonnull(root);
	char *text = nm_profile_print(root);

	ck_assert_str_eq(text,
			 "<p n=\"1\">\n\n<g a=\"&lt;&#10;\" b=\"2\">\n<t/></g>\n<g/><g/></p>\n");
	nm_node_free(root);
	root = parse(text);
	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->children[0]->line, 3);
	ck_assert_uint_eq(root->children[0]->children[0]->line, 4);
	ck_assert_uint_eq(root->children[2]->line, 5);
	char *again = nm_profile_print(root);

	ck_assert_str_eq(again, text);
	free(again);
	free(text);
	nm_node_free(root);
}
END_TEST

START_TEST(attributes_are_replaced)
{
	struct nm_node *root = parse("<a v='$x'/>");
	char value[] = "1 < 2 & \"3\"";

	ck_assert_ptr_nonnull(root);
	ck_assert_int_eq(nm_attr_set(&root->attrs[0], value), 0);
	value[0] = 'x';
	ck_assert_str_eq(nm_node_attr(root, "v"), "1 < 2 & \"3\"");
	/* Also by itself. */
	ck_assert_int_eq(nm_attr_set(&root->attrs[0], root->attrs[0].value), 0);
	char *text = nm_profile_print(root);

	ck_assert_str_eq(text, "<a v=\"1 &lt; 2 &amp; &quot;3&quot;\"/>\n");
	free(text);
	nm_node_free(root);
}
END_TEST

START_TEST(freeing_nothing)
{
	ck_assert_ptr_null(nm_node_free(NULL));
}
END_TEST

/* Writes `length` bytes to a file and reads them back. */
static char *slurp(const char *data, size_t length, size_t *ret_length)
{
	char path[] = "/tmp/test_tree.XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, length), (ssize_t)length);
	close(fd);
	char *text = nm_profile_slurp(path, ret_length, &diags);

	unlink(path);
	return text;
}

START_TEST(files_are_read)
{
	size_t length = 77;
	char *text = slurp("<a/>\n", 5, &length);

	ck_assert_uint_eq(length, 5);
	ck_assert_str_eq(text, "<a/>\n");
	free(text);
	text = slurp("", 0, &length);
	ck_assert_uint_eq(length, 0);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(files_are_limited)
{
	char *data = calloc(1, NM_PROFILE_MAX_BYTES + 1);
	size_t length = 0;
	char *text = slurp(data, NM_PROFILE_MAX_BYTES, &length);

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(length, NM_PROFILE_MAX_BYTES);
	free(text);
	ck_assert_ptr_null(slurp(data, NM_PROFILE_MAX_BYTES + 1, &length));
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_str_eq(diags.items[0].text, "the profile is larger than 1 MiB");
	free(data);
}
END_TEST

START_TEST(endless_files_are_limited)
{
	size_t length;

	ck_assert_ptr_null(nm_profile_slurp("/dev/zero", &length, &diags));
	assert_first("/dev/zero: error: the profile is larger than 1 MiB");
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	size_t length;

	ck_assert_ptr_null(nm_profile_slurp("/nonexistent/p.xml", &length, &diags));
	assert_first("/nonexistent/p.xml: error: cannot be opened: No such file or directory");
	nm_diags_fini(&diags);
	ck_assert_ptr_null(nm_profile_slurp("/", &length, &diags));
	assert_first("/: error: cannot be read: Is a directory");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree");
	TCase *tc = tcase_create("tree");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, elements_attributes_and_lines);
	tcase_add_test(tc, a_declared_encoding_is_converted);
	tcase_add_test(tc, a_comment_may_have_any_bytes);
	tcase_add_test(tc, a_tag_over_several_lines_is_where_it_begins);
	tcase_add_test(tc, lines_after_much_text);
	tcase_add_loop_test(tc, values_survive, 0, COUNT_OF(values));
	tcase_add_loop_test(tc, wrong_profiles, 0, COUNT_OF(wrong));
	tcase_add_loop_test(tc, malformed_profiles, 0, COUNT_OF(malformed));
	tcase_add_test(tc, zero_bytes_do_not_end_the_text);
	tcase_add_test(tc, the_text_need_not_be_terminated);
	tcase_add_test(tc, a_byte_order_mark_is_no_text);
	tcase_add_test(tc, several_stray_texts_are_all_told);
	tcase_add_test(tc, names_keep_their_prefix);
	tcase_add_test(tc, nothing_is_printed);
	tcase_add_test(tc, printing_keeps_lines_and_content);
	tcase_add_test(tc, attributes_are_replaced);
	tcase_add_test(tc, freeing_nothing);
	tcase_add_test(tc, files_are_read);
	tcase_add_test(tc, files_are_limited);
	tcase_add_test(tc, endless_files_are_limited);
	tcase_add_test(tc, files_that_cannot_be_read);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
