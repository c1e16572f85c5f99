/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, before anything is done, whether this host can run a plan with its options. Each function
 * adds an error to diags for each thing that it cannot; file: the profile's name in messages. */
#ifndef NM_CONTROL_PREFLIGHT_H
#define NM_CONTROL_PREFLIGHT_H

#include "base/diag.h"
#include "control/options.h"
#include "host/cpus.h"
#include "plan/plan.h"

/* File descriptors that a process needs besides those of its plan. */
#define NM_OTHER_DESCRIPTORS 64u

/* The protocols and the CPUs that the plan asks for. */
void nm_preflight_check(const struct nm_plan *plan, const char *file, struct nm_diags *diags);
/* Warm-up and cool-down are cut from every measured transaction: some of it must be left. */
void nm_preflight_windows(const struct nm_plan *plan, const struct nm_run_options *options,
			  const char *file, struct nm_diags *diags);
/* What takes away what a server has that this program has not started needs the user's word. */
void nm_preflight_destruction(const struct nm_plan *plan, const struct nm_run_options *options,
			      const char *file, struct nm_diags *diags);
/* The lists of CPUs for both sides. *ret_cpus is owned, and that of the master's workers. */
void nm_preflight_cpus(const struct nm_run_options *options, struct nm_cpu_list *ret_cpus,
		       struct nm_diags *diags);

#endif
