/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a profile in a simulated world: the master's engine and that of the only other host,
 * led through all phases as master and slave lead them. */
#ifndef NM_TESTS_SIM_ENDS_H
#define NM_TESTS_SIM_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

struct sim_outcome {
	char why[512];	     /* which invariant does not hold; "": all do */
	uint64_t hash;	     /* of the trace */
	uint64_t time_ns;    /* that passed in the world */
	uint64_t iterations; /* of the phases that last a time, at the master */
	struct sim_kernel_state kernel;
};

/* Runs the profile once. The world, and where `config` is NULL the kernel, too, follow from the
 * seed. */
void sim_run_ends(const char *profile, uint64_t seed, const struct sim_kernel_config *config,
		  struct sim_outcome *ret);
/* The kernel that follows from a seed. */
struct sim_kernel_config sim_config_of(uint64_t seed);

/* The profiles that are tried. */
extern const char *const sim_profiles[];
extern const size_t sim_n_profiles;

#endif
