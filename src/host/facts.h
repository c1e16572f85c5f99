/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about this host that belong in a result, and its limits. */
#ifndef NM_HOST_FACTS_H
#define NM_HOST_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffers.h"
#include "base/field.h"

struct nm_host_facts {
	char hostname[256];
	char boot_id[37]; /* of this boot of the machine; containers have that of their machine */
	char kernel[128]; /* uname release */
	char machine[80]; /* x86_64 */
	char os[128];	  /* PRETTY_NAME of os-release */
	char cpu_model[128];
	unsigned n_cpus; /* usable by this process */
	uint64_t memory_bytes;
	int64_t cpu_latency_limit_us; /* see cpu_latency.h; -1: not known */
	char clocksource[32];
	char congestion_control[32];
	char cpuidle_driver[32], cpuidle_governor[32]; /* decides how deeply idle CPUs sleep */
	char cpufreq_governor[32];		       /* of the first CPU */
	char irq_accounting[4];			       /* "on", "off" */
	/* the socket buffers of the profile, known after its run; nm_host_facts_read leaves it */
	struct nm_buffers cut;
};

/* All facts, by their names in results and in the control protocol. 0, -1 and "" are "not
 * known". */
extern const struct nm_field nm_host_facts_fields[];

void nm_host_facts_read(struct nm_host_facts *ret_facts); /* unknown strings are "" */

/* Raises the soft limit of descriptors (and the hard one if this process may) to at least `needed`.
 * Returns 0, or -EMFILE with the limit that could be had in *ret_limit. */
int nm_raise_nofile(uint64_t needed, uint64_t *ret_limit);
/* 0, or -EMFILE with the soft limit in *ret_limit when it is below `needed`; raises nothing. */
int nm_check_nofile(uint64_t needed, uint64_t *ret_limit);

/* From now on this process may have so many bytes of data (heap, stacks of threads, mappings of its
 * own that it can write to) more than it has now: what goes beyond fails with ENOMEM. Children
 * inherit it. 0 or -errno. */
int nm_limit_memory(uint64_t more_bytes);
/* Half of the memory of the machine; 0: not known. */
uint64_t nm_half_of_memory(void);

#endif
