/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's share of open arrivals: its lanes, merged by a heap. Used by one thread. */
#ifndef NM_FLOWOP_ARRIVAL_LAW_SCHEDULE_H
#define NM_FLOWOP_ARRIVAL_LAW_SCHEDULE_H

#include "flowop/arrival_law/arrival_law.h"

struct nm_schedule {
	struct nm_arrivals arrivals;
	double at_ns;	       /* when the present arrival is due, from the begin of the phase */
	struct nm_lane *lanes; /* owned; a heap by place */
	uint32_t n_lanes;
	uint32_t worker, n_workers; /* whose share it is */
};

/* Room for the lanes of a worker that has number `worker` of n_workers, which are at most as many
 * as the lanes of any arrivals, most_lanes at most. 0 or -ENOMEM. */
int nm_schedule_init(struct nm_schedule *schedule, uint32_t worker, uint32_t n_workers,
		     uint32_t most_lanes);
void nm_schedule_fini(struct nm_schedule *schedule);
/* Begins with the first arrival. The key is that of the random numbers of all workers. */
void nm_schedule_begin(struct nm_schedule *schedule, const struct nm_arrivals *arrivals,
		       uint64_t key);
/* When the present arrival is due, ns from the begin of the phase. */
static inline double nm_schedule_at_ns(const struct nm_schedule *schedule)
{
	return schedule->at_ns;
}
/* The number of the present arrival, from 0 on, among those of all workers. */
static inline uint64_t nm_schedule_number(const struct nm_schedule *schedule)
{
	return nm_lane_slot(&schedule->lanes[0], &schedule->arrivals);
}
/* The next arrival becomes the present one. */
void nm_schedule_step(struct nm_schedule *schedule);
/* Skips what is due before at_ns, and returns how many arrivals that are: the first `most` exactly,
 * the others by the mean of the law. */
uint64_t nm_schedule_skip(struct nm_schedule *schedule, double at_ns, uint64_t most);

#endif
