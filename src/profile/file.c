/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file of a profile: no more than a profile may have, and without waiting for ever for
 * one that is a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "profile/tree.h"

#define WRITER_MS  500	 /* that a pipe may be without a writer */
#define SILENCE_MS 60000 /* that the writer may pause */

struct source {
	int fd;
	bool is_pipe;
	bool has_writer; /* the pipe has a writer, or has had one */
	char *text;
	size_t used;
};

static int wait_for_input(const struct source *source, int timeout_ms)
{
	struct pollfd pfd = {.fd = source->fd, .events = POLLIN};
	int n;

	do {
		n = poll(&pfd, 1, timeout_ms);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* Reads to the end, or up to one byte more than a profile may have. NULL, or the text of an error
 * (static). */
static const char *read_all(struct source *source)
{
	while (source->used <= NM_PROFILE_MAX_BYTES) {
		ssize_t n = read(source->fd, source->text + source->used,
				 NM_PROFILE_MAX_BYTES + 1 - source->used);

		if (n > 0) {
			source->used += (size_t)n;
		} else if (n == 0) {
			/* A pipe that has not had a writer yet looks like one at its end. */
			if (!source->is_pipe || source->used || source->has_writer)
				return NULL;
			if (wait_for_input(source, WRITER_MS) == 0)
				return "nobody writes to this pipe";
			source->has_writer = true;
		} else if (errno == EAGAIN) {
			if (wait_for_input(source, SILENCE_MS) == 0)
				return "nothing has come for 60 s";
		} else if (errno != EINTR) {
			return strerror(errno);
		}
	}
	return NULL;
}

static bool read_source(struct source *source, const char *path, struct nm_diags *diags)
{
	source->text = malloc(NM_PROFILE_MAX_BYTES + 2);
	if (!source->text) {
		nm_diag_error(diags, path, 0, "out of memory");
		return false;
	}
	const char *wrong = read_all(source);

	source->text[source->used] = '\0';
	if (wrong)
		nm_diag_error(diags, path, 0, "cannot be read: %s", wrong);
	else if (source->used > NM_PROFILE_MAX_BYTES)
		nm_diag_error(diags, path, 0, "the profile is larger than 1 MiB");
	return !wrong && source->used <= NM_PROFILE_MAX_BYTES;
}

char *nm_profile_slurp(const char *path, size_t *ret_length, struct nm_diags *diags)
{
	struct source source = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	struct stat st;

	if (source.fd < 0) {
		nm_diag_error(diags, path, 0, "cannot be opened: %s", strerror(errno));
		return NULL;
	}
	source.is_pipe = fstat(source.fd, &st) == 0 && S_ISFIFO(st.st_mode);
	bool ok = read_source(&source, path, diags);

	(void)close(source.fd);
	if (ok) {
		*ret_length = source.used;
		return source.text;
	}
	free(source.text);
	return NULL;
}
