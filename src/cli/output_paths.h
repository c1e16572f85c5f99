/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the paths of a run's outputs, and opens them. */
#ifndef NM_CLI_OUTPUT_PATHS_H
#define NM_CLI_OUTPUT_PATHS_H

#include <stdbool.h>

#include "base/diag.h"
#include "cli/args.h"
#include "plan/plan.h"

/* Whether each output has a file of its own, which has no second name among them and is none that
 * the run reads: the profile (its path, NULL: from no file), the key, the earlier result, the
 * certificates of the plan (NULL: there is none). 0, or -EINVAL with an error in diags for each
 * pair that shares a file. */
int nm_output_paths_check(const struct nm_args *args, const char *profile,
			  const struct nm_plan *plan, struct nm_diags *diags);

/* Whether no link on the way to path stands where others may put one: in a folder that everybody
 * may write to, or that is neither ours nor root's. */
bool nm_output_path_is_safe(const char *path);
/* Opens a file to be written from its begin, made if it is not there: a descriptor, or -errno.
 * -ELOOP: nm_output_path_is_safe says no. In a folder that everybody may write to only a file of
 * our own is taken; -EPERM: it is not. */
int nm_output_path_create(const char *path);
/* The words of messages for an error of an output, such as -ELOOP and -EPERM. error: -errno. */
const char *nm_output_error_text(int error);

#endif
