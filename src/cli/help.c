/* SPDX-License-Identifier: Apache-2.0 */
/* --help, made from the table of options. */
#include "cli/cli.h"

#include <string.h>

#define COLUMN 30 /* where the help of an option begins */
#define WIDTH  79

/* Words of the text between COLUMN and WIDTH; the cursor is at column `at`. */
static void print_wrapped(FILE *out, const char *text, int at)
{
	while (*text) {
		int length = (int)strcspn(text, " ");
		if (at > COLUMN && at + 1 + length > WIDTH) {
			fputc('\n', out);
			at = 0;
		}
		if (at < COLUMN)
			at += fprintf(out, "%*s", COLUMN - at, "");
		else if (at > COLUMN)
			at += fprintf(out, " ");
		at += fprintf(out, "%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
}

static void print_option(FILE *out, const struct nm_arg *arg)
{
	char help[512];
	int at = 0;

	if (arg->letter)
		at += fprintf(out, "  -%c, ", arg->letter);
	else
		at += fprintf(out, "      ");
	at += fprintf(out, "--%s", arg->opt.name);
	if (arg->argument)
		at += fprintf(out, " %s", arg->argument);
	if (at > COLUMN - 2) {
		fputc('\n', out);
		at = 0;
	}
	print_wrapped(out, nm_arg_help(arg, help, sizeof help), at);
	fputc('\n', out);
}

void nm_cli_help(FILE *out)
{
	const char *heading = "";
	const struct nm_arg *arg;

	fputs("Usage: netmodel -m PROFILE [-D NAME=VALUE]... [OPTION]...\n"
	      "       netmodel -s [OPTION]...\n"
	      "Runs the network traffic that a profile models, on this host and on others, and\n"
	      "reports what the network, the hosts and the applications did.\n",
	      out);
	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (strcmp(arg->heading, heading) != 0)
			fprintf(out, "\n%s:\n", arg->heading);
		heading = arg->heading;
		print_option(out, arg);
	}
	fputs("\nTry: netmodel -m tcp_rr    (a result from this host alone)\n"
	      "Exit codes: 0 done, 1 wrong use or profile, 2 failed or incomplete,\n"
	      "3 internal error, 130 interrupted.\n",
	      out);
}
