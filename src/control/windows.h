/* SPDX-License-Identifier: Apache-2.0 */
/* The master's measurements: the windows of groups and of the whole run, and the rows of the
 * grid. */
#ifndef NM_CONTROL_WINDOWS_H
#define NM_CONTROL_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/options.h"
#include "control/sampler.h"
#include "control/tail.h"
#include "engine/engine.h"
#include "result/result.h"

struct nm_windows;

/* NULL when out of memory. All are borrowed. The result has its groups, its phases and its
 * wall_offset_ns already; rows are appended to it and told to the events of the options, phases get
 * their figures as they end. */
struct nm_windows *nm_windows_new(const struct nm_plan *plan, const struct nm_engine *engine,
				  const struct nm_run_options *options, struct nm_result *result);
struct nm_windows *nm_windows_free(struct nm_windows *windows);
/* For a list of samplers; borrowed. */
struct nm_sampler *nm_windows_base(struct nm_windows *windows);
/* When the time of the group began in the present phase, from which its duration and its
 * cool-down are reckoned: its first flow has entered the phase, and a window that opens after a
 * warm-up opened no later than it should have. 0: no flow has entered yet. */
uint64_t nm_windows_time_from(const struct nm_windows *windows, uint32_t group);
/* Closes the group's window in the present phase, which is over on all hosts and has not been ended
 * here, with its time, if it is to: see control/tail.h. True: it has. */
bool nm_windows_cut(struct nm_windows *windows, uint32_t group, uint64_t now_ns);
/* Closes the window of a stream where the host's own does: see nm_usage_sampler_closed. */
void nm_windows_close(struct nm_windows *windows, uint32_t group, const struct nm_tail *tail);
/* Writes the totals of all windows to the result, after the last phase. */
void nm_windows_finish(struct nm_windows *windows);
/* Whether a window of the group has been measured: a window that did not open before its phase
 * ended has not. */
bool nm_windows_measured(const struct nm_windows *windows, uint32_t group);
/* The median slowdown of the group's measured flows; NaN: there were none. */
double nm_windows_slowdown(const struct nm_windows *windows, uint32_t group);

#endif
