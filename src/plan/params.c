/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/word.h"
#include "plan/elements.h"

#define NAME_MAX_LENGTH 63
#define STAND_IN	"1" /* a value of almost every type */

/* A name that is used and has no value. */
struct missing {
	char *name;
	char *message; /* when it is the only one */
	unsigned line; /* of the first use */
};

struct context {
	const char *file;
	const struct nm_define *defines;
	size_t n_defines;
	nm_lookup_fn lookup;
	void *lookup_arg;
	struct nm_params *params;
	struct nm_diags *diags;
	bool *used;		 /* by define */
	struct missing *missing; /* in the order in which they came up */
	size_t n_missing;
	bool apply;  /* missing values are errors */
	bool failed; /* out of memory */
};

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_name(const char *text)
{
	size_t n = 0;

	while (is_name_char(text[n]))
		n++;
	return n && !text[n] && n <= NAME_MAX_LENGTH && !isdigit((unsigned char)*text);
}

static struct nm_param *find_param(const struct nm_params *params, const char *name)
{
	for (size_t i = 0; i < params->count; i++)
		if (strcmp(params->items[i].name, name) == 0)
			return &params->items[i];
	return NULL;
}

static const char *find_define(struct context *c, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < c->n_defines; i++) {
		if (strcmp(c->defines[i].name, name) == 0) {
			value = c->defines[i].value; /* the last one wins */
			c->used[i] = true;
		}
	}
	return value;
}

static struct nm_param *add_param(struct context *c, const char *name)
{
	struct nm_param *items = realloc(c->params->items, (c->params->count + 1) * sizeof(*items));

	if (!items) {
		c->failed = true;
		return NULL;
	}
	c->params->items = items;
	struct nm_param *param = &items[c->params->count];

	*param = (struct nm_param){.type = NM_TYPE_STRING, .name = strdup(name)};
	if (!param->name) {
		c->failed = true;
		return NULL;
	}
	c->params->count++;
	return param;
}

static const char *source_text(enum nm_param_source source)
{
	switch (source) {
	case NM_PARAM_DEFINED:
		return "from -D";
	case NM_PARAM_ENVIRONMENT:
		return "from the environment";
	default:
		return "the default";
	}
}

/* `line`: of what asks for the value, in messages. */
static void set_value(struct context *c, struct nm_param *param, const char *value,
		      enum nm_param_source source, unsigned line)
{
	char *copy = strdup(value);

	if (!copy) {
		c->failed = true;
		return;
	}
	free(param->value);
	param->value = copy;
	param->source = source;
	/* The value becomes part of the profile, which is sent to slaves. */
	const char *wrong = nm_find_no_text(copy);

	if (!wrong)
		return;
	nm_diag_error(c->diags, c->file, line,
		      "$%s: byte 0x%02x in its value (%s): must be UTF-8 text, without control "
		      "characters other than tabs and line ends",
		      param->name, (unsigned char)*wrong, source_text(source));
	param->stand_in = strdup(STAND_IN);
	c->failed |= !param->stand_in;
}

/* Whether `word` is one of the blank-separated choices. */
static bool is_choice(const char *choices, const char *word)
{
	size_t length = strlen(word);

	while (*choices) {
		size_t n, same = 0;

		choices += strspn(choices, " \t\r\n");
		n = strcspn(choices, " \t\r\n");
		while (same < n && same < length && nm_lower(choices[same]) == nm_lower(word[same]))
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
static bool check_text(struct context *c, const struct nm_param *param, const char *value,
		       enum nm_param_source source, const char *choices)
{
	char why[160];
	int r = 0;

	if (param->type == NM_TYPE_ENUM && !is_choice(choices, value)) {
		snprintf(why, sizeof why, "must be one of: %s", choices);
		r = -EINVAL;
	} else if (param->type != NM_TYPE_ENUM) {
		r = nm_type_check(param->type, value, why, sizeof why);
	}
	if (r < 0)
		nm_diag_error(c->diags, c->file, param->line,
			      "<param name=\"%s\">: value \"%s\" (%s): %s", param->name, value,
			      source_text(source), why);
	return r == 0;
}

/* The default must be right also where another value is in force. */
static void check_values(struct context *c, struct nm_param *param, const char *choices)
{
	if (param->stand_in)
		return; /* it is no text, which has been told */
	bool right = !param->def || check_text(c, param, param->def, NM_PARAM_DEFAULT, choices);

	if (param->value && param->source != NM_PARAM_DEFAULT)
		right = check_text(c, param, param->value, param->source, choices);
	if (right)
		return;
	param->stand_in = param->type == NM_TYPE_ENUM ? first_choice(choices) : strdup(STAND_IN);
	c->failed |= !param->stand_in;
}

/* Where its value comes from: -D, then outside, then the default. */
static void choose_value(struct context *c, struct nm_param *param)
{
	const char *value = find_define(c, param->name);
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
		set_value(c, param, value, source, param->line);
}

/* ---- substitution ---- */

struct text {
	char *data;
	size_t used, capacity;
};

static bool append(struct context *c, struct text *text, const char *data, size_t length)
{
	if (text->used + length + 1 > text->capacity) {
		size_t capacity = 2 * (text->used + length + 1);
		char *grown = realloc(text->data, capacity);

		if (!grown) {
			c->failed = true;
			return false;
		}
		text->data = grown;
		text->capacity = capacity;
	}
	memcpy(text->data + text->used, data, length);
	text->used += length;
	text->data[text->used] = '\0';
	return true;
}

struct place {
	const struct nm_node *node;
	const struct nm_attr *attr;
	bool whole; /* the value is one name and nothing else: uperf takes no empty value for it */
};

/* A name of ours in a profile of uperf: that program makes everything lower case before it looks. */
static void choose_undeclared(struct context *c, struct nm_param *param, unsigned line)
{
	char low[NAME_MAX_LENGTH + 1];
	size_t n = 0;

	for (; param->name[n]; n++)
		low[n] = nm_lower(param->name[n]);
	low[n] = '\0';
	const char *value = find_define(c, param->name);

	if (!value)
		value = find_define(c, low);
	if (value) {
		set_value(c, param, value, NM_PARAM_DEFINED, line);
		return;
	}
	const char *written = c->lookup ? c->lookup(param->name, c->lookup_arg) : NULL;

	value = c->lookup ? c->lookup(low, c->lookup_arg) : NULL;
	if (c->apply && value && written && strcmp(value, written) != 0)
		nm_diag_warn(
			c->diags, c->file, line,
			"$%s: the environment has %s=\"%s\" and %s=\"%s\"; %s counts, as for uperf",
			param->name, low, value, param->name, written, low);
	if (!value)
		value = written;
	if (value)
		set_value(c, param, value, NM_PARAM_ENVIRONMENT, line);
}

/* The value of a name that no <param> declares: uperf's profiles declare nothing. */
static struct nm_param *undeclared(struct context *c, const char *name, unsigned line)
{
	struct nm_param *param = add_param(c, name);

	if (!param)
		return NULL;
	choose_undeclared(c, param, line);
	return param;
}

static const char *nearest_declared(const struct context *c, const char *name)
{
	const char *names[64];
	size_t count = 0;

	for (size_t i = 0; i < c->params->count && count < 64; i++)
		if (c->params->items[i].line)
			names[count++] = c->params->items[i].name;
	return nm_nearest(name, names, count);
}

/* Each name once; all of them are told together. */
static void note_missing(struct context *c, const struct place *place, struct nm_param *param)
{
	struct missing *missing = realloc(c->missing, (c->n_missing + 1) * sizeof(*missing));

	if (param->missing || !missing) {
		c->missing = missing ? missing : c->missing;
		c->failed |= !missing;
		return;
	}
	c->missing = missing;
	missing = &missing[c->n_missing];
	*missing = (struct missing){.name = strdup(param->name), .line = place->node->line};
	const char *nearest = param->line ? NULL : nearest_declared(c, param->name);

	if (asprintf(&missing->message,
		     "<%s> %s=\"%s\": $%s has no value: give one with -D %s=VALUE or in the "
		     "environment%s%s%s",
		     place->node->name, place->attr->name, place->attr->value, param->name,
		     param->name, nearest ? "; did you mean $" : "", nearest ? nearest : "",
		     nearest ? "?" : "") < 0)
		missing->message = NULL;
	c->failed |= !missing->name || !missing->message;
	param->missing = true;
	c->n_missing++;
}

static void list_missing(const struct context *c, FILE *out)
{
	for (size_t i = 0; i < c->n_missing; i++) {
		const struct missing *missing = &c->missing[i];
		const struct nm_param *param = find_param(c->params, missing->name);
		const char *nearest =
			param && param->line ? NULL : nearest_declared(c, missing->name);

		fprintf(out, "%s$%s (line %u%s%s%s)", i ? ", " : "", missing->name, missing->line,
			nearest ? "; did you mean $" : "", nearest ? nearest : "",
			nearest ? "?" : "");
	}
}

static void report_missing(struct context *c)
{
	char *list = NULL;
	size_t size = 0;
	FILE *out = c->n_missing > 1 ? open_memstream(&list, &size) : NULL;

	if (c->n_missing == 1)
		nm_diag_error(c->diags, c->file, c->missing->line, "%s", c->missing->message);
	if (!out) {
		c->failed |= c->n_missing > 1;
		return;
	}
	list_missing(c, out);
	c->failed |= fclose(out) != 0;
	nm_diag_error(c->diags, c->file, c->missing->line,
		      "%zu names have no value: %s: give each one with -D NAME=VALUE or in the "
		      "environment",
		      c->n_missing, list ? list : "");
	free(list);
}

/* text points behind the dollar sign. Returns what follows the name, or NULL when there is no name. */
static const char *read_name(const char *text, char name[NAME_MAX_LENGTH + 1])
{
	bool braces = *text == '{';
	size_t n = 0;

	text += braces;
	while (is_name_char(text[n]))
		n++;
	if (n == 0 || n > NAME_MAX_LENGTH || isdigit((unsigned char)*text) ||
	    (braces && text[n] != '}'))
		return NULL;
	memcpy(name, text, n);
	name[n] = '\0';
	return text + n + braces;
}

static void substitute_name(struct context *c, struct text *out, const char *name,
			    const struct place *place)
{
	struct nm_param *param = find_param(c->params, name);

	if (!param)
		param = undeclared(c, name, place->node->line);
	if (!param)
		return;
	param->used = true;
	bool missing = !param->stand_in &&
		       (!param->value || (place->whole && !param->line && !*param->value));

	if (c->apply && missing)
		note_missing(c, place, param);
	const char *value = param->stand_in ? param->stand_in : param->value;

	if (missing)
		value = c->apply ? NM_NO_VALUE : STAND_IN;
	append(c, out, value, strlen(value));
}

/* The value with all names replaced, owned by the caller; NULL when out of memory. */
static char *expand(struct context *c, const struct nm_node *node, const struct nm_attr *attr)
{
	struct place place = {.node = node, .attr = attr};
	struct text out = {0};
	const char *p = attr->value;

	if (!append(c, &out, "", 0))
		return NULL;
	while (*p) {
		size_t plain = strcspn(p, "$");
		char name[NAME_MAX_LENGTH + 1];

		append(c, &out, p, plain);
		p += plain;
		if (!*p)
			break;
		if (p[1] == '$') {
			append(c, &out, "$", 1);
			p += 2;
			continue;
		}
		const char *rest = read_name(p + 1, name);

		if (!rest) {
			nm_diag_error(c->diags, c->file, node->line,
				      "<%s> %s=\"%s\": a dollar sign must begin $name or ${name}; "
				      "$$ is the sign itself",
				      node->name, attr->name, attr->value);
			append(c, &out, NM_NO_VALUE, strlen(NM_NO_VALUE));
			break;
		}
		place.whole = p == attr->value && !*rest;
		substitute_name(c, &out, name, &place);
		p = rest;
	}
	return out.data;
}

static void substitute(struct context *c, const struct nm_node *node, struct nm_attr *attr)
{
	char *text = strchr(attr->value, '$') ? expand(c, node, attr) : NULL;

	if (text && !c->failed && nm_attr_set(attr, text) < 0)
		c->failed = true;
	free(text);
}

static bool is_param(const struct nm_node *node)
{
	return nm_same_word(node->name, "param");
}

static void substitute_tree(struct context *c, struct nm_node *node)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		substitute(c, node, &node->attrs[i]);
	for (size_t i = 0; i < node->n_children; i++)
		if (!is_param(node->children[i]))
			substitute_tree(c, node->children[i]);
}

/* ---- declarations ---- */

static bool param_attrs_known(struct context *c, const struct nm_node *node)
{
	const struct nm_opt *table = nm_element_find("param")->attrs;
	bool known = true;

	for (size_t i = 0; i < node->n_attrs; i++) {
		if (nm_opt_find(table, node->attrs[i].name))
			continue;
		nm_diag_error(c->diags, c->file, node->line,
			      "<param>: unknown attribute \"%s\"; allowed are name, type, default, "
			      "choices, help",
			      node->attrs[i].name);
		known = false;
	}
	return known;
}

static enum nm_type read_type(struct context *c, const struct nm_node *node, const char *name)
{
	const char *type = nm_node_attr(node, "type");
	enum nm_type kind = NM_TYPE_STRING;

	if (type && nm_type_from_name(type, &kind) < 0)
		nm_diag_error(c->diags, c->file, node->line,
			      "<param name=\"%s\"> type=\"%s\": not a type: must be count, "
			      "integer, size, "
			      "duration, rate, bitrate, "
			      "port, string, host, flag or enum",
			      name, type);
	if (kind != NM_TYPE_ENUM || nm_node_attr(node, "choices"))
		return kind;
	nm_diag_error(c->diags, c->file, node->line,
		      "<param name=\"%s\">: an enum needs choices=\"...\"", name);
	return NM_TYPE_STRING;
}

/* The default may use parameters that are declared before it. Owned; NULL: there is none. */
static char *read_default(struct context *c, const struct nm_node *node)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		if (nm_same_word(node->attrs[i].name, "default"))
			return expand(c, node, &node->attrs[i]);
	return NULL;
}

static bool may_declare(struct context *c, const struct nm_node *node, const char *name)
{
	if (!name || !is_name(name)) {
		nm_diag_error(c->diags, c->file, node->line,
			      name ? "<param name=\"%s\">: a name is made of letters, digits and "
				     "underscores, and begins with no digit"
				   : "<param>: needs a name%s",
			      name ? name : "");
		return false;
	}
	const struct nm_param *other = find_param(c->params, name);

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

static void declare(struct context *c, const struct nm_node *node)
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
	struct nm_param *param = may_declare(c, node, name) ? add_param(c, name) : NULL;

	if (!param) {
		free(def);
		return;
	}
	param->type = read_type(c, node, name);
	param->line = node->line;
	param->def = def;
	param->help = help ? strdup(help) : NULL;
	choose_value(c, param);
	if (lacks && !param->value) {
		param->stand_in = strdup(NM_NO_VALUE);
		c->failed |= !param->stand_in;
	}
	check_values(c, param, choices);
}

static void declare_all(struct context *c, const struct nm_node *root)
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

static void check_defines(struct context *c)
{
	for (size_t i = 0; i < c->n_defines; i++) {
		const char *names[64];
		size_t count = 0;

		if (c->used[i])
			continue;
		for (size_t k = 0; k < c->params->count && count < 64; k++)
			names[count++] = c->params->items[k].name;
		const char *nearest = nm_nearest(c->defines[i].name, names, count);

		nm_diag_error(c->diags, c->file, 0,
			      "-D %s=%s: the profile has no parameter \"%s\"%s%s%s",
			      c->defines[i].name, c->defines[i].value, c->defines[i].name,
			      nearest ? "; did you mean \"" : "; --params lists them",
			      nearest ? nearest : "", nearest ? "\"?" : "");
	}
}

static void warn_unused(struct context *c)
{
	for (size_t i = 0; i < c->params->count; i++) {
		const struct nm_param *param = &c->params->items[i];

		if (!param->used)
			nm_diag_warn(c->diags, c->file, param->line,
				     "<param name=\"%s\">: nothing uses $%s", param->name,
				     param->name);
	}
}

static void run(struct context *c, struct nm_node *root, bool apply)
{
	size_t errors = c->diags->n_errors;

	c->apply = apply;
	*c->params = (struct nm_params){0};
	c->used = calloc(c->n_defines + 1, sizeof(*c->used));
	if (!c->used) {
		nm_diag_error(c->diags, c->file, 0, "out of memory");
		return;
	}
	declare_all(c, root);
	if (apply) {
		substitute_tree(c, root);
		remove_params(root);
		report_missing(c);
		check_defines(c);
	}
	if (c->failed)
		nm_diag_error(c->diags, c->file, 0, "out of memory");
	/* After a mistake it may be the mistake that hides the use. */
	if (apply && c->diags->n_errors == errors)
		warn_unused(c);
	for (size_t i = 0; i < c->n_missing; i++) {
		free(c->missing[i].name);
		free(c->missing[i].message);
	}
	free(c->missing);
	free(c->used);
}

static struct context context_of(const char *file, const struct nm_param_values *values,
				 struct nm_params *params, struct nm_diags *diags)
{
	return (struct context){.file = file,
				.defines = values->defines,
				.n_defines = values->n_defines,
				.lookup = values->lookup,
				.lookup_arg = values->arg,
				.params = params,
				.diags = diags};
}

void nm_params_apply(struct nm_node *root, const char *file, const struct nm_param_values *values,
		     struct nm_params *ret_params, struct nm_diags *diags)
{
	struct context c = context_of(file, values, ret_params, diags);

	run(&c, root, true);
}

void nm_params_list(const struct nm_node *root, const char *file,
		    const struct nm_param_values *values, struct nm_params *ret_params,
		    struct nm_diags *diags)
{
	struct context c = context_of(file, values, ret_params, diags);

	/* Without applying, the tree is only read. */
	run(&c, (struct nm_node *)(uintptr_t)root, false);
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
