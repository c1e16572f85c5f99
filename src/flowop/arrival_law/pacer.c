/* SPDX-License-Identifier: Apache-2.0 */
/* The only code that tells when a pass is due, by the law of the pacer. */
#include "base/rng.h"
#include "flowop/arrival_law/arrival_law.h"
#include "flowop/flow.h"

uint64_t nm_pacer_next(const struct nm_pacer *pacer, const struct nm_flow *flow, uint64_t after_ns)
{
	uint64_t offset_ns =
		after_ns ? pacer->law->next_ns(pacer, flow->index, after_ns - pacer->begin_ns)
			 : pacer->law->first_ns(pacer, flow->index);

	return offset_ns < UINT64_MAX - pacer->begin_ns ? pacer->begin_ns + offset_ns : UINT64_MAX;
}

double nm_pacer_draw(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns)
{
	uint64_t drawn = nm_rng(nm_rng(pacer->key, index), at_ns);

	return ((double)(drawn >> 11) + 1) * 0x1p-53;
}
