/* SPDX-License-Identifier: Apache-2.0 */
/* How long each CPU slept, by the kernel's account of idle states: Documentation/admin-guide/pm/
 * cpuidle.rst of Linux. */
#ifndef NM_HOST_RESIDENCY_H
#define NM_HOST_RESIDENCY_H

#include <stddef.h>

#include "host/cpus.h"
#include "host/unhalted.h"

struct nm_residency;

/* Reads the idle states of these CPUs below a tree as /sys/devices/system/cpu. A thread of its own
 * visits each CPU, as the time of an idle state counts only when it is left. NULL with why. */
struct nm_residency *nm_residency_begin(const char *dir, const struct nm_cpu_list *cpus, char *why,
					size_t why_size);
/* Reads them again, and adds awake, all and ns. 0 or -errno: the states are no longer there. */
int nm_residency_end(struct nm_residency *residency, struct nm_unhalted *ret_unhalted);
struct nm_residency *nm_residency_free(struct nm_residency *residency); /* accepts NULL */

#endif
