/* SPDX-License-Identifier: Apache-2.0 */
/* The log of responses: one line for every execution of a flowop. */
#ifndef NM_CLI_RESPONSES_H
#define NM_CLI_RESPONSES_H

#include "cli/log_file.h"
#include "control/options.h"

struct nm_responses {
	struct nm_log_file file;
};

/* path NULL: none. 0, or -errno with an error in diags. */
int nm_responses_open(struct nm_responses *log, const char *path, struct nm_diags *diags);
void nm_responses_add(struct nm_responses *log, const struct nm_response_row *rows, size_t count);
/* Ends the file with what was lost. 0, or -errno with an error in diags. Does nothing without a
 * file. */
int nm_responses_close(struct nm_responses *log, uint64_t lost, struct nm_diags *diags);

#endif
