/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping flows of one worker, earliest first: a binary heap over flow->wake_ns. It never allocates after init, since
 * a flow sleeps at most once. */
#ifndef NM_ENGINE_TIMERS_H
#define NM_ENGINE_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#include "flowop/flow.h"

struct nm_timers {
	struct nm_flow **heap;
	uint32_t count, capacity;
};

int nm_timers_init(struct nm_timers *timers, uint32_t capacity); /* 0 or -ENOMEM */
void nm_timers_fini(struct nm_timers *timers);
/* flow->wake_ns must be set; it is not changed while the flow is in the heap. */
void nm_timers_add(struct nm_timers *timers, struct nm_flow *flow);
void nm_timers_remove(struct nm_timers *timers,
		      struct nm_flow *flow); /* does nothing when it is not in */
/* The earliest, or NULL when there is none. It stays in. */
static inline struct nm_flow *nm_timers_first(const struct nm_timers *timers)
{
	return timers->count ? timers->heap[0] : NULL;
}

#endif
