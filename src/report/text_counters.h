/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the CPU in tables for people. */
#ifndef NM_REPORT_TEXT_COUNTERS_H
#define NM_REPORT_TEXT_COUNTERS_H

#include <stdio.h>

#include "result/result.h"

/* A table of the counters of all hosts, behind `indent` spaces; width as of a table. */
void nm_text_counters_print(const struct nm_result *result, unsigned width, unsigned indent,
			    FILE *out);

#endif
