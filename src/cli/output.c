/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report to standard output, or into a temporary file that then replaces the one that was
 * named. */
#include "cli/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
	FILE *stream;
	char *target; /* NULL: written in place */
	char *temp;
};

static bool is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
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
	struct stat st;
	mode_t mask = umask(0);
	umask(mask);
	mode_t mode = stat(output->target, &st) == 0 ? st.st_mode & 0777 : 0666 & ~mask;
	if (fchmod(fd, mode) == 0)
		output->stream = fdopen(fd, "w");
	if (output->stream)
		return 0;
	int error = -errno;
	close(fd);
	return error;
}

static void output_fini(struct output *output)
{
	if (output->stream)
		fclose(output->stream);
	if (output->temp)
		unlink(output->temp);
	free(output->temp);
	free(output->target);
	*output = (struct output){.stream = NULL};
}

static int output_open(struct output *output, const char *path)
{
	struct stat st;
	int error;

	*output = (struct output){.stream = NULL};
	if (*path == '\0')
		return -ENOENT;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* A device or pipe is written, not replaced. */
		output->stream = fopen(path, "we");
		return output->stream ? 0 : -errno;
	}
	output->target = realpath(path, NULL); /* through a link */
	if (!output->target)
		output->target = strdup(path);
	error = output->target ? open_temp(output) : -ENOMEM;
	if (error)
		output_fini(output);
	return error;
}

static int output_commit(struct output *output)
{
	FILE *stream = output->stream;
	int error = 0;

	output->stream = NULL;
	if (fclose(stream) != 0)
		error = -errno;
	if (!error && output->temp) {
		if (rename(output->temp, output->target) != 0)
			error = -errno;
		else
			output->temp[0] = '\0';
	}
	if (output->temp && output->temp[0] == '\0') {
		free(output->temp);
		output->temp = NULL;
	}
	return error;
}

int nm_output_check(const char *path, struct nm_diags *diags)
{
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = "output", .value = path};
	struct output output;
	struct stat st;
	int error;

	if (is_stdout(path))
		return 0;
	/* Opening a pipe or device has effects; whether it may be opened has to be enough. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		error = access(path, W_OK) == 0 ? 0 : -errno;
	} else {
		error = output_open(&output, path);
		if (!error)
			output_fini(&output);
	}
	if (error)
		nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject, ": cannot be written: %s",
			    strerror(-error));
	return error;
}

int nm_output_write(const char *path, const struct nm_report *report, const struct nm_runs *series,
		    struct nm_diags *diags)
{
	struct output output = {.stream = NULL};
	int error;

	if (is_stdout(path)) {
		error = report->write(series, stdout);
	} else {
		error = output_open(&output, path);
		if (!error)
			error = report->write(series, output.stream);
		if (!error)
			error = output_commit(&output);
		output_fini(&output);
	}
	if (error)
		nm_diag_error(diags, NULL, 0, "the report could not be written to %s: %s",
			      is_stdout(path) ? "standard output" : path, strerror(-error));
	return error;
}
