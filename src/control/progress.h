/* SPDX-License-Identifier: Apache-2.0 */
/* Tells on the master how far the phases of a run are, and the traffic while they go on. */
#ifndef NM_CONTROL_PROGRESS_H
#define NM_CONTROL_PROGRESS_H

#include <stdint.h>

#include "control/options.h"
#include "control/sampler.h"
#include "engine/engine.h"

struct nm_progress_sampler;

/* NULL when out of memory. All are borrowed. wall_offset_ns: wall clock - monotonic clock. Tells
 * the events `progress` and `traffic` (with traffic_ns) of the options. */
struct nm_progress_sampler *nm_progress_sampler_new(const struct nm_plan *plan,
						    const struct nm_engine *engine,
						    const struct nm_run_options *options,
						    uint64_t wall_offset_ns);
struct nm_progress_sampler *nm_progress_sampler_free(struct nm_progress_sampler *progress);
/* For a list of samplers; borrowed. */
struct nm_sampler *nm_progress_sampler_base(struct nm_progress_sampler *progress);
/* Tells the end of the run, with the sums of all its phases. */
void nm_progress_sampler_finish(struct nm_progress_sampler *progress, uint64_t now_ns);

#endif
