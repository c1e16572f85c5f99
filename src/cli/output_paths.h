/* SPDX-License-Identifier: Apache-2.0 */
/* Where the outputs of a run go. */
#ifndef NM_CLI_OUTPUT_PATHS_H
#define NM_CLI_OUTPUT_PATHS_H

#include "base/diag.h"
#include "cli/args.h"

/* Whether each output has a file of its own, under whatever names: 0, or -EINVAL with an error in
 * diags for each pair that has not. */
int nm_output_paths_check(const struct nm_args *args, struct nm_diags *diags);

#endif
