/* SPDX-License-Identifier: Apache-2.0 */
/* One session of a slave with one master, from its hello to its bye. */
#ifndef NM_CONTROL_SLAVE_SESSION_H
#define NM_CONTROL_SLAVE_SESSION_H

#include "control/slave/slots.h"
#include "control/slave/daemon.h"

enum nm_session_end {
	NM_SESSION_SERVED = 0,	/* a run took place, or was at least prepared */
	NM_SESSION_NOTHING = 1, /* the other end was no master, or one that is not taken */
	NM_SESSION_BROKEN = 2,	/* the run did not come to its end, or could not be set up here */
};

/* Serves a connected socket, which it takes. `slot`: its slot among the slave's sessions, or NULL
 * for a slave that has no other; borrowed. */
enum nm_session_end nm_session_serve(int fd, const struct nm_slave_options *options,
				     const struct nm_session_slot *slot);

/* Before nm_session_serve, in a process of its own: SIGTERM ends the session, which tells its
 * master why the slave has ended (`ended_by` of the slots); interrupts do not. */
void nm_session_end_by_signal(void);

#endif
