/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups are told to be measured in different phases. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "compiled.h"

/* A group for each word, a letter for each of its transactions. */
static const struct {
	char letter;
	const char *transaction;
} transactions[] = {
	{'m', "<transaction name='work' duration='1s'><flowop type='think' "
	      "options='duration=1ms'/></transaction>\n"},
	{'n', "<transaction duration='1s' measure='no'><flowop type='think' "
	      "options='duration=1ms'/></transaction>\n"},
	{'s', "<transaction><flowop type='think' options='duration=1ms'/></transaction>\n"},
	{'_', "<transaction/>\n"},
	{'0', "<transaction iterations='0'><flowop type='think' "
	      "options='duration=1ms'/></transaction>\n"},
	{'p', "<transaction><flowop type='nop'/></transaction>\n"},
	{'w', "<transaction><flowop type='nop' options='when=no'/></transaction>\n"},
};

static void print_groups(const char *letters, FILE *out)
{
	unsigned number = 0;

	fputs("<profile>\n<group name='g0'>\n", out);
	for (; *letters; letters++) {
		if (*letters == ' ')
			fprintf(out, "</group><group name='g%u'>\n", ++number);
		for (size_t i = 0; i < sizeof transactions / sizeof *transactions; i++)
			if (transactions[i].letter == *letters)
				fputs(transactions[i].transaction, out);
	}
	fputs("</group></profile>\n", out);
}

static struct compiled compile_groups(const char *letters)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	print_groups(letters, out);
	ck_assert_int_eq(fclose(out), 0);
	struct compiled c = compile_good(text);

	free(text);
	return c;
}

static const char *const together[] = {
	"m",	 "sms",	    "smms mm", "m m",  "sms _m",    "sm _ms sm", "mm m",
	"mm _m", "sm sn",   "m s",     "m _m", "m 0m",	    "m pm",	 "_m m",
	"m_ _m", "mm_ __m", "ss s",    "sm n", "sssm mmmm",
};

START_TEST(groups_that_run_together_or_wait)
{
	struct compiled c = compile_groups(together[_i]);

	ck_assert_msg(!c.plan->apart, "%s: %s", together[_i], c.plan->apart);
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *groups, *said;
	unsigned line;
} apart[] = {
	{"m sm",
	 "group g0 is measured in phase 1 (transaction work, line 3), but group g1 is measured in "
	 "phase 2 (transaction work, line 6): they do not run at the same time; put an empty "
	 "<transaction/> before line 3 to let the first wait",
	 3},
	{"sssm m",
	 "group g1 is measured in phase 1 (transaction work, line 8), but group g0 is measured in "
	 "phase 4 (transaction work, line 6): they do not run at the same time; put 3 empty "
	 "<transaction/> before line 8 to let the first wait",
	 8},
	{"sm sm m",
	 "group g2 is measured in phase 1 (transaction work, line 9), but group g0 is measured in "
	 "phase 2 (transaction work, line 4), group g1 is measured in phase 2 (transaction work, "
	 "line 7): they do not run at the same time; put an empty <transaction/> before line 9 to "
	 "let the first wait",
	 9},
	/* A transaction that flags have left out has not been left empty by its author. */
	{"ms wsm",
	 "group g0 is measured in phase 1 (transaction work, line 3), but group g1 is measured in "
	 "phase 3 (transaction work, line 8): they do not run at the same time; put 2 empty "
	 "<transaction/> before line 3 to let the first wait",
	 3},
};

START_TEST(groups_that_are_measured_in_different_phases)
{
	struct compiled c = compile_groups(apart[_i].groups);

	ck_assert_ptr_nonnull(c.plan->apart);
	ck_assert_str_eq(c.plan->apart, apart[_i].said);
	ck_assert_uint_eq(c.plan->apart_line, apart[_i].line);
	compiled_fini(&c);
}
END_TEST

START_TEST(of_many_groups_some_are_named)
{
	struct compiled c = compile_groups("m sm sm sm sm sm sm sm sm");

	ck_assert_ptr_nonnull(c.plan->apart);
	ck_assert_msg(strstr(c.plan->apart, "group g6 is measured in phase 2 (transaction work, "
					    "line 21), and 2 more groups in others: they"),
		      "%s", c.plan->apart);
	compiled_fini(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("apart");
	TCase *tc = tcase_create("apart");

	tcase_add_loop_test(tc, groups_that_run_together_or_wait, 0,
			    sizeof together / sizeof *together);
	tcase_add_loop_test(tc, groups_that_are_measured_in_different_phases, 0,
			    sizeof apart / sizeof *apart);
	tcase_add_test(tc, of_many_groups_some_are_named);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
