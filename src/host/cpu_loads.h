/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of each CPU of this machine by the kernel's account; two readings are subtracted to get
 * a window. */
#ifndef NM_HOST_CPU_LOADS_H
#define NM_HOST_CPU_LOADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/field.h"

#define NM_CPU_LOADS_MAX 1024

/* What the time of a CPU went to, in the order of /proc/stat: X(member). */
#define NM_CPU_CLASSES(X) X(user) X(nice) X(system) X(idle) X(iowait) X(irq) X(softirq) X(steal)

/* In ticks of /proc/stat. A reading has what is left of them in 32 bits, which is enough for
 * differences. */
struct nm_cpu_load {
	uint32_t cpu;
#define NM_CPU_CLASS_MEMBER(member) uint32_t member;
	NM_CPU_CLASSES(NM_CPU_CLASS_MEMBER)
#undef NM_CPU_CLASS_MEMBER
};

struct nm_cpu_loads {
	size_t count; /* CPUs that are online, at most NM_CPU_LOADS_MAX */
	char why[96]; /* with none: the reason, for the user */
	struct nm_cpu_load items[NM_CPU_LOADS_MAX];
};

extern const struct nm_field nm_cpu_load_fields[];

/* after - before, of CPUs that both readings have, and that have ticks enough to take shares of. */
void nm_cpu_loads_delta(const struct nm_cpu_loads *before, const struct nm_cpu_loads *after,
			struct nm_cpu_loads *ret_delta);
uint64_t nm_cpu_load_ticks(const struct nm_cpu_load *load); /* of all classes */

#endif
