/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's run through one phase. All on the worker's thread. */
#ifndef NM_ENGINE_PHASE_PHASE_H
#define NM_ENGINE_PHASE_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/phase/rcvlowat.h"
#include "flowop/arrival_law/arrival_law.h"

struct nm_hist;
struct nm_instr;
struct nm_phase;

struct nm_phase_run {
	/* Read at the end of each pass. */
	const struct nm_instr *body; /* the first instruction */
	struct nm_hist *latency, *response;
	/* passes at which more than the next pass may come: as end_at, or lower, and then the end
	 * of each pass from there on is looked at */
	uint64_t check_at;
	/* passes at which the phase ends: for a leader 0 once it is told to stop, for a follower
	 * the number that it is told; UINT64_MAX until then; 0 all the time when passes are
	 * paced */
	uint64_t end_at;
	/* passes, a power of two, less one: the flow that has made the last of so many lets the
	 * others have their turn */
	uint64_t budget_mask;
	struct nm_pacer pacer;

	const struct nm_phase *phase; /* NULL: between phases */
	uint32_t number;
	uint32_t n_active; /* flows that are not done with it */
	uint64_t quiet_ns; /* when to look whether a phase with lost messages is over; 0: not yet */
	uint64_t quiet_seen; /* what had moved at moved_ns */
	uint64_t moved_ns;   /* when something was last seen to have moved */
	bool draining;
	/* after the passes: connections on which messages given up still move */
	uint32_t n_abandoning;
	uint64_t drained; /* bytes */
	struct nm_rcvlowat rcvlowat;
};

#endif
