/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated kernel beside the machine's: both must say the same of the calls of a script. */
#ifndef NM_TESTS_SIM_CONFORM_H
#define NM_TESTS_SIM_CONFORM_H

#include "ends.h"

/* The script of the seed, but for the steps whose bits are in `without`. */
void sim_conform(const struct sim_choices *choices, struct sim_outcome *ret);
/* What both have said, as lines. */
void sim_conform_print(const struct sim_choices *choices);

#endif
