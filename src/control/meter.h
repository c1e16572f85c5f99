/* SPDX-License-Identifier: Apache-2.0 */
/* What this host uses while a plan runs: rows on the grid of each measured phase, and the usage of the measured
 * window. Runs alike on the master and on slaves, each by its own clock. */
#ifndef NM_CONTROL_METER_H
#define NM_CONTROL_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/codec.h"
#include "control/grid.h"
#include "engine/engine.h"
#include "host/perf.h"
#include "host/usage.h"
#include "result/result.h"

typedef void (*nm_meter_row_fn)(void *arg, const struct nm_host_interval *row);

struct nm_meter {
	const struct nm_engine *engine; /* borrowed */
	const struct nm_plan *plan;	/* borrowed */
	uint64_t interval_ns;
	nm_meter_row_fn row;
	void *arg;
	struct nm_phase_order order;
	bool running;	   /* in a phase */
	uint64_t begin_ns; /* of the phase */
	uint64_t from_ns,
		to_ns;	     /* when the usage is read; UINT64_MAX: not by a timer in this phase */
	struct nm_grid grid; /* of a measured phase */
	uint64_t row_ns;     /* where the present row begins, after the begin */
	struct nm_counts counts;	     /* at its begin */
	struct nm_sample *sample;	     /* owned */
	struct nm_usage *last, *now, *delta; /* owned */
	struct nm_usage *before, *after;     /* owned */
	bool has_before, has_after;
	struct nm_arrived arrived;	 /* complete when has_after */
	struct nm_host_window window;	 /* the same, by this host's clock */
	bool counting;			 /* the window is open in this phase */
	uint64_t count_from_ns;		 /* since when */
	struct nm_meter_sum *count_from; /* what was counted before that; owned */
	const struct nm_perf *perf;	 /* borrowed; NULL: no counters */
	struct nm_perf_values counters_before, counters_after;
};

/* 0 or -ENOMEM. nm_meter_fini may be called either way. */
int nm_meter_init(struct nm_meter *meter, const struct nm_engine *engine,
		  const struct nm_plan *plan, uint64_t interval_ns, nm_meter_row_fn row, void *arg);
void nm_meter_fini(struct nm_meter *meter);
void nm_meter_begin(struct nm_meter *meter, const struct nm_phase_order *order, uint64_t begin_ns);
/* When nm_meter_run is due; UINT64_MAX: not now. */
uint64_t nm_meter_next_ns(const struct nm_meter *meter);
void nm_meter_run(struct nm_meter *meter, uint64_t now_ns);
/* The phase is over on all hosts. Does nothing when none runs. */
void nm_meter_end(struct nm_meter *meter, uint64_t now_ns);
/* The usage of the window; one that is still open is closed now. False when it was never opened. */
bool nm_meter_usage(struct nm_meter *meter, struct nm_usage *ret_usage);
/* The counters of the same window, after nm_meter_usage; none when that is not known. */
void nm_meter_counters(const struct nm_meter *meter, struct nm_perf_values *ret_values);

#endif
