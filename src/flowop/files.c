/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a directory, and the state of a transfer. */
#include "flowop/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct nm_opt nm_files_opts[] = {
	{.name = "nfiles",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct nm_opts_files, n_files),
	 .min = 1,
	 .max = UINT32_MAX,
	 .def = "1",
	 .help = "files that one operation sends"},
	{.name = "dir",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_files, dir),
	 .required = true,
	 .help = "directory of the master: the files in it and below that may be read"},
	{.name = "size",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct nm_opts_files, chunk_bytes),
	 .max = UINT64_C(1) << 50,
	 .help = "the most that one call sends; without it, or 0, as much as there is"},
	NM_OPT_END};

struct list {
	char **items; /* owned */
	size_t count, room;
};

static void list_fini(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

/* Adds the text and owns it (NULL: there was no memory for it). */
static int list_add(struct list *list, char *text)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		char **items = realloc(list->items, room * sizeof *items);

		if (!items) {
			free(text);
			return -ENOMEM;
		}
		list->items = items;
		list->room = room;
	}
	if (!text)
		return -ENOMEM;
	list->items[list->count++] = text;
	return 0;
}

static char *join(const char *dir, const char *name)
{
	size_t size = strlen(dir) + strlen(name) + 2;
	char *path = malloc(size);

	if (path)
		(void)snprintf(path, size, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/",
			       name);
	return path;
}

static int look_at(int dir_fd, const char *dir, const char *name, struct list *dirs,
		   struct list *files)
{
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return list_add(dirs, join(dir, name));
	/* A link to a directory could lead round in circles. */
	if (S_ISLNK(st.st_mode) && fstatat(dir_fd, name, &st, 0) < 0)
		return 0;
	if (!S_ISREG(st.st_mode) || faccessat(dir_fd, name, R_OK, AT_EACCESS) < 0)
		return 0;
	return files->count < NM_FILES_MAX ? list_add(files, join(dir, name)) : -EFBIG;
}

static int read_dir(const char *path, struct list *dirs, struct list *files)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir)))
		r = look_at(dirfd(dir), path, entry->d_name, dirs, files);
	(void)closedir(dir);
	return r;
}

/* Whether a directory below may be left out: it must not be read, or has gone. */
static bool may_miss(int error)
{
	return error == -EACCES || error == -ENOENT || error == -ENOTDIR;
}

static int find_all(const char *top, struct list *files)
{
	struct list dirs = {.items = NULL};
	int r = *top ? read_dir(top, &dirs, files) : -ENOENT;

	while (r == 0 && dirs.count) {
		char *path = dirs.items[--dirs.count];

		r = read_dir(path, &dirs, files);
		if (may_miss(r))
			r = 0;
		free(path);
	}
	list_fini(&dirs);
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Makes one block of the list, sorted by name: the order in which a directory lists its files may
 * change. */
static struct nm_files *pack(struct list *list)
{
	size_t size = sizeof(struct nm_files) + list->count * sizeof(char *);

	qsort(list->items, list->count, sizeof *list->items, compare);
	for (size_t i = 0; i < list->count; i++)
		size += strlen(list->items[i]) + 1;
	struct nm_files *files = malloc(size);

	if (!files)
		return NULL;
	char *at = (char *)&files->paths[list->count];

	files->count = list->count;
	for (size_t i = 0; i < list->count; i++) {
		size_t n = strlen(list->items[i]) + 1;

		files->paths[i] = memcpy(at, list->items[i], n);
		at += n;
	}
	return files;
}

int nm_files_find(const char *dir, struct nm_files **ret_files, char *why, size_t why_size)
{
	struct list list = {.items = NULL};
	int r = find_all(dir, &list);

	if (r == -EFBIG)
		snprintf(why, why_size, "has more than %u files", NM_FILES_MAX);
	else if (r < 0)
		snprintf(why, why_size, "%s", strerror(-r));
	if (r == 0 && list.count == 0) {
		snprintf(why, why_size, "there is no file in it that may be read");
		r = -ENOENT;
	}
	if (r == 0) {
		*ret_files = pack(&list);
		if (!*ret_files) {
			snprintf(why, why_size, "out of memory");
			r = -ENOMEM;
		}
	}
	list_fini(&list);
	return r;
}

void nm_transfer_close(struct nm_transfer *transfer)
{
	if (transfer->fd >= 0)
		(void)close(transfer->fd);
	transfer->fd = -1;
}
