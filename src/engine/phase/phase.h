/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's run through one phase. All on the worker's thread. */
#ifndef NM_ENGINE_PHASE_PHASE_H
#define NM_ENGINE_PHASE_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/phase/ends.h"
#include "engine/phase/machine.h"
#include "engine/phase/open.h"
#include "engine/phase/rcvlowat.h"
#include "flowop/pacer.h"
#include "stats/tally.h"

struct nm_conn;
struct nm_flow;
struct nm_instr;
struct nm_phase;
struct nm_worker;

struct nm_phase_run {
	/* Read at the end of each pass. */
	const struct nm_instr *body;	/* the first instruction */
	NM_EACH_TIME(struct nm_hist *); /* those of the phase's tally */
	/* the number of passes from which on the end of each pass is looked at, as something else
	 * than the next pass may come: end_at, or lower */
	uint64_t check_at;
	/* the number of passes at which the phase ends: for a leader 0 once it is told to stop, for
	 * a follower the number that it is told; UINT64_MAX until then; 0 all the time when passes
	 * are paced */
	uint64_t end_at;
	/* a power of two, less one: the flow that has made the last of that many passes lets the
	 * others have their turn */
	uint64_t budget_mask;
	bool has_deadlines; /* as the shape of the phase has it */
	struct nm_pacer pacer;
	struct nm_open open;

	const struct nm_phase *phase; /* NULL: between phases */
	uint32_t number;
	uint32_t n_active; /* flows that are not done with the phase */
	enum nm_phase_state state;
	struct nm_quiesce quiesce; /* where messages may be lost: whether the phase is over */
	struct nm_timer quiesce_timer;
	uint32_t n_abandoning; /* connections on which abandoned messages still move: FLUSH */
	uint64_t drained;      /* bytes taken beyond the passes: DRAIN */
	uint64_t ended_ns;     /* when all passes were seen to be done; 0: when the phase ends */
	uint8_t marks;	       /* with which each request begins: enum nm_request_marks */
	struct nm_rcvlowat rcvlowat;
	struct nm_ends ends;
};

/* Enters the phase, at now_ns. 0, or -errno: no flow can make a pass. The caller starts the flows,
 * unless run.phase is NULL: then there was nothing to do, and the phase has ended. */
int nm_phase_begin(struct nm_worker *worker, uint32_t number, uint64_t now_ns);
/* All passes of the phase are made: it ends, after draining or flushing what remains. */
void nm_phase_passes_done(struct nm_worker *worker);
/* The flow is done with the phase, or has failed. The phase may end by that. */
void nm_phase_flow_done(struct nm_worker *worker, struct nm_flow *flow);
/* Something has come for conn, after the last pass: in states beyond RUN. The phase may end. */
void nm_phase_conn_event(struct nm_worker *worker, struct nm_conn *conn);
/* The control thread has told how much there is to drain: in DRAIN. The phase may end. */
void nm_phase_drain_told(struct nm_worker *worker);
/* Where messages may be lost: from now on the phase is over, too, once nothing moves any more. */
void nm_phase_await_quiescence(struct nm_worker *worker);
/* The timer of quiescence has fired. The phase may end. */
void nm_phase_look(struct nm_worker *worker, uint64_t now_ns);

#endif
