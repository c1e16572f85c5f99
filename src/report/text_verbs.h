/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs of applications in the summary for people. */
#ifndef NM_REPORT_TEXT_VERBS_H
#define NM_REPORT_TEXT_VERBS_H

#include <stdio.h>

#include "result/result.h"

/* A table of the verbs with their outcomes, and one of their times; nothing where nothing asks. */
void nm_text_verbs_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
