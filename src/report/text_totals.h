/* SPDX-License-Identifier: Apache-2.0 */
/* The totals in the summary for people. */
#ifndef NM_REPORT_TEXT_TOTALS_H
#define NM_REPORT_TEXT_TOTALS_H

#include <stdio.h>

#include "result/result.h"

/* Prints the lines of the totals; width as of a table. */
void nm_text_totals_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
