/* SPDX-License-Identifier: Apache-2.0 */
/* Measured flows in the summary for people. */
#ifndef NM_REPORT_TEXT_FLOWS_H
#define NM_REPORT_TEXT_FLOWS_H

#include <stdio.h>

#include "result/result.h"

/* A table of completion times and slowdowns by size; nothing when no flows were measured. */
void nm_text_flows_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
