/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where one output goes. */
struct place {
	const char *option, *path; /* path NULL: nowhere, or where others may go too */
	bool exists;
	struct stat st;	  /* when it exists */
	char *folder;	  /* else: the folder that it would be in, without links; owned */
	const char *name; /* in there */
};

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
	char *folder = length ? strndup(path, length) : strdup(".");
	char *resolved = folder ? realpath(folder, NULL) : NULL;

	free(folder);
	return resolved;
}

static void find(struct place *place)
{
	const char *slash = place->path ? strrchr(place->path, '/') : NULL;

	if (!place->path)
		return;
	place->exists = stat(place->path, &place->st) == 0;
	/* What is written to devices and pipes follows what is there. */
	if (place->exists && !S_ISREG(place->st.st_mode))
		place->path = NULL;
	else if (!place->exists)
		place->folder = folder_of(place->path);
	place->name = slash ? slash + 1 : place->path;
}

static bool is_same(const struct place *a, const struct place *b)
{
	if (!a->path || !b->path || a->exists != b->exists)
		return false;
	if (a->exists)
		return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
	if (!a->folder || !b->folder)
		return strcmp(a->path, b->path) == 0;
	return strcmp(a->folder, b->folder) == 0 && strcmp(a->name, b->name) == 0;
}

int nm_places_check(const struct nm_args *args, struct nm_diags *diags)
{
	bool to_file = args->output && strcmp(args->output, "-") != 0;
	struct place places[] = {
		{.option = "output", .path = to_file ? args->output : NULL},
		{.option = "response-log", .path = args->response_log},
		{.option = "hdr-log", .path = args->hdr_log},
		{.option = "all-samples", .path = args->all_samples},
		{.option = "tcp-info", .path = args->tcp_info},
		{.option = "log-rtt", .path = args->log_rtt},
	};
	const size_t count = sizeof(places) / sizeof(places[0]);
	int error = 0;

	for (size_t i = 0; i < count; i++)
		find(&places[i]);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same(&places[k], &places[i])) {
				nm_diag_error(diags, NULL, 0,
					      "--%s %s and --%s %s: one file: what one writes the "
					      "other would overwrite",
					      places[k].option, places[k].path, places[i].option,
					      places[i].path);
				error = -EINVAL;
			}
	for (size_t i = 0; i < count; i++)
		free(places[i].folder);
	return error;
}
