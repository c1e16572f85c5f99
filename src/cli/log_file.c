/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log_file.h"

#include <errno.h>
#include <string.h>

#define BUFFER (1u << 20)

static int fail(const struct nm_log_file *log, int error, struct nm_diags *diags)
{
	error = error ? error : EIO;
	nm_diag_error(diags, NULL, 0, "--%s %s: cannot be written: %s", log->option, log->path,
		      strerror(error));
	return -error;
}

int nm_log_file_open(struct nm_log_file *log, const char *option, const char *path,
		     struct nm_diags *diags)
{
	*log = (struct nm_log_file){.option = option, .path = path};
	if (!path)
		return 0;
	log->stream = fopen(path, "we");
	if (!log->stream)
		return fail(log, errno, diags);
	(void)setvbuf(log->stream, NULL, _IOFBF, BUFFER);
	return 0;
}

/* The first error is the reason: what is written after it may succeed, or fail without one. */
void nm_log_file_check(struct nm_log_file *log)
{
	if (log->stream && !log->error && ferror(log->stream))
		log->error = errno ? errno : EIO;
}

int nm_log_file_close(struct nm_log_file *log, struct nm_diags *diags)
{
	if (!log->stream)
		return 0;
	nm_log_file_check(log);
	if (fclose(log->stream) != 0 && !log->error)
		log->error = errno;
	log->stream = NULL;
	return log->error ? fail(log, log->error, diags) : 0;
}
