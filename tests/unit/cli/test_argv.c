/* SPDX-License-Identifier: Apache-2.0 */
/* How a command line is taken apart. */
#include "cli/argv.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"

static const char *const names[] = {"flag", "value", "maybe", "value-too"};
static const char letters[] = "fvm";

static struct nm_argv_option option_of(int i)
{
	static const enum nm_argv_value values[] = {NM_ARGV_NONE, NM_ARGV_REQUIRED,
						    NM_ARGV_OPTIONAL, NM_ARGV_REQUIRED};

	return (struct nm_argv_option){.option = i < 0 ? NULL : names[i],
				       .value = i < 0 ? NM_ARGV_NONE : values[i]};
}

static struct nm_argv_option by_name(const void *arg, const char *name, size_t length)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
			return option_of(i);
	return option_of(-1);
}

static struct nm_argv_option by_letter(const void *arg, char letter)
{
	const char *at = strchr(letters, letter);

	(void)arg;
	return option_of(at ? (int)(at - letters) : -1);
}

static bool refuses(void *arg, const struct nm_argv *at)
{
	(void)arg;
	return strcmp(at->word, "-refused") == 0;
}

/* "flag value=x word", as it is found. */
static const char *walk(const char *const words[])
{
	static const char *const kinds[] = {"", "word ", "unknown ", "missing ", "superfluous "};
	const struct nm_argv_table table = {
		.by_name = by_name, .by_letter = by_letter, .refuses = refuses};
	static char found[256];
	struct nm_argv at;
	enum nm_argv_kind kind;
	size_t used = 0;
	int argc = 0;

	while (words[argc])
		argc++;
	nm_argv_init(&at, &table, argc, (char **)(uintptr_t)words);
	*found = '\0';
	while ((kind = nm_argv_next(&at)) != NM_ARGV_END)
		used += (size_t)snprintf(found + used, sizeof found - used, "[%s%s%s%s]",
					 kinds[kind], at.option ? (const char *)at.option : at.word,
					 at.value ? "=" : "", at.value ? at.value : "");
	return found;
}

#define assert_found(expected, ...)                                                                \
	ck_assert_str_eq(walk((const char *[]){"program", __VA_ARGS__, NULL}), expected)

START_TEST(names_and_values)
{
	assert_found("[flag]", "--flag");
	assert_found("[value=1]", "--value", "1");
	assert_found("[value=1]", "--value=1");
	assert_found("[value=]", "--value=");
	assert_found("[value=--flag]", "--value", "--flag");
	assert_found("[missing value]", "--value");
	assert_found("[superfluous flag=1]", "--flag=1");
	assert_found("[maybe][word x]", "--maybe", "x");
	assert_found("[maybe=x]", "--maybe=x");
	assert_found("[unknown --other=1][flag]", "--other=1", "--flag");
}
END_TEST

START_TEST(letters_in_clusters)
{
	assert_found("[flag]", "-f");
	assert_found("[flag][flag][value=1]", "-ffv1");
	assert_found("[flag][value=1]", "-fv", "1");
	assert_found("[missing value]", "-v");
	assert_found("[maybe][word x]", "-m", "x");
	assert_found("[maybe=x]", "-mx");
	assert_found("[flag][unknown -fzf][flag]", "-fzf");
	assert_found("[flag]", "-refused", "-f");
}
END_TEST

START_TEST(words_are_in_any_order)
{
	assert_found("[word a][flag][word b]", "a", "--flag", "b");
	assert_found("[word -][word ]", "-", "");
	assert_found("[flag][word --flag][word -f]", "--flag", "--", "--flag", "-f");
	ck_assert_str_eq(walk((const char *[]){"program", NULL}), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("argv");
	TCase *tc = tcase_create("argv");

	tcase_add_test(tc, names_and_values);
	tcase_add_test(tc, letters_in_clusters);
	tcase_add_test(tc, words_are_in_any_order);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
