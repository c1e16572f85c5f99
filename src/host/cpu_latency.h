/* SPDX-License-Identifier: Apache-2.0 */
/* Idle CPUs that do not sleep: CPU latency QoS, Documentation/admin-guide/pm/cpuidle.rst of
 * Linux. */
#ifndef NM_HOST_CPU_LATENCY_H
#define NM_HOST_CPU_LATENCY_H

#include <stddef.h>
#include <stdint.h>

/* Whether nm_cpu_latency_open can work here: 0, or -errno, and why says what is missing or not
 * allowed. */
int nm_cpu_latency_check(char *why, size_t why_size);

/* While the descriptor is open, no CPU of the machine enters an idle state that takes time to
 * leave: on x86 idle CPUs poll. Returns the descriptor, which the caller closes, or -errno with why
 * as above. */
int nm_cpu_latency_open(char *why, size_t why_size);

/* The limit in force: the longest that an idle CPU of the machine may take to wake up, us;
 * 2000000000 when nobody has set one, -1 when it cannot be read. */
int64_t nm_cpu_latency_limit_us(void);

#endif
