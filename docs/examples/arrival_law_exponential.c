/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals of a Poisson process: the intervals between the passes of a flow are drawn from an
 * exponential distribution. Example of docs/adding-an-arrival-law.md. */
#include <math.h>

#include "flowop/arrival_law/arrival_law.h"

static uint64_t next_ns(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns)
{
	double gap_ns = -log(nm_pacer_draw(pacer, index, at_ns)) * (double)pacer->period_ns;

	return at_ns + 1 + (uint64_t)gap_ns;
}

static uint64_t first_ns(const struct nm_pacer *pacer, uint32_t index)
{
	return next_ns(pacer, index, 0);
}

const struct nm_arrival_law nm_arrival_law_exponential = {
	.name = "exponential",
	.first_ns = first_ns,
	.next_ns = next_ns,
};
