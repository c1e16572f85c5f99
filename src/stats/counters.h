/* SPDX-License-Identifier: Apache-2.0 */
/* What one worker counts in one phase. One writer, the worker; any thread may read at any time. */
#ifndef NM_STATS_COUNTERS_H
#define NM_STATS_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Messages over unreliable transports have a number if they have at least so many bytes. */
#define NM_NUMBERED_BYTES 8u

/* All counters, in the order of the control protocol. iterations: passes of the transaction that
 * came to their end; unanswered: others, in which a wait for what may be lost ended by its limit.
 * errors: flowops that failed. timeouts: waits given up; over reliable transports they are errors
 * too. messages_sent to duplicates are kept over unreliable transports only; late: answers to what
 * had been given up, not taken. fastopens: closed connections whose first packet had data.
 * zerocopy_sends, zerocopy_copied: sends without a copy that have been completed, and those of them
 * for which the kernel has made one after all. bytes_mapped: received without a copy. skipped:
 * numbers of messages that were not there when a later one came; reordered are those that came
 * after all. message_bytes: of bytes_received, those of messages_received; unnumbered: those of
 * them that are too short for a number. jitters, jitter_ns: how often the jitter of a connection
 * has been estimated anew, and the sum of these estimates. */
#define NM_COUNTERS(X)                                                                             \
	X(iterations)                                                                              \
	X(bytes_sent)                                                                              \
	X(bytes_received)                                                                          \
	X(connects)                                                                                \
	X(accepts)                                                                                 \
	X(errors)                                                                                  \
	X(timeouts)                                                                                \
	X(messages_sent)                                                                           \
	X(messages_received)                                                                       \
	X(late)                                                                                    \
	X(reordered)                                                                               \
	X(duplicates)                                                                              \
	X(fastopens)                                                                               \
	X(zerocopy_sends)                                                                          \
	X(zerocopy_copied)                                                                         \
	X(bytes_mapped)                                                                            \
	X(skipped)                                                                                 \
	X(jitters)                                                                                 \
	X(jitter_ns)                                                                               \
	X(unanswered)                                                                              \
	X(message_bytes)                                                                           \
	X(unnumbered)

#define NM_COUNTER_FIELD(name) _Atomic uint64_t name;
struct nm_counters {
	NM_COUNTERS(NM_COUNTER_FIELD)
};
#undef NM_COUNTER_FIELD

/* A plain copy, merged over workers. */
#define NM_COUNT_FIELD(name) uint64_t name;
struct nm_counts {
	NM_COUNTERS(NM_COUNT_FIELD)
};
#undef NM_COUNT_FIELD

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

/* Answered or not. Both only grow, so that differences of two readings are never below 0. */
static inline uint64_t nm_count_passes(const struct nm_counters *count)
{
	return nm_counter_read(&count->iterations) + nm_counter_read(&count->unanswered);
}

/* into += what the worker has counted so far. */
void nm_counts_collect(struct nm_counts *into, const struct nm_counters *from);
void nm_counts_add(struct nm_counts *into, const struct nm_counts *from);
void nm_counts_subtract(struct nm_counts *into, const struct nm_counts *earlier);

#endif
