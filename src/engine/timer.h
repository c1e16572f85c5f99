/* SPDX-License-Identifier: Apache-2.0 */
/* The timers of one worker, earliest first: a binary heap of pointers. Each timer is a member of
 * its owner, a flow or the worker; the heap never allocates after init.
 *
 * A timer that is not to fire any more (at_ns is 0), or later than before, may stay in the heap: it
 * comes up at its old time, and is then left out or put back. So a deadline that is set anew with
 * each message, and hardly ever reached, costs next to nothing. */
#ifndef NM_ENGINE_TIMER_H
#define NM_ENGINE_TIMER_H

#include <stddef.h>
#include <stdint.h>

#include "flowop/flow.h"

/* The kinds of timers. Flows are zero-initialised, so the kind of their timers is the first. */
enum nm_timer_kind {
	NM_TIMER_FLOW,	   /* a flow's sleep, or the deadline of its wait */
	NM_TIMER_QUIESCE,  /* see whether anything still moves */
	NM_TIMER_RCVLOWAT, /* receive bytes that stay below SO_RCVLOWAT */
	NM_TIMER_EXPIRY,   /* fail flows whose connections have expired */
	NM_TIMER_SAMPLER,  /* read TCP_INFO of some more connections */
	NM_TIMER_ARRIVAL,  /* a pass is due by the schedule of the phase */
	NM_TIMER__COUNT
};

struct nm_timer_entry {
	uint64_t at_ns; /* when the timer comes up */
	struct nm_timer *timer;
};

struct nm_timers {
	struct nm_timer_entry *heap;
	uint32_t count, capacity;
};

/* Room for so many timers. 0 or -ENOMEM. */
int nm_timers_init(struct nm_timers *timers, uint32_t capacity);
/* Does not touch the timers that are in it. */
void nm_timers_fini(struct nm_timers *timers);
/* The timer comes up at timer->at_ns, or earlier when it is in the heap already. */
void nm_timers_add(struct nm_timers *timers, struct nm_timer *timer);
/* Takes the timer out; does nothing when it is not in the heap. Its at_ns stays. */
void nm_timers_remove(struct nm_timers *timers, struct nm_timer *timer);
/* When the first timer comes up; UINT64_MAX: there is none. */
static inline uint64_t nm_timers_next_ns(const struct nm_timers *timers)
{
	return timers->count ? timers->heap[0].at_ns : UINT64_MAX;
}

/* Takes out the first timer that has come up and is due by its at_ns, which stays; NULL: none
 * is. */
struct nm_timer *nm_timers_take(struct nm_timers *timers, uint64_t now_ns);

/* The flow that a timer of the first kind is part of. */
static inline struct nm_flow *nm_timer_flow(struct nm_timer *timer)
{
	return (struct nm_flow *)(void *)((char *)timer - offsetof(struct nm_flow, timer));
}

#endif
