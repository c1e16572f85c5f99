/* SPDX-License-Identifier: Apache-2.0 */
/* Time. All of netmodel counts CLOCK_MONOTONIC nanoseconds. */
#ifndef NM_HOST_CLOCK_H
#define NM_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t nm_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Wall clock, nanoseconds since the epoch: for labels only. */
uint64_t nm_clock_wall_ns(void);

#endif
