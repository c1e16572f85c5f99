/* SPDX-License-Identifier: Apache-2.0 */
/* Values in place of names: $name and ${name}, and the names that have none. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/ascii.h"
#include "plan/params_priv.h"
#include "profile/tree.h"

/* Pieces of one value whose origin is kept for messages. */
#define MAX_ORIGINS 256
/* Names without a value that are reported one by one. */
#define MAX_LISTED 20

struct text {
	char *data;
	size_t used, capacity;
	struct nm_attr origins; /* only its pieces */
	const struct nm_node *node;
	const struct nm_attr *attr;
	const char *name; /* of the parameter that was put in last */
};

/* Reports, once in a profile, that the value or all of them together would become too large. */
static bool fits(struct nm_params_context *c, const struct text *text, size_t length)
{
	size_t size = text->used + length;

	if (c->gave_up)
		return false;
	if (size > NM_PROFILE_MAX_VALUE)
		nm_diag_error(c->diags, c->file, text->node->line,
			      "<%s> %s: with $%s put in, the value is longer than %d bytes",
			      text->node->name, text->attr->name, text->name, NM_PROFILE_MAX_VALUE);
	else if (c->total + size > NM_PROFILE_MAX_BYTES)
		nm_diag_error(c->diags, c->file, text->node->line,
			      "<%s> %s: with $%s put in, the values of the profile are together "
			      "longer than %d bytes (1 MiB)",
			      text->node->name, text->attr->name, text->name, NM_PROFILE_MAX_BYTES);
	else
		return true;
	c->gave_up = true;
	return false;
}

static bool append(struct nm_params_context *c, struct text *text, const char *data, size_t length)
{
	if (!fits(c, text, length))
		return false;
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

/* A name of ours in a profile of uperf: that program makes everything lower case before it
 * looks. */
static void choose_undeclared(struct nm_params_context *c, struct nm_param *param, unsigned line)
{
	char low[NM_PARAM_NAME_LENGTH + 1];
	size_t n = 0;

	for (; param->name[n]; n++)
		low[n] = nm_ascii_lower(param->name[n]);
	low[n] = '\0';
	const char *value = nm_param_define(c, param->name);

	if (!value)
		value = nm_param_define(c, low);
	if (value) {
		nm_param_set(c, param, value, NM_PARAM_DEFINED, line);
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
		nm_param_set(c, param, value, NM_PARAM_ENVIRONMENT, line);
}

/* The value of a name that no <param> declares: uperf's profiles declare nothing. */
static struct nm_param *undeclared(struct nm_params_context *c, const char *name, unsigned line)
{
	struct nm_param *param = nm_param_add(c, name, line);

	if (!param)
		return NULL;
	choose_undeclared(c, param, line);
	return param;
}

static const char *nearest_declared(const struct nm_params_context *c, const char *name)
{
	const char *names[64];
	size_t count = 0;

	for (size_t i = 0; i < c->params->count && count < 64; i++)
		if (c->params->items[i].line)
			names[count++] = c->params->items[i].name;
	return nm_nearest(name, names, count);
}

/* Notes each name once; all names are reported together. */
static void note_missing(struct nm_params_context *c, const struct place *place,
			 struct nm_param *param)
{
	struct nm_param_missing *missing =
		realloc(c->missing, (c->n_missing + 1) * sizeof(*missing));

	if (param->missing || !missing) {
		c->missing = missing ? missing : c->missing;
		c->failed |= !missing;
		return;
	}
	c->missing = missing;
	missing = &missing[c->n_missing];
	*missing =
		(struct nm_param_missing){.name = strdup(param->name), .line = place->node->line};
	const char *nearest = param->line ? NULL : nearest_declared(c, param->name);

	/* With several names the message lists only these. */
	if (c->n_missing == 0 &&
	    asprintf(&missing->message,
		     "<%s> %s=\"%s\": $%s has no value: give one with -D %s=VALUE or in the "
		     "environment%s%s%s",
		     place->node->name, place->attr->name, place->attr->value, param->name,
		     param->name, nearest ? "; did you mean $" : "", nearest ? nearest : "",
		     nearest ? "?" : "") < 0)
		missing->message = NULL;
	c->failed |= !missing->name || (c->n_missing == 0 && !missing->message);
	param->missing = true;
	c->n_missing++;
}

static void list_missing(const struct nm_params_context *c, FILE *out)
{
	for (size_t i = 0; i < c->n_missing && i < MAX_LISTED; i++) {
		const struct nm_param_missing *missing = &c->missing[i];
		const struct nm_param *param = nm_param_find(c->params, missing->name);
		const char *nearest =
			param && param->line ? NULL : nearest_declared(c, missing->name);

		fprintf(out, "%s$%s (line %u%s%s%s)", i ? ", " : "", missing->name, missing->line,
			nearest ? "; did you mean $" : "", nearest ? nearest : "",
			nearest ? "?" : "");
	}
	if (c->n_missing > MAX_LISTED)
		fprintf(out, " and %zu more", c->n_missing - MAX_LISTED);
}

void nm_param_tell_missing(struct nm_params_context *c)
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

void nm_param_forget_missing(struct nm_params_context *c)
{
	for (size_t i = 0; i < c->n_missing; i++) {
		free(c->missing[i].name);
		free(c->missing[i].message);
	}
	free(c->missing);
}

/* text points behind the dollar sign. Returns what follows the name, or NULL when there is no
 * name. */
static const char *read_name(const char *text, char name[NM_PARAM_NAME_LENGTH + 1])
{
	bool braces = *text == '{';
	size_t n = 0;

	text += braces;
	while (nm_is_param_name_char(text[n]))
		n++;
	if (n == 0 || n > NM_PARAM_NAME_LENGTH || isdigit((unsigned char)*text) ||
	    (braces && text[n] != '}'))
		return NULL;
	memcpy(name, text, n);
	name[n] = '\0';
	return text + n + braces;
}

/* Notes where a value comes from that was given to the profile. */
static void note_piece(struct nm_params_context *c, struct text *out, const struct nm_param *param,
		       const char *value, size_t at)
{
	const struct nm_piece piece = {
		.at = at,
		.length = strlen(value),
		.order = (size_t)(param - c->params->items),
		.kind = param->source == NM_PARAM_DEFINED ? NM_SUBJECT_DEFINE
							  : NM_SUBJECT_ENVIRONMENT,
		.name = param->name,
		.text = param->value,
	};

	if (out->origins.n_pieces < MAX_ORIGINS && param->value && !param->stand_in &&
	    param->source != NM_PARAM_DEFAULT && nm_attr_add_piece(&out->origins, &piece) < 0)
		c->failed = true;
}

static void substitute_name(struct nm_params_context *c, struct text *out, const char *name,
			    const struct place *place)
{
	struct nm_param *param = nm_param_find(c->params, name);

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
		value = c->apply ? NM_NO_VALUE : NM_PARAM_STAND_IN;
	out->name = param->name;
	if (append(c, out, value, strlen(value)))
		note_piece(c, out, param, value, out->used - strlen(value));
}

static struct text expand(struct nm_params_context *c, const struct nm_node *node,
			  const struct nm_attr *attr)
{
	struct place place = {.node = node, .attr = attr};
	struct text out = {.node = node, .attr = attr, .name = ""};
	const char *p = attr->value;

	if (!append(c, &out, "", 0))
		return out;
	while (*p && !c->gave_up) {
		size_t plain = strcspn(p, "$");
		char name[NM_PARAM_NAME_LENGTH + 1];

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
	c->total += out.used;
	return out;
}

char *nm_param_expand(struct nm_params_context *c, const struct nm_node *node,
		      const struct nm_attr *attr)
{
	bool plain = !strchr(attr->value, '$');
	struct text text = {.data = NULL};

	if (plain)
		text.data = strdup(attr->value);
	else
		text = expand(c, node, attr);
	nm_attr_drop_pieces(&text.origins);
	if (!plain && c->gave_up) {
		free(text.data);
		text.data = strdup(NM_NO_VALUE);
	}
	c->failed |= !text.data;
	return text.data;
}

void nm_param_substitute(struct nm_params_context *c, const struct nm_node *node,
			 struct nm_attr *attr)
{
	if (!strchr(attr->value, '$'))
		return;
	struct text text = expand(c, node, attr);

	if (c->gave_up) { /* as reported */
		c->failed |= nm_attr_set(attr, NM_NO_VALUE) < 0;
		nm_attr_drop_pieces(&text.origins);
	} else if (text.data && !c->failed && nm_attr_set(attr, text.data) == 0) {
		attr->pieces = text.origins.pieces;
		attr->n_pieces = text.origins.n_pieces;
	} else {
		c->failed = true;
		nm_attr_drop_pieces(&text.origins);
	}
	free(text.data);
}
