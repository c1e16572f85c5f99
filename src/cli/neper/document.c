/* SPDX-License-Identifier: Apache-2.0 */
/* The table of neper's options for docs/neper.md. */
#include <stdio.h>
#include <string.h>

#include "cli/neper/neper.h"

#define PSP (NM_NEPER_PSP_RR | NM_NEPER_PSP_CRR | NM_NEPER_PSP_STREAM)

/* What is typed instead, with a value that shows its form. */
static void print_here(const char *program, const struct nm_neper_opt *opt, char *buf, size_t size)
{
	const char *example = opt->example ? opt->example : "", *fixed = NULL;
	char name[64];

	*buf = '\0';
	if (opt->means == NM_NEPER_OPTION)
		snprintf(buf, size, "`--%s%s%s`", opt->here, *example ? " " : "", example);
	else if (opt->means == NM_NEPER_PARAM &&
		 nm_neper_find_param(program, opt->here, name, sizeof(name), &fixed))
		snprintf(buf, size, "`-D %s=%s`", name,
			 fixed		? fixed
			 : opt->example ? example
					: "yes");
	else if (opt->means == NM_NEPER_NONE && !opt->example)
		snprintf(buf, size, "not needed: %s", opt->here);
	else
		snprintf(buf, size, "`%s`", example);
}

/* The first program of the set, without those over PSP. */
static unsigned first_of(unsigned set)
{
	set &= ~PSP;
	return set & -set;
}

static void print_programs(unsigned set, FILE *out)
{
	const char *between = "";

	if ((set | PSP) == NM_NEPER_ALL) {
		fputs("all", out);
		return;
	}
	for (unsigned bit = first_of(set); bit; bit = first_of(set)) {
		fprintf(out, "%s%s", between, nm_neper_program(bit));
		between = ", ";
		set &= ~bit;
	}
}

/* A line for each way in which its programs have the option here. */
static void print_option(const struct nm_neper_opt *opt, FILE *out)
{
	unsigned left = opt->workloads & ~PSP;

	while (left) {
		char here[160], other[160];
		unsigned same = 0;

		print_here(nm_neper_program(first_of(left)), opt, here, sizeof(here));
		for (unsigned bit = 1; bit < NM_NEPER_ALL; bit <<= 1) {
			print_here(nm_neper_program(bit), opt, other, sizeof(other));
			if ((left & bit) && strcmp(here, other) == 0)
				same |= bit;
		}
		fprintf(out, "| `--%s`", opt->name);
		if (opt->letter)
			fprintf(out, ", `-%c`", opt->letter);
		fputs(" | ", out);
		print_programs(same, out);
		fprintf(out, " | %s |\n", here);
		left &= ~same;
	}
}

void nm_neper_print_table(FILE *out)
{
	fputs("| neper | programs | netmodel |\n|---|---|---|\n", out);
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		print_option(opt, out);
}
