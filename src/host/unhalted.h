/* SPDX-License-Identifier: Apache-2.0 */
/* How long the CPUs of this host were not halted by the account of the hardware, which has also
 * what the kernel's own account of ticks does not see. Of the whole machine; by counters of x86, or
 * by the kernel's times of idle states. */
#ifndef NM_HOST_UNHALTED_H
#define NM_HOST_UNHALTED_H

#include <stddef.h>
#include <stdint.h>

/* Between two readings, of all CPUs together. What one unit is depends on the source, so that only
 * ratios of `awake`, `all` and `cycles` mean something. */
struct nm_unhalted {
	char source[16]; /* "msr", "ref-cycles" or "cpuidle" */
	uint32_t n_cpus;
	uint64_t awake, all; /* units in which CPUs were not halted, of all that passed */
	uint64_t cycles;     /* of the CPUs' own clocks while they were awake; 0: not known */
	uint64_t ns;	     /* in which `all` passed, summed over the CPUs */
	/* of that, busy by the kernel's account in this very window, without what the host of a
	 * virtual machine has taken; -1: not known */
	int64_t kernel_ns;
};

struct nm_unhalted_window;

/* Begins to count with the best source that there is; tells of each that there is not why in a few
 * words. Opens three descriptors for each CPU above the limit of the process, or lets a thread
 * visit each CPU: not for the hot path. NULL: there is none, or memory is short. */
struct nm_unhalted_window *nm_unhalted_begin(char *why, size_t why_size);
/* What was counted since the begin; frees the window. 0, or -errno with why. */
int nm_unhalted_end(struct nm_unhalted_window *window, struct nm_unhalted *ret_unhalted, char *why,
		    size_t why_size);
void nm_unhalted_drop(struct nm_unhalted_window *window); /* may be NULL */

#endif
