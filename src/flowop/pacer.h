/* SPDX-License-Identifier: Apache-2.0 */
/* When the passes of a flow are due, in transactions with a rate: at equal distances. The flows are
 * spread evenly over the first interval, instead of all starting together. */
#ifndef NM_FLOWOP_PACER_H
#define NM_FLOWOP_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "flowop/flow.h"

struct nm_pacer {
	uint64_t period_ns; /* the distance of two passes of a flow; 0: there is no rate */
	uint64_t begin_ns;  /* of the phase */
	uint64_t last_ns;   /* no pass is due from then on; UINT64_MAX: any may be */
	uint32_t n_flows;   /* of the group */
};

static inline bool nm_pacer_paces(const struct nm_pacer *pacer)
{
	return pacer->period_ns;
}

/* When the flow's next pass is due (on the clock of begin_ns), after one that was due at after_ns;
 * 0: when its first pass is due. If the time is last_ns or later no further pass is due. Only for a
 * pacer that paces. */
static inline uint64_t nm_pacer_next(const struct nm_pacer *pacer, const struct nm_flow *flow,
				     uint64_t after_ns)
{
	if (!after_ns)
		return pacer->begin_ns +
		       (uint64_t)((double)pacer->period_ns * flow->index / pacer->n_flows);
	return after_ns < UINT64_MAX - pacer->period_ns ? after_ns + pacer->period_ns : UINT64_MAX;
}

#endif
