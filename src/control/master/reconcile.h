/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the counts of both ends agree. On reliable transports every pass and every byte must be
 * found at both. */
#ifndef NM_CONTROL_MASTER_RECONCILE_H
#define NM_CONTROL_MASTER_RECONCILE_H

#include <stdbool.h>

#include "control/master/phases.h"
#include "plan/plan.h"
#include "result/result.h"

/* A phase that is over on all hosts. All is borrowed. */
struct nm_reconcile {
	const struct nm_plan *plan; /* the master's */
	const char *file;	    /* its name in messages */
	const struct nm_phases *phases;
	const struct nm_counts *here; /* the master's counts of each group in the phase */
	bool interrupted;	      /* the phase was stopped before its time */
};

/* Compares, and writes the verdict to result->verdict.reconciled, with the first difference in
 * result->verdict.reconcile_text. Groups in which a flowop that may fail has failed are not
 * compared from then on. Pure but for memory. */
void nm_reconcile_phase(const struct nm_reconcile *in, struct nm_result *result);

#endif
