/* SPDX-License-Identifier: Apache-2.0 */
/* The faults that a server is asked for: read before the run. */
#include <stdlib.h>

#include "app/fault.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "plan/diag.h"
#include "plan/ir.h"

void nm_ir_check_faults(struct nm_ir *ir, struct nm_ir_step *step)
{
	const char *text = ((const struct nm_opts_serve *)step->opts)->fault;
	struct nm_faults *faults;
	char why[256];

	if (!text || !*text || !step->ask.app)
		return;
	faults = malloc(sizeof *faults);
	if (!faults || nm_arena_keep(ir->arena, faults) < 0) {
		nm_step_error(ir, step, ": out of memory");
		return;
	}
	step->ask.faults = faults;
	if (nm_faults_read(text, faults, why, sizeof why) < 0)
		nm_option_error(ir, step, "fault", " fault=\"%.128s\": %s", text, why);
	else if (nm_faults_has(faults, NM_FAULT_ERROR) && !step->ask.app->fail)
		nm_option_error(ir, step, "fault", " fault: app=%s has no answer that is an error",
				step->ask.app->name);
}
