/* SPDX-License-Identifier: Apache-2.0 */
/* How many passes are outstanding in a phase with open arrivals: begun, and not ended. Counted on
 * the worker's thread, over the time in which passes become due. */
#ifndef NM_ENGINE_PHASE_OUTSTANDING_H
#define NM_ENGINE_PHASE_OUTSTANDING_H

#include <stdint.h>

struct nm_counters;
struct nm_request;

struct nm_outstanding {
	uint32_t now, most;
	/* The ends of all that have ended less the begins of all that have begun, as times from the
	 * begin of the phase and modulo 2^64: once none is outstanding, the integral over time of
	 * how many there were. */
	uint64_t sum_ns;
	uint64_t failed_ns; /* of the integral, what passes without an answer were outstanding */
	uint64_t after_ns;  /* how long those with an answer were, when nothing was due any more */
};

/* A pass begins. Nothing is due from last_ns on; both are times from the begin of the phase. */
static inline void nm_outstanding_begin(struct nm_outstanding *outstanding, uint64_t at_ns,
					uint64_t last_ns)
{
	outstanding->sum_ns -= at_ns < last_ns ? at_ns : last_ns;
	if (++outstanding->now > outstanding->most)
		outstanding->most = outstanding->now;
}

/* The pass of the request, which began at from_ns, ends at to_ns. */
void nm_outstanding_end(struct nm_outstanding *outstanding, const struct nm_request *request,
			uint64_t from_ns, uint64_t to_ns, uint64_t last_ns);
/* The phase has ended: the counters have what was outstanding. */
void nm_outstanding_count(const struct nm_outstanding *outstanding, struct nm_counters *count,
			  uint64_t last_ns);

#endif
