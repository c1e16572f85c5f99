/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a workload as neper prints them, with the values that are in force: made from the
 * table of options. */
#ifndef NM_CLI_NEPER_ECHO_H
#define NM_CLI_NEPER_ECHO_H

#include <stddef.h>

#include "cli/args.h"
#include "plan/params.h"
#include "report/view.h"

struct nm_neper_echo {
	struct nm_neper_option *items; /* with names and values owned */
	size_t count;
};

/* None when the profile is not one of neper's workloads, by its name. Parameters that neper has no
 * option for come last, where they are not what they are by default. 0 or -ENOMEM. *ret_echo must
 * be given to nm_neper_echo_fini in any case. */
int nm_neper_echo_make(struct nm_neper_echo *ret_echo, const struct nm_args *args,
		       const struct nm_params *params);
void nm_neper_echo_fini(struct nm_neper_echo *echo);

#endif
