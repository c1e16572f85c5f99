/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of a worker's timers. */
#include "engine/timer.h"

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

static void place(struct nm_timers *timers, uint32_t at, struct nm_timer_entry entry)
{
	timers->heap[at] = entry;
	entry.timer->slot = at + 1;
}

static void sift_up(struct nm_timers *timers, uint32_t at, struct nm_timer_entry entry)
{
	while (at) {
		uint32_t parent = (at - 1) / 2;

		if (timers->heap[parent].at_ns <= entry.at_ns)
			break;
		place(timers, at, timers->heap[parent]);
		at = parent;
	}
	place(timers, at, entry);
}

static void sift_down(struct nm_timers *timers, uint32_t at, struct nm_timer_entry entry)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= timers->count)
			break;
		if (child + 1 < timers->count &&
		    timers->heap[child + 1].at_ns < timers->heap[child].at_ns)
			child++;
		if (entry.at_ns <= timers->heap[child].at_ns)
			break;
		place(timers, at, timers->heap[child]);
		at = child;
	}
	place(timers, at, entry);
}

void nm_timers_add(struct nm_timers *timers, struct nm_timer *timer)
{
	const struct nm_timer_entry entry = {.at_ns = timer->at_ns, .timer = timer};

	if (!timer->slot) {
		assert(timers->count < timers->capacity);
		sift_up(timers, timers->count++, entry);
	} else if (timers->heap[timer->slot - 1].at_ns > timer->at_ns) {
		sift_up(timers, timer->slot - 1, entry);
	}
}

void nm_timers_remove(struct nm_timers *timers, struct nm_timer *timer)
{
	if (!timer->slot)
		return;
	uint32_t at = timer->slot - 1;
	struct nm_timer_entry last = timers->heap[--timers->count];

	timer->slot = 0;
	if (last.timer == timer)
		return;
	if (at && timers->heap[(at - 1) / 2].at_ns > last.at_ns)
		sift_up(timers, at, last);
	else
		sift_down(timers, at, last);
}

struct nm_timer *nm_timers_take(struct nm_timers *timers, uint64_t now_ns)
{
	while (timers->count && timers->heap[0].at_ns <= now_ns) {
		struct nm_timer *timer = timers->heap[0].timer;

		nm_timers_remove(timers, timer);
		if (timer->at_ns && timer->at_ns <= now_ns)
			return timer;
		if (timer->at_ns)
			nm_timers_add(timers, timer);
	}
	return NULL;
}
