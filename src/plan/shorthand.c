/* SPDX-License-Identifier: Apache-2.0 */
/* Writes out what a profile has written short: standard parameters, and parameters that set an
 * option by themselves.
 *
 * This is done before any value is put in, and as text: the result is a profile that its author
 * could have written. So parameters, checks, slaves and results know nothing of it. */
#include "plan/shorthand.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/ascii.h"
#include "flowop/common.h"
#include "flowop/flowop.h"
#include "plan/elements.h"
#include "plan/params_priv.h"
#include "plan/standard.h"
#include "profile/tree.h"
#include "transport/transport.h"

#define BLANKS	    " \t\r\n"
#define MAX_WORD    128 /* of the name of a parameter or an option */
#define MAX_TARGETS 256 /* options that parameters of one profile set */

/* An option that a parameter sets. */
struct target {
	const struct nm_flowop *op; /* NULL: an attribute of groups */
	const struct nm_opt *opt;
	const struct nm_node *param;
};

struct shorthand {
	const char *file;
	struct nm_diags *diags;
	struct target targets[MAX_TARGETS];
	size_t n_targets;
	size_t added;	/* bytes, for all targets in all places */
	bool too_large; /* they are too many, as reported */
	bool failed;	/* out of memory */
};

/* The next word of *text; false at the end, or when it is too long to be anything. */
static bool next_word(const char **text, char word[MAX_WORD])
{
	*text += strspn(*text, BLANKS);
	size_t n = strcspn(*text, BLANKS);

	snprintf(word, MAX_WORD, "%.*s", (int)(n < MAX_WORD ? n : MAX_WORD), *text);
	*text += n;
	return n > 0;
}

static void add_attr(struct shorthand *s, struct nm_node *node, const char *name, const char *value)
{
	if (value && nm_node_set_attr(node, name, value) < 0)
		s->failed = true;
}

/* ---- <params names="..."> ---- */

static void unknown_standard(struct shorthand *s, const struct nm_node *node, const char *name)
{
	const char *names[MAX_WORD];
	size_t count = 0;

	for (const struct nm_standard_param *p = nm_standard_params; p->name && count < MAX_WORD;
	     p++)
		names[count++] = p->name;
	const char *nearest = nm_nearest(name, names, count);

	nm_diag_error(
		s->diags, s->file, node->line,
		"<params>: \"%s\" is no standard parameter%s%s%s; --describe parameters lists them",
		name, nearest ? ", did you mean \"" : "", nearest ? nearest : "",
		nearest ? "\"?" : "");
}

/* The <param> for a name or name=default; NULL when there is none. */
static struct nm_node *standard_param(struct shorthand *s, const struct nm_node *node, char *word)
{
	char *def = strchr(word, '=');

	if (def)
		*def++ = '\0';
	const struct nm_standard_param *standard = nm_standard_param_find(word);

	if (!standard) {
		unknown_standard(s, node, word);
		return NULL;
	}
	struct nm_node *param = nm_node_new("param", node->line);

	if (!param) {
		s->failed = true;
		return NULL;
	}
	add_attr(s, param, "name", standard->name);
	add_attr(s, param, "sets", standard->option);
	if (!standard->option)
		add_attr(s, param, "type", nm_type_name(standard->type));
	add_attr(s, param, "choices", standard->choices);
	add_attr(s, param, "default", def ? def : standard->def);
	add_attr(s, param, "help", standard->help);
	return param;
}

static void check_params(struct shorthand *s, const struct nm_node *node,
			 const struct nm_node *group)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		if (!nm_ascii_equals(node->attrs[i].name, "names"))
			nm_diag_error(s->diags, s->file, node->line,
				      "<params>: unknown attribute \"%s\"; allowed is names",
				      node->attrs[i].name);
	for (size_t i = 0; i < node->n_children; i++)
		nm_diag_error(s->diags, s->file, node->children[i]->line,
			      "<%s> inside <params>: it has no elements inside",
			      node->children[i]->name);
	const char *names = nm_node_attr(node, "names");

	if (!names || !names[strspn(names, BLANKS)])
		nm_diag_error(s->diags, s->file, node->line,
			      "<params>: needs names=\"...\": standard parameters, separated by "
			      "blanks; --describe parameters lists them");
	if (group)
		nm_diag_error(s->diags, s->file, node->line,
			      "<params>: parameters come first, before the <%s> of line %u",
			      group->name, group->line);
}

/* Adds the parameters of the names to a list, which has room for all of them. */
static size_t list_params(struct shorthand *s, const struct nm_node *node, struct nm_node **list,
			  size_t count)
{
	const char *names = nm_node_attr(node, "names");
	char word[MAX_WORD];

	while (names && next_word(&names, word)) {
		struct nm_node *param = standard_param(s, node, word);

		if (param)
			list[count++] = param;
	}
	return count;
}

static size_t count_words(const char *text)
{
	size_t count = 0;

	for (; text && *(text += strspn(text, BLANKS)); text += strcspn(text, BLANKS))
		count++;
	return count;
}

static bool is_params(const struct nm_node *node)
{
	return nm_ascii_equals(node->name, "params");
}

static void expand_params(struct shorthand *s, struct nm_node *root)
{
	const struct nm_node *group = NULL;
	size_t room = 0, count = 0;

	for (size_t i = 0; i < root->n_children; i++)
		room += is_params(root->children[i])
				? count_words(nm_node_attr(root->children[i], "names"))
				: 1;
	if (room > NM_PROFILE_MAX_NODES) {
		nm_diag_error(s->diags, s->file, root->line,
			      "the profile has more than %d elements, with those that <params> "
			      "stands for",
			      NM_PROFILE_MAX_NODES);
		room = 0;
	}
	struct nm_node **list = room ? malloc(room * sizeof(struct nm_node *)) : NULL;

	s->failed |= room && !list;
	if (!list)
		return;
	for (size_t i = 0; i < root->n_children; i++) {
		struct nm_node *child = root->children[i];

		if (!is_params(child)) {
			if (!group && !nm_ascii_equals(child->name, "param"))
				group = child;
			list[count++] = child;
			continue;
		}
		check_params(s, child, group);
		/* In the wrong place one error stands for all names. */
		count = group ? count : list_params(s, child, list, count);
		nm_node_free(child);
	}
	free(root->children);
	root->children = list;
	root->n_children = count;
}

/* ---- <param sets="..."> ---- */

/* Finds an option of the flowop itself, of the transport, or (NULL) of any, of its connection or
 * messages, or of all flowops. */
static const struct nm_opt *find_option(const struct nm_flowop *op,
					const struct nm_transport *transport, const char *name)
{
	const struct nm_opt *opt = nm_opt_find(op->opts, name);

	for (const struct nm_transport *const *t = nm_transports; *t && !opt; t++)
		if ((op->flags & NM_FLOWOP_OPENS) && (!transport || transport == *t))
			opt = nm_opt_find((*t)->opts, name);
	if (!opt)
		opt = nm_opt_find(nm_common_opts, name);
	for (const struct nm_transport *const *t = nm_transports; *t && !opt; t++)
		if ((op->flags & NM_FLOWOP_MOVES) && nm_transport_message_opts(*t))
			opt = nm_opt_find(nm_transport_message_opts(*t), name);
	return opt;
}

static size_t add_names(const struct nm_opt *table, const char **names, size_t count)
{
	for (; table && table->name && count < MAX_TARGETS; table++)
		names[count++] = table->name;
	return count;
}

static void unknown_option(struct shorthand *s, const struct nm_node *param,
			   const struct nm_flowop *op, const char *owner, const char *name)
{
	const char *names[MAX_TARGETS];
	size_t count = add_names(op ? op->opts : nm_element_find("group")->attrs, names, 0);

	count = add_names(op ? nm_common_opts : NULL, names, count);
	for (const struct nm_transport *const *t = nm_transports; op && *t; t++)
		count = add_names(op->flags & NM_FLOWOP_OPENS ? (*t)->opts : NULL, names, count);
	const char *nearest = nm_nearest(name, names, count);

	nm_diag_error(s->diags, s->file, param->line,
		      "<param name=\"%s\"> sets=\"%s.%s\": %s has no %s \"%s\"%s%s%s",
		      nm_node_attr(param, "name"), owner, name, owner, op ? "option" : "attribute",
		      name, nearest ? ", did you mean \"" : "", nearest ? nearest : "",
		      nearest ? "\"?" : "");
}

const struct nm_opt *nm_shorthand_option(const char *target, const struct nm_flowop **ret_op)
{
	char owner[MAX_WORD];
	size_t length = strcspn(target, ".");
	size_t end = strcspn(target, BLANKS);
	char name[MAX_WORD];

	*ret_op = NULL;
	if (length >= end || end >= MAX_WORD)
		return NULL;
	snprintf(owner, sizeof owner, "%.*s", (int)length, target);
	snprintf(name, sizeof name, "%.*s", (int)(end - length - 1), target + length + 1);
	if (nm_ascii_equals(owner, "group"))
		return nm_opt_find(nm_element_find("group")->attrs, name);
	*ret_op = nm_flowop_find(owner);
	return *ret_op ? find_option(*ret_op, NULL, name) : NULL;
}

enum nm_type nm_shorthand_type(const struct nm_standard_param *param)
{
	const struct nm_flowop *op;
	const struct nm_opt *opt = param->option ? nm_shorthand_option(param->option, &op) : NULL;

	return opt ? opt->type : param->type;
}

/* Reads the target that a word such as connect.cc means; false: none, which has been reported. */
static bool read_target(struct shorthand *s, const struct nm_node *param, char *word,
			struct target *ret_target)
{
	const struct nm_flowop *op;
	const struct nm_opt *opt = nm_shorthand_option(word, &op);
	char *name = strchr(word, '.');

	if (opt) {
		*ret_target = (struct target){.op = op, .opt = opt, .param = param};
		return true;
	}
	if (name && (op || strncasecmp(word, "group.", 6) == 0)) {
		*name++ = '\0';
		unknown_option(s, param, op, word, name);
	} else {
		nm_diag_error(s->diags, s->file, param->line,
			      "<param name=\"%s\"> sets=\"%s\": must be a flowop and one of its "
			      "options, as connect.cc, or group and an attribute, as group.wait",
			      nm_node_attr(param, "name"), word);
	}
	return false;
}

/* Whether another parameter sets the option, or there are too many: both are reported. */
static bool is_taken(struct shorthand *s, const struct target *target)
{
	const char *own = nm_node_attr(target->param, "name");

	for (size_t i = 0; i < s->n_targets; i++) {
		const struct target *other = &s->targets[i];

		if (other->op != target->op || other->opt != target->opt)
			continue;
		/* A parameter that is declared twice gets another error. */
		if (strcmp(own, nm_node_attr(other->param, "name")) != 0)
			nm_diag_error(s->diags, s->file, target->param->line,
				      "<param name=\"%s\">: sets %s.%s, which <param name=\"%s\"> "
				      "of line %u sets already",
				      own, target->op ? target->op->name : "group",
				      target->opt->name, nm_node_attr(other->param, "name"),
				      other->param->line);
		return true;
	}
	if (s->n_targets < MAX_TARGETS)
		return false;
	nm_diag_error(s->diags, s->file, target->param->line,
		      "<param name=\"%s\">: the parameters set more than %d options", own,
		      MAX_TARGETS);
	return true;
}

/* The words of an enum as choices="..." has them; owned, NULL when out of memory. */
static char *join_choices(const char *const *choices)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", choices[i]);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Gives the parameter all that it does not say itself, as the option has it. */
static void take_from(struct shorthand *s, struct nm_node *param, const struct nm_opt *opt)
{
	const char *def = opt->def ? opt->def : opt->type == NM_TYPE_FLAG ? "no" : NULL;

	add_attr(s, param, "type", nm_type_name(opt->type));
	if (opt->choices) {
		char *choices = join_choices(opt->choices);

		s->failed |= !choices;
		add_attr(s, param, "choices", choices);
		free(choices);
	}
	if (!nm_node_attr(param, "default"))
		add_attr(s, param, "default", def);
	if (!nm_node_attr(param, "help"))
		add_attr(s, param, "help", opt->help);
}

static void check_own(struct shorthand *s, const struct nm_node *param)
{
	static const char *const given[] = {"type", "choices"};

	for (size_t i = 0; i < sizeof given / sizeof *given; i++)
		if (nm_node_attr(param, given[i]))
			nm_diag_error(s->diags, s->file, param->line,
				      "<param name=\"%s\">: has both sets and %s; the option has a "
				      "type of its own",
				      nm_node_attr(param, "name"), given[i]);
}

/* Reads the options that a parameter sets, and forgets the attribute. */
static void read_option(struct shorthand *s, struct nm_node *param, const char *option)
{
	size_t first = s->n_targets;
	char word[MAX_WORD];

	if (!option[strspn(option, BLANKS)])
		nm_diag_error(s->diags, s->file, param->line,
			      "<param name=\"%s\"> sets=\"\": names no option",
			      nm_node_attr(param, "name"));
	while (next_word(&option, word)) {
		struct target target;

		if (!read_target(s, param, word, &target) || is_taken(s, &target))
			continue;
		if (s->n_targets > first && s->targets[first].opt->type != target.opt->type) {
			nm_diag_error(s->diags, s->file, param->line,
				      "<param name=\"%s\">: sets options of two types, %s and %s",
				      nm_node_attr(param, "name"),
				      nm_type_name(s->targets[first].opt->type),
				      nm_type_name(target.opt->type));
			continue;
		}
		s->targets[s->n_targets++] = target;
	}
	check_own(s, param);
	if (s->n_targets > first && !nm_node_attr(param, "type"))
		take_from(s, param, s->targets[first].opt);
}

static void read_options(struct shorthand *s, struct nm_node *root)
{
	for (size_t i = 0; i < root->n_children; i++) {
		struct nm_node *param = root->children[i];
		const char *option = nm_node_attr(param, "sets");

		if (!option || !nm_ascii_equals(param->name, "param"))
			continue;
		const char *name = nm_node_attr(param, "name");

		if (name && nm_param_is_name(name))
			read_option(s, param, option);
		nm_node_remove_attr(param, "sets");
	}
}

/* ---- what sets an option, in its place ---- */

/* The transport of a flowop that opens a connection; NULL: not known before values are put in, or
 * there is none. */
static const struct nm_transport *transport_of(const struct nm_flowop *op, const char *options)
{
	const struct nm_opt *protocol = nm_opt_find(op->opts, "protocol");
	const char *name = protocol && protocol->def ? protocol->def : "";
	char word[MAX_WORD], last[MAX_WORD];

	while (next_word(&options, word)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		if (!value || !protocol || nm_opt_find(protocol, word) != protocol)
			continue;
		memcpy(last, value, strlen(value) + 1);
		name = last;
	}
	return nm_transport_find(name);
}

/* Whether a flowop's options string gives the option. */
static bool is_given(const char *options, const struct nm_opt *opt)
{
	char word[MAX_WORD];

	while (next_word(&options, word)) {
		word[strcspn(word, "=")] = '\0';
		if (nm_ascii_equals(word, opt->name) ||
		    (opt->alias && nm_ascii_equals(word, opt->alias)))
			return true;
	}
	return false;
}

/* Whether so many bytes more may be written for a parameter; reports once that they may not. */
static bool may_add(struct shorthand *s, const struct nm_node *param, size_t bytes)
{
	if (s->too_large)
		return false;
	s->added += bytes;
	s->too_large = s->added > NM_PROFILE_MAX_BYTES;
	if (s->too_large)
		nm_diag_error(s->diags, s->file, param->line,
			      "<param name=\"%s\">: with the options that it sets written out, the "
			      "profile is longer than %d bytes (1 MiB)",
			      nm_node_attr(param, "name"), NM_PROFILE_MAX_BYTES);
	return !s->too_large;
}

static void set_options(struct shorthand *s, struct nm_node *node)
{
	const char *type = nm_node_attr(node, "type"), *given = nm_node_attr(node, "options");
	const struct nm_flowop *op = type ? nm_flowop_find(type) : NULL;
	char *text = NULL;
	size_t size = 0;
	bool any = false;

	/* A flowop with too many options is refused for that. */
	if (!op || s->too_large || count_words(given) > NM_OPTIONS_MAX)
		return;
	const struct nm_transport *transport = transport_of(op, given ? given : "");
	FILE *out = open_memstream(&text, &size);

	s->failed |= !out;
	if (!out)
		return;
	fputs(given ? given : "", out);
	for (size_t i = 0; i < s->n_targets; i++) {
		const struct target *target = &s->targets[i];
		const struct nm_opt *opt =
			target->op == op ? find_option(op, transport, target->opt->name) : NULL;

		if (!opt || is_given(given ? given : "", opt))
			continue;
		const char *name = nm_node_attr(target->param, "name");

		if (!may_add(s, target->param, strlen(opt->name) + strlen(name) + 3))
			break;
		fprintf(out, " %s=$%s", opt->name, name);
		any = true;
	}
	if (fclose(out) != 0 || (any && nm_node_set_attr(node, "options", text) < 0))
		s->failed = true;
	free(text);
}

static void set_group(struct shorthand *s, struct nm_node *group)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		const struct nm_opt *opt = s->targets[i].opt;
		char value[MAX_WORD];

		if (s->targets[i].op || nm_node_attr(group, opt->name))
			continue;
		snprintf(value, sizeof value, "$%s", nm_node_attr(s->targets[i].param, "name"));
		if (may_add(s, s->targets[i].param, strlen(opt->name) + strlen(value)))
			add_attr(s, group, opt->name, value);
	}
}

/* Of all flowops in an element, however deep. */
static void set_options_within(struct shorthand *s, struct nm_node *node)
{
	if (nm_ascii_equals(node->name, "flowop"))
		set_options(s, node);
	for (size_t i = 0; i < node->n_children; i++)
		set_options_within(s, node->children[i]);
}

static void set_all(struct shorthand *s, struct nm_node *root)
{
	for (size_t g = 0; g < root->n_children; g++) {
		struct nm_node *group = root->children[g];

		if (!nm_ascii_equals(group->name, "group"))
			continue;
		set_group(s, group);
		set_options_within(s, group);
	}
}

void nm_shorthand_expand(struct nm_node *root, const char *file, struct nm_diags *diags)
{
	struct shorthand s = {.file = file, .diags = diags};
	size_t errors = diags->n_errors;

	if (!nm_ascii_equals(root->name, "profile"))
		return;
	expand_params(&s, root);
	read_options(&s, root);
	/* After a mistake it might be the mistake that sets an option. */
	if (s.n_targets && diags->n_errors == errors)
		set_all(&s, root);
	if (s.failed)
		nm_diag_error(diags, file, 0, "out of memory");
}
