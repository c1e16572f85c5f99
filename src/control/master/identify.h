/* SPDX-License-Identifier: Apache-2.0 */
/* What servers that are not netmodel say that they are. */
#ifndef NM_CONTROL_MASTER_IDENTIFY_H
#define NM_CONTROL_MASTER_IDENTIFY_H

#include "control/master/master.h"
#include "plan/plan.h"

/* Asks the server to which fd is connected and no request was sent, or says why it is not asked (fd
 * -1: over datagrams), and notes its answer in the result, once for each text of server= and port.
 * Nothing of it fails the run. */
void nm_master_identify(struct nm_master *master, const struct nm_instr *connect,
			const char *server, size_t length, const struct nm_addr *at, int fd);

#endif
