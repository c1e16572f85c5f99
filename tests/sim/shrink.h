/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a failing world smaller, in processes of the real machine: a world may crash. */
#ifndef NM_TESTS_SIM_SHRINK_H
#define NM_TESTS_SIM_SHRINK_H

#include "ends.h"

/* What is run, and what it can be without. */
struct sim_kind {
	void (*run)(const struct sim_choices *choices, struct sim_outcome *ret);
	unsigned (*elements)(const struct sim_choices *choices); /* bits of `without` */
	bool has_numbers;					 /* that can be lowered */
};
extern const struct sim_kind sim_worlds, sim_scripts;

/* Runs one in a process of its own; a crash is an outcome, too. */
void sim_try(const struct sim_kind *kind, const struct sim_choices *choices,
	     struct sim_outcome *ret);
/* Makes the choices smaller as long as the run fails in the same way, numbers aside. Returns how
 * many runs were tried; 0: it does not fail. `why`: how the last one fails. */
unsigned sim_shrink(const struct sim_kind *kind, struct sim_choices *choices,
		    char why[SIM_WHY_BYTES]);

#endif
