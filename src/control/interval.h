/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed grid of intervals within one phase. */
#ifndef NM_CONTROL_INTERVAL_H
#define NM_CONTROL_INTERVAL_H

#include <stdint.h>

struct nm_interval {
	uint64_t begin_ns, interval_ns; /* interval 0: no grid */
	uint64_t stop_ns; /* when the phase will be stopped, after its begin; 0: not known */
	uint64_t next_ns; /* the next point; UINT64_MAX: none */
};

/* Points are at begin + n * interval. The one at which the phase is stopped, or just after, is left
 * out: the last row takes in what the flows do until they have finished. */
void nm_interval_begin(struct nm_interval *grid, uint64_t begin_ns, uint64_t interval_ns,
		       uint64_t stop_ns);
/* Passes all points until now; the last of them, after the begin. */
uint64_t nm_interval_pass(struct nm_interval *grid, uint64_t now_ns);

#endif
