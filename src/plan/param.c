/* SPDX-License-Identifier: Apache-2.0 */
/* One parameter: found, added, and given a value. */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/diag.h"
#include "plan/params_priv.h"
#include "profile/tree.h"

struct nm_param *nm_param_find(const struct nm_params *params, const char *name)
{
	for (size_t i = 0; i < params->count; i++)
		if (strcmp(params->items[i].name, name) == 0)
			return &params->items[i];
	return NULL;
}

const char *nm_param_define(struct nm_params_context *c, const char *name)
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

struct nm_param *nm_param_add(struct nm_params_context *c, const char *name, unsigned line)
{
	if (c->params->count == NM_PARAM_MAX) {
		if (!c->gave_up)
			nm_diag_error(c->diags, c->file, line,
				      "$%s: the profile has more than %d parameters", name,
				      NM_PARAM_MAX);
		c->gave_up = true;
		return NULL;
	}
	struct nm_param *items = realloc(c->params->items, (c->params->count + 1) * sizeof(*items));

	if (!items) {
		c->failed = true;
		return NULL;
	}
	c->params->items = items;
	struct nm_param *param = &items[c->params->count];

	*param = (struct nm_param){
		.type = NM_TYPE_STRING, .reading = c->params->reading, .name = strdup(name)};
	if (!param->name) {
		c->failed = true;
		return NULL;
	}
	c->params->count++;
	return param;
}

const char *nm_param_source_text(enum nm_param_source source)
{
	switch (source) {
	case NM_PARAM_DEFINED:
		return "-D";
	case NM_PARAM_ENVIRONMENT:
		return "the environment";
	default:
		return "the default";
	}
}

void nm_param_set(struct nm_params_context *c, struct nm_param *param, const char *value,
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
	const char *wrong = nm_find_invalid_xml_char(copy);
	const char *from = source == NM_PARAM_DEFAULT ? "" : "from ";

	if (strlen(copy) > NM_PROFILE_MAX_VALUE)
		nm_diag_error(c->diags, c->file, line,
			      "$%s: its value (%s%s) is longer than %d bytes", param->name, from,
			      nm_param_source_text(source), NM_PROFILE_MAX_VALUE);
	else if (wrong)
		nm_diag_error(c->diags, c->file, line,
			      "$%s: byte 0x%02x in its value (%s%s): must be UTF-8 text, without "
			      "control characters other than tabs and line ends",
			      param->name, (unsigned char)*wrong, from,
			      nm_param_source_text(source));
	else
		return;
	param->stand_in = strdup(NM_PARAM_STAND_IN);
	c->failed |= !param->stand_in;
}
