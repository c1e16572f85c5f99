/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals: when the passes of a flow are due, in transactions with a rate. A law is one file that
 * defines one const descriptor, and one word in ARRIVAL_LAWS of src/flowop/local.mk. A pacer is a
 * law with its parameters, as a worker uses it in one phase. */
#ifndef NM_FLOWOP_ARRIVAL_LAW_ARRIVAL_LAW_H
#define NM_FLOWOP_ARRIVAL_LAW_ARRIVAL_LAW_H

#include <stdbool.h>
#include <stdint.h>

struct nm_flow;
struct nm_pacer;

struct nm_arrival_law {
	const char *name; /* in profiles: arrivals="name" */
	/* When the first pass of flow `index` is due, ns from the begin of the phase. */
	uint64_t (*first_ns)(const struct nm_pacer *pacer, uint32_t index);
	/* When the flow's next pass is due, after one that was due at at_ns: both ns from the begin
	 * of the phase. Pure: its random numbers come from nm_pacer_draw. The mean distance is
	 * period_ns. */
	uint64_t (*next_ns)(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns);
};

/* All laws: the first is that of a transaction that names none; ends with NULL. */
extern const struct nm_arrival_law *const nm_arrival_laws[];
/* Their names, in that order; ends with NULL. */
extern const char *const nm_arrival_law_words[];

struct nm_pacer {
	/* NULL: passes are not paced, and each begins when the one before it has ended */
	const struct nm_arrival_law *law;
	uint64_t period_ns; /* the mean distance of two passes of a flow */
	uint64_t begin_ns;  /* of the phase */
	uint64_t last_ns;   /* no pass is due from then on; UINT64_MAX: any may be */
	uint64_t key;	    /* of the law's random numbers */
	uint32_t n_flows;   /* of the group */
};

static inline bool nm_pacer_paces(const struct nm_pacer *pacer)
{
	return pacer->law;
}

/* When the flow's next pass is due (on the clock of begin_ns), after one that was due at after_ns;
 * 0: when its first pass is due. If the time is last_ns or later no further pass is due. Only for a
 * pacer that paces. */
uint64_t nm_pacer_next(const struct nm_pacer *pacer, const struct nm_flow *flow, uint64_t after_ns);

/* For laws: a number from 0 (exclusive) to 1 (inclusive), drawn for the pass of the flow that
 * follows the one due at at_ns (from the begin of the phase); always the same for the same seed. */
double nm_pacer_draw(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns);

#endif
