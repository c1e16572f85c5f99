/* SPDX-License-Identifier: Apache-2.0 */
/* Idle CPUs that do not sleep: CPU latency QoS, Documentation/admin-guide/pm/cpuidle.rst of Linux. */
#ifndef NM_HOST_AWAKE_H
#define NM_HOST_AWAKE_H

#include <stddef.h>

/* While it is open no CPU of the machine enters an idle state that takes time to leave: on x86 those that idle poll. A
 * descriptor that the caller closes, or -errno, and why says what there is not, or is not allowed. */
int nm_cpus_keep_awake(char *why, size_t why_size);

#endif
