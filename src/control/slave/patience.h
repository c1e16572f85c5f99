/* SPDX-License-Identifier: Apache-2.0 */
/* How long a slave waits in each state of a session for a master that is alive and does nothing:
 * heartbeats are signs of life, and no more. Pure: time comes in. */
#ifndef NM_CONTROL_SLAVE_PATIENCE_H
#define NM_CONTROL_SLAVE_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/wire/message.h"

struct nm_patience {
	uint64_t timeout_ns;	    /* the timeout of this side */
	uint64_t master_timeout_ns; /* once it is known */
	uint64_t stall_ns;	    /* the longest time without progress, by the master */
	enum nm_session_state state;
	uint64_t since_ns; /* when the state began, or something was last known to move */
	uint64_t wait_ns;  /* the wait that the master has asked for in this state */
	bool has_asked;
	uint64_t progress;
};

/* A session begins. */
void nm_patience_init(struct nm_patience *patience, uint64_t timeout_ns, uint64_t now_ns);
/* The session is in this state now: the wait begins when it was in another. */
void nm_patience_enter(struct nm_patience *patience, enum nm_session_state state, uint64_t now_ns);
/* The master has told how long its next message may take. False: it has already told that in this
 * state. */
bool nm_patience_wait(struct nm_patience *patience, uint64_t wait_ns, uint64_t now_ns);
/* When nm_patience_ends is to be asked; UINT64_MAX: never. */
uint64_t nm_patience_until_ns(const struct nm_patience *patience);
/* Whether the time of the state is over. progress: a number that changes when anything moves. */
bool nm_patience_ends(struct nm_patience *patience, uint64_t progress, uint64_t now_ns);
/* A sentence about the message that did not come: "the master has sent no order to prepare for 10
 * s". Returns buf. */
const char *nm_patience_text(const struct nm_patience *patience, uint64_t now_ns, char *buf,
			     size_t size);

#endif
