/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the part of a phase in which a pass is due. */
#include "flowop/due.h"

struct nm_due_part *nm_due_part(const struct nm_due *due, uint8_t marks, uint64_t at_ns)
{
	if (marks & NM_REQUEST_OUTSIDE)
		return &due->parts[NM_DUE_OUTSIDE];
	return &due->parts[NM_DUE_STEPS + nm_arrivals_step(due->arrivals, at_ns - due->begin_ns)];
}

uint64_t nm_due_part_end_ns(const struct nm_due *due, uint64_t at_ns)
{
	uint64_t end_ns = due->to_ns;

	if (at_ns < due->from_ns)
		return due->from_ns;
	if (due->arrivals->n_steps)
		end_ns = due->begin_ns +
			 nm_arrivals_step_end_ns(due->arrivals, at_ns - due->begin_ns);
	return end_ns < due->to_ns ? end_ns : due->to_ns;
}
