/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an earlier result, and finds what was run differently then. Nothing of it is trusted. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "host/file.h"
#include "report/common.h"
#include "report/compare_priv.h"
#include "report/figures.h"

#define MOST_NOTES 12
#define SHOWN	   80 /* characters of a stranger's text in a message */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int check_schema(const json_t *document, char *why, size_t why_size)
{
	const char *schema = text_of(document, "schema");
	char shown[SHOWN];

	if (!schema) {
		snprintf(why, why_size,
			 "it is no result: --format json writes one, with \"schema\": \"%s\"",
			 NM_RESULT_SCHEMA);
		return -EINVAL;
	}
	if (strcmp(schema, NM_RESULT_SCHEMA) == 0)
		return 0;
	snprintf(shown, sizeof(shown), "%s", schema);
	nm_make_plain(shown);
	snprintf(why, why_size, "its schema is \"%s\", and only results of \"%s\" are compared",
		 shown, NM_RESULT_SCHEMA);
	return -EINVAL;
}

/* A run that failed before anything was measured compares with nothing. */
static int check_measured(const json_t *document, char *why, size_t why_size)
{
	const json_t *seconds = json_object_get(json_object_get(document, "totals"), "seconds");

	if (!json_is_number(seconds) || json_number_value(seconds) != 0)
		return 0;
	snprintf(why, why_size, "nothing was measured in that run");
	return -EINVAL;
}

int nm_baseline_parse(const char *path, const char *text, size_t length,
		      struct nm_baseline *ret_baseline, char *why, size_t why_size)
{
	json_error_t error;
	json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);

	if (!document) {
		nm_make_plain(error.text);
		snprintf(why, why_size, "it is not JSON: line %d: %s", error.line, error.text);
		return -EINVAL;
	}
	int failed = check_schema(document, why, why_size);

	if (!failed)
		failed = check_measured(document, why, why_size);
	char *copy = failed ? NULL : strdup(path);

	if (!failed && !copy) {
		snprintf(why, why_size, "out of memory");
		failed = -EINVAL;
	}
	if (failed) {
		json_decref(document);
		return failed;
	}
	*ret_baseline = (struct nm_baseline){.path = copy, .document = document};
	return 0;
}

int nm_baseline_read(const char *path, struct nm_baseline *ret_baseline, char *why, size_t why_size)
{
	struct nm_file file;
	int error;

	if (nm_file_read(NULL, path, &file, why, why_size) != 0)
		return -EINVAL;
	error = nm_baseline_parse(path, file.data, file.size, ret_baseline, why, why_size);
	nm_file_fini(&file);
	return error;
}

void nm_baseline_fini(struct nm_baseline *baseline)
{
	free(baseline->path);
	json_decref(baseline->document);
	*baseline = (struct nm_baseline){.path = NULL};
}

/* --- what differs --- */

__attribute__((format(printf, 2, 3))) static int add_note(struct nm_comparison *comparison,
							  const char *fmt, ...)
{
	char **notes, *text;
	va_list args;

	if (comparison->n_notes >= MOST_NOTES)
		return 0;
	notes = realloc(comparison->notes, (comparison->n_notes + 1) * sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	comparison->notes = notes;
	va_start(args, fmt);
	int length = vasprintf(&text, fmt, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	nm_make_plain(text);
	notes[comparison->n_notes++] = text;
	return 0;
}

static int note_param(struct nm_comparison *comparison, const char *name, const char *before,
		      const char *now)
{
	if (before && now && strcmp(before, now) == 0)
		return 0;
	if (!before && !now)
		return 0;
	return add_note(comparison, "parameter %.60s: %.60s before, %.60s now", name,
			before ? before : "none", now ? now : "none");
}

static int note_params(struct nm_comparison *comparison, const json_t *params,
		       const struct nm_result *result)
{
	const char *key;
	json_t *value;
	int error = 0;

	for (size_t i = 0; i < result->params.count; i++) {
		const struct nm_param *param = &result->params.items[i];

		error |= note_param(comparison, param->name, text_of(params, param->name),
				    param->value);
	}
	json_object_foreach((json_t *)params, key, value)
	{
		if (!nm_result_param(result, key))
			error |= note_param(comparison, key, json_string_value(value), NULL);
	}
	return error;
}

static int note_profile(struct nm_comparison *comparison, const json_t *profile,
			const struct nm_result *result)
{
	const char *name = text_of(profile, "name"), *sha256 = text_of(profile, "sha256");
	const char *now = result->profile.name ? result->profile.name : "";

	if (!name || strcmp(name, now) != 0)
		return add_note(comparison, "another profile: %.60s before, %.60s now",
				name ? name : "none", now);
	if (sha256 && strcmp(sha256, result->profile.sha256) != 0)
		return add_note(comparison, "the text of the profile %.60s has changed", name);
	return 0;
}

int nm_comparison_note(struct nm_comparison *comparison, const json_t *document,
		       const struct nm_result *result)
{
	const json_t *profile = json_object_get(document, "profile");
	const json_t *run = json_object_get(document, "run");
	int error = note_profile(comparison, profile, result);

	error |= note_params(comparison, json_object_get(profile, "params"), result);
	if (!json_is_true(json_object_get(run, "complete")))
		error |= add_note(comparison, "the earlier run is incomplete");
	if (!result->complete)
		error |= add_note(comparison, "this run is incomplete");
	return error ? -ENOMEM : 0;
}
