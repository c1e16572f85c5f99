/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_CLI_RAW_H
#define NM_CLI_RAW_H

#include "control/options.h"

/* Prints it on standard output. */
void nm_raw_progress(const struct nm_plan *plan, const struct nm_progress *progress);

#endif
