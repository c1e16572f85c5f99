/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/origin.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/shorthand.h"

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

/* Whether an element, as it is written, uses the parameter: in the attribute of that name, if it
 * has one; otherwise what is named is an option, somewhere in another attribute. */
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

/* Whether the error complains about this value: it stands there in quotes, behind the name of what
 * has it. */
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

/* Whether the beginning of a text has the word. */
static bool has_word(const char *text, size_t length, const char *word, size_t word_length)
{
	for (size_t i = 0; word_length && i + word_length <= length; i++)
		if (strncmp(text + i, word, word_length) == 0 &&
		    (i == 0 || (!isalnum((unsigned char)text[i - 1]) && text[i - 1] != '_')) &&
		    !isalnum((unsigned char)text[i + word_length]) && text[i + word_length] != '_')
			return true;
	return false;
}

/* Whether an option among those of an attribute, which the subject of a message names, has its
 * value from the parameter; or is one without a value, and there by when= or unless= of it. */
static bool options_mention(const char *options, const char *name, const char *subject,
			    size_t length)
{
	bool named_flag = false, chosen = false;

	for (const char *at = options + strspn(options, " "); *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " "), option = strcspn(at, " =");
		bool named = has_word(subject, length, at, option);
		bool chooses = strncmp(at, "when=", 5) == 0 || strncmp(at, "unless=", 7) == 0;
		char value[512];

		snprintf(value, sizeof(value), "%.*s", (int)(word - option), at + option);
		if (named && mentions(value, name))
			return true;
		named_flag |= named && option == word;
		chosen |= chooses && mentions(value, name);
		at += word;
	}
	return named_flag && chosen;
}

static bool is_in_options(const struct nm_node *node, unsigned line, const char *name,
			  const char *subject, size_t length)
{
	bool found = false;

	for (size_t i = 0; node->line == line && i < node->n_attrs; i++)
		found |= options_mention(node->attrs[i].value, name, subject, length);
	for (size_t i = 0; !found && i < node->n_children; i++)
		found = is_in_options(node->children[i], line, name, subject, length);
	return found;
}

/* "<flowop write>: discard and rx_zerocopy: only one of them can be": what stands between the
 * colons is named. */
static bool is_named(const struct nm_param *param, const struct nm_node *written,
		     const struct nm_diag *diag)
{
	const char *subject = strstr(diag->text, ">: ");
	const char *end = subject ? strchr(subject + 3, ':') : NULL;

	return end && param->value && !param->stand_in && param->source != NM_PARAM_DEFAULT &&
	       is_in_options(written, diag->line, param->name, subject + 3,
			     (size_t)(end - subject - 3));
}

/* "(from -D a=1)", and behind it ", -D b=2" within. */
static void add_origin(struct nm_diag *diag, const struct nm_param *param, bool first)
{
	size_t length = strlen(diag->text);
	char *text = NULL;

	if (asprintf(&text, "%.*s%s%s%s=%s)", (int)(first ? length : length - 1), diag->text,
		     first ? " (from " : ", ",
		     param->source == NM_PARAM_DEFINED ? "-D " : "the environment, ", param->name,
		     param->value) < 0)
		return;
	free(diag->text);
	diag->text = text;
}

static void add_origins(const struct nm_loaded *loaded, const struct nm_node *written,
			struct nm_diag *diag)
{
	bool first = true;

	for (size_t i = 0; diag->severity == NM_SEV_ERROR && i < loaded->params.count; i++) {
		if (!is_cause(&loaded->params.items[i], written, diag))
			continue;
		add_origin(diag, &loaded->params.items[i], true);
		return;
	}
	for (size_t i = 0; i < loaded->params.count; i++) {
		if (!is_named(&loaded->params.items[i], written, diag))
			continue;
		add_origin(diag, &loaded->params.items[i], first);
		first = false;
	}
}

void nm_origin_add(const struct nm_loaded *loaded, struct nm_diags *diags)
{
	struct nm_diags ignored = {0};
	struct nm_node *written =
		nm_profile_parse(loaded->name, loaded->text, loaded->length, &ignored);

	if (written)
		nm_shorthand_expand(written, loaded->name, &ignored);
	for (size_t i = 0; written && i < diags->count && i < MAX_DIAGS; i++) {
		struct nm_diag *diag = &diags->items[i];

		if (diag->line && diag->text)
			add_origins(loaded, written, diag);
	}
	nm_node_free(written);
	nm_diags_fini(&ignored);
}
