/* SPDX-License-Identifier: Apache-2.0 */
/* Has the engine look for lost resets while phases run that wait for some. */
#ifndef NM_CONTROL_ENDS_H
#define NM_CONTROL_ENDS_H

#include "control/sampler.h"
#include "engine/engine.h"

struct nm_end_sampler {
	struct nm_sampler base;
	struct nm_engine *engine; /* borrowed */
	uint64_t next_ns;
	struct nm_engine_ends seen; /* at the last look */
	uint32_t phase;
	uint32_t eager; /* looks that are still eager */
	uint32_t calm;	/* looks that are not, whatever they find */
};

/* Makes the sampler, for a list of samplers. */
void nm_end_sampler_init(struct nm_end_sampler *sampler, struct nm_engine *engine);

#endif
