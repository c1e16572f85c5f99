/* SPDX-License-Identifier: Apache-2.0 */
/* --generate: texts made from the option tables, so that they cannot fall behind them. */
#include "cli/cli.h"

#include <string.h>

#include "cli/dialect.h"
#include "flowop/common.h"
#include "flowop/flowop.h"
#include "lib/settings.h"
#include "plan/elements.h"
#include "plan/shorthand.h"
#include "plan/standard.h"
#include "report/report.h"
#include "transport/transport.h"

#define FLAGS_OF_UPERF "msPSinaftgTkpeEXRvVh"

/* Prints text in roff, so that nothing of it is read as a request or an escape. */
static void print_roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	}
}

/* A text between two others, which are roff; nothing without one. */
static void print_between(FILE *out, const char *before, const char *text, const char *behind)
{
	if (!text)
		return;
	fputs(before, out);
	print_roff(out, text);
	fputs(behind, out);
}

/* An entry of a list, with its help. */
static void print_entry(FILE *out, const char *name, const char *help)
{
	print_between(out, ".TP\n\\fB", name, "\\fR\n");
	print_between(out, "", help, ".\n");
}

static void generate_man_options(FILE *out)
{
	const char *heading = "";
	const struct nm_arg *arg;
	char help[512];

	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (strcmp(arg->heading, heading) != 0)
			fprintf(out, ".SS %s\n", arg->heading);
		heading = arg->heading;
		fputs(".TP\n\\fB", out);
		if (arg->letter)
			fprintf(out, "\\-%c\\fR, \\fB", arg->letter);
		print_between(out, "\\-\\-", arg->opt.name, "\\fR");
		print_between(out, " \\fI", arg->argument, "\\fR");
		print_between(out, "\n", nm_arg_help(arg, help, sizeof help), ".\n");
	}
}

static void print_man_table(FILE *out, const struct nm_opt *opts)
{
	for (; opts && opts->name; opts++) {
		print_between(out, ".TP\n\\fB", opts->name, "\\fR=\\fI");
		for (size_t i = 0; opts->choices && opts->choices[i]; i++)
			print_between(out, i ? "\\fR|\\fI" : "", opts->choices[i], "");
		print_between(out, "", opts->choices ? NULL : nm_type_name(opts->type), "");
		fputs("\\fR", out);
		print_between(out, " (also \\fB", opts->alias, "\\fR)");
		print_between(out, "\n", opts->help ? opts->help : "", "");
		if (opts->required)
			fputs(" (required)", out);
		else
			print_between(out, " (default ", opts->def, ")");
		fputs(".\n", out);
	}
}

/* Options below the entry that they belong to. */
static void print_man_subtable(FILE *out, const struct nm_opt *opts)
{
	if (!opts || !opts->name)
		return;
	fputs(".RS\n", out);
	print_man_table(out, opts);
	fputs(".RE\n", out);
}

static void print_man_parameters(FILE *out)
{
	fputs(".SS Standard parameters\n", out);
	for (const struct nm_standard_param *p = nm_standard_params; p->name; p++) {
		print_between(out, ".TP\n\\fB", p->name, "\\fR=\\fI");
		fprintf(out, "%s\\fR", nm_type_name(nm_shorthand_type(p)));
		print_between(out, " (sets \\fB", p->option, "\\fR)");
		print_between(out, "\n", p->help, "");
		print_between(out, " (default ", *p->def ? p->def : NULL, ")");
		fputs(".\n", out);
	}
}

static void generate_man_language(FILE *out)
{
	char parents[64];

	fputs(".SS Elements\n", out);
	for (const struct nm_element *e = nm_elements; e->name; e++) {
		fprintf(out, ".TP\n\\fB%s\\fR", e->name);
		if (e->parents[0])
			fprintf(out, " (in \\fB%s\\fR)",
				nm_element_parents(e, false, parents, sizeof(parents)));
		print_between(out, "\n", e->help, ".\n");
		print_man_subtable(out, e->attrs);
	}
	print_man_parameters(out);
	fputs(".SS Flowops\n", out);
	for (size_t i = 0; nm_flowops[i]; i++) {
		print_entry(out, nm_flowops[i]->name, nm_flowops[i]->help);
		print_man_subtable(out, nm_flowops[i]->opts);
	}
	fputs(".TP\nEvery flowop\nhas these, where it has none of the same name.\n", out);
	print_man_subtable(out, nm_common_opts);
	fputs(".SS Transports\n", out);
	for (size_t i = 0; nm_transports[i]; i++) {
		print_entry(out, nm_transports[i]->name, nm_transports[i]->help);
		print_man_subtable(out, nm_transports[i]->opts);
		if (nm_transport_message_opts(nm_transports[i])) {
			fputs(".IP\nOptions of flowops that move a message over it:\n", out);
			print_man_subtable(out, nm_transport_message_opts(nm_transports[i]));
		}
	}
}

/* "--port|-P" of every option whose argument has this name, for a case of the shell. */
static bool print_pattern(FILE *out, const char *argument)
{
	const struct nm_arg *arg;
	bool any = false;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (!arg->argument || strcmp(arg->argument, argument) != 0)
			continue;
		fprintf(out, "%s--%s", any ? "|" : "\t", arg->opt.name);
		if (arg->letter)
			fprintf(out, "|-%c", arg->letter);
		any = true;
	}
	return any;
}

static void print_case(FILE *out, const char *argument, const char *body)
{
	if (print_pattern(out, argument))
		fprintf(out, ")\n%s\t\treturn ;;\n", body);
}

static void print_words(FILE *out)
{
	const struct nm_arg *arg;

	fputs("\tlocal options='", out);
	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		fprintf(out, "%s--%s", i ? " " : "", arg->opt.name);
		if (arg->letter)
			fprintf(out, " -%c", arg->letter);
	}
	fputs("'\n\tlocal formats='", out);
	for (size_t i = 0; nm_reports[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", nm_reports[i]->name);
	fputs("'\n\tlocal texts='", out);
	for (size_t i = 0; nm_cli_generate_words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", nm_cli_generate_words[i]);
	fputs("'\n\tlocal things='element figures flowop transport option", out);
	for (size_t i = 0; nm_flowops[i]; i++)
		fprintf(out, " %s", nm_flowops[i]->name);
	for (size_t i = 0; nm_transports[i]; i++)
		fprintf(out, " %s", nm_transports[i]->name);
	fputs("'\n", out);
}

static void generate_completion(FILE *out)
{
	static const char parameters[] =
		"\t\t[ -n \"$profile\" ] || return\n"
		"\t\tCOMPREPLY=($(compgen -S = -W \"$(\"$program\" -m \"$profile\" --params \\\n"
		"\t\t\t2>/dev/null | awk 'NR > 1 {print $1}')\" -- \"$cur\"))\n"
		"\t\tcompopt -o nospace 2>/dev/null\n";

	fputs("# bash completion for netmodel; made by netmodel --generate completion\n"
	      "_netmodel()\n"
	      "{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal program=${COMP_WORDS[0]} profile='' i\n",
	      out);
	print_words(out);
	fputs("\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t-m|--master) profile=${COMP_WORDS[i+1]} ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tcase $prev in\n",
	      out);
	print_case(
		out, "PROFILE",
		"\t\tCOMPREPLY=($(compgen -W \"$(\"$program\" --list 2>/dev/null |\n"
		"\t\t\tawk '{print $1}')\" -- \"$cur\") $(compgen -f -X '!*.xml' -- \"$cur\"))\n");
	print_case(out, "NAME=VALUE", parameters);
	print_case(out, "NAME=RANGE", parameters);
	print_case(out, "FORMAT", "\t\tCOMPREPLY=($(compgen -W \"$formats\" -- \"$cur\"))\n");
	print_case(out, "WORD", "\t\tCOMPREPLY=($(compgen -W \"$texts\" -- \"$cur\"))\n");
	print_case(out, "FILE", "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n");
	print_case(out, "ADDRESS", "\t\tCOMPREPLY=($(compgen -A hostname -- \"$cur\"))\n");
	print_case(out, "PORT", "");
	print_case(out, "TIME", "");
	print_case(out, "LIST", "");
	print_case(out, "N", "");
	print_case(out, "TERMS",
		   "\t\tCOMPREPLY=($(compgen -W \"$(\"$program\" --describe figures 2>/dev/null |\n"
		   "\t\t\tawk 'NR > 1 {print $1}')\" -- \"$cur\"))\n"
		   "\t\tcompopt -o nospace 2>/dev/null\n");
	fputs("\t--help|-h)\n"
	      "\t\tCOMPREPLY=($(compgen -W all -- \"$cur\"))\n"
	      "\t\treturn ;;\n"
	      "\t--describe)\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$things\" -- \"$cur\"))\n"
	      "\t\treturn ;;\n"
	      "\tesac\n"
	      "\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "}\n"
	      "complete -F _netmodel netmodel\n",
	      out);
}

/* The letters of uperf's command line, as options here. */
static void generate_uperf_flags(FILE *out)
{
	const struct nm_arg *arg;
	char help[512];

	fputs("| flag | option | |\n|---|---|---|\n", out);
	for (const char *letter = FLAGS_OF_UPERF; *letter; letter++)
		for (size_t i = 0; (arg = nm_arg_at(i)); i++)
			if (arg->letter == *letter)
				fprintf(out, "| `-%c%s%s` | `--%s` | %s |\n", *letter,
					arg->argument ? " " : "",
					arg->argument ? arg->argument : "", arg->opt.name,
					nm_arg_help(arg, help, sizeof help));
}

static void generate_man_library(FILE *out)
{
	print_man_table(out, nm_settings_table);
}

static void generate_tool_options(FILE *out)
{
	nm_dialect.print_table(out);
}

/* The words, each with what makes it: a function that cannot fail, or one that can. */
#define GENERATED(X)                                                                               \
	X("man-options", .make = generate_man_options)                                             \
	X("man-language", .make = generate_man_language)                                           \
	X("man-library", .make = generate_man_library)                                             \
	X("schema", .make = nm_cli_generate_schema)                                                \
	X("result-schema", .try = nm_result_schema_write)                                          \
	X("figures", .try = nm_named_write)                                                        \
	X("completion", .make = generate_completion)                                               \
	X("tool-options", .make = generate_tool_options)                                           \
	X("uperf-flags", .make = generate_uperf_flags)

#define WORD(word, maker)  word,
#define MAKER(word, maker) {maker},
const char *const nm_cli_generate_words[] = {GENERATED(WORD) NULL};

static const struct {
	void (*make)(FILE *out);
	int (*try)(FILE *out);
} makers[] = {GENERATED(MAKER)};
#undef WORD
#undef MAKER

int nm_cli_generate(const char *word, FILE *out, struct nm_diags *diags)
{
	char words[256] = "";
	size_t used = 0;

	for (size_t i = 0; nm_cli_generate_words[i]; i++) {
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s", i ? ", " : "",
					 nm_cli_generate_words[i]);
		if (strcmp(word, nm_cli_generate_words[i]) != 0)
			continue;
		if (makers[i].try)
			return makers[i].try(out) == 0 ? NM_EXIT_OK : NM_EXIT_INTERNAL;
		makers[i].make(out);
		return NM_EXIT_OK;
	}
	nm_diag_error(diags, NULL, 0, "--generate %s: must be one of %s", word, words);
	return NM_EXIT_USAGE;
}
