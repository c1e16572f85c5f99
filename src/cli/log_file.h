/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is written while something runs, by the option that names it. */
#ifndef NM_CLI_LOG_FILE_H
#define NM_CLI_LOG_FILE_H

#include <stdio.h>

#include "base/diag.h"

struct nm_log_file {
	FILE *stream; /* NULL: none is written */
	const char *option, *path;
	int error; /* errno of the first failure to write; nothing needs to be written after it */
};

/* Option without its dashes and path are borrowed; path NULL: no file. 0, or -errno with an error
 * in diags. */
int nm_log_file_open(struct nm_log_file *log, const char *option, const char *path,
		     struct nm_diags *diags);
/* Notes whether what was written has failed. */
void nm_log_file_check(struct nm_log_file *log);
/* 0, or -errno with an error in diags. Does nothing without a file. */
int nm_log_file_close(struct nm_log_file *log, struct nm_diags *diags);

#endif
