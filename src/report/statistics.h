/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_REPORT_STATISTICS_H
#define NM_REPORT_STATISTICS_H

#include <stdio.h>

#include "result/result.h"

/* The tables that were asked for, each with an empty line before it. */
void nm_report_statistics(const struct nm_result *result, FILE *out);

#endif
