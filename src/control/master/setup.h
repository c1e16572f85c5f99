/* SPDX-License-Identifier: Apache-2.0 */
/* From nothing to a run that only waits for its first phase. */
#ifndef NM_CONTROL_MASTER_SETUP_H
#define NM_CONTROL_MASTER_SETUP_H

#include "control/master/master.h"

/* Starts, connects, prepares and arms all hosts. False when the run cannot go on; why is noted. */
bool nm_master_setup(struct nm_master *master);

/* Handlers of the slaves' answers meanwhile. */
int nm_link_welcome(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_refuse(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_ready(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_armed(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_pong(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
