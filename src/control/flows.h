/* SPDX-License-Identifier: Apache-2.0 */
/* Samples single flows and connections on the grid of each measured phase, and at its end, when the
 * options ask for it. Runs alike on the master and on slaves, each by its own clock. No sample is
 * kept. */
#ifndef NM_CONTROL_FLOWS_H
#define NM_CONTROL_FLOWS_H

#include <stdint.h>

#include "control/sampler.h"
#include "control/wire/rows.h"
#include "engine/engine.h"
#include "result/result.h"

struct nm_flow_sampler;

struct nm_flow_config {
	const struct nm_engine *engine; /* borrowed, as all others */
	const struct nm_plan *plan;
	/* The interval of the grid; 0: nothing is sampled. */
	uint64_t interval_ns;
	/* The percentiles in the rows, if the engine keeps the times of each flow. */
	const struct nm_percentiles *percentiles;
	/* The functions that take the rows, which are valid during the call; the host's name and
	 * the plan are not set. */
	void (*flows)(void *arg, const struct nm_flow_rows *rows);
	void (*tcp)(void *arg, const struct nm_tcp_rows *rows);
	void *arg;
};

/* NULL when out of memory. The sampler reads the figures that the engine keeps, and is idle where
 * the engine keeps none of single flows. */
struct nm_flow_sampler *nm_flow_sampler_new(const struct nm_flow_config *config);
struct nm_flow_sampler *nm_flow_sampler_free(struct nm_flow_sampler *sampler);
/* For a list of samplers; borrowed. */
struct nm_sampler *nm_flow_sampler_base(struct nm_flow_sampler *sampler);

#endif
