/* SPDX-License-Identifier: Apache-2.0 */
/* The details of single flowops and flows that the engines keep for the options of a run, as far as
 * there is room. */
#ifndef NM_CONTROL_MASTER_DETAILS_H
#define NM_CONTROL_MASTER_DETAILS_H

#include "control/options.h"
#include "plan/plan.h"
#include "result/result.h"

/* enum nm_observe_flags that the engines of all hosts keep. */
unsigned nm_details_shared(const struct nm_run_options *options, const struct nm_plan *plan);
/* enum nm_observe_flags that the master's own engine keeps: those, the logs, and the times of each
 * flow's passes. */
unsigned nm_details_own(const struct nm_run_options *options, const struct nm_plan *plan);
/* A warning in the result for each thing that was asked for and is not kept, since there are too
 * many flows. */
void nm_details_warn(const struct nm_run_options *options, const struct nm_plan *plan,
		     struct nm_result *result);

#endif
