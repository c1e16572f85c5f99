/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_REPORT_TEXT_INTERVALS_H
#define NM_REPORT_TEXT_INTERVALS_H

#include <stdio.h>

#include "result/result.h"

/* Prints a table of the intervals of each transaction, and an empty line behind it; width as of a
 * table. */
void nm_text_intervals_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
