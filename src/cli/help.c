/* SPDX-License-Identifier: Apache-2.0 */
/* --help, with examples and the options that most users need, and --help all, both made from the
 * table of options. */
#include "cli/cli.h"

#include <string.h>

#include "cli/dialect.h"

#define COLUMN 30 /* where the help of an option begins */
#define WIDTH  79

/* The options of --help. */
static const char *const common[] = {
	"master", "slave",  "port",	"key-file",	  "define",  "interval",
	"warmup", "repeat", "require",	"percentiles",	  "cpus",    "format",
	"output", "quiet",  "verbose",	"all-statistics", "no-auth", "check",
	"params", "list",   "describe", "version",	  "help",
};

static const char usage[] =
	"Usage: netmodel -m PROFILE [-D NAME=VALUE]... [OPTION]...   run a profile\n"
	"       netmodel -s [OPTION]...                              be the other end\n"
	"Generates the network traffic that a profile describes, on this host and others,\n"
	"and reports throughput, latency, losses and CPU use.\n";

static const char examples[] =
	"\nExamples:\n"
	"  netmodel -m tcp_rr                       a result from this host alone\n"
	"  netmodel -m tcp_rr -D num_flows=64 -D test_length=3s\n"
	"                                           64 connections, 3 seconds\n"
	"  netmodel -s                              the other host: it prints a command,\n"
	"                                           with a key, for the first one; or\n"
	"  netmodel -s --no-auth                    without a key, in a trusted network\n"
	"  netmodel -m tcp_stream -D host=10.0.0.7  the first host\n"
	"  netmodel -m tcp_rr --format json -o result.json\n"
	"  netmodel -m my.xml --check               a profile of your own\n";

static const char uperf_usage[] =
	"Usage: uperf -m PROFILE [OPTION]...   run a profile\n"
	"       uperf -s [OPTION]...           be the other end\n"
	"This is netmodel, called by the name of uperf: it reads profiles as uperf reads\n"
	"them, with $name from the environment, and takes the options of uperf:\n\n";

static const char exit_codes[] =
	"\nExit codes: 0 done, 1 wrong use or profile, 2 failed or incomplete,\n"
	"3 internal error, 4 a requirement is not met, 130 interrupted.\n";

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

/* Up to the end of its first clause, or whole. */
static void print_option(FILE *out, const struct nm_arg *arg, bool whole)
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
	nm_arg_help(arg, help, sizeof help);
	if (!whole)
		help[strcspn(help, ";")] = '\0';
	print_wrapped(out, help, at);
	fputc('\n', out);
}

void nm_cli_help(FILE *out)
{
	fputs(usage, out);
	fputs(examples, out);
	fputs(nm_dialect.example, out);
	fputs("\nMost used options (--help all has the rest):\n", out);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		print_option(out, nm_arg_find(common[i]), false);
	fputs(exit_codes, out);
}

void nm_cli_help_uperf(FILE *out)
{
	const struct nm_arg *arg;

	fputs(uperf_usage, out);
	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		if (arg->letter)
			print_option(out, arg, false);
	fputs("\nAll options of netmodel are taken, too: \"--help all\" lists them.\n", out);
	fputs(exit_codes, out);
}

void nm_cli_help_all(FILE *out)
{
	const char *heading = "";
	const struct nm_arg *arg;

	fputs(usage, out);
	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (strcmp(arg->heading, heading) != 0)
			fprintf(out, "\n%s:\n", arg->heading);
		heading = arg->heading;
		print_option(out, arg, true);
	}
	fputs(exit_codes, out);
}
