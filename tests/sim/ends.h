/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a profile in a simulated world: the master's engine and that of the only other host,
 * led through all phases as master and slave lead them. */
#ifndef NM_TESTS_SIM_ENDS_H
#define NM_TESTS_SIM_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

#define SIM_WHY_BYTES 512

struct sim_outcome {
	char why[SIM_WHY_BYTES]; /* which invariant does not hold; "": all do */
	uint64_t hash;		 /* of the trace */
	uint64_t time_ns;	 /* that passed in the world */
	uint64_t iterations;	 /* of the phases that last a time, at the master */
	bool struck;		 /* the fault has */
	struct sim_kernel_state kernel;
};

/* Runs the profile once; what is left at its end, sim_run judges (run.h). */
void sim_run_ends(const struct sim_choices *choices, struct sim_outcome *ret);

#endif
