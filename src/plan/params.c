/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the declarations of parameters, finds their values (-D, environment, default) and checks
 * them by their types. */
#include "plan/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/ascii.h"
#include "plan/elements.h"
#include "plan/params_priv.h"
#include "plan/shorthand.h"
#include "plan/standard.h"
#include "profile/tree.h"

#define MAX_UNUSED 20 /* unused parameters that are reported by name */

/* Whether `word` is one of the blank-separated choices. */
static bool is_choice(const char *choices, const char *word)
{
	size_t length = strlen(word);

	while (*choices) {
		size_t n, same = 0;

		choices += strspn(choices, " \t\r\n");
		n = strcspn(choices, " \t\r\n");
		while (same < n && same < length &&
		       nm_ascii_lower(choices[same]) == nm_ascii_lower(word[same]))
			same++;
		if (n && n == length && same == n)
			return true;
		choices += n;
	}
	return false;
}

static char *first_choice(const char *choices)
{
	choices += strspn(choices, " \t\r\n");
	return strndup(choices, strcspn(choices, " \t\r\n"));
}

/* Returns whether the value is right. */
static bool check_text(struct nm_params_context *c, const struct nm_param *param, const char *value,
		       enum nm_param_source source, const char *choices)
{
	char why[160];
	int r = 0;

	if (param->type == NM_TYPE_ENUM && !is_choice(choices, value)) {
		snprintf(why, sizeof why, "must be one of: %s", choices);
		r = -EINVAL;
	} else if (param->type != NM_TYPE_ENUM) {
		r = nm_type_check(param->type, param->reading, value, why, sizeof why);
	}
	const struct nm_subject subject = {
		.kind = source == NM_PARAM_DEFINED ? NM_SUBJECT_DEFINE : NM_SUBJECT_NONE,
		.name = param->name,
		.value = value,
		.words = nm_param_source_text(source),
	};
	if (r < 0)
		nm_diag_add(c->diags, NM_SEV_ERROR, c->file, param->line, &subject,
			    "<param name=\"%s\">: value \"%s\" (%s" NM_THE_SUBJECT "): %s",
			    param->name, value, source == NM_PARAM_DEFAULT ? "" : "from ", why);
	return r == 0;
}

/* The default must be right also where another value is in force. */
static void check_values(struct nm_params_context *c, struct nm_param *param, const char *choices)
{
	if (param->stand_in)
		return; /* it is no text, as reported */
	bool right = !param->def || check_text(c, param, param->def, NM_PARAM_DEFAULT, choices);

	if (param->value && param->source != NM_PARAM_DEFAULT)
		right = check_text(c, param, param->value, param->source, choices);
	if (right)
		return;
	/* A bit a second is less than a connection can be paced to. */
	param->stand_in = param->type == NM_TYPE_ENUM	   ? first_choice(choices)
			  : param->type == NM_TYPE_BITRATE ? strdup("8")
							   : strdup(NM_PARAM_STAND_IN);
	c->failed |= !param->stand_in;
}

/* Where its value comes from: -D, then outside, then the default. */
static void choose_value(struct nm_params_context *c, struct nm_param *param)
{
	const char *value = nm_param_define(c, param->name);
	enum nm_param_source source = NM_PARAM_DEFINED;

	if (!value && c->lookup) {
		value = c->lookup(param->name, c->lookup_arg);
		source = NM_PARAM_ENVIRONMENT;
	}
	if (!value) {
		value = param->def;
		source = NM_PARAM_DEFAULT;
	}
	if (value)
		nm_param_set(c, param, value, source, param->line);
}

static bool is_param(const struct nm_node *node)
{
	return nm_ascii_equals(node->name, "param");
}

static void substitute_tree(struct nm_params_context *c, struct nm_node *node)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		nm_param_substitute(c, node, &node->attrs[i]);
	for (size_t i = 0; i < node->n_children; i++)
		if (!is_param(node->children[i]))
			substitute_tree(c, node->children[i]);
}

/* ---- declarations ---- */

static bool param_attrs_known(struct nm_params_context *c, const struct nm_node *node)
{
	const struct nm_opt *table = nm_element_find("param")->attrs;
	bool known = true;

	for (size_t i = 0; i < node->n_attrs; i++) {
		if (nm_opt_find(table, node->attrs[i].name))
			continue;
		nm_diag_error(c->diags, c->file, node->line,
			      "<param>: unknown attribute \"%s\"; allowed are name, sets, type, "
			      "default, choices, help",
			      node->attrs[i].name);
		known = false;
	}
	return known;
}

static enum nm_type read_type(struct nm_params_context *c, const struct nm_node *node,
			      const char *name)
{
	const char *type = nm_node_attr(node, "type");
	enum nm_type kind = NM_TYPE_STRING;

	if (type && nm_type_from_name(type, &kind) < 0)
		nm_diag_error(c->diags, c->file, node->line,
			      "<param name=\"%s\"> type=\"%s\": not a type: must be count, counts, "
			      "integer, size, sizes, duration, durations, duration_range, "
			      "rate, bitrate, port, string, host, flag or enum",
			      name, type);
	if (kind != NM_TYPE_ENUM || nm_node_attr(node, "choices"))
		return kind;
	nm_diag_error(c->diags, c->file, node->line,
		      "<param name=\"%s\">: an enum needs choices=\"...\"", name);
	return NM_TYPE_STRING;
}

/* The default may use parameters that are declared before it. Owned; NULL: there is none. */
static char *read_default(struct nm_params_context *c, const struct nm_node *node)
{
	const struct nm_attr *attr = nm_node_find_attr(node, "default");

	return attr ? nm_param_expand(c, node, attr) : NULL;
}

static bool may_declare(struct nm_params_context *c, const struct nm_node *node, const char *name)
{
	if (!name || !nm_param_is_name(name)) {
		nm_diag_error(c->diags, c->file, node->line,
			      name ? "<param name=\"%s\">: a name is made of letters, digits and "
				     "underscores, and begins with no digit"
				   : "<param>: needs a name%s",
			      name ? name : "");
		return false;
	}
	const struct nm_param *other = nm_param_find(c->params, name);

	if (other && other->line)
		nm_diag_error(c->diags, c->file, node->line,
			      "<param name=\"%s\">: declared twice, first at line %u", name,
			      other->line);
	else if (other)
		nm_diag_error(
			c->diags, c->file, node->line,
			"<param name=\"%s\">: must be declared before the default that uses it",
			name);
	return !other;
}

/* A help that goes over several lines, in one; owned, NULL when out of memory. */
static char *one_line(const char *text)
{
	char *line = malloc(strlen(text) + 1), *end = line;

	if (!line)
		return NULL;
	for (; *text; text++)
		if (*text != ' ' || (end > line && end[-1] != ' '))
			*end++ = *text;
	end -= end > line && end[-1] == ' ';
	*end = '\0';
	return line;
}

static void declare(struct nm_params_context *c, const struct nm_node *node)
{
	const char *name = nm_node_attr(node, "name"), *help = nm_node_attr(node, "help");
	const char *choices = nm_node_attr(node, "choices");

	param_attrs_known(c, node);
	for (size_t i = 0; i < node->n_children; i++)
		nm_diag_error(c->diags, c->file, node->children[i]->line,
			      "<%s> inside <param>: a param has no elements inside",
			      node->children[i]->name);
	char *def = read_default(c, node);
	bool lacks = def && strstr(def, NM_NO_VALUE);

	if (lacks) {
		free(def);
		def = NULL;
	}
	struct nm_param *param =
		may_declare(c, node, name) ? nm_param_add(c, name, node->line) : NULL;

	if (!param) {
		free(def);
		return;
	}
	param->type = read_type(c, node, name);
	param->line = node->line;
	param->def = def;
	param->help = help ? one_line(help) : NULL;
	c->failed |= help && !param->help;
	choose_value(c, param);
	if (lacks && !param->value) {
		param->stand_in = strdup(NM_NO_VALUE);
		c->failed |= !param->stand_in;
	}
	check_values(c, param, choices);
}

static void declare_all(struct nm_params_context *c, const struct nm_node *root)
{
	const struct nm_node *group = NULL;

	for (size_t i = 0; i < root->n_children; i++) {
		const struct nm_node *node = root->children[i];

		if (!is_param(node)) {
			group = group ? group : node;
			continue;
		}
		if (group)
			nm_diag_error(c->diags, c->file, node->line,
				      "<param>: parameters come first, before the <%s> of line %u",
				      group->name, group->line);
		declare(c, node);
	}
}

static void remove_params(struct nm_node *root)
{
	size_t kept = 0;

	for (size_t i = 0; i < root->n_children; i++) {
		if (is_param(root->children[i]))
			nm_node_free(root->children[i]);
		else
			root->children[kept++] = root->children[i];
	}
	root->n_children = kept;
}

void nm_params_unknown(const struct nm_params *params, const char *name, char *why, size_t why_size)
{
	const char *names[64], *nearest;
	size_t count = 0;

	for (; count < params->count && count < 64; count++)
		names[count] = params->items[count].name;
	nearest = nm_nearest(name, names, count);
	snprintf(why, why_size, "the profile has no parameter \"%s\"%s%s%s", name,
		 nearest ? "; did you mean \"" : "; --params lists them", nearest ? nearest : "",
		 nearest ? "\"?" : "");
}

static void check_defines(struct nm_params_context *c)
{
	for (size_t i = 0; i < c->n_defines; i++) {
		const struct nm_subject subject = {.kind = NM_SUBJECT_DEFINE,
						   .name = c->defines[i].name,
						   .value = c->defines[i].value};
		char why[512];

		if (c->used[i])
			continue;
		nm_params_unknown(c->params, c->defines[i].name, why, sizeof(why));
		nm_diag_add(c->diags, NM_SEV_ERROR, c->file, 0, &subject, ": %s", why);
	}
}

static void warn_unused(struct nm_params_context *c)
{
	size_t count = 0;
	unsigned line = 0; /* of the first that is not reported by name */

	for (size_t i = 0; i < c->params->count; i++) {
		const struct nm_param *param = &c->params->items[i];

		if (param->used)
			continue;
		if (++count <= MAX_UNUSED)
			nm_diag_warn(c->diags, c->file, param->line,
				     "<param name=\"%s\">: nothing uses $%s", param->name,
				     param->name);
		else if (count == MAX_UNUSED + 1)
			line = param->line;
	}
	if (count > MAX_UNUSED)
		nm_diag_warn(c->diags, c->file, line, "nothing uses %zu parameters more",
			     count - MAX_UNUSED);
}

static bool is_no(const struct nm_param *param)
{
	const struct nm_opt flag = {.name = "", .type = NM_TYPE_FLAG};
	bool yes = true;
	char why[160];

	return nm_opt_set(&flag, &yes, param->value, why, sizeof why) == 0 && !yes;
}

/* As <params> asks for it, and no parameter of the profile's own that has its name; NULL: it is
 * not. */
static const struct nm_standard_param *standard_of(const struct nm_param *param)
{
	const struct nm_standard_param *standard = nm_standard_param_find(param->name);

	return standard && param->help && strcmp(param->help, standard->help) == 0 ? standard
										   : NULL;
}

/* Values that somebody has given, and that another one leaves without effect. */
static void warn_vain(struct nm_params_context *c)
{
	for (size_t i = 0; i < c->params->count; i++) {
		const struct nm_param *param = &c->params->items[i];
		const struct nm_standard_param *standard = standard_of(param);
		const struct nm_param *flag = standard && standard->flag
						      ? nm_param_find(c->params, standard->flag)
						      : NULL;

		if (flag && flag->value && is_no(flag) && param->value && *param->value &&
		    param->source != NM_PARAM_DEFAULT)
			nm_diag_warn(c->diags, c->file, param->line,
				     "%s=\"%.128s\" has no effect without %s=yes", param->name,
				     param->value, flag->name);
	}
}

/* Checks the text that goes to the slaves: characters that are escaped make it longer than it was
 * in the file. */
static void check_whole(struct nm_params_context *c, const struct nm_node *root)
{
	char *text = nm_profile_print(root);

	c->failed |= !text;
	if (text && strlen(text) > NM_PROFILE_MAX_BYTES)
		nm_diag_error(c->diags, c->file, 0,
			      "the profile with the values of its parameters put in is longer than "
			      "%d bytes (1 MiB)",
			      NM_PROFILE_MAX_BYTES);
	free(text);
}

static bool declares(const struct nm_node *root)
{
	for (size_t i = 0; i < root->n_children; i++)
		if (is_param(root->children[i]))
			return true;
	return false;
}

/* Finds how values are to be read, before any value is, and notes it in the root. */
static void choose_reading(struct nm_params_context *c, struct nm_node *root)
{
	const char *units = nm_node_attr(root, "units");
	const char *uperf = nm_reading_words[NM_READING_UPERF];

	if (units && strchr(units, '$'))
		nm_diag_error(c->diags, c->file, root->line,
			      "<profile> units=\"%s\": must be a word, netmodel or uperf, and no "
			      "parameter",
			      units);
	if (!c->as_uperf && (units ? !nm_ascii_equals(units, uperf) : declares(root)))
		return;
	c->params->reading = NM_READING_UPERF;
	if (c->apply && nm_ascii_equals(root->name, "profile"))
		c->failed |= nm_node_set_attr(root, "units", uperf) < 0;
}

static void run(struct nm_params_context *c, struct nm_node *root, bool apply)
{
	size_t errors = c->diags->n_errors;

	c->apply = apply;
	*c->params = (struct nm_params){0};
	c->used = calloc(c->n_defines + 1, sizeof(*c->used));
	if (!c->used) {
		nm_diag_error(c->diags, c->file, 0, "out of memory");
		return;
	}
	nm_shorthand_expand(root, c->file, c->diags);
	choose_reading(c, root);
	declare_all(c, root);
	if (apply) {
		substitute_tree(c, root);
		remove_params(root);
		nm_param_tell_missing(c);
		if (c->diags->n_errors == errors)
			check_whole(c, root);
		if (!c->gave_up)
			check_defines(c);
	}
	if (c->failed)
		nm_diag_error(c->diags, c->file, 0, "out of memory");
	/* After a mistake it may be the mistake that hides the use. */
	if (apply && c->diags->n_errors == errors) {
		warn_unused(c);
		warn_vain(c);
	}
	nm_param_forget_missing(c);
	free(c->used);
}

static struct nm_params_context context_of(const char *file, const struct nm_param_values *values,
					   struct nm_params *params, struct nm_diags *diags)
{
	return (struct nm_params_context){.file = file,
					  .defines = values->defines,
					  .n_defines = values->n_defines,
					  .lookup = values->lookup,
					  .lookup_arg = values->arg,
					  .as_uperf = values->as_uperf,
					  .params = params,
					  .diags = diags};
}

void nm_params_apply(struct nm_node *root, const char *file, const struct nm_param_values *values,
		     struct nm_params *ret_params, struct nm_diags *diags)
{
	struct nm_params_context c = context_of(file, values, ret_params, diags);

	run(&c, root, true);
}

void nm_params_list(struct nm_node *root, const char *file, const struct nm_param_values *values,
		    struct nm_params *ret_params, struct nm_diags *diags)
{
	struct nm_params_context c = context_of(file, values, ret_params, diags);

	run(&c, root, false);
}

void nm_params_fini(struct nm_params *params)
{
	for (size_t i = 0; i < params->count; i++) {
		free(params->items[i].name);
		free(params->items[i].def);
		free(params->items[i].help);
		free(params->items[i].value);
		free(params->items[i].stand_in);
	}
	free(params->items);
	*params = (struct nm_params){0};
}
