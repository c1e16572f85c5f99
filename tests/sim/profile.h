/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles of simulated worlds, whole or made smaller. */
#ifndef NM_TESTS_SIM_PROFILE_H
#define NM_TESTS_SIM_PROFILE_H

#include "choices.h"
#include "lib/load.h"

struct sim_profile {
	const char *stock; /* the name of a stock profile, or NULL */
	const char *text;  /* otherwise the profile itself */
	/* Slaves of a whole run, on the hosts from 1 on; 0: the engines of both ends are run. */
	unsigned n_slaves;
	bool datagrams;		   /* which may be lost: the ends need not agree about them */
	const char *defines[8][2]; /* name and value, up to NULL */
};

/* Those of engines come first. */
extern const struct sim_profile sim_profiles[];
extern const size_t sim_n_profiles, sim_n_ends;

/* Loads and compiles the profile as the choices have it. 0, or -errno with an error in diags. */
int sim_profile_load(const struct sim_choices *choices, struct nm_loaded *ret,
		     struct nm_diags *diags);
/* How many elements the profile has that may be taken out; at most the bits of `without`. */
unsigned sim_profile_elements(const struct sim_choices *choices);

#endif
