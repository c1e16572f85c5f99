/* SPDX-License-Identifier: Apache-2.0 */
/* What the master measures: the windows of groups and of the whole run, and the rows of the
 * grid. */
#ifndef NM_CONTROL_WINDOWS_H
#define NM_CONTROL_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/interval.h"
#include "control/options.h"
#include "engine/engine.h"
#include "result/result.h"

/* The window of one group. */
struct nm_group_window {
	struct nm_sample *total; /* over its measured windows; owned; NULL until there is one */
	uint64_t total_ns;
	/* In the present phase. */
	bool measured;
	uint64_t from_at_ns, to_at_ns; /* timers; UINT64_MAX: none, or over */
	struct nm_sample *from; /* what was done before the window; owned; made when needed */
	uint64_t from_ns;	/* when that was read; 0: the window opens with the phase */
	bool waits;		/* for from_at_ns */
	bool closed;		/* the window has been added to the totals */
};

struct nm_windows {
	const struct nm_plan *plan; /* borrowed, all of them */
	const struct nm_engine *engine;
	const struct nm_run_options *options;
	struct nm_result *result;
	struct nm_group_window *groups;			/* owned */
	struct nm_sample *scratch, *current, *previous; /* owned */
	struct nm_sample *total;			/* of all groups; owned */
	uint64_t total_ns;
	uint64_t wall_offset_ns; /* wall clock - monotonic clock */
	bool failed;		 /* out of memory: the totals are not to be trusted */
	/* The present phase. */
	uint32_t phase;
	uint64_t begin_ns, run_begin_ns;
	uint64_t union_from_ns, union_to_ns; /* of its groups' windows; 0: none yet */
	uint64_t longest_ns;		     /* until its last timed group stops; 0: not known */
	struct nm_interval grid;
	uint64_t row_ns;    /* where the present row begins, after the begin */
	uint64_t row_at_ns; /* when that was read */
	size_t row_capacity;
};

/* 0 or -ENOMEM; nm_windows_fini may be called either way. The result has its groups and phases
 * already. */
int nm_windows_init(struct nm_windows *measure, const struct nm_plan *plan,
		    const struct nm_engine *engine, const struct nm_run_options *options,
		    struct nm_result *result);
void nm_windows_fini(struct nm_windows *measure);
/* A phase begins; longest_ns: when its last group is stopped, after the begin, or 0. */
void nm_windows_begin(struct nm_windows *measure, uint32_t phase, uint64_t begin_ns,
		      uint64_t longest_ns);
/* When nm_windows_run is due; UINT64_MAX: not now. */
uint64_t nm_windows_next_ns(const struct nm_windows *measure);
void nm_windows_run(struct nm_windows *measure, uint64_t now_ns);
/* The phase is over, or is given up now. */
void nm_windows_end(struct nm_windows *measure, uint64_t now_ns);
/* Writes the totals to the result. */
void nm_windows_finish(struct nm_windows *measure);

#endif
