/* SPDX-License-Identifier: Apache-2.0 */
/* The help of one of neper's lines: its options and their meanings here. */
#include <stdio.h>

#include "cli/neper/neper.h"

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
