/* SPDX-License-Identifier: Apache-2.0 */
/* --describe: the profile language, as its option tables have it. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "flowop/flowop.h"
#include "report/table.h"
#include "transport/transport.h"

static void add_option(struct nm_table *table, const struct nm_opt *opt)
{
	char choices[256] = "";
	size_t used = 0;

	for (size_t i = 0; opt->choices && opt->choices[i] && used < sizeof(choices); i++)
		used += (size_t)snprintf(choices + used, sizeof(choices) - used, "%s%s",
					 i ? "|" : "", opt->choices[i]);
	nm_table_cell(table, "%s", opt->name);
	nm_table_cell(table, "%s", used ? choices : nm_type_name(opt->type));
	nm_table_cell(table, "%s", opt->required ? "required" : opt->def ? opt->def : "-");
	nm_table_cell(table, "%s", opt->help ? opt->help : "");
}

static void print_options(const struct nm_opt *opts, FILE *out)
{
	struct nm_table table = {.align = "llll"};

	if (!opts || !opts->name) {
		fputs("  no options\n", out);
		return;
	}
	nm_table_cell(&table, "option");
	nm_table_cell(&table, "type");
	nm_table_cell(&table, "default");
	nm_table_cell(&table, "%s", "");
	for (; opts->name; opts++)
		add_option(&table, opts);
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

static void describe_flowop(const struct nm_flowop *op, FILE *out)
{
	fprintf(out, "flowop %s: %s\n", op->name, op->help);
	fprintf(out, "  the other end: %s\n", op->mirror ? op->mirror : "does nothing");
	print_options(op->opts, out);
	if (op->flags & NM_FLOWOP_OPENS)
		fputs("  and the options of its transport, the value of protocol\n", out);
}

static void describe_transport(const struct nm_transport *transport, FILE *out)
{
	fprintf(out, "transport %s: %s\n", transport->name, transport->help);
	print_options(transport->opts, out);
}

static void list_flowops(FILE *out)
{
	struct nm_table table = {.align = "ll"};

	fputs("flowops:\n", out);
	for (size_t i = 0; nm_flowops[i]; i++) {
		nm_table_cell(&table, "%s", nm_flowops[i]->name);
		nm_table_cell(&table, "%s", nm_flowops[i]->help);
	}
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

static void list_transports(FILE *out)
{
	struct nm_table table = {.align = "ll"};

	fputs("transports (protocol of connect and accept):\n", out);
	for (size_t i = 0; nm_transports[i]; i++) {
		nm_table_cell(&table, "%s", nm_transports[i]->name);
		nm_table_cell(&table, "%s", nm_transports[i]->help);
	}
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

/* Rows "owner, option, ..." of one table: all of it, or the option of that name only. */
static size_t add_owned(struct nm_table *table, const char *kind, const char *owner,
			const struct nm_opt *opts, const char *only)
{
	size_t added = 0;

	for (; opts && opts->name; opts++) {
		bool same = !only || strcmp(opts->name, only) == 0 ||
			    (opts->alias && strcmp(opts->alias, only) == 0);
		if (!same)
			continue;
		nm_table_cell(table, "%s %s", kind, owner);
		add_option(table, opts);
		added++;
	}
	return added;
}

static size_t describe_options(const char *only, FILE *out)
{
	struct nm_table table = {.align = "lllll"};
	size_t added = 0;

	nm_table_cell(&table, "of");
	nm_table_cell(&table, "option");
	nm_table_cell(&table, "type");
	nm_table_cell(&table, "default");
	nm_table_cell(&table, "%s", "");
	for (size_t i = 0; nm_flowops[i]; i++)
		added += add_owned(&table, "flowop", nm_flowops[i]->name, nm_flowops[i]->opts,
				   only);
	for (size_t i = 0; nm_transports[i]; i++)
		added += add_owned(&table, "transport", nm_transports[i]->name,
				   nm_transports[i]->opts, only);
	if (added)
		nm_table_print(&table, 0, out);
	nm_table_fini(&table);
	return added;
}

/* Every word that --describe knows, for the hint. */
static const char *nearest_word(const char *word)
{
	const char *names[1024] = {"flowop", "transport", "option"};
	size_t count = 3;

	for (size_t i = 0; nm_flowops[i] && count < 512; i++) {
		names[count++] = nm_flowops[i]->name;
		for (const struct nm_opt *o = nm_flowops[i]->opts; o && o->name && count < 512; o++)
			names[count++] = o->name;
	}
	for (size_t i = 0; nm_transports[i] && count < 1000; i++) {
		names[count++] = nm_transports[i]->name;
		for (const struct nm_opt *o = nm_transports[i]->opts; o && o->name && count < 1000;
		     o++)
			names[count++] = o->name;
	}
	return nm_nearest(word, names, count);
}

static int unknown(const char *word, const char *kind, struct nm_diags *diags)
{
	const char *nearest = nearest_word(word);

	if (nearest && strcmp(nearest, word) != 0)
		nm_diag_error(diags, NULL, 0, "--describe %s: no such %s; did you mean %s?", word,
			      kind, nearest);
	else
		nm_diag_error(diags, NULL, 0, "--describe %s: no such %s", word, kind);
	return NM_EXIT_USAGE;
}

/* Everything of that name. */
static int describe_name(const char *name, FILE *out, struct nm_diags *diags)
{
	const struct nm_flowop *op = nm_flowop_find(name);
	const struct nm_transport *transport = nm_transport_find(name);

	if (op)
		describe_flowop(op, out);
	if (transport)
		describe_transport(transport, out);
	if (op || transport || describe_options(name, out))
		return NM_EXIT_OK;
	return unknown(name, "flowop, transport or option", diags);
}

static bool is_kind(const char *word, const char *kind)
{
	size_t length = strlen(kind);

	return strncmp(word, kind, length) == 0 &&
	       (word[length] == '\0' || strcmp(word + length, "s") == 0);
}

int nm_cli_describe(const char *const *words, size_t n_words, FILE *out, struct nm_diags *diags)
{
	const char *name = n_words > 1 ? words[1] : NULL;

	if (n_words == 0) {
		list_flowops(out);
		list_transports(out);
		fputs("netmodel --describe NAME tells the options of one; --describe option lists "
		      "all.\n",
		      out);
		return NM_EXIT_OK;
	}
	if (is_kind(words[0], "option")) {
		if (describe_options(name, out) || !name)
			return NM_EXIT_OK;
		return unknown(name, "option", diags);
	}
	if (is_kind(words[0], "flowop")) {
		const struct nm_flowop *op = name ? nm_flowop_find(name) : NULL;
		if (name && !op)
			return unknown(name, "flowop", diags);
		if (op)
			describe_flowop(op, out);
		else
			list_flowops(out);
		return NM_EXIT_OK;
	}
	if (is_kind(words[0], "transport")) {
		const struct nm_transport *transport = name ? nm_transport_find(name) : NULL;
		if (name && !transport)
			return unknown(name, "transport", diags);
		if (transport)
			describe_transport(transport, out);
		else
			list_transports(out);
		return NM_EXIT_OK;
	}
	if (name)
		return unknown(words[0], "kind of thing (flowop, transport or option)", diags);
	return describe_name(words[0], out, diags);
}
