/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and reads files whose names come from a profile, without following them anywhere else and
 * without waiting. */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_ROOM 4096u
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

int nm_file_root_open(struct nm_file_root *ret_root, const char *path)
{
	*ret_root = (struct nm_file_root){.fd = -1, .path = path};
	if (!path)
		return 0;
	ret_root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret_root->fd < 0 ? -errno : 0;
}

void nm_file_root_close(struct nm_file_root *root)
{
	if (root->fd >= 0)
		(void)close(root->fd);
	root->fd = -1;
}

/* The first part of a path, without the slashes before and after it. NULL: there is none. */
static const char *next_part(const char *path, size_t *ret_size)
{
	path += strspn(path, "/");
	*ret_size = strcspn(path, "/");
	return *ret_size ? path : NULL;
}

/* A path that begins with root itself is meant below it. NULL: it begins with another folder. */
static const char *below(const struct nm_file_root *root, const char *path)
{
	size_t path_size, root_size;
	const char *folder = root->path;

	if (*path != '/')
		return path;
	for (;;) {
		const char *of_root = next_part(folder, &root_size);
		const char *of_path = next_part(path, &path_size);

		if (!of_root)
			return of_path;
		if (!of_path || path_size != root_size || memcmp(of_path, of_root, path_size) != 0)
			return NULL;
		folder = of_root + root_size;
		path = of_path + path_size;
	}
}

/* Opens regular files only: even the open of a device can have an effect. */
static int open_regular(int folder, const char *name, bool follow)
{
	struct stat is;

	if (fstatat(folder, name, &is, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISLNK(is.st_mode))
		return -ELOOP;
	if (!S_ISREG(is.st_mode))
		return -EINVAL;
	int fd = openat(folder, name, READ_FLAGS | (follow ? 0 : O_NOFOLLOW));

	if (fd < 0)
		return -errno;
	if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode))
		return fd;
	(void)close(fd);
	return -EINVAL;
}

/* A folder that is no link. */
static int open_folder(int folder, const char *name)
{
	struct stat is;
	int fd = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int error = -errno;

	if (fd >= 0)
		return fd;
	if (error == -ENOTDIR && fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(is.st_mode))
		return -ELOOP;
	return error;
}

/* One part after the other, none of which is a link or leads back: what openat2(2) does with
 * RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, which not every kernel has and many a sandbox
 * forbids. */
static int open_below(const struct nm_file_root *root, const char *path)
{
	char name[256];
	size_t size;
	int folder = root->fd, found = -ENOENT;

	while ((path = next_part(path, &size))) {
		size_t more;
		bool last = !next_part(path + size, &more);

		if (size == 2 && memcmp(path, "..", 2) == 0) {
			found = -EXDEV;
		} else if (size >= sizeof name) {
			found = -ENAMETOOLONG;
		} else {
			memcpy(name, path, size);
			name[size] = '\0';
			found = last ? open_regular(folder, name, false)
				     : open_folder(folder, name);
		}
		if (folder != root->fd)
			(void)close(folder);
		if (found < 0 || last)
			return found;
		folder = found;
		path += size;
	}
	return found;
}

static void explain(const struct nm_file_root *root, int error, char *why, size_t why_size)
{
	if (root && root->fd < 0)
		snprintf(why, why_size,
			 "a slave reads no files for masters of other hosts unless it is started "
			 "with --file-root DIR, and then those below DIR");
	else if (root && error == -EXDEV)
		snprintf(why, why_size, "not below the slave's --file-root %s", root->path);
	else if (root && error == -ELOOP)
		snprintf(why, why_size, "a symbolic link, which the slave's --file-root forbids");
	else if (error == -EINVAL)
		snprintf(why, why_size, "not a regular file");
	else if (error == -EFBIG)
		snprintf(why, why_size, "larger than 16 MiB");
	else if (error == -EAGAIN)
		snprintf(why, why_size, "reading it would have to wait for somebody");
	else
		snprintf(why, why_size, "%s", strerror(-error));
}

/* -errno or a descriptor. */
static int open_file(const struct nm_file_root *root, const char *path)
{
	if (!root)
		return open_regular(AT_FDCWD, path, true);
	if (root->fd < 0)
		return -EPERM;
	path = below(root, path);
	return path ? open_below(root, path) : -EXDEV;
}

/* Makes room for one byte more at least, and leaves no copy behind. */
static int grow(struct nm_file *file, size_t *room)
{
	size_t wanted = *room ? 2 * *room : FIRST_ROOM;
	char *data = malloc(wanted);

	if (!data)
		return -ENOMEM;
	if (file->data) {
		memcpy(data, file->data, file->size);
		explicit_bzero(file->data, file->size);
		free(file->data);
	}
	file->data = data;
	*room = wanted;
	return 0;
}

static int read_all(int fd, struct nm_file *file)
{
	size_t room = 0;

	for (;;) {
		if (file->size + 1 >= room && grow(file, &room) < 0)
			return -ENOMEM;
		ssize_t n = read(fd, file->data + file->size, room - 1 - file->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		file->size += (size_t)n;
		file->data[file->size] = '\0';
		if (n == 0)
			return 0;
		if (file->size > NM_FILE_MAX)
			return -EFBIG;
	}
}

int nm_file_read(const struct nm_file_root *root, const char *path, struct nm_file *ret_file,
		 char *why, size_t why_size)
{
	struct nm_file file = {.data = NULL};
	int fd = open_file(root, path);
	int error = fd < 0 ? fd : read_all(fd, &file);

	if (fd >= 0)
		(void)close(fd);
	if (error) {
		nm_file_fini(&file);
		explain(root, error, why, why_size);
		return error;
	}
	*ret_file = file;
	return 0;
}

void nm_file_fini(struct nm_file *file)
{
	if (file->data)
		explicit_bzero(file->data, file->size);
	free(file->data);
	*file = (struct nm_file){.data = NULL};
}
