/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files line by line. */
#include "plan/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int nm_file_open(const char *path, FILE **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	int r = 0;

	if (fd < 0 || fstat(fd, &stat) != 0)
		r = -errno;
	else if (!S_ISREG(stat.st_mode))
		r = S_ISDIR(stat.st_mode) ? -EISDIR : -ESPIPE;
	else if (!(*ret = fdopen(fd, "r")))
		r = -errno;
	if (r < 0 && fd >= 0)
		(void)close(fd);
	return r;
}

void nm_file_error(int error, char *why, size_t why_size)
{
	(void)snprintf(why, why_size, "%s",
		       error == -ESPIPE ? "is no regular file, which can be read again"
					: strerror(-error));
}

static int take_lines(FILE *file, nm_line_fn *take, void *into, char *why, size_t why_size)
{
	char *line = NULL, wrong[1536];
	unsigned number = 0;
	size_t room = 0;
	ssize_t length;
	int r = 0;

	errno = 0;
	while (r == 0 && (length = getline(&line, &room, file)) > 0) {
		size_t n = (size_t)length - (line[length - 1] == '\n');
		/* Spreadsheets mark files as UTF-8. */
		size_t mark = ++number == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

		line[n] = '\0';
		if (memchr(line, '\0', n)) {
			(void)snprintf(wrong, sizeof wrong,
				       "has a byte that is zero: it is no text");
			r = -EINVAL;
		} else {
			r = take(into, line + mark, n - mark, number, wrong, sizeof wrong);
		}
	}
	if (r == -EINVAL) {
		(void)snprintf(why, why_size, "line %u: %s", number, wrong);
	} else if (r == 0 && !feof(file)) {
		/* Without memory for a line there is neither. */
		r = errno ? -errno : -EIO;
		nm_file_error(r, why, why_size);
	}
	free(line);
	return r;
}

int nm_lines_read(const char *path, nm_line_fn *take, void *into, char *why, size_t why_size)
{
	FILE *file;
	int r = nm_file_open(path, &file);

	if (r < 0) {
		nm_file_error(r, why, why_size);
		return r;
	}
	r = take_lines(file, take, into, why, why_size);
	(void)fclose(file);
	return r;
}
