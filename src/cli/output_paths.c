/* SPDX-License-Identifier: Apache-2.0 */
/* Finds outputs that would overwrite each other, or what a run reads, also through links and other
 * names of one folder, and opens none through a link that somebody else may have put there. */
#include "cli/output_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log/log.h"
#include "transport/transport.h"

/* The place of one output, or of a file that is read. */
struct output_path {
	const char *option, *path; /* path NULL: nowhere, or to a place that outputs can share */
	bool in_profile;	   /* the option is the profile's, and not of the command line */
	bool exists;
	struct stat st;	  /* when it exists */
	char *folder;	  /* otherwise: its folder, without links; owned */
	const char *name; /* in that folder */
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
	/* Several outputs may go to one device or pipe: none overwrites another. */
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

static bool is_shared(const struct output_path *a, const struct output_path *b, const char *fate,
		      struct nm_diags *diags)
{
	if (!is_same(a, b))
		return false;
	nm_diag_error(diags, NULL, 0, "%s%s %s and --%s %s: one file: %s",
		      a->in_profile ? "" : "--", a->option, a->path, b->option, b->path, fate);
	return true;
}

/* Whether an output would overwrite a file that is read; read->path may be NULL. */
static bool is_overwritten(struct output_path read, const struct output_path *outputs, size_t count,
			   struct nm_diags *diags)
{
	bool overwritten = false;

	find(&read);
	/* What is not there is no file, but the word for standard input for example. */
	for (size_t i = 0; read.exists && i < count; i++)
		overwritten |= is_shared(&read, &outputs[i],
					 "the output would overwrite what is read", diags);
	free(read.folder);
	return overwritten;
}

/* Whether an output would overwrite a file that a transport of the profile reads. */
static bool are_files_overwritten(const struct nm_instr *instr, const struct output_path *outputs,
				  size_t count, struct nm_diags *diags)
{
	const char *values = instr->open.transport_opts;
	const struct nm_opt *opt = values && instr->transport ? instr->transport->opts : NULL;
	bool overwritten = false;

	for (; opt && opt->name; opt++)
		if (opt->is_file)
			overwritten |= is_overwritten(
				(struct output_path){
					.option = opt->name,
					.path = *(char *const *)(const void *)(values +
									       opt->offset),
					.in_profile = true},
				outputs, count, diags);
	return overwritten;
}

/* Tells of the first flowop that reads such a file: others name the file again. */
static bool are_files_of_flowops_overwritten(const struct nm_plan *plan,
					     const struct output_path *outputs, size_t count,
					     struct nm_diags *diags)
{
	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t i = 0; i < plan->groups[g].n_instrs; i++)
			if (are_files_overwritten(&plan->groups[g].instrs[i], outputs, count,
						  diags))
				return true;
	return false;
}

int nm_output_paths_check(const struct nm_args *args, const char *profile,
			  const struct nm_plan *plan, struct nm_diags *diags)
{
	const char *report = args->output.path;
	const struct output_path reads[] = {
		{.option = "master", .path = profile},
		{.option = "key-file", .path = args->key.file},
		{.option = "compare", .path = args->run.judge.baseline},
	};
	struct output_path paths[NM_ARGS_LOGS + 1] = {
		{.option = "output", .path = report && strcmp(report, "-") != 0 ? report : NULL}};
	size_t count = 1;
	bool shared = false;

	for (size_t i = 0; nm_logs[i]; i++)
		paths[count++] = (struct output_path){.option = nm_logs[i]->arg.opt.name,
						      .path = args->output.logs[i]};
	for (size_t i = 0; i < count; i++)
		find(&paths[i]);
	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		shared |= is_overwritten(reads[i], paths, count, diags);
	if (plan)
		shared |= are_files_of_flowops_overwritten(plan, paths, count, diags);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			shared |= is_shared(&paths[k], &paths[i],
					    "what one writes the other would overwrite", diags);
	for (size_t i = 0; i < count; i++)
		free(paths[i].folder);
	return shared ? -EINVAL : 0;
}

static bool others_may_write(const struct stat *folder)
{
	return (folder->st_mode & S_IWOTH) || (folder->st_uid != geteuid() && folder->st_uid != 0);
}

/* The folder that the first `length` characters of a path stand in. */
static int stat_folder(const char *path, size_t length, struct stat *ret)
{
	while (length && path[length - 1] != '/')
		length--;
	char *folder = length ? strndup(path, length) : strdup(".");
	int error = folder && stat(folder, ret) == 0 ? 0 : -ENOENT;

	free(folder);
	return error;
}

static bool is_strange_link(const char *path, size_t length)
{
	char *part = strndup(path, length);
	struct stat st, folder;
	/* A part of the path that cannot be checked, for want of memory, is not trusted. */
	bool strange =
		!part || (lstat(part, &st) == 0 && S_ISLNK(st.st_mode) &&
			  (stat_folder(path, length, &folder) != 0 || others_may_write(&folder)));

	free(part);
	return strange;
}

bool nm_output_path_is_safe(const char *path)
{
	for (size_t i = 1; *path && path[i - 1]; i++) {
		if ((path[i] == '/' || path[i] == '\0') && path[i - 1] != '/' &&
		    is_strange_link(path, i))
			return false;
	}
	return true;
}

int nm_output_path_create(const char *path)
{
	struct stat folder, st;
	bool open_to_all =
		stat_folder(path, strlen(path), &folder) == 0 && (folder.st_mode & S_IWOTH);

	if (!nm_output_path_is_safe(path))
		return -ELOOP;
	/* A link that was put there after the check is not followed, and a file not emptied. */
	int fd = open(path,
		      O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (open_to_all ? O_NOFOLLOW : 0),
		      0666);

	if (fd < 0)
		return -errno;
	int error = fstat(fd, &st) == 0 ? 0 : -errno;

	if (!error && open_to_all && (st.st_uid != geteuid() || st.st_nlink != 1))
		error = -EPERM;
	if (!error && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
		error = -errno;
	if (error)
		close(fd);
	return error ? error : fd;
}

const char *nm_output_error_text(int error)
{
	switch (-error) {
	case ELOOP:
		return "it is a link, or is reached by one, in a folder that others may write to";
	case EPERM:
		return "it belongs to somebody else, in a folder that others may write to";
	case ENXIO:
		return "nobody reads it";
	case ETIMEDOUT:
		return "nobody has read it for too long";
	case EINTR:
		return "nobody read it when the program was to end";
	default:
		return strerror(-error);
	}
}
