/* SPDX-License-Identifier: Apache-2.0 */
/* What one worker counts in one phase. One writer, the worker; any thread may read at any time. */
#ifndef NM_STATS_COUNTERS_H
#define NM_STATS_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct nm_counters {
	_Atomic uint64_t iterations; /* complete passes of the transaction */
	_Atomic uint64_t bytes_sent;
	_Atomic uint64_t bytes_received;
	_Atomic uint64_t connects;
	_Atomic uint64_t accepts;
	_Atomic uint64_t errors;
};

/* A plain copy, merged over workers. */
struct nm_counts {
	uint64_t iterations, bytes_sent, bytes_received, connects, accepts, errors;
};

/* Adds without a locked instruction: only the owning worker writes. */
static inline void nm_counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline uint64_t nm_counter_read(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* into += what the worker has counted so far. */
void nm_counts_collect(struct nm_counts *into, const struct nm_counters *from);
void nm_counts_add(struct nm_counts *into, const struct nm_counts *from);
void nm_counts_subtract(struct nm_counts *into, const struct nm_counts *earlier);

#endif
