/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of single flows and connections on the grid of each measured phase, and at its end, when
 * they are asked for. Runs alike on the master and on slaves, each by its own clock. Nothing of it
 * is kept. */
#ifndef NM_CONTROL_FLOWS_H
#define NM_CONTROL_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/wire/codec.h"
#include "control/interval.h"
#include "control/options.h"
#include "engine/detail.h"
#include "engine/tcp_info.h"

/* Of more than this no percentiles are kept: each has two histograms. And to read one takes some
 * microseconds, which must be little beside an interval. */
#define NM_FLOW_SAMPLER_MAX_TIMES 4096u
#define NM_FLOW_SAMPLER_TIMES_NS  40000u

/* The host's name and the plan of the rows are not set. */
struct nm_flow_sampler_events {
	void *arg;
	void (*flows)(void *arg, const struct nm_flow_rows *rows);
	void (*tcp)(void *arg, const struct nm_tcp_rows *rows);
};

struct nm_flow_sampler {
	const struct nm_engine *engine; /* borrowed; NULL: nothing is sampled */
	const struct nm_plan *plan;	/* borrowed */
	struct nm_flow_sampler_events events;
	uint64_t interval_ns;
	bool flows, tcp;
	uint32_t n_flows;	     /* that this side runs */
	struct nm_flow_sample *last; /* owned; by flow, group after group */
	struct nm_flow_row *rows;    /* the same */
	/* With NM_DETAIL_PASS_TIMES, else NULL; owned. */
	const struct nm_percentiles *percentiles; /* borrowed */
	struct nm_hist_snap *last_times;	  /* by flow; of each only the buckets are used */
	struct nm_hist_snap *times;		  /* of the row that is being made */
	double *pct_s;				  /* by flow */
	struct nm_tcp_sample *tcp_rows;
	size_t n_tcp, tcp_room;
	bool failed; /* out of memory: samples are missing */
	/* The present phase. */
	bool running;
	uint32_t phase;
	uint64_t row_at_ns;
	struct nm_interval grid;
	bool asked; /* for TCP_INFO, and not all have answered */
};

/* Does nothing unless the engine keeps the details. percentiles: of the rows, if the engine keeps
 * these, and borrowed. 0 or -ENOMEM; nm_flow_sampler_fini may be called either way. */
int nm_flow_sampler_init(struct nm_flow_sampler *meter, const struct nm_engine *engine,
			 const struct nm_plan *plan, uint64_t interval_ns,
			 const struct nm_percentiles *percentiles,
			 const struct nm_flow_sampler_events *events);
void nm_flow_sampler_fini(struct nm_flow_sampler *meter);
void nm_flow_sampler_begin(struct nm_flow_sampler *meter, const struct nm_phase_order *order,
			   uint64_t begin_ns);
/* When nm_flow_sampler_run is due; UINT64_MAX: not now. It may also be called when the engine has
 * something to tell. */
uint64_t nm_flow_sampler_next_ns(const struct nm_flow_sampler *meter);
void nm_flow_sampler_run(struct nm_flow_sampler *meter, uint64_t now_ns);
/* This side is done with the phase, or leaves it. Does nothing when none runs. */
void nm_flow_sampler_end(struct nm_flow_sampler *meter, uint64_t now_ns);

#endif
