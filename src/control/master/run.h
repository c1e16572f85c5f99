/* SPDX-License-Identifier: Apache-2.0 */
/* The master: runs a plan here and on its slaves and fills a result. */
#ifndef NM_CONTROL_MASTER_RUN_H
#define NM_CONTROL_MASTER_RUN_H

#include <stddef.h>

#include "base/diag.h"
#include "control/options.h"
#include "plan/params.h"
#include "plan/plan.h"
#include "result/result.h"

enum nm_run_status {
	NM_RUN_COMPLETE = 0,
	NM_RUN_REFUSED = 1, /* the profile or an option is wrong; nothing was sent */
	NM_RUN_FAILED = 2,  /* incomplete; the result so far is there, marked so */
	NM_RUN_INTERNAL = 3,
	NM_RUN_INTERRUPTED =
		130, /* the result is complete when only results were awaited by then */
};

/* A profile ready to run. */
struct nm_job {
	const char *path; /* NULL: from memory */
	const char *text; /* the profile as read (for its sha256) */
	size_t text_length;
	const struct nm_node *root; /* substituted */
	const struct nm_plan *plan; /* the master's */
	const struct nm_params *params;
	const char *warmup_until; /* by which its warm-ups were put in, as written; NULL: none */
};

/* Runs. All borrowed during the call. Embedded slaves (host "local") are forked from this process
 * before any thread starts, or with in_process are threads. *ret_result is owned by the caller and
 * NULL only when refused or out of memory. */
enum nm_run_status nm_run(const struct nm_job *job, const struct nm_run_options *options,
			  struct nm_result **ret_result, struct nm_diags *diags);

#endif
