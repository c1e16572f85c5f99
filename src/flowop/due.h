/* SPDX-License-Identifier: Apache-2.0 */
/* By when they are due, the passes of a phase with open arrivals belong to the window that is
 * measured or not, and, where the rate is held in steps, to one of these, whenever they end. What
 * comes of those that are in a part of their own is counted there, and not in the tally of the
 * phase. */
#ifndef NM_FLOWOP_DUE_H
#define NM_FLOWOP_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "flowop/arrival_law/arrival_law.h"
#include "flowop/request.h"
#include "stats/tally.h"

/* Parts of a phase: what is due outside of the window, and behind that each step within it. */
enum { NM_DUE_OUTSIDE, NM_DUE_STEPS };

struct nm_due_part {
	struct nm_tally tally;
	/* Of a step: as those of the tally, but at its own end, and not at that of the window. */
	_Atomic uint64_t overdue, tardy;
};

struct nm_due {
	const struct nm_arrivals *arrivals;
	uint64_t begin_ns;	   /* of the phase */
	uint64_t from_ns, to_ns;   /* the window */
	struct nm_due_part *parts; /* NULL: the tally of the phase has all */
	uint32_t n_parts;
};

/* How many parts the phase has where its window is cut, or is the whole; 0: none. */
static inline uint32_t nm_due_count(const struct nm_arrivals *arrivals, bool is_cut)
{
	return is_cut || arrivals->n_steps ? NM_DUE_STEPS + arrivals->n_steps : 0;
}

static inline bool nm_due_is_outside(const struct nm_due *due, uint64_t at_ns)
{
	return at_ns < due->from_ns || at_ns >= due->to_ns;
}

/* With which a request that is due at at_ns begins: NM_REQUEST_APART, if its pass is in a part. */
static inline uint8_t nm_due_marks(const struct nm_due *due, uint64_t at_ns)
{
	if (!due->parts)
		return 0;
	if (nm_due_is_outside(due, at_ns))
		return NM_REQUEST_OUTSIDE;
	return due->arrivals->n_steps ? NM_REQUEST_OF_STEP : 0;
}

/* The part of a pass that is due at at_ns, with such marks. */
struct nm_due_part *nm_due_part(const struct nm_due *due, uint8_t marks, uint64_t at_ns);

/* When the part ends to which a pass belongs that is due at at_ns, before the end of the window. */
uint64_t nm_due_part_end_ns(const struct nm_due *due, uint64_t at_ns);

/* Where it is counted what comes of a pass that is due at at_ns: count is that of the phase. */
static inline struct nm_counters *nm_due_counters(const struct nm_due *due,
						  struct nm_counters *count, uint64_t at_ns)
{
	const uint8_t marks = nm_due_marks(due, at_ns);

	return marks ? &nm_due_part(due, marks, at_ns)->tally.counters : count;
}

/* Where another part than that of at_ns begins; UINT64_MAX: nowhere. */
static inline uint64_t nm_due_edge(const struct nm_due *due, uint64_t at_ns)
{
	return due->parts && at_ns < due->to_ns ? nm_due_part_end_ns(due, at_ns) : UINT64_MAX;
}

#endif
