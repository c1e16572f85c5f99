/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report goes. */
#ifndef NM_CLI_OUTPUT_H
#define NM_CLI_OUTPUT_H

#include "base/diag.h"
#include "report/report.h"

/* Whether the report can be written to path (NULL or "-": standard output), asked before a run. 0,
 * or -errno with an error in diags. Leaves nothing behind. */
int nm_output_check(const char *path, struct nm_diags *diags);
/* Writes the report. A regular file is replaced as a whole or not at all. */
int nm_output_write(const char *path, const struct nm_report *report, const struct nm_runs *series,
		    struct nm_diags *diags);

#endif
