/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the hardware and of the kernel, by name, for this process and all threads and
 * processes that it starts after they were opened. */
#ifndef NM_HOST_PERF_H
#define NM_HOST_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_PERF_MAX	16 /* counters at a time */
#define NM_PERF_NAME	64
#define NM_PERF_DEFAULT "cycles,instructions,cache-misses,context-switches"

/* One counter, since it was opened or between two readings. */
struct nm_perf_value {
	char name[NM_PERF_NAME];
	bool has_user, has_kernel;
	bool has_total; /* also where only the two together are known */
	char why[96];	/* without a total: the reason, for the user */
	uint64_t user, kernel, total;
	/* of the time in which it was counted: the rest is extrapolated; 1 for most */
	double share;
};

struct nm_perf_values {
	size_t count;
	struct nm_perf_value items[NM_PERF_MAX];
};

struct nm_perf;

/* Checks the form of a list "cycles,context-switches": 0, -EINVAL, or -ERANGE for too many or too
 * long. */
int nm_perf_check_form(const char *list);
/* Opens the counters of a list that has the right form. A counter that cannot be had says why when
 * it is read. 0 with an owned *ret_perf, or -ENOMEM. */
int nm_perf_open(const char *list, struct nm_perf **ret_perf);
struct nm_perf *nm_perf_close(struct nm_perf *perf); /* accepts NULL, returns NULL */
/* NULL has no counters. */
void nm_perf_read(const struct nm_perf *perf, struct nm_perf_values *ret_values);
/* after - before: two readings of one set of counters. */
void nm_perf_delta(const struct nm_perf_values *before, const struct nm_perf_values *after,
		   struct nm_perf_values *ret_delta);

#endif
