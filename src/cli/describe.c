/* SPDX-License-Identifier: Apache-2.0 */
/* --describe: the profile language, as its option tables have it. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/opt.h"
#include "base/ascii.h"
#include "base/law.h"
#include "cli/args.h"
#include "flowop/common.h"
#include "flowop/flowop.h"
#include "plan/elements.h"
#include "plan/shorthand.h"
#include "plan/standard.h"
#include "report/named.h"
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
	nm_table_cell(table, "%s%s%s%s", opt->help ? opt->help : "", opt->alias ? " (also " : "",
		      opt->alias ? opt->alias : "", opt->alias ? ")" : "");
}

static void print_options(const struct nm_opt *opts, FILE *out)
{
	struct nm_table table = {.align = "llll", .width = nm_cli_columns(fileno(out))};

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

/* The options of every flowop, without those that have another meaning for this one. */
static void print_common_options(const struct nm_flowop *op, FILE *out)
{
	struct nm_table table = {.align = "llll", .width = nm_cli_columns(fileno(out))};

	fputs("  as every flowop:\n", out);
	for (const struct nm_opt *opt = nm_common_opts; opt->name; opt++)
		if (!nm_opt_find(op->opts, opt->name))
			add_option(&table, opt);
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

static void describe_flowop(const struct nm_flowop *op, FILE *out)
{
	fprintf(out, "flowop %s: %s\n", op->name, op->help);
	const struct nm_flowop *mirror = op->mirror_op;

	if (mirror && (mirror->flags & NM_FLOWOP_INTERNAL))
		fprintf(out, "  the other end: %s, which no profile can name: %s\n", mirror->name,
			mirror->help);
	else
		fprintf(out, "  the other end: %s\n", mirror ? mirror->name : "does nothing");
	print_options(op->opts, out);
	if (op->flags & NM_FLOWOP_OPENS)
		fputs("  and the options of its transport, the value of protocol\n", out);
	print_common_options(op, out);
}

static void describe_transport(const struct nm_transport *transport, FILE *out)
{
	fprintf(out, "transport %s: %s\n", transport->name, transport->help);
	print_options(transport->opts, out);
	if (nm_transport_message_opts(transport)) {
		fputs("  options of flowops that move a message over it:\n", out);
		print_options(transport->message->opts, out);
	}
}

static void describe_app(const struct nm_app *app, FILE *out)
{
	char verbs[256];

	fprintf(out, "application protocol %s: %s\n  flowops: %s\n  usual port: %u", app->name,
		app->help, nm_app_verbs(app->verbs, verbs, sizeof verbs), app->port);
	if (app->tls_port)
		fprintf(out, ", over TLS %u", app->tls_port);
	fputc('\n', out);
}

static void describe_element(const struct nm_element *element, FILE *out)
{
	char parents[64];

	fprintf(out, "element %s: %s\n", element->name, element->help);
	if (element->parents[0])
		fprintf(out, "  in %s\n",
			nm_element_parents(element, false, parents, sizeof(parents)));
	print_options(element->attrs, out);
}

static void list_elements(FILE *out)
{
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};

	fputs("elements:\n", out);
	for (const struct nm_element *e = nm_elements; e->name; e++) {
		nm_table_cell(&table, "%s", e->name);
		nm_table_cell(&table, "%s", e->help);
	}
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

static void list_flowops(FILE *out)
{
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};

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
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};

	fputs("transports (protocol of connect and accept):\n", out);
	for (size_t i = 0; nm_transports[i]; i++) {
		nm_table_cell(&table, "%s", nm_transports[i]->name);
		nm_table_cell(&table, "%s", nm_transports[i]->help);
	}
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

static void list_apps(FILE *out)
{
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};

	fputs("application protocols (app of connect):\n", out);
	for (size_t i = 0; nm_apps[i]; i++) {
		nm_table_cell(&table, "%s", nm_apps[i]->name);
		nm_table_cell(&table, "%s", nm_apps[i]->help);
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
	struct nm_table table = {.align = "lllll", .width = nm_cli_columns(fileno(out))};
	size_t added = 0;

	nm_table_cell(&table, "of");
	nm_table_cell(&table, "option");
	nm_table_cell(&table, "type");
	nm_table_cell(&table, "default");
	nm_table_cell(&table, "%s", "");
	for (const struct nm_element *e = nm_elements; e->name; e++)
		added += add_owned(&table, "element", e->name, e->attrs, only);
	for (size_t i = 0; nm_flowops[i]; i++)
		added +=
			add_owned(&table, "flowop", nm_flowops[i]->name, nm_flowops[i]->opts, only);
	added += add_owned(&table, "every", "flowop", nm_common_opts, only);
	for (size_t i = 0; nm_transports[i]; i++) {
		added += add_owned(&table, "transport", nm_transports[i]->name,
				   nm_transports[i]->opts, only);
		added += add_owned(&table, "messages over", nm_transports[i]->name,
				   nm_transport_message_opts(nm_transports[i]), only);
	}
	if (added)
		nm_table_print(&table, 0, out);
	nm_table_fini(&table);
	return added;
}

static void list_options(FILE *out)
{
	describe_options(NULL, out);
}

/* The functions tell_...: each prints one thing by its name; false when there is none. */
static bool tell_element(const char *name, FILE *out)
{
	const struct nm_element *element = nm_element_find(name);

	if (element)
		describe_element(element, out);
	return element != NULL;
}

static bool tell_flowop(const char *name, FILE *out)
{
	const struct nm_flowop *op = nm_flowop_find(name);

	if (op)
		describe_flowop(op, out);
	return op != NULL;
}

static bool tell_transport(const char *name, FILE *out)
{
	const struct nm_transport *transport = nm_transport_find(name);

	if (transport)
		describe_transport(transport, out);
	return transport != NULL;
}

static bool tell_app(const char *name, FILE *out)
{
	const struct nm_app *app = nm_app_find(name);

	if (app)
		describe_app(app, out);
	return app != NULL;
}

static bool tell_option(const char *name, FILE *out)
{
	return describe_options(name, out) > 0;
}

static void list_types(FILE *out)
{
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};

	fputs("types of values:\n", out);
	for (int t = 0; t < NM_TYPE__COUNT; t++) {
		nm_table_cell(&table, "%s", nm_type_name((enum nm_type)t));
		nm_table_cell(&table, "%s", nm_type_allowed((enum nm_type)t));
	}
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
}

static void list_laws(enum nm_law_of of, FILE *out)
{
	char form[256];

	fputs("laws:\n", out);
	for (size_t i = 0; nm_law_form(i, of, form, sizeof(form)); i++)
		fprintf(out, "  %s\n", form);
}

static bool tell_type(const char *name, FILE *out)
{
	enum nm_type type;
	enum nm_law_of of;

	if (nm_type_from_name(name, &type) < 0)
		return false;
	fprintf(out, "type %s: %s\n", nm_type_name(type), nm_type_allowed(type));
	if (nm_type_is_law(type, &of))
		list_laws(of, out);
	return true;
}

static void add_parameter(struct nm_table *table, const struct nm_standard_param *param)
{
	nm_table_cell(table, "%s", param->name);
	nm_table_cell(table, "%s", nm_type_name(nm_shorthand_type(param)));
	nm_table_cell(table, "%s", param->def);
	nm_table_cell(table, "%s", param->option ? param->option : "-");
	nm_table_cell(table, "%s", param->help);
}

/* All standard parameters, or only the one of that name. */
static bool describe_parameters(const char *only, FILE *out)
{
	static const char *const head[] = {"parameter", "type", "default", "sets", "meaning"};
	struct nm_table table = {.align = "lllll", .width = nm_cli_columns(fileno(out))};
	bool any = false;

	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		nm_table_cell(&table, "%s", head[i]);
	for (const struct nm_standard_param *p = nm_standard_params; p->name; p++) {
		if (only && strcmp(p->name, only) != 0)
			continue;
		add_parameter(&table, p);
		any = true;
	}
	if (any)
		nm_table_print(&table, 0, out);
	nm_table_fini(&table);
	return any;
}

static void list_parameters(FILE *out)
{
	(void)describe_parameters(NULL, out);
}

static bool tell_parameter(const char *name, FILE *out)
{
	return describe_parameters(name, out);
}

/* All figures that requirements may name, or only those of that name. */
static bool describe_figures(const char *only, FILE *out)
{
	struct nm_table table = {.align = "lll", .width = nm_cli_columns(fileno(out))};
	struct nm_named_list list;
	bool any = false;

	if (nm_named_list(&list) != 0)
		list.count = 0;
	for (size_t i = 0; i < list.count; i++) {
		const struct nm_named *named = &list.items[i];

		if (only && strcmp(named->name, only) != 0)
			continue;
		nm_table_cell(&table, "%s%s", nm_scope_prefix(named->scope), named->name);
		nm_table_cell(&table, "%s", nm_quantity_unit(named->quantity));
		nm_table_cell(&table, "%s", named->doc ? named->doc : "");
		any = true;
	}
	if (any)
		fputs("figures (NAME is that of a group, transaction, verb or host, N "
		      "a percentile):\n",
		      out);
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
	nm_named_fini(&list);
	return any;
}

static void list_figures(FILE *out)
{
	(void)describe_figures(NULL, out);
}

static bool tell_figure(const char *name, FILE *out)
{
	return describe_figures(name, out);
}

static const struct kind {
	const char *name;
	void (*list)(FILE *out);
	bool (*tell)(const char *name, FILE *out);
	bool is_last; /* searched only for a name that no kind before has */
} kinds[] = {
	{"element", list_elements, tell_element, false},
	{"flowop", list_flowops, tell_flowop, false},
	{"transport", list_transports, tell_transport, false},
	{"app", list_apps, tell_app, false},
	{"option", list_options, tell_option, true},
	{"type", list_types, tell_type, false},
	/* The standard parameters. */
	{"parameter", list_parameters, tell_parameter, true},
	/* Of the result, by the names that requirements have for them. */
	{"figure", list_figures, tell_figure, true},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* "flowop" or "flowops". */
static const struct kind *kind_find(const char *word)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		size_t length = strlen(kinds[i].name);
		if (strncmp(word, kinds[i].name, length) == 0 &&
		    (word[length] == '\0' || strcmp(word + length, "s") == 0))
			return &kinds[i];
	}
	return NULL;
}

/* Every word that --describe knows, for the hint. */
struct words {
	const char *items[1024];
	size_t count;
};

static void add_word(struct words *words, const char *word)
{
	if (words->count < sizeof(words->items) / sizeof(words->items[0]))
		words->items[words->count++] = word;
}

static void add_words(struct words *words, const char *owner, const struct nm_opt *opts)
{
	add_word(words, owner);
	for (; opts && opts->name; opts++)
		add_word(words, opts->name);
}

static int unknown(const char *word, const char *what, struct nm_diags *diags)
{
	struct words words = {.count = 0};
	const struct nm_arg *arg;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (!nm_ascii_equals(arg->opt.name, word))
			continue;
		nm_diag_error(diags, NULL, 0,
			      "--describe %s: no part of profiles, but an option of the command "
			      "line: --help all tells of --%s",
			      word, arg->opt.name);
		return NM_EXIT_USAGE;
	}

	for (size_t i = 0; i < N_KINDS; i++)
		add_word(&words, kinds[i].name);
	for (const struct nm_element *e = nm_elements; e->name; e++)
		add_words(&words, e->name, e->attrs);
	for (size_t i = 0; nm_flowops[i]; i++)
		add_words(&words, nm_flowops[i]->name, nm_flowops[i]->opts);
	add_words(&words, "flowop", nm_common_opts);
	for (size_t i = 0; nm_transports[i]; i++) {
		add_words(&words, nm_transports[i]->name, nm_transports[i]->opts);
		add_words(&words, nm_transports[i]->name,
			  nm_transport_message_opts(nm_transports[i]));
	}
	for (size_t i = 0; nm_apps[i]; i++)
		add_word(&words, nm_apps[i]->name);
	const char *nearest = nm_nearest(word, words.items, words.count);
	if (nearest && strcmp(nearest, word) != 0)
		nm_diag_error(diags, NULL, 0, "--describe %s: no such %s; did you mean %s?", word,
			      what, nearest);
	else
		nm_diag_error(diags, NULL, 0,
			      "--describe %s: no such %s; --describe alone lists "
			      "what there is",
			      word, what);
	return NM_EXIT_USAGE;
}

int nm_cli_describe(const char *const *words, size_t n_words, FILE *out, struct nm_diags *diags)
{
	if (n_words == 0) {
		/* The options of everything, parameters and figures would be too much here. */
		for (size_t i = 0; i < N_KINDS; i++)
			if (kinds[i].list != list_options && kinds[i].list != list_parameters &&
			    kinds[i].list != list_figures)
				kinds[i].list(out);
		fputs("netmodel --describe NAME tells the options of one; --describe option lists "
		      "all.\n",
		      out);
		return NM_EXIT_OK;
	}
	const struct kind *kind = kind_find(words[0]);
	if (kind && n_words == 1) {
		kind->list(out);
		return NM_EXIT_OK;
	}
	if (kind)
		return kind->tell(words[1], out) ? NM_EXIT_OK
						 : unknown(words[1], kind->name, diags);
	if (n_words > 1)
		return unknown(
			words[0],
			"kind of thing (element, flowop, transport, app, type, option, parameter "
			"or figure)",
			diags);
	bool found = false;
	for (size_t i = 0; i < N_KINDS; i++)
		if (!found || !kinds[i].is_last)
			found = kinds[i].tell(words[0], out) || found;
	return found ? NM_EXIT_OK
		     : unknown(words[0],
			       "element, flowop, transport, app, type, option, parameter or figure",
			       diags);
}
