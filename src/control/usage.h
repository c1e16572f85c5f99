/* SPDX-License-Identifier: Apache-2.0 */
/* What this host uses while a plan runs: rows on the grid of each measured phase, and the usage of
 * the measured window. Runs alike on the master and on slaves, each by its own clock. */
#ifndef NM_CONTROL_USAGE_H
#define NM_CONTROL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/wire/codec.h"
#include "control/interval.h"
#include "engine/engine.h"
#include "host/perf.h"
#include "host/usage.h"
#include "result/result.h"

typedef void (*nm_usage_sampler_row_fn)(void *arg, const struct nm_host_interval *row);

struct nm_usage_sampler {
	const struct nm_engine *engine; /* borrowed */
	const struct nm_plan *plan;	/* borrowed */
	uint64_t interval_ns;
	nm_usage_sampler_row_fn row;
	void *arg;
	struct nm_phase_order order;
	bool running;	   /* in a phase */
	uint64_t begin_ns; /* of the phase */
	uint64_t from_ns,
		to_ns; /* when the usage is read; UINT64_MAX: not by a timer in this phase */
	struct nm_interval grid;	     /* of a measured phase */
	uint64_t row_ns;		     /* where the present row begins, after the begin */
	struct nm_counts counts;	     /* at its begin */
	struct nm_sample *sample;	     /* owned */
	struct nm_usage *last, *now, *delta; /* owned */
	struct nm_usage *before, *after;     /* owned */
	bool has_before, has_after;
	struct nm_arrived arrived;		 /* complete when has_after */
	struct nm_host_window window;		 /* the same, by this host's clock */
	bool counting;				 /* the window is open in this phase */
	uint64_t count_from_ns;			 /* since when */
	struct nm_usage_sampler_sum *count_from; /* what was counted before that; owned */
	const struct nm_perf *perf;		 /* borrowed; NULL: no counters */
	struct nm_perf_values counters_before, counters_after;
};

/* 0 or -ENOMEM. nm_usage_sampler_fini may be called either way. */
int nm_usage_sampler_init(struct nm_usage_sampler *meter, const struct nm_engine *engine,
			  const struct nm_plan *plan, uint64_t interval_ns,
			  nm_usage_sampler_row_fn row, void *arg);
void nm_usage_sampler_fini(struct nm_usage_sampler *meter);
void nm_usage_sampler_begin(struct nm_usage_sampler *meter, const struct nm_phase_order *order,
			    uint64_t begin_ns);
/* When nm_usage_sampler_run is due; UINT64_MAX: not now. */
uint64_t nm_usage_sampler_next_ns(const struct nm_usage_sampler *meter);
void nm_usage_sampler_run(struct nm_usage_sampler *meter, uint64_t now_ns);
/* The phase is over on all hosts. Does nothing when none runs. */
void nm_usage_sampler_end(struct nm_usage_sampler *meter, uint64_t now_ns);
/* The usage of the window; one that is still open is closed now. False when it was never opened. */
bool nm_usage_sampler_usage(struct nm_usage_sampler *meter, struct nm_usage *ret_usage);
/* The counters of the same window, after nm_usage_sampler_usage; none when that is not known. */
void nm_usage_sampler_counters(const struct nm_usage_sampler *meter,
			       struct nm_perf_values *ret_values);

#endif
