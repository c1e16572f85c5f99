/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed grid of intervals within one phase, at whose points rows of figures end. Pure. */
#ifndef NM_CONTROL_INTERVAL_H
#define NM_CONTROL_INTERVAL_H

#include <stdint.h>

struct nm_interval {
	uint64_t begin_ns, interval_ns; /* interval_ns 0: no grid */
	uint64_t stop_ns; /* when the phase will be stopped, after its begin; 0: not known */
	uint64_t next_ns; /* the next point; UINT64_MAX: none */
};

/* Points are at begin_ns + n * interval_ns. The point at which the phase is stopped, or one within
 * half an interval after it, is left out: the last row includes all that the flows do until they
 * have finished. */
void nm_interval_begin(struct nm_interval *grid, uint64_t begin_ns, uint64_t interval_ns,
		       uint64_t stop_ns);
/* Passes all points until now_ns. Returns the last of them, as ns after the begin. */
uint64_t nm_interval_pass(struct nm_interval *grid, uint64_t now_ns);

#endif
