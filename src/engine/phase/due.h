/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes of a phase with open arrivals belong to the window that is measured: those that were
 * due in it, whenever they end. What comes of the others is counted aside. */
#ifndef NM_ENGINE_PHASE_DUE_H
#define NM_ENGINE_PHASE_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/tally.h"

struct nm_due {
	uint64_t from_ns, to_ns;  /* the window */
	struct nm_tally *outside; /* of what is not due in it; NULL: all is */
};

/* How many passes never began: by when they were due, in the window or not. */
struct nm_due_never {
	uint64_t within, outside;
};

static inline bool nm_due_is_outside(const struct nm_due *due, uint64_t at_ns)
{
	return due->outside && (at_ns < due->from_ns || at_ns >= due->to_ns);
}

/* Where it is counted what comes of a pass that is due at at_ns: count, or aside. */
static inline struct nm_counters *nm_due_counters(const struct nm_due *due,
						  struct nm_counters *count, uint64_t at_ns)
{
	return nm_due_is_outside(due, at_ns) ? &due->outside->counters : count;
}

/* Where another part than that of at_ns begins; UINT64_MAX: nowhere. */
static inline uint64_t nm_due_edge(const struct nm_due *due, uint64_t at_ns)
{
	if (!due->outside || at_ns >= due->to_ns)
		return UINT64_MAX;
	return at_ns < due->from_ns ? due->from_ns : due->to_ns;
}

/* Adds so many that were due at at_ns. */
static inline void nm_due_add(const struct nm_due *due, struct nm_due_never *never, uint64_t at_ns,
			      uint64_t n)
{
	*(nm_due_is_outside(due, at_ns) ? &never->outside : &never->within) += n;
}

#endif
