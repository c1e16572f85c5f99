/* SPDX-License-Identifier: Apache-2.0 */
/* Drives all hosts through the phases: between the machine of the agreement and engine, slaves,
 * samplers and clock. */
#ifndef NM_CONTROL_MASTER_PHASE_LOOP_H
#define NM_CONTROL_MASTER_PHASE_LOOP_H

#include "control/master/master.h"

/* Room for the agreement. 0 or -ENOMEM. */
int nm_master_phases_init(struct nm_master *master);
/* Runs all phases, until the last is over or the run is to end; how it went is in the outcome. */
void nm_master_run_phases(struct nm_master *master);

/* Handlers of the slaves' messages meanwhile. */
int nm_link_began(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_done(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
