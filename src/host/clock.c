/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock of all measurements. */
#include "host/clock.h"

uint64_t nm_clock_wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
