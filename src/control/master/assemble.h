/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the result of a run together. */
#ifndef NM_CONTROL_MASTER_ASSEMBLE_H
#define NM_CONTROL_MASTER_ASSEMBLE_H

#include "control/master/master.h"

/* Asks the slaves for their results, adds them and the master's own, and sends the slaves away.
 * Ends the engine. */
void nm_master_assemble(struct nm_master *master);

/* Handler. */
int nm_link_result(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
