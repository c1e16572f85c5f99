/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_CLI_UPERF_LINES_H
#define NM_CLI_UPERF_LINES_H

#include <stdio.h>

#include "control/options.h"

/* Prints the progress of a run. */
void nm_uperf_lines_progress(const struct nm_plan *plan, const struct nm_progress *progress,
			     FILE *out);

#endif
