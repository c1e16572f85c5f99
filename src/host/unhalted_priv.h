/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the choice of a source, for tests. */
#ifndef NM_HOST_UNHALTED_PRIV_H
#define NM_HOST_UNHALTED_PRIV_H

#include "host/unhalted.h"

/* The events of a group, in the order of its values. */
enum host__event { HOST__AWAKE, HOST__CYCLES, HOST__ALL, HOST__N_EVENTS };

/* Values of a group of events of one CPU, as perf_event_open(2) gives them by the format GROUP,
 * TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING. */
struct host__group {
	uint64_t count, enabled_ns, running_ns, values[HOST__N_EVENTS];
};

/* 0; -EBUSY: other counters had the hardware for a part of the time; -EINVAL. */
int host__add_group(const struct host__group *group, struct nm_unhalted *sum);
/* "event=0x02" of a PMU in a tree as /sys/bus/event_source/devices; 0 or -ENOENT. */
int host__parse_event(const char *text, uint64_t *ret_config);
/* As nm_unhalted_begin, of these trees as /sys/bus/event_source/devices and
 * /sys/devices/system/cpu. */
struct nm_unhalted_window *host__unhalted_begin(const char *pmus, const char *cpus, char *why,
						size_t why_size);

#endif
