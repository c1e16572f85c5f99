/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/origin.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DIAGS 100 /* more are not read */

/* Whether a text has $name or ${name}. */
static bool mentions(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *c = strchr(text, '$'); c; c = strchr(c, '$')) {
		bool braces = *++c == '{';

		c += braces;
		if (strncmp(c, name, length) == 0 &&
		    (braces ? c[length] == '}'
			    : !isalnum((unsigned char)c[length]) && c[length] != '_'))
			return true;
		c += *c == '$'; /* $$ is the sign itself */
	}
	return false;
}

/* Whether an element, as it is written, uses the parameter: in the attribute of that name, if it has one; otherwise
 * what is named is an option, somewhere in another attribute. */
static bool element_mentions(const struct nm_node *node, const char *attr, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < node->n_attrs; i++) {
		if (strcasecmp(node->attrs[i].name, attr) == 0)
			return mentions(node->attrs[i].value, name);
		found |= mentions(node->attrs[i].value, name);
	}
	return found;
}

static bool line_mentions(const struct nm_node *node, unsigned line, const char *attr,
			  const char *name)
{
	bool found = node->line == line && element_mentions(node, attr, name);

	for (size_t i = 0; !found && i < node->n_children; i++)
		found = line_mentions(node->children[i], line, attr, name);
	return found;
}

/* Whether the error complains about this value: it stands there in quotes, behind the name of what has it. */
static bool quotes(const struct nm_diag *diag, const char *value, char *attr, size_t size)
{
	char *quoted = NULL;
	const char *at =
		asprintf(&quoted, "=\"%s\"", value) > 0 ? strstr(diag->text, quoted) : NULL;
	const char *begin = at;

	free(quoted);
	if (!at)
		return false;
	while (begin > diag->text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
		begin--;
	snprintf(attr, size, "%.*s", (int)(at - begin), begin);
	return true;
}

static bool is_cause(const struct nm_param *param, const struct nm_node *written,
		     const struct nm_diag *diag)
{
	char attr[64];

	return param->value && !param->stand_in && param->source != NM_PARAM_DEFAULT &&
	       quotes(diag, param->value, attr, sizeof(attr)) &&
	       line_mentions(written, diag->line, attr, param->name);
}

static void add_origin(struct nm_diag *diag, const struct nm_param *param)
{
	char *text = NULL;

	if (asprintf(&text, "%s (from %s%s=%s)", diag->text,
		     param->source == NM_PARAM_DEFINED ? "-D " : "the environment, ", param->name,
		     param->value) < 0)
		return;
	free(diag->text);
	diag->text = text;
}

void nm_origin_add(const struct nm_loaded *loaded, struct nm_diags *diags)
{
	struct nm_diags ignored = {0};
	struct nm_node *written =
		nm_profile_parse(loaded->name, loaded->text, loaded->length, &ignored);

	for (size_t i = 0; written && i < diags->count && i < MAX_DIAGS; i++) {
		struct nm_diag *diag = &diags->items[i];

		if (diag->severity != NM_SEV_ERROR || !diag->line || !diag->text)
			continue;
		for (size_t k = 0; k < loaded->params.count; k++) {
			if (!is_cause(&loaded->params.items[k], written, diag))
				continue;
			add_origin(diag, &loaded->params.items[k]);
			break;
		}
	}
	nm_node_free(written);
	nm_diags_fini(&ignored);
}
