/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histogram of nanoseconds: exact below 256, above that 128 buckets per power of two, so
 * a reported value is within 1/256 of the recorded one. One writer thread; any thread may take a
 * copy meanwhile (single-writer relaxed atomics, no lock). */
#ifndef NM_STATS_HIST_H
#define NM_STATS_HIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_HIST_SUB_BITS 7
#define NM_HIST_BUCKETS	 ((64 - NM_HIST_SUB_BITS + 1) << NM_HIST_SUB_BITS)

/* Live: written by one worker. */
struct nm_hist {
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t min_ns; /* UINT64_MAX when empty */
	_Atomic uint64_t max_ns;
	_Atomic uint64_t bucket[NM_HIST_BUCKETS];
};

/* Plain copy: merged, subtracted, queried; not shared. */
struct nm_hist_snap {
	uint64_t count, sum_ns, min_ns, max_ns; /* the sum modulo 2^64, or 2^63 from another host */
	uint64_t bucket[NM_HIST_BUCKETS];
};

/* The buckets of a snapshot that are not empty: takes little memory, to be kept. */
struct nm_hist_packed {
	uint64_t count, sum_ns, min_ns, max_ns;
	size_t n;
	struct nm_hist_bucket {
		uint64_t count;
		unsigned index;
	} buckets[];
};

static inline unsigned nm_hist_index(uint64_t ns)
{
	if (ns < (2u << NM_HIST_SUB_BITS))
		return (unsigned)ns;
	unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - NM_HIST_SUB_BITS;
	return (shift << NM_HIST_SUB_BITS) + (unsigned)(ns >> shift);
}

#define NM_HIST_LOAD_(field)	   atomic_load_explicit(&(field), memory_order_relaxed)
#define NM_HIST_STORE_(field, val) atomic_store_explicit(&(field), (val), memory_order_relaxed)

/* Hot path. The count and the squares are not kept: a reader sums the buckets. */
static inline void nm_hist_record(struct nm_hist *h, uint64_t ns)
{
	_Atomic uint64_t *b = &h->bucket[nm_hist_index(ns)];
	NM_HIST_STORE_(*b, NM_HIST_LOAD_(*b) + 1);
	NM_HIST_STORE_(h->sum_ns, NM_HIST_LOAD_(h->sum_ns) + ns);
	if (__builtin_expect(ns < NM_HIST_LOAD_(h->min_ns), 0))
		NM_HIST_STORE_(h->min_ns, ns);
	if (__builtin_expect(ns > NM_HIST_LOAD_(h->max_ns), 0))
		NM_HIST_STORE_(h->max_ns, ns);
}

/* Makes an empty histogram of memory that is zero already: buckets to which nothing is ever
 * recorded stay untouched. */
void nm_hist_init_zeroed(struct nm_hist *h);
/* Copies the count, the buckets, the minimum and the maximum, but not the sum, and reads only the
 * buckets between minimum and maximum: a value beyond them that the writer is recording meanwhile
 * is missed. Cheap where there are many histograms, and touches no memory that was never recorded
 * to. */
void nm_hist_copy_buckets(const struct nm_hist *h, struct nm_hist_snap *ret_snap);
/* into += all times recorded so far. */
void nm_hist_collect(struct nm_hist_snap *into, const struct nm_hist *h);
/* The same, but reads only as nm_hist_copy_buckets does. */
void nm_hist_collect_touched(struct nm_hist_snap *into, const struct nm_hist *h);

void nm_hist_snap_init(struct nm_hist_snap *s); /* empty */
void nm_hist_snap_merge(struct nm_hist_snap *into, const struct nm_hist_snap *from);
/* into -= earlier; minimum and maximum are then those of the remaining buckets (their edges). */
void nm_hist_snap_subtract(struct nm_hist_snap *into, const struct nm_hist_snap *earlier);
/* Owned; free() frees it. NULL: out of memory. */
struct nm_hist_packed *nm_hist_pack(const struct nm_hist_snap *s);
/* into += packed */
void nm_hist_snap_add_packed(struct nm_hist_snap *into, const struct nm_hist_packed *packed);
/* Seconds; 0 when empty. pct in 0..100: 0 is the minimum and 100 the maximum, exactly; between them
 * the middle of the bucket that holds the rank, kept within min..max. */
double nm_hist_percentile_s(const struct nm_hist_snap *s, double pct);
double nm_hist_mean_s(const struct nm_hist_snap *s);
/* From the buckets: off by less than 1/440 of the values, in the sense of squares. */
double nm_hist_stddev_s(const struct nm_hist_snap *s);
/* Lowest value of a bucket and its width, ns. */
uint64_t nm_hist_bucket_low(unsigned index);
uint64_t nm_hist_bucket_width(unsigned index);

#endif
