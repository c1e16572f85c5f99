/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a failing world smaller, in processes of the real machine: a world may crash. */
#ifndef NM_TESTS_SIM_SHRINK_H
#define NM_TESTS_SIM_SHRINK_H

#include "ends.h"

/* As sim_run, in a process of its own; a crash is an outcome, too. */
void sim_try(const struct sim_choices *choices, struct sim_outcome *ret);
/* Makes the choices smaller as long as the world fails in the same way, numbers aside. Returns how
 * many worlds were tried; 0: it does not fail. `why`: how the last one fails. */
unsigned sim_shrink(struct sim_choices *choices, char why[SIM_WHY_BYTES]);

#endif
