/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the points of files in the place of their names, before a profile is compiled and sent. */
#include "lib/cdf_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/diag.h"
#include "base/law_file.h"
#include "host/file.h"
#include "profile/tree.h"

#define CDF	       "cdf("
#define CDF_LENGTH     (sizeof CDF - 1)
#define PATH_MAX_SHOWN 256

/* The next "cdf(" that is a value, or the beginning of an option's, and names a file; NULL: there
 * is none. */
static const char *next_file(const char *value)
{
	for (const char *text = value; text; text = strchr(text, '=')) {
		text += *text == '=';
		if (strncasecmp(text, CDF, CDF_LENGTH) == 0 &&
		    nm_law_names_file(text + CDF_LENGTH, strcspn(text + CDF_LENGTH, ";) \t")))
			return text;
	}
	return NULL;
}

/* The points of the file that "FILE" or "FILE,UNIT" names; NULL with an error. */
static char *points_of(const char *name, size_t length, const struct nm_node *node,
		       const char *profile, struct nm_diags *diags)
{
	char path[PATH_MAX_SHOWN], unit[32] = "", why[256];
	char *points = malloc(NM_PROFILE_MAX_VALUE);
	struct nm_file file = {.data = NULL};
	unsigned line = 0;
	int error;

	snprintf(path, sizeof path, "%.*s", (int)length, name);
	char *comma = strchr(path, ',');

	if (comma) {
		*comma = '\0';
		snprintf(unit, sizeof unit, "%s", comma + 1);
	}
	if (!points) {
		nm_diag_error(diags, profile, 0, "out of memory");
		return NULL;
	}
	error = nm_file_read(NULL, path, &file, why, sizeof why);
	if (error < 0)
		nm_diag_error(diags, profile, node->line, "<%s> cdf(%s): %s", node->name, path,
			      why);
	else
		error = nm_law_file_points(file.data, unit, points, NM_PROFILE_MAX_VALUE, &line,
					   why, sizeof why);
	if (error < 0 && file.data)
		nm_diag_error(diags, path, line, "%s", why);
	nm_file_fini(&file);
	if (error == 0)
		return points;
	free(points);
	return NULL;
}

/* The value with the points in the place of the name that begins at `at`; a law without a file
 * where it cannot be read. NULL when out of memory, which is told. */
static char *replaced(const char *value, const char *at, const struct nm_node *node,
		      const char *profile, struct nm_diags *diags)
{
	const char *name = at + CDF_LENGTH;
	size_t length = strcspn(name, ";) \t"), head = (size_t)(name - value), size;
	char *points = points_of(name, length, node, profile, diags), *text;

	size = strlen(value) + (points ? strlen(points) : 0) + sizeof "1:1";
	text = malloc(size);
	if (text)
		snprintf(text, size, "%.*s%s%s", (int)head, value, points ? points : "1:1",
			 name + length);
	else
		nm_diag_error(diags, profile, 0, "out of memory");
	free(points);
	return text;
}

static void put_in(struct nm_node *node, struct nm_attr *attr, const char *profile,
		   struct nm_diags *diags)
{
	const char *at;

	while ((at = next_file(attr->value))) {
		char *text = replaced(attr->value, at, node, profile, diags);
		bool fits = text && strlen(text) <= NM_PROFILE_MAX_VALUE;

		if (text && !fits)
			nm_diag_error(diags, profile, node->line,
				      "<%s> %s: with the points of its files put in, the "
				      "value is longer than %d bytes",
				      node->name, attr->name, NM_PROFILE_MAX_VALUE);
		if (!fits || nm_attr_set(attr, text) < 0) {
			free(text);
			return;
		}
		free(text);
	}
}

/* Whether the element's attribute is a law, or has options that are. */
static bool has_laws(const char *element, const char *attr)
{
	static const char *const known[][2] = {{"flowop", "options"}, {"sequence", "count"}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (nm_ascii_equals(element, known[i][0]) && nm_ascii_equals(attr, known[i][1]))
			return true;
	return false;
}

void nm_cdf_files_put_in(struct nm_node *profile, const char *file, struct nm_diags *diags)
{
	for (size_t i = 0; i < profile->n_children; i++)
		nm_cdf_files_put_in(profile->children[i], file, diags);
	for (size_t i = 0; i < profile->n_attrs; i++)
		if (has_laws(profile->name, profile->attrs[i].name))
			put_in(profile, &profile->attrs[i], file, diags);
}
