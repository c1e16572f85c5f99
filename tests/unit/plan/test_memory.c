/* SPDX-License-Identifier: Apache-2.0 */
/* A profile read and compiled while each allocation of ours fails in turn: that is told, or the
 * plan is the right one. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"
#include "plan/params.h"
#include "plan/plan.h"
#include "profile/tree.h"

#define PROFILE                                                                                    \
	"<profile name='t'><params names='test_length=1s'/>\n"                                     \
	"<param name='s' sets='write.size read.size' default='10'/>\n"                             \
	"<param name='h' type='host' default='local'/><param name='t' default='$h'/>\n"            \
	"<group name='g$s' nthreads='2' nflows='4'><transaction>\n"                                \
	"<flowop type='connect' options='remotehost=$h protocol=tcp nodelay cc=cubic'/>\n"         \
	"</transaction><transaction name='p' duration='$test_length' rate='100'>\n"                \
	"<flowop type='write' options='count=2'/><flowop type='read'/>\n"                          \
	"</transaction><transaction><flowop type='disconnect'/></transaction></group>\n"           \
	"<group><transaction><flowop type='accept' options='remotehost=$h protocol=udp'/>\n"       \
	"</transaction><transaction iterations='3'><flowop type='read' options='size=rand(1,9)'/>" \
	"<flowop type='write' options='size=9'/></transaction></group></profile>"

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);

static long left = -1; /* allocations until the one that fails; -1: none does */

static bool hit; /* it has failed */

static bool fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	hit = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t size)
{
	return fails() ? NULL : __real_realloc(at, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return fails() ? NULL : __real_strndup(text, size);
}

/* The plans of both sides as they are dumped, owned; NULL after an error, which has been told. */
static char *compile(void)
{
	const struct nm_param_values none = {.n_defines = 0};
	struct nm_params params = {0};
	struct nm_diags diags = {0};
	struct nm_node *root = nm_profile_parse("t.xml", PROFILE, strlen(PROFILE), &diags);
	struct nm_plan *plan = NULL, *mirror = NULL;
	char *text = NULL;

	if (root) {
		nm_params_apply(root, "t.xml", &none, &params, &diags);
		plan = nm_plan_compile(root, "t.xml", &diags);
		mirror = plan ? nm_plan_compile_mirror(root, "t.xml", "local", &diags) : NULL;
	}
	left = -1;
	ck_assert(mirror || diags.n_errors);
	if (mirror && !diags.n_errors) {
		char *one = nm_plan_dump(plan), *other = nm_plan_dump(mirror);

		ck_assert(one && other && asprintf(&text, "%s%s", one, other) > 0);
		free(one);
		free(other);
	}
	nm_plan_free(plan);
	nm_plan_free(mirror);
	nm_params_fini(&params);
	nm_node_free(root);
	nm_diags_fini(&diags);
	return text;
}

START_TEST(without_memory_that_is_told_or_the_plan_is_right)
{
	char *good = compile();
	unsigned n_told = 0;

	ck_assert_ptr_nonnull(good);
	hit = true;
	for (long n = 0; hit; n++) {
		left = n;
		hit = false;
		char *text = compile();

		n_told += !text;
		if (text)
			ck_assert_str_eq(text, good);
		free(text);
	}
	ck_assert_uint_gt(n_told, 300);
	free(good);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tc = tcase_create("memory");

	tcase_add_test(tc, without_memory_that_is_told_or_the_plan_is_right);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
