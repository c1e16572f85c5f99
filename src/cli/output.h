/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report to its file, or to standard output. */
#ifndef NM_CLI_OUTPUT_H
#define NM_CLI_OUTPUT_H

#include "base/diag.h"
#include "cli/sink.h"
#include "report/report.h"

/* Whether the report can be written to path (NULL or "-": standard output), asked before a run. 0,
 * or -errno with an error in diags. Leaves nothing behind. */
int nm_output_check(const char *path, struct nm_diags *diags);
bool nm_output_is_stdout(const char *path);
/* Writes the report, and has the disk keep it. A regular file is replaced as a whole or not at all;
 * where the report cannot be written to path it goes to standard output, which is `out`, instead.
 * 0, or -errno with an error in diags. patience_ns: how long a reader is waited for. */
int nm_output_write(const char *path, uint64_t patience_ns, const struct nm_report *report,
		    const struct nm_runs *series, struct nm_sink *out, struct nm_diags *diags);
/* Whether a report that goes to path stands on the terminal on which errors are told, too. */
bool nm_output_is_beside_errors(const char *path);
/* Writes the report to standard output, or to another open sink, which waits for its reader from
 * then on: 0, or -errno with an error in diags. */
int nm_output_print(const struct nm_report *report, const struct nm_runs *series,
		    struct nm_sink *out, struct nm_diags *diags);

#endif
