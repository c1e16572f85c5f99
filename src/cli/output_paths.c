/* SPDX-License-Identifier: Apache-2.0 */
/* Finds outputs that would overwrite each other, also through links and other names of one
 * folder. */
#include "cli/output_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/log/log.h"

/* Where one output goes. */
struct output_path {
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

static void find(struct output_path *path)
{
	const char *slash = path->path ? strrchr(path->path, '/') : NULL;

	if (!path->path)
		return;
	path->exists = stat(path->path, &path->st) == 0;
	/* What is written to devices and pipes follows what is there. */
	if (path->exists && !S_ISREG(path->st.st_mode))
		path->path = NULL;
	else if (!path->exists)
		path->folder = folder_of(path->path);
	path->name = slash ? slash + 1 : path->path;
}

static bool is_same(const struct output_path *a, const struct output_path *b)
{
	if (!a->path || !b->path || a->exists != b->exists)
		return false;
	if (a->exists)
		return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
	if (!a->folder || !b->folder)
		return strcmp(a->path, b->path) == 0;
	return strcmp(a->folder, b->folder) == 0 && strcmp(a->name, b->name) == 0;
}

int nm_output_paths_check(const struct nm_args *args, struct nm_diags *diags)
{
	const char *report = args->output.path;
	struct output_path paths[NM_ARGS_LOGS + 1] = {
		{.option = "output", .path = report && strcmp(report, "-") != 0 ? report : NULL}};
	size_t count = 1;
	int error = 0;

	for (size_t i = 0; nm_logs[i]; i++)
		paths[count++] = (struct output_path){.option = nm_logs[i]->arg.opt.name,
						      .path = args->output.logs[i]};
	for (size_t i = 0; i < count; i++)
		find(&paths[i]);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same(&paths[k], &paths[i])) {
				nm_diag_error(diags, NULL, 0,
					      "--%s %s and --%s %s: one file: what one writes the "
					      "other would overwrite",
					      paths[k].option, paths[k].path, paths[i].option,
					      paths[i].path);
				error = -EINVAL;
			}
	for (size_t i = 0; i < count; i++)
		free(paths[i].folder);
	return error;
}
