/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of a slave, in memory that the daemon shares with its session processes. A
 * connection is silent until it has said hello as a master, and then is served if there is room.
 * Connections that stay silent can take the slots of other silent ones only. */
#ifndef NM_CONTROL_SLAVE_SLOTS_H
#define NM_CONTROL_SLAVE_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/slave/runs.h"

#define NM_SESSION_SLOTS_SERVED	 64 /* masters at a time */
#define NM_SESSION_SLOTS_SILENT	 64 /* connections that have not said hello */
#define NM_SESSION_SLOTS_OF_HOST 16 /* the most that another host may have of each */
/* Sessions that have lost their places have as many slots again, to say so. */
#define NM_SESSION_SLOTS (2 * NM_SESSION_SLOTS_SERVED + NM_SESSION_SLOTS_SILENT)
/* How long a master keeps its place before another may take it, if it has not prepared. */
#define NM_SESSION_SLOT_KEPT_NS 1000000000u

enum nm_session_slot_state {
	NM_SESSION_SLOT_FREE,
	NM_SESSION_SLOT_SILENT,
	NM_SESSION_SLOT_GREETED, /* the master has said hello, and nothing is prepared */
	NM_SESSION_SLOT_SERVED,
	NM_SESSION_SLOT_CLOSED /* the session has lost its place */
};

struct nm_session_slots {
	_Atomic int state[NM_SESSION_SLOTS];	     /* enum nm_session_slot_state */
	_Atomic uint64_t host[NM_SESSION_SLOTS];     /* see nm_session_slots_begin */
	_Atomic uint64_t since_ns[NM_SESSION_SLOTS]; /* greeted */
	/* how many masters may be served at a time, at most NM_SESSION_SLOTS_SERVED */
	_Atomic int room;
	_Atomic int ended_by; /* the signal that has ended the slave, or NM_INTERRUPT_LIMIT */
	/* for lines about connections that are not yet masters: */
	_Atomic uint64_t told_until_ns; /* see nm_session_slots_may_tell */
	_Atomic unsigned untold;
	struct nm_slave_runs runs; /* by the same indices */
};

/* One slot, as its session has it. */
struct nm_session_slot {
	struct nm_session_slots *slots; /* borrowed */
	size_t index;
};

/* All are free. NULL when out of memory. */
struct nm_session_slots *nm_session_slots_new(void);
struct nm_session_slots *nm_session_slots_free(struct nm_session_slots *slots);
/* By the slave: from free to silent. host: a number that all connections of another host have in
 * common, 0 for this host, whose masters share with nobody. */
void nm_session_slots_begin(struct nm_session_slots *slots, size_t index, uint64_t host);
enum nm_session_seat {
	NM_SESSION_SEAT_TAKEN,
	NM_SESSION_SEAT_NONE,	/* the slave is full, or has just closed this slot */
	NM_SESSION_SEAT_NO_MORE /* its host has as many places as it may have */
};
/* By the session: from silent to greeted. When all places are taken, the one that has been greeted
 * for longest, and has not prepared, loses its place. */
enum nm_session_seat nm_session_slot_take(const struct nm_session_slot *slot, uint64_t now_ns);
/* By the session: from greeted to served. False: another has its place. */
bool nm_session_slot_serve(const struct nm_session_slot *slot);
/* Whether another has its place. */
bool nm_session_slot_is_lost(const struct nm_session_slot *slot);
/* By the session: from greeted or served to silent, when nothing comes of it. */
void nm_session_slot_leave(const struct nm_session_slot *slot);
/* By the slave: from silent to closed. False: its session has meanwhile been served. */
bool nm_session_slots_close(struct nm_session_slots *slots, size_t index);
/* Whether one more line may be told about connections that are not yet masters, so that strangers
 * do not fill the log: some at once, then two in a second. True with the number of lines that were
 * not told before it. By slave and sessions. */
bool nm_session_slots_may_tell(struct nm_session_slots *slots, uint64_t now_ns,
			       unsigned *ret_untold);
/* How many slots are in that state, and of which host if it is another than this one. */
size_t nm_session_slots_count_of(struct nm_session_slots *slots, enum nm_session_slot_state which,
				 uint64_t host);
/* How many slots are in that state. */
size_t nm_session_slots_count(struct nm_session_slots *slots, enum nm_session_slot_state which);

#endif
