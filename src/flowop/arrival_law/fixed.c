/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals at fixed intervals. The flows are spread evenly over the first interval, instead of all
 * starting together. */
#include "flowop/arrival_law/arrival_law.h"

static uint64_t first_ns(const struct nm_pacer *pacer, uint32_t index)
{
	return (uint64_t)((double)pacer->period_ns * index / pacer->n_flows);
}

static uint64_t next_ns(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns)
{
	(void)index;
	return at_ns + pacer->period_ns;
}

const struct nm_arrival_law nm_arrival_law_fixed = {
	.name = "fixed",
	.first_ns = first_ns,
	.next_ns = next_ns,
};
