/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_REPORT_TEXT_TABLES_H
#define NM_REPORT_TEXT_TABLES_H

#include <stdio.h>

#include "result/result.h"

/* Prints the tables that were asked for, each behind an empty line; width as of a table. */
void nm_text_tables_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
