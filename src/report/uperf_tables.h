/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_REPORT_UPERF_TABLES_H
#define NM_REPORT_UPERF_TABLES_H

#include <stdio.h>

#include "result/result.h"

/* Prints the tables that were asked for, each behind an empty line. */
void nm_uperf_tables_print(const struct nm_result *result, FILE *out);

#endif
