/* SPDX-License-Identifier: Apache-2.0 */
/* Passes that are due and wait for a free flow, in a phase that limits how many may. Each has its
 * own place here, as others behind it were dropped; without a limit they wait in the schedule. */
#ifndef NM_ENGINE_PHASE_BACKLOG_H
#define NM_ENGINE_PHASE_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "flowop/arrival_law/schedule.h"

struct nm_arrival {
	uint64_t number; /* as nm_schedule_number */
	uint64_t at_ns;	 /* from the begin of the phase */
};

struct nm_backlog {
	struct nm_arrival *ring; /* owned; NULL: no phase has a limit */
	size_t room, first, count;
	uint32_t most; /* that wait while no flow is free */
	bool on;       /* the present phase has a limit */
};

/* 0 or -ENOMEM. */
int nm_backlog_init(struct nm_backlog *backlog, size_t room);
void nm_backlog_fini(struct nm_backlog *backlog);
/* Moves what is due before at_ns from the schedule, a million at most. Returns how many of them
 * were dropped, since too many waited already beside those that flows have room for, and are
 * about to take. */
uint64_t nm_backlog_admit(struct nm_backlog *backlog, struct nm_schedule *schedule, double at_ns,
			  uint32_t room);
/* The one that waits longest leaves; there is one. */
void nm_backlog_step(struct nm_backlog *backlog);
static inline struct nm_arrival nm_backlog_head(const struct nm_backlog *backlog)
{
	return backlog->ring[backlog->first];
}

#endif
