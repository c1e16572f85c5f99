/* SPDX-License-Identifier: Apache-2.0 */
/* Files that hold the points of a distribution function, as simulators of networks use them: made
 * the text of a law, so that only who has the file need read it. */
#ifndef NM_BASE_LAW_FILE_H
#define NM_BASE_LAW_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether what stands behind "cdf(", up to `length` bytes, names a file: neither a built-in table,
 * in exactly these words, nor points. */
bool nm_law_names_file(const char *text, size_t length);

/* The points of a file's text as they stand between the parentheses of "cdf(A:P,B:P)": into buf.
 * Each line has a value, anything, and a probability, or the first and the last alone; # begins a
 * comment. Values are multiplied by the unit, a number with or without a suffix, which they then
 * have; "": they stay as they are. Returns 0; or -EINVAL with the number of the line that is wrong
 * (0: all of them) and one phrase in why. The text is changed. */
int nm_law_file_points(char *text, const char *unit, char *buf, size_t size, unsigned *ret_line,
		       char *why, size_t why_size);

#endif
