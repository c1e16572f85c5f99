/* SPDX-License-Identifier: Apache-2.0 */
/* The usage of this host while a plan runs: rows on the grid of each measured phase, and the usage
 * of the measured window. Runs alike on the master and on slaves, each by its own clock. */
#ifndef NM_CONTROL_USAGE_H
#define NM_CONTROL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/sampler.h"
#include "control/tail.h"
#include "engine/engine.h"
#include "host/perf.h"
#include "host/usage.h"
#include "result/result.h"

struct nm_usage_sampler;

struct nm_usage_config {
	const struct nm_engine *engine; /* borrowed, as all others */
	const struct nm_plan *plan;
	const struct nm_perf *perf; /* NULL: no counters */
	/* The interval of the grid; 0: no rows. */
	uint64_t interval_ns;
	/* Takes each row; valid during the call. */
	void (*row)(void *arg, const struct nm_host_interval *row);
	void *arg;
};

/* NULL when out of memory. */
struct nm_usage_sampler *nm_usage_sampler_new(const struct nm_usage_config *config);
struct nm_usage_sampler *nm_usage_sampler_free(struct nm_usage_sampler *usage);
/* For a list of samplers; borrowed. */
struct nm_sampler *nm_usage_sampler_base(struct nm_usage_sampler *usage);

/* The master has closed the window of a group in the present phase with its time: see
 * control/tail.h. The phase is over on all hosts, and not yet ended here. */
void nm_usage_sampler_cut(struct nm_usage_sampler *usage, uint32_t group, uint64_t now_ns);

/* What this host receives is closed where that is to be so, once its flows have left: see struct
 * nm_tail_stream. Is done with the end of the phase at the latest. */
void nm_usage_sampler_close(struct nm_usage_sampler *usage, uint64_t now_ns);
/* Where the window of a group has closed in the present phase, if not with its last flow; NULL: it
 * has. */
const struct nm_tail *nm_usage_sampler_closed(const struct nm_usage_sampler *usage, uint32_t group);
/* The master has stopped a group in the present phase, perhaps before its time is over: with the
 * last of them, that of all is. */
void nm_usage_sampler_stop(struct nm_usage_sampler *usage, uint32_t group, uint64_t now_ns);

/* The usage and the counts within the measured window. */
struct nm_usage_window {
	bool has_usage; /* false: the window was never opened */
	struct nm_usage usage;
	struct nm_usage_each each;
	struct nm_perf_values counters; /* no values when not known */
	struct nm_arrived arrived;
	struct nm_host_window counted; /* by this host's clock */
};

/* The figures of the whole run, after the last phase. A window that is still open is closed now. */
void nm_usage_sampler_window(struct nm_usage_sampler *usage, uint64_t now_ns,
			     struct nm_usage_window *ret_window);

#endif
