/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tree.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"

static struct nm_diags diags;

static void setup(void)
{
	diags = (struct nm_diags){0};
}

static void teardown(void)
{
	nm_diags_fini(&diags);
}

static void assert_first(const char *expected)
{
	char text[512] = "nothing";

	if (diags.count)
		nm_diag_format(&diags.items[0], text, sizeof text);
	ck_assert_str_eq(text, expected);
}

struct text {
	char *data;
	size_t length;
	FILE *file;
};

static FILE *begin(struct text *text)
{
	text->file = open_memstream(&text->data, &text->length);
	ck_assert_ptr_nonnull(text->file);
	return text->file;
}

static void repeat(FILE *file, const char *what, size_t times)
{
	while (times--)
		fputs(what, file);
}

/* Ends it, and parses it; frees it. */
static struct nm_node *end(struct text *text)
{
	ck_assert_int_eq(fclose(text->file), 0);
	struct nm_node *root = nm_profile_parse("p.xml", text->data, text->length, &diags);

	free(text->data);
	return root;
}

static void nest(struct text *text, size_t depth)
{
	begin(text);
	repeat(text->file, "<a>\n", depth);
	repeat(text->file, "</a>", depth);
}

START_TEST(depth_is_limited)
{
	struct text text;

	nest(&text, NM_PROFILE_MAX_DEPTH);
	struct nm_node *root = end(&text);

	ck_assert_ptr_nonnull(root);
	nm_node_free(root);
	nest(&text, NM_PROFILE_MAX_DEPTH + 1);
	ck_assert_ptr_null(end(&text));
	assert_first("p.xml:17: error: elements are nested deeper than 16");
}
END_TEST

START_TEST(much_depth_is_told_alike)
{
	struct text text;

	nest(&text, 100000);
	ck_assert_ptr_null(end(&text));
	assert_first("p.xml:17: error: elements are nested deeper than 16");
	ck_assert_uint_eq(diags.count, 1);
}
END_TEST

START_TEST(siblings_are_not_depth)
{
	struct nm_node *root;
	struct text text;

	begin(&text);
	fputs("<a>", text.file);
	repeat(text.file, "<b><c/></b>", 100);
	fputs("</a>", text.file);
	root = end(&text);
	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->n_children, 100);
	nm_node_free(root);
}
END_TEST

static struct nm_node *parse_nodes(size_t count)
{
	struct text text;

	begin(&text);
	fputs("<a>\n", text.file);
	repeat(text.file, "<b/>", count - 1);
	fputs("</a>", text.file);
	return end(&text);
}

START_TEST(elements_are_limited)
{
	struct nm_node *root = parse_nodes(NM_PROFILE_MAX_NODES);

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->n_children, NM_PROFILE_MAX_NODES - 1);
	nm_node_free(root);
	ck_assert_ptr_null(parse_nodes(NM_PROFILE_MAX_NODES + 1));
	assert_first("p.xml:2: error: the profile has more than 65536 elements");
	ck_assert_uint_eq(diags.count, 1);
}
END_TEST

static struct nm_node *parse_attrs(size_t count)
{
	struct text text;

	begin(&text);
	fputs("<a>\n<b", text.file);
	for (size_t i = 0; i < count; i++)
		fprintf(text.file, "\na%zx=''", i);
	fputs("/></a>", text.file);
	return end(&text);
}

/* The largest would take libxml2 minutes; a test has seconds. */
START_TEST(attributes_are_limited)
{
	static const size_t too_many[] = {NM_PROFILE_MAX_ATTRS + 1, 1000, 1100, 100000};
	struct nm_node *root = parse_attrs(NM_PROFILE_MAX_ATTRS);

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(root->children[0]->n_attrs, NM_PROFILE_MAX_ATTRS);
	nm_node_free(root);
	ck_assert_ptr_null(parse_attrs(too_many[_i]));
	assert_first("p.xml:2: error: an element has more than 64 attributes");
	ck_assert_uint_eq(diags.count, 1);
}
END_TEST

/* Wherever such a tag hides: behind what looks like an instruction, but is not one. */
START_TEST(attributes_are_limited_in_malformed_text)
{
	struct text text;

	begin(&text);
	fputs("<r><?1 <a", text.file);
	for (size_t i = 0; i < 90000; i++)
		fprintf(text.file, " a%zx = ''", i);
	fputs("/>?></r>", text.file);
	ck_assert_ptr_null(end(&text));
	assert_first("p.xml:1: error: an element has more than 64 attributes");
}
END_TEST

START_TEST(many_elements_with_attributes_are_not_too_many)
{
	struct nm_node *root;
	struct text text;

	begin(&text);
	fputs("<a><!-- =================== -->", text.file);
	repeat(text.file, "<b c='1' d='x=\"2\"'/>", 2000);
	fputs("</a>", text.file);
	root = end(&text);
	ck_assert_ptr_nonnull(root);
	nm_node_free(root);
}
END_TEST

static struct nm_node *parse_value(size_t length)
{
	struct text text;

	begin(&text);
	fputs("<a>\n<b v='", text.file);
	repeat(text.file, "&amp;", 1);
	repeat(text.file, "y", length - 1);
	fputs("'/></a>", text.file);
	return end(&text);
}

START_TEST(values_are_limited)
{
	struct nm_node *root = parse_value(NM_PROFILE_MAX_VALUE);

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(strlen(nm_node_attr(root->children[0], "v")), NM_PROFILE_MAX_VALUE);
	nm_node_free(root);
	ck_assert_ptr_null(parse_value(NM_PROFILE_MAX_VALUE + 1));
	assert_first("p.xml:2: error: the value of an attribute is longer than 65536 bytes");
}
END_TEST

static struct nm_node *parse_bytes(size_t length)
{
	struct text text;

	begin(&text);
	fputs("<a/>", text.file);
	repeat(text.file, " ", length - 4);
	return end(&text);
}

START_TEST(bytes_are_limited)
{
	struct nm_node *root = parse_bytes(NM_PROFILE_MAX_BYTES);

	ck_assert_ptr_nonnull(root);
	nm_node_free(root);
	ck_assert_ptr_null(parse_bytes(NM_PROFILE_MAX_BYTES + 1));
	assert_first("p.xml: error: the profile is larger than 1 MiB");
}
END_TEST

START_TEST(syntax_errors_are_limited)
{
	struct text text;

	begin(&text);
	fputs("<a>", text.file);
	repeat(text.file, "<b></c>", 10000);
	ck_assert_ptr_null(end(&text));
	ck_assert_uint_ge(diags.count, 1);
	ck_assert_uint_le(diags.count, 20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("limits");
	TCase *tc = tcase_create("limits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, depth_is_limited);
	tcase_add_test(tc, much_depth_is_told_alike);
	tcase_add_test(tc, siblings_are_not_depth);
	tcase_add_test(tc, elements_are_limited);
	tcase_add_loop_test(tc, attributes_are_limited, 0, 4);
	tcase_add_test(tc, attributes_are_limited_in_malformed_text);
	tcase_add_test(tc, many_elements_with_attributes_are_not_too_many);
	tcase_add_test(tc, values_are_limited);
	tcase_add_test(tc, bytes_are_limited);
	tcase_add_test(tc, syntax_errors_are_limited);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
