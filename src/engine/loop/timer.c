/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/loop/timer.h"

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

static void place(struct nm_timers *timers, uint32_t at, struct nm_timer timer)
{
	timers->heap[at] = timer;
	timer.flow->timer = at + 1;
}

static void sift_up(struct nm_timers *timers, uint32_t at, struct nm_timer timer)
{
	while (at) {
		uint32_t parent = (at - 1) / 2;

		if (timers->heap[parent].at_ns <= timer.at_ns)
			break;
		place(timers, at, timers->heap[parent]);
		at = parent;
	}
	place(timers, at, timer);
}

static void sift_down(struct nm_timers *timers, uint32_t at, struct nm_timer timer)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= timers->count)
			break;
		if (child + 1 < timers->count &&
		    timers->heap[child + 1].at_ns < timers->heap[child].at_ns)
			child++;
		if (timer.at_ns <= timers->heap[child].at_ns)
			break;
		place(timers, at, timers->heap[child]);
		at = child;
	}
	place(timers, at, timer);
}

void nm_timers_add(struct nm_timers *timers, struct nm_flow *flow)
{
	const struct nm_timer timer = {.at_ns = flow->wake_ns, .flow = flow};

	if (!flow->timer) {
		assert(timers->count < timers->capacity);
		sift_up(timers, timers->count++, timer);
	} else if (timers->heap[flow->timer - 1].at_ns > timer.at_ns) {
		sift_up(timers, flow->timer - 1, timer);
	}
}

void nm_timers_remove(struct nm_timers *timers, struct nm_flow *flow)
{
	if (!flow->timer)
		return;
	uint32_t at = flow->timer - 1;
	struct nm_timer last = timers->heap[--timers->count];

	flow->timer = 0;
	if (last.flow == flow)
		return;
	if (at && timers->heap[(at - 1) / 2].at_ns > last.at_ns)
		sift_up(timers, at, last);
	else
		sift_down(timers, at, last);
}

struct nm_flow *nm_timers_take(struct nm_timers *timers, uint64_t now_ns)
{
	while (timers->count && timers->heap[0].at_ns <= now_ns) {
		struct nm_flow *flow = timers->heap[0].flow;

		nm_timers_remove(timers, flow);
		if (flow->wake_ns && flow->wake_ns <= now_ns)
			return flow;
		if (flow->wake_ns)
			nm_timers_add(timers, flow);
	}
	return NULL;
}
