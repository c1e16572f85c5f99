/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a worker's run through a phase, as a pure function: no clock, no I/O.
 *
 *   IDLE --begun--> RUN --passes done--> FLUSH --nothing abandoned is left--> DONE --> IDLE
 *                    |                                                        ^
 *                    +--passes done, open senders--> DRAIN --all is taken-----+
 *
 * Where messages may be lost the end of a state is not always seen: then the state is over, too,
 * once nothing has moved for long enough (it is quiescent). */
#ifndef NM_ENGINE_PHASE_MACHINE_H
#define NM_ENGINE_PHASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum nm_phase_state {
	NM_PHASE_IDLE,	/* between phases */
	NM_PHASE_RUN,	/* flows make passes */
	NM_PHASE_FLUSH, /* no more passes; abandoned messages on streams still move */
	/* no more passes; bytes that open senders have sent beyond them are taken */
	NM_PHASE_DRAIN,
	NM_PHASE_DONE, /* nothing more moves: the phase ends */
};

struct nm_phase_input {
	bool begun;	  /* the control thread has begun a phase that has not ended here */
	bool passes_done; /* all passes of the phase are made */
	bool drains;	  /* open senders may send more than the passes need */
	/* connections on which abandoned messages still move */
	uint32_t n_abandoning;
	uint64_t drained;  /* bytes taken beyond the passes */
	uint64_t to_drain; /* bytes that there are beyond the passes; UINT64_MAX: not known yet */
	uint64_t moved_ns; /* when something was last seen to move; 0: the worker does not look */
	uint64_t patience_ns; /* the longest that it may stand still; UINT64_MAX: for ever */
};

/* Whether nothing has moved for patience_ns. */
bool nm_phase_is_quiescent(const struct nm_phase_input *in, uint64_t now_ns);

/* The state that follows, which is `state` when nothing changes. One step: the caller enters the
 * new state and asks again with what it has found there. */
enum nm_phase_state nm_phase_next(enum nm_phase_state state, const struct nm_phase_input *in,
				  uint64_t now_ns);

/* ---- quiescence: whether anything moves, looked at again and again ---- */

struct nm_quiesce {
	uint64_t seen; /* how much had moved at moved_ns: a number that grows */
	/* when something was last seen to have moved; 0: the worker does not look */
	uint64_t moved_ns;
};

/* Begins to look. */
void nm_quiesce_begin(struct nm_quiesce *quiesce, uint64_t moved, uint64_t now_ns);
/* Looks again. */
void nm_quiesce_look(struct nm_quiesce *quiesce, uint64_t moved, uint64_t now_ns);
/* Looks no more. */
void nm_quiesce_end(struct nm_quiesce *quiesce);
static inline bool nm_quiesce_looks(const struct nm_quiesce *quiesce)
{
	return quiesce->moved_ns;
}

#endif
