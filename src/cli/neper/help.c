/* SPDX-License-Identifier: Apache-2.0 */
/* neper's options with their meanings here: as the help of one of its lines, and as a table for
 * docs/neper.md. */
#include <stdio.h>
#include <string.h>

#include "cli/neper/neper.h"

#define PSP (NM_NEPER_PSP_RR | NM_NEPER_PSP_CRR | NM_NEPER_PSP_STREAM)

/* --- the help --- */

/* The meaning of a client's option. */
static void print_client(const char *program, const struct nm_neper_opt *opt, FILE *out)
{
	char name[64];
	const char *fixed;

	switch (opt->means) {
	case NM_NEPER_ROLE:
		fputs(opt->here, out);
		break;
	case NM_NEPER_PARAM:
		if (nm_neper_find_param(program, opt->here, name, sizeof(name), &fixed))
			fprintf(out, "-D %s%s%s", name, fixed ? "=" : "", fixed ? fixed : "");
		else
			fputs("not offered by the profile", out);
		if (opt->value == NM_NEPER_LENGTH)
			fputs("; below 0: -D num_transactions", out);
		if (opt->value == NM_NEPER_BYTE_RATE)
			fputs(", in bits/s; k, m, g: 1000 bits; K, M, G: 1024 bytes", out);
		break;
	case NM_NEPER_OPTION:
		fprintf(out, "--%s", opt->here);
		break;
	case NM_NEPER_CPUS:
		fprintf(out, "--%s %s", opt->here,
			nm_neper_cpus_of_nodes(opt) ? nm_neper_cpus_of_nodes(opt) : "LIST");
		break;
	case NM_NEPER_FAMILY:
		fputs(opt->here, out);
		break;
	case NM_NEPER_NONE:
		fprintf(out, "no effect: %s", opt->here);
		break;
	}
}

void nm_neper_help(const char *workload, FILE *out)
{
	const unsigned set = nm_neper_workload(workload);

	fprintf(out,
		"Usage: netmodel %s [OPTION]...              a server\n"
		"       netmodel %s -c -H HOST [OPTION]...   a client\n"
		"Without -H a client asks the server on this host; -H local needs none.\n"
		"Runs the profile %s by neper's command lines. A server is a slave that takes\n"
		"everything from its client; options in brackets are its own. A bare number has\n"
		"neper's unit, and another may be written: -l 500ms. Long options of netmodel "
		"whose\n"
		"names neper does not have may be given too.\n\n",
		workload, workload, workload);
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		char left[64];

		if (!(opt->workloads & set))
			continue;
		snprintf(left, sizeof(left), "%c%c%c--%s%s", opt->letter ? '-' : ' ',
			 opt->letter ? opt->letter : ' ', ' ', opt->name,
			 nm_neper_value_text(opt->value));
		fprintf(out, "  %-36s ", left);
		print_client(workload, opt, out);
		if (opt->server && opt->means != NM_NEPER_ROLE)
			fprintf(out, " [--%s]", *opt->server == '=' ? opt->here : opt->server);
		fputc('\n', out);
	}
}

/* --- the table --- */

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
static void print_rows(const struct nm_neper_opt *opt, FILE *out)
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
		print_rows(opt, out);
}
