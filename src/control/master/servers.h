/* SPDX-License-Identifier: Apache-2.0 */
/* Finding servers that are not netmodel. */
#ifndef NM_CONTROL_MASTER_SERVERS_H
#define NM_CONTROL_MASTER_SERVERS_H

#include "control/master/master.h"

/* Resolves the servers of all connects of the plan and connects to each once, so that a name has
 * the first of its addresses at which it answers, and what nobody answers at is told before the
 * run. The engine then has their addresses. False: the run has failed, or been interrupted. */
bool nm_master_find_servers(struct nm_master *master);

#endif
