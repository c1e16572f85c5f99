/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the master that a profile names: opened, and read line by line. */
#ifndef NM_PLAN_LINES_H
#define NM_PLAN_LINES_H

#include <stddef.h>
#include <stdio.h>

/* Opens a regular file, which can be read again, as a pipe, that would be waited for, cannot. 0
 * with *ret; or an error, which nm_file_error tells. */
int nm_file_open(const char *path, FILE **ret);
/* Puts a phrase into why. */
void nm_file_error(int error, char *why, size_t why_size);

/* Takes a line of n bytes without its end, which may be changed, and is as long as its text. 0,
 * -ENOMEM, or -EINVAL with a phrase in why. */
typedef int nm_line_fn(void *into, char *line, size_t n, unsigned number, char *why,
		       size_t why_size);

/* Gives all lines of a file to `take`, but for a mark of UTF-8 at its beginning. 0; -ENOMEM; or
 * another error with a phrase in why, which has the number of the line. */
int nm_lines_read(const char *path, nm_line_fn *take, void *into, char *why, size_t why_size);

#endif
