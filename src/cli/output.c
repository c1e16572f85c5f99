/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report to standard output, or into a temporary file that then replaces the one that was
 * named. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output_paths.h"
#include "cli/signals.h"

#define LINKS_MAX 40 /* one behind the other, as the kernel has it */

struct output {
	struct nm_sink sink;
	char *target; /* NULL: written in place */
	char *temp;
};

bool nm_output_is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* Where a file that is not there yet is to be: `path`, or, when that is a link, what it names, so
 * that the link stays. Owned; NULL: out of memory. */
static char *target_of(const char *path)
{
	char *target = strdup(path), to[PATH_MAX];
	ssize_t length;

	for (int i = 0; target && i < LINKS_MAX; i++) {
		char *slash = strrchr(target, '/'), *next;

		length = readlink(target, to, sizeof(to) - 1);
		if (length <= 0)
			break; /* it is no link */
		to[length] = '\0';
		if (slash && *to != '/')
			slash[1] = '\0'; /* what is relative begins at the link's folder */
		if (asprintf(&next, "%s%s", slash && *to != '/' ? target : "", to) < 0)
			next = NULL;
		free(target);
		target = next;
	}
	return target;
}

/* A new file beside the target, with the rights that a plain open would have given. */
static int open_temp(struct output *output)
{
	if (asprintf(&output->temp, "%s.XXXXXX", output->target) < 0) {
		output->temp = NULL;
		return -ENOMEM;
	}
	int fd = mkostemp(output->temp, O_CLOEXEC);
	if (fd < 0) {
		int error = -errno;
		free(output->temp);
		output->temp = NULL;
		return error;
	}
	nm_signals_doom(output->temp);
	struct stat st;
	mode_t mask = umask(0);
	umask(mask);
	mode_t mode = stat(output->target, &st) == 0 ? st.st_mode & 0777 : 0666 & ~mask;
	if (fchmod(fd, mode) == 0)
		return nm_sink_take_fd(&output->sink, fd, 0);
	int error = -errno;
	close(fd);
	return error;
}

static void output_fini(struct output *output)
{
	(void)nm_sink_close(&output->sink);
	if (output->temp)
		unlink(output->temp);
	nm_signals_doom(NULL);
	free(output->temp);
	free(output->target);
	*output = (struct output){.target = NULL};
}

static int output_open(struct output *output, const char *path, uint64_t patience_ns)
{
	struct stat st;
	int error = nm_output_path_is_safe(path) ? 0 : -ELOOP;

	*output = (struct output){.target = NULL};
	if (error)
		return error;
	if (*path == '\0')
		return -ENOENT;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	/* A device or pipe is written, not replaced. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return nm_sink_open_path(&output->sink, path, 0, patience_ns);
	output->target = realpath(path, NULL); /* through a link */
	if (!output->target)
		output->target = target_of(path);
	error = output->target ? open_temp(output) : -ENOMEM;
	if (error)
		output_fini(output);
	return error;
}

/* 0 or -errno; a file that cannot be synced, such as a pipe, is no error. */
static int sync_fd(int fd)
{
	if (fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS)
		return 0;
	return -errno;
}

/* The name of the file is in its folder, and is kept by the disk when that is synced. */
static int sync_folder(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	/* A folder that may be written and not read cannot be opened. */
	int error = fd >= 0 ? sync_fd(fd) : 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return error;
}

static int output_commit(struct output *output)
{
	int error = nm_sink_flush(&output->sink);

	if (!error && output->temp)
		error = sync_fd(output->sink.fd);
	int closed = nm_sink_close(&output->sink);

	error = error ? error : closed;
	if (error || !output->temp)
		return error;
	if (rename(output->temp, output->target) != 0)
		return -errno;
	free(output->temp);
	output->temp = NULL;
	return sync_folder(output->target);
}

int nm_output_check(const char *path, struct nm_diags *diags)
{
	struct output output;
	struct stat st;
	int error;

	if (nm_output_is_stdout(path))
		return 0;
	/* Opening a pipe or device has effects; whether it may be opened has to be enough. */
	if (nm_output_path_is_safe(path) && stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode)) {
		error = access(path, W_OK) == 0 ? 0 : -errno;
	} else {
		error = output_open(&output, path, 0);
		if (!error)
			output_fini(&output);
	}
	if (error)
		nm_cli_refuse(diags, "output", path, "cannot be written: %s",
			      nm_output_error_text(error));
	return error;
}

bool nm_output_is_beside_errors(const char *path)
{
	struct stat out, err;

	return nm_output_is_stdout(path) && isatty(STDERR_FILENO) &&
	       fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
	       out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

int nm_output_print(const struct nm_report *report, const struct nm_runs *series,
		    struct nm_sink *out, struct nm_diags *diags)
{
	out->waits = true;
	int error = report->write(series, out->stream);
	int lost = nm_sink_flush(out);

	if (!lost)
		lost = nm_sink_drain(out);
	error = lost ? lost : error;
	if (error)
		nm_diag_error(diags, NULL, 0,
			      "the report could not be written to standard output: %s",
			      nm_output_error_text(error));
	return error;
}

static int write_file(const char *path, uint64_t patience_ns, const struct nm_report *report,
		      const struct nm_runs *series)
{
	struct output output;
	int error = output_open(&output, path, patience_ns);

	if (error)
		return error;
	output.sink.waits = true;
	error = report->write(series, output.sink.stream);
	if (!error)
		error = output_commit(&output);
	else if (output.sink.error)
		error = -output.sink.error;
	output_fini(&output);
	return error;
}

int nm_output_write(const char *path, uint64_t patience_ns, const struct nm_report *report,
		    const struct nm_runs *series, struct nm_sink *out, struct nm_diags *diags)
{
	if (nm_output_is_stdout(path))
		return nm_output_print(report, series, out, diags);
	int error = write_file(path, patience_ns, report, series);

	if (!error)
		return 0;
	nm_diag_error(diags, NULL, 0,
		      "the report could not be written to %s: %s; it goes to standard output", path,
		      nm_output_error_text(error));
	(void)nm_output_print(report, series, out, diags);
	return error;
}
