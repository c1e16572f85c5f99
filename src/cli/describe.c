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
#include "flowop/arrival_law/arrival_law.h"
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
	nm_table_text(table, opt->name);
	nm_table_text(table, used ? choices : nm_type_name(opt->type));
	nm_table_text(table, opt->required ? "required" : opt->def ? opt->def : "-");
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
	nm_table_head(&table, "option|type|default|");
	for (; opts->name; opts++)
		add_option(&table, opts);
	nm_table_end(&table, 2, out);
}

/* The options of every flowop, without those that have another meaning for this one. */
static void print_common_options(const struct nm_flowop *op, FILE *out)
{
	struct nm_table table = {.align = "llll", .width = nm_cli_columns(fileno(out))};

	fputs("  as every flowop:\n", out);
	for (const struct nm_opt *opt = nm_common_opts; opt->name; opt++)
		if (!nm_opt_find(op->opts, opt->name))
			add_option(&table, opt);
	nm_table_end(&table, 2, out);
}

/* The functions tell_...: each prints one thing by its name; false when there is none. Where things
 * are not listed by their names alone, it prints all without a name. */
static bool tell_flowop(const char *name, FILE *out)
{
	const struct nm_flowop *op = nm_flowop_find(name), *mirror = op ? op->mirror_op : NULL;

	if (!op)
		return false;
	fprintf(out, "flowop %s: %s\n", op->name, op->help);
	if (mirror && (mirror->flags & NM_FLOWOP_INTERNAL))
		fprintf(out, "  the other end: %s, which no profile can name: %s\n", mirror->name,
			mirror->help);
	else
		fprintf(out, "  the other end: %s\n", mirror ? mirror->name : "does nothing");
	print_options(op->opts, out);
	if (op->flags & NM_FLOWOP_OPENS)
		fputs("  and the options of its transport, the value of protocol\n", out);
	print_common_options(op, out);
	return true;
}

static bool tell_transport(const char *name, FILE *out)
{
	const struct nm_transport *transport = nm_transport_find(name);

	if (!transport)
		return false;
	fprintf(out, "transport %s: %s\n", transport->name, transport->help);
	print_options(transport->opts, out);
	if (nm_transport_message_opts(transport)) {
		fputs("  options of flowops that move a message over it:\n", out);
		print_options(transport->message->opts, out);
	}
	return true;
}

static bool tell_app(const char *name, FILE *out)
{
	const struct nm_app *app = nm_app_find(name);
	char verbs[256];

	if (!app)
		return false;
	fprintf(out, "application protocol %s: %s\n  flowops: %s\n  usual port: %u", app->name,
		app->help, nm_app_verbs(app->verbs, verbs, sizeof verbs), app->port);
	if (app->tls_port)
		fprintf(out, ", over TLS %u", app->tls_port);
	fputc('\n', out);
	return true;
}

static bool tell_element(const char *name, FILE *out)
{
	const struct nm_element *element = nm_element_find(name);
	char parents[64];

	if (!element)
		return false;
	fprintf(out, "element %s: %s\n", element->name, element->help);
	if (element->parents[0])
		fprintf(out, "  in %s\n",
			nm_element_parents(element, false, parents, sizeof(parents)));
	print_options(element->attrs, out);
	return true;
}

/* Calls a function with each table of options: "every flowop" has one, and each "element NAME". */
static void walk_options(void (*take)(void *arg, const char *kind, const char *owner,
				      const struct nm_opt *opts),
			 void *arg)
{
	for (const struct nm_element *e = nm_elements; e->name; e++)
		take(arg, "element", e->name, e->attrs);
	for (size_t i = 0; nm_flowops[i]; i++)
		take(arg, "flowop", nm_flowops[i]->name, nm_flowops[i]->opts);
	take(arg, "every", "flowop", nm_common_opts);
	for (size_t i = 0; nm_transports[i]; i++) {
		take(arg, "transport", nm_transports[i]->name, nm_transports[i]->opts);
		take(arg, "messages over", nm_transports[i]->name,
		     nm_transport_message_opts(nm_transports[i]));
	}
}

/* Rows "owner, option, ..." of one table: all of it, or the option of that name only. */
struct owned {
	struct nm_table table;
	const char *only;
	size_t added;
};

static void add_owned(void *arg, const char *kind, const char *owner, const struct nm_opt *opts)
{
	struct owned *owned = arg;

	for (; opts && opts->name; opts++) {
		if (owned->only && strcmp(opts->name, owned->only) != 0 &&
		    !(opts->alias && strcmp(opts->alias, owned->only) == 0))
			continue;
		nm_table_cell(&owned->table, "%s %s", kind, owner);
		add_option(&owned->table, opts);
		owned->added++;
	}
}

static bool tell_option(const char *name, FILE *out)
{
	struct owned owned = {.table = {.align = "lllll", .width = nm_cli_columns(fileno(out))},
			      .only = name};

	nm_table_head(&owned.table, "of|option|type|default|");
	walk_options(add_owned, &owned);
	if (owned.added)
		nm_table_print(&owned.table, 0, out);
	nm_table_fini(&owned.table);
	return owned.added > 0;
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

static void tell_value_law(size_t n, const char *name, FILE *out)
{
	enum nm_law_of of;
	char form[512];

	for (enum nm_type type = 0; type < NM_TYPE__COUNT; type++)
		if (nm_type_is_law(type, &of))
			fprintf(out, "law %s, type %s: %s\n", name, nm_type_name(type),
				nm_law_form(n, of, form, sizeof form));
}

/* A law, in its form for each type of which it draws values, and for arrivals. */
static bool tell_law(const char *name, FILE *out)
{
	const char *other;
	bool any = false;

	for (size_t n = 0; (other = nm_law_name(n)); n++) {
		if (strcmp(other, name) != 0)
			continue;
		tell_value_law(n, name, out);
		any = true;
	}
	for (size_t i = 0; nm_arrival_laws[i]; i++) {
		if (strcmp(nm_arrival_laws[i]->name, name) != 0)
			continue;
		fprintf(out, "law %s, arrivals: %s\n", name, nm_arrival_laws[i]->form);
		any = true;
	}
	return any;
}

/* Of the standard parameters. */
static bool tell_parameter(const char *name, FILE *out)
{
	struct nm_table table = {.align = "lllll", .width = nm_cli_columns(fileno(out))};
	bool any = false;

	nm_table_head(&table, "parameter|type|default|sets|meaning");
	for (const struct nm_standard_param *p = nm_standard_params; p->name; p++) {
		if (name && strcmp(p->name, name) != 0)
			continue;
		nm_table_text(&table, p->name);
		nm_table_text(&table, nm_type_name(nm_shorthand_type(p)));
		nm_table_text(&table, p->def);
		nm_table_text(&table, p->option ? p->option : "-");
		nm_table_text(&table, p->help);
		any = true;
	}
	if (any)
		nm_table_print(&table, 0, out);
	nm_table_fini(&table);
	return any;
}

/* Of the result, by the names that requirements have for them. */
static bool tell_figure(const char *name, FILE *out)
{
	struct nm_table table = {.align = "lll", .width = nm_cli_columns(fileno(out))};
	struct nm_named_list list;
	bool any = false;

	if (nm_named_list(&list) != 0)
		list.count = 0;
	for (size_t i = 0; i < list.count; i++) {
		const struct nm_named *named = &list.items[i];

		if (name && strcmp(named->name, name) != 0)
			continue;
		nm_table_cell(&table, "%s%s", nm_scope_prefix(named->scope), named->name);
		nm_table_text(&table, nm_quantity_unit(named->quantity));
		nm_table_text(&table, named->doc);
		any = true;
	}
	if (any)
		fputs("figures (NAME is that of a group, transaction, verb or host, N "
		      "a percentile):\n",
		      out);
	nm_table_end(&table, 2, out);
	nm_named_fini(&list);
	return any;
}

/* The functions ..._at: the name and the help at a place of a list; NULL behind the last. */
static const char *element_at(size_t i, const char **ret_help)
{
	*ret_help = nm_elements[i].help;
	return nm_elements[i].name;
}

#define LIST_AT(function, list)                                                                    \
	static const char *function(size_t i, const char **ret_help)                               \
	{                                                                                          \
		*ret_help = (list)[i] ? (list)[i]->help : NULL;                                    \
		return (list)[i] ? (list)[i]->name : NULL;                                         \
	}
LIST_AT(flowop_at, nm_flowops)
LIST_AT(transport_at, nm_transports)
LIST_AT(app_at, nm_apps)
#undef LIST_AT

static const char *type_at(size_t i, const char **ret_help)
{
	if (i == NM_TYPE__COUNT)
		return NULL;
	*ret_help = nm_type_allowed((enum nm_type)i);
	return nm_type_name((enum nm_type)i);
}

/* Those that draw values, whose help is the form for durations, which each has; then those of
 * arrivals, of which some have the same name. */
static const char *law_at(size_t i, const char **ret_help)
{
	static char form[512];
	size_t n = 0;

	while (n < i && nm_law_name(n))
		n++;
	if (nm_law_form(n, NM_LAW_OF_NS, form, sizeof form)) {
		*ret_help = form;
		return nm_law_name(n);
	}
	*ret_help = nm_arrival_laws[i - n] ? nm_arrival_laws[i - n]->form : NULL;
	return nm_arrival_laws[i - n] ? nm_arrival_laws[i - n]->name : NULL;
}

static const struct kind {
	const char *name;
	bool (*tell)(const char *name, FILE *out);
	bool is_last; /* searched only for a name that no kind before has */
	/* Of a list of names with their help; NULL: tell lists the things, of which there are so
	 * many that they are only listed alone. */
	const char *heading;
	const char *(*at)(size_t i, const char **ret_help);
} kinds[] = {
	{"element", tell_element, false, "elements", element_at},
	{"flowop", tell_flowop, false, "flowops", flowop_at},
	{"transport", tell_transport, false, "transports (protocol of connect and accept)",
	 transport_at},
	{"app", tell_app, false, "application protocols (app of connect)", app_at},
	{"option", tell_option, true, NULL, NULL},
	{"type", tell_type, false, "types of values", type_at},
	{"law", tell_law, true, "laws (of types that draw their values, and of arrivals)", law_at},
	{"parameter", tell_parameter, true, NULL, NULL},
	{"figure", tell_figure, true, NULL, NULL},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void list_kind(const struct kind *kind, FILE *out)
{
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};
	const char *name, *help;

	if (!kind->at) {
		(void)kind->tell(NULL, out);
		return;
	}
	fprintf(out, "%s:\n", kind->heading);
	for (size_t i = 0; (name = kind->at(i, &help)); i++)
		nm_table_row(&table, name, "%s", help);
	nm_table_end(&table, 2, out);
}

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

static void add_words(void *words, const char *kind, const char *owner, const struct nm_opt *opts)
{
	(void)kind;
	(void)owner;
	for (; opts && opts->name; opts++)
		add_word(words, opts->name);
}

static int unknown(const char *word, const char *what, struct nm_diags *diags)
{
	struct words words = {.count = 0};
	const struct nm_arg *arg;
	const char *name, *help;

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
	for (size_t i = 0; i < N_KINDS; i++)
		for (size_t n = 0; kinds[i].at && (name = kinds[i].at(n, &help)); n++)
			add_word(&words, name);
	walk_options(add_words, &words);
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

/* "element, flowop, ... or figure". */
static void kind_names(char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < N_KINDS && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
					 i == 0		    ? ""
					 : i == N_KINDS - 1 ? " or "
							    : ", ",
					 kinds[i].name);
}

int nm_cli_describe(const char *const *words, size_t n_words, FILE *out, struct nm_diags *diags)
{
	char names[128], what[160];

	if (n_words == 0) {
		for (size_t i = 0; i < N_KINDS; i++)
			if (kinds[i].at)
				list_kind(&kinds[i], out);
		fputs("netmodel --describe NAME tells the options of one; --describe option lists "
		      "all.\n",
		      out);
		return NM_EXIT_OK;
	}
	const struct kind *kind = kind_find(words[0]);
	if (kind && n_words == 1) {
		list_kind(kind, out);
		return NM_EXIT_OK;
	}
	if (kind)
		return kind->tell(words[1], out) ? NM_EXIT_OK
						 : unknown(words[1], kind->name, diags);
	kind_names(names, sizeof names);
	if (n_words > 1) {
		snprintf(what, sizeof what, "kind of thing (%s)", names);
		return unknown(words[0], what, diags);
	}
	bool found = false;
	for (size_t i = 0; i < N_KINDS; i++)
		if (!found || !kinds[i].is_last)
			found = kinds[i].tell(words[0], out) || found;
	return found ? NM_EXIT_OK : unknown(words[0], names, diags);
}
