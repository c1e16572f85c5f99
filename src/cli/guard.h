/* SPDX-License-Identifier: Apache-2.0 */
/* --guard: what was started ends when whoever started it is gone. The process that was started
 * becomes two: a guard, which reads standard input, and its child, which does what the line asks
 * for. */
#ifndef NM_CLI_GUARD_H
#define NM_CLI_GUARD_H

#include "cli/args.h"

/* Returns -1 in the child, whose key is then in its environment; in the guard, the exit code when
 * all is over. Before any thread is started. */
int nm_cli_guard(const struct nm_args *args, struct nm_diags *diags);

#endif
