/* SPDX-License-Identifier: Apache-2.0 */
/* Phases with open arrivals: passes become due by the schedule of the phase, and each is made by a
 * flow that is free. What is due while no flow is free waits in the schedule itself, which goes on
 * when a flow takes it; where a phase limits how many may wait, in a backlog. On the worker's
 * thread. */
#ifndef NM_ENGINE_PHASE_OPEN_H
#define NM_ENGINE_PHASE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/phase/backlog.h"
#include "engine/phase/outstanding.h"
#include "flowop/arrival_law/schedule.h"
#include "flowop/due.h"
#include "flowop/flow.h"

struct nm_worker;

struct nm_open {
	struct nm_schedule schedule; /* without lanes: the group has no open arrivals */
	struct nm_backlog backlog;
	struct nm_outstanding outstanding; /* of those that are due in the window */
	struct nm_due due;
	uint32_t beside;	      /* outstanding passes that are not */
	bool on;		      /* the present phase has some */
	bool stopped;		      /* the control thread has told the phase to stop */
	bool drops;		      /* it may drop what waits */
	bool closed;		      /* no pass begins any more */
	uint64_t begin_ns;	      /* of the phase, on all workers */
	uint64_t last_ns;	      /* nothing is due from then on */
	uint64_t drain_ns;	      /* what was due begins until then */
	uint32_t room;		      /* passes that those on the list can begin at once */
	uint32_t n_free;	      /* flows that make no pass now, or have room for more: */
	struct nm_flow *first, *last; /* in the order in which they became free; sent_ns of each,
					 or free_ns of its pipeline, says since when one or another
					 has been free */
	struct nm_timer timer; /* the next pass is due, and a flow is free; or nm_open_look */
};

/* For a worker that has its flows. 0 or -ENOMEM. */
int nm_open_init(struct nm_worker *worker);
void nm_open_fini(struct nm_open *open);
/* A phase begins: nm_phase_begin calls it. */
void nm_open_begin(struct nm_worker *worker);
/* A phase has ended. */
void nm_open_end(struct nm_worker *worker);

/* The flow, which is on no queue, makes no pass until nm_open_take_free returns it; or, where flows
 * make several at a time, has room for one more. */
void nm_open_free(struct nm_worker *worker, struct nm_flow *flow);
/* In a phase that may drop: a flow has opened its connection anew, which is not known yet. Counts
 * what was dropped meanwhile. */
void nm_open_reconnected(struct nm_worker *worker, uint64_t now_ns);
/* While no flow is free, in a phase that may drop: counts what has come to a full queue or is too
 * late by now, for whoever reads the counts meanwhile. Else does nothing. */
void nm_open_look(struct nm_worker *worker, uint64_t now_ns);
/* NULL: no flow is free. */
struct nm_flow *nm_open_take_free(struct nm_worker *worker);
/* Whether a pass is due at now_ns that may still begin. Those before it that may not are dropped
 * and counted. */
bool nm_open_is_due(struct nm_worker *worker, uint64_t now_ns);
/* The same for a flow that makes several at a time, and has room for one more. */
bool nm_open_is_due_for(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* The flow's pass ends, at now_ns. */
void nm_open_count_end(struct nm_worker *worker, const struct nm_request *request, uint64_t now_ns);
/* Its connection has ended: where flows make several at a time it has a place for none. */
void nm_open_leave(struct nm_worker *worker, struct nm_flow *flow);
/* The kernel takes no more of what the flow sends: where flows make several at a time it has a
 * place for none until it has its turn again. */
void nm_open_refused(struct nm_worker *worker, struct nm_flow *flow);
/* One of these has ended, by now_ns; 0: the time is not known. */
void nm_open_end_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* The flow, which has none, makes the pass that is due, from now_ns on. Counts it, and how late it
 * is by which cause. */
void nm_open_begin_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* Has the timer fire when the next pass is due, or is to be looked at. */
void nm_open_arm(struct nm_worker *worker);
/* The control thread has told the phase to stop. At the end of its time that changes nothing;
 * before it, nothing is due any more from now_ns on. is_interrupted: while what is due may still
 * begin, which it then may for a short time only. */
void nm_open_stop(struct nm_worker *worker, uint64_t now_ns, bool is_interrupted);
/* Whether no pass begins any more: all that was due has begun, or it is too late. Then what has not
 * begun is counted, and free flows have nothing more to do. */
bool nm_open_close(struct nm_worker *worker, uint64_t now_ns);

#endif
