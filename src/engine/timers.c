/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/timers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int nm_timers_init(struct nm_timers *timers, uint32_t capacity)
{
	timers->heap = calloc(capacity, sizeof(*timers->heap));
	timers->count = 0;
	timers->capacity = capacity;
	return timers->heap ? 0 : -ENOMEM;
}

void nm_timers_fini(struct nm_timers *timers)
{
	free(timers->heap);
	timers->heap = NULL;
	timers->count = 0;
}

static void place(struct nm_timers *timers, uint32_t at, struct nm_flow *flow)
{
	timers->heap[at] = flow;
	flow->timer = at + 1;
}

static void sift_up(struct nm_timers *timers, uint32_t at, struct nm_flow *flow)
{
	while (at) {
		uint32_t parent = (at - 1) / 2;

		if (timers->heap[parent]->wake_ns <= flow->wake_ns)
			break;
		place(timers, at, timers->heap[parent]);
		at = parent;
	}
	place(timers, at, flow);
}

static void sift_down(struct nm_timers *timers, uint32_t at, struct nm_flow *flow)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= timers->count)
			break;
		if (child + 1 < timers->count &&
		    timers->heap[child + 1]->wake_ns < timers->heap[child]->wake_ns)
			child++;
		if (flow->wake_ns <= timers->heap[child]->wake_ns)
			break;
		place(timers, at, timers->heap[child]);
		at = child;
	}
	place(timers, at, flow);
}

void nm_timers_add(struct nm_timers *timers, struct nm_flow *flow)
{
	assert(timers->count < timers->capacity && !flow->timer);
	sift_up(timers, timers->count++, flow);
}

void nm_timers_remove(struct nm_timers *timers, struct nm_flow *flow)
{
	if (!flow->timer)
		return;
	uint32_t at = flow->timer - 1;
	struct nm_flow *last = timers->heap[--timers->count];

	flow->timer = 0;
	if (last == flow)
		return;
	if (at && timers->heap[(at - 1) / 2]->wake_ns > last->wake_ns)
		sift_up(timers, at, last);
	else
		sift_down(timers, at, last);
}
