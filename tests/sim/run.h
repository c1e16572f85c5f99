/* SPDX-License-Identifier: Apache-2.0 */
/* A world from its beginning to its end: two engines (ends.h), or whole runs, in which slaves are
 * on hosts of their own and a master runs a loaded profile with them, as the command does. */
#ifndef NM_TESTS_SIM_RUN_H
#define NM_TESTS_SIM_RUN_H

#include "ends.h"

/* A whole run is made twice with the same slaves, and the fault is in the first. */
void sim_run(const struct sim_choices *choices, struct sim_outcome *ret);
/* Libraries keep what they allocate in the first run: this makes one, once. */
void sim_warm_up(void);

#endif
