/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping flows of one worker, earliest first: a binary heap. It never allocates after init, since
 * a flow sleeps at most once.
 *
 * A flow may stay in it when its sleep has ended otherwise (flow->wake_ns is 0) or lasts longer by
 * now: it comes up when it would have, and whoever takes it out looks at wake_ns. So a limit that
 * hardly ever is reached, and is set with each message anew, costs next to nothing. */
#ifndef NM_ENGINE_LOOP_TIMER_H
#define NM_ENGINE_LOOP_TIMER_H

#include <stddef.h>
#include <stdint.h>

#include "flowop/flow.h"

struct nm_timer {
	uint64_t at_ns;
	struct nm_flow *flow;
};

struct nm_timers {
	struct nm_timer *heap;
	uint32_t count, capacity;
};

int nm_timers_init(struct nm_timers *timers, uint32_t capacity); /* 0 or -ENOMEM */
void nm_timers_fini(struct nm_timers *timers);
/* The flow comes up at flow->wake_ns, or before that when it is still in. */
void nm_timers_add(struct nm_timers *timers, struct nm_flow *flow);
void nm_timers_remove(struct nm_timers *timers,
		      struct nm_flow *flow); /* does nothing when it is not in */
/* When the first comes up; UINT64_MAX: none is in. */
static inline uint64_t nm_timers_next_ns(const struct nm_timers *timers)
{
	return timers->count ? timers->heap[0].at_ns : UINT64_MAX;
}

/* Takes out the first that has come up and whose time it is, by its wake_ns; NULL when there is
 * none. */
struct nm_flow *nm_timers_take(struct nm_timers *timers, uint64_t now_ns);

#endif
