/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs in a simulated world: slaves on hosts of their own, and a master that runs a loaded
 * profile with them, as the command does. */
#ifndef NM_TESTS_SIM_RUN_H
#define NM_TESTS_SIM_RUN_H

#include "ends.h"

/* A profile, with its slaves on the hosts 1 to n_slaves. */
struct sim_case {
	const char *stock; /* the name of a stock profile, or NULL */
	const char *text;  /* otherwise the profile itself */
	unsigned n_slaves;
	bool datagrams;		   /* which may be lost: the ends need not agree about them */
	const char *defines[8][2]; /* name and value, up to NULL */
};

/* Runs the case twice with the same slaves. Kernel and world follow from the seed; where it fails,
 * there is a fault in the first run, too. */
void sim_run_case(const struct sim_case *one, uint64_t seed, bool fails, struct sim_outcome *ret);

extern const struct sim_case sim_cases[];
extern const size_t sim_n_cases;

#endif
