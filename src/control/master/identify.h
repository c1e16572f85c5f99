/* SPDX-License-Identifier: Apache-2.0 */
/* What servers that are not netmodel say that they are. */
#ifndef NM_CONTROL_MASTER_IDENTIFY_H
#define NM_CONTROL_MASTER_IDENTIFY_H

#include "control/master/master.h"
#include "plan/plan.h"

/* So many are asked at once. */
#define NM_ASKED_MAX 64u

/* Servers whose answers are awaited. */
struct nm_asked {
	struct nm_asked_one {
		int fd;
		const struct nm_app_identity *identity;
		size_t row; /* in the result */
	} of[NM_ASKED_MAX];
	size_t n;
	bool any_silent; /* others are not asked any more */
};

/* Asks the server to which fd, which it takes, is connected and no request was sent, or says why it
 * is not asked (fd -1: over datagrams), and notes it in the result, once for each text of server=,
 * which ends at a comma, and port. Nothing of it fails the run; -ECANCELED: interrupted. */
int nm_master_identify(const struct nm_master *master, const struct nm_instr *connect,
		       const char *server, const struct nm_addr *at, int fd,
		       struct nm_asked *asked);
/* Notes the answers of all that were asked, for which it waits until one time. 0 or -ECANCELED. */
int nm_master_hear(const struct nm_master *master, struct nm_asked *asked);

#endif
