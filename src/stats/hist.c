/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histograms of times. */
#include "stats/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums below this are whole, also after they have crossed the wire, where integers have 63 bits. */
#define SUM_EXACT 0x1p63

uint64_t nm_hist_bucket_low(unsigned index)
{
	if (index < (2u << NM_HIST_SUB_BITS))
		return index;
	unsigned shift = (index >> NM_HIST_SUB_BITS) - 1;

	return (uint64_t)(index - (shift << NM_HIST_SUB_BITS)) << shift;
}

uint64_t nm_hist_bucket_width(unsigned index)
{
	return index < (2u << NM_HIST_SUB_BITS) ? 1
						: UINT64_C(1) << ((index >> NM_HIST_SUB_BITS) - 1);
}

/* The value that stands for all of a bucket. */
static double bucket_middle(unsigned index)
{
	return (double)nm_hist_bucket_low(index) + ((double)nm_hist_bucket_width(index) - 1) / 2;
}

void nm_hist_init_zeroed(struct nm_hist *h)
{
	atomic_init(&h->min_ns, UINT64_MAX);
}

/* The buckets from `from` on and before `to`, with the minimum and the maximum as they were. */
static void collect(struct nm_hist_snap *into, const struct nm_hist *h, unsigned from, unsigned to,
		    uint64_t min_ns, uint64_t max_ns)
{
	uint64_t count = 0;
	unsigned first = 0, last = 0;

	for (unsigned i = from; i < to; i++) {
		uint64_t n = NM_HIST_LOAD_(h->bucket[i]);

		if (!n)
			continue;
		first = count ? first : i;
		last = i;
		count += n;
		into->bucket[i] += n;
	}
	into->sum_ns += NM_HIST_LOAD_(h->sum_ns);
	if (!count)
		return;
	/* The writer may be between a bucket and the minimum or maximum: then the edges stand
	 * in. */
	uint64_t first_low = nm_hist_bucket_low(first), last_low = nm_hist_bucket_low(last);

	if (min_ns > first_low && min_ns - first_low >= nm_hist_bucket_width(first))
		min_ns = first_low;
	if (max_ns < last_low)
		max_ns = last_low + (nm_hist_bucket_width(last) - 1);
	into->count += count;
	into->min_ns = min_ns < into->min_ns ? min_ns : into->min_ns;
	into->max_ns = max_ns > into->max_ns ? max_ns : into->max_ns;
}

void nm_hist_collect(struct nm_hist_snap *into, const struct nm_hist *h)
{
	uint64_t min_ns = NM_HIST_LOAD_(h->min_ns), max_ns = NM_HIST_LOAD_(h->max_ns);

	collect(into, h, 0, NM_HIST_BUCKETS, min_ns, max_ns);
}

void nm_hist_collect_touched(struct nm_hist_snap *into, const struct nm_hist *h)
{
	uint64_t min_ns = NM_HIST_LOAD_(h->min_ns), max_ns = NM_HIST_LOAD_(h->max_ns);

	if (min_ns <= max_ns)
		collect(into, h, nm_hist_index(min_ns), nm_hist_index(max_ns) + 1, min_ns, max_ns);
}

void nm_hist_copy_buckets(const struct nm_hist *h, struct nm_hist_snap *ret_snap)
{
	nm_hist_snap_init(ret_snap);
	ret_snap->min_ns = NM_HIST_LOAD_(h->min_ns);
	ret_snap->max_ns = NM_HIST_LOAD_(h->max_ns);
	if (ret_snap->min_ns > ret_snap->max_ns)
		return;
	for (unsigned i = nm_hist_index(ret_snap->min_ns); i <= nm_hist_index(ret_snap->max_ns);
	     i++) {
		ret_snap->bucket[i] = NM_HIST_LOAD_(h->bucket[i]);
		ret_snap->count += ret_snap->bucket[i];
	}
}

void nm_hist_snap_init(struct nm_hist_snap *s)
{
	memset(s, 0, sizeof *s);
	s->min_ns = UINT64_MAX;
}

/* All but the buckets. */
static void add_outline(struct nm_hist_snap *into, uint64_t count, uint64_t sum_ns, uint64_t min_ns,
			uint64_t max_ns)
{
	into->count += count;
	into->sum_ns += sum_ns;
	into->min_ns = min_ns < into->min_ns ? min_ns : into->min_ns;
	into->max_ns = max_ns > into->max_ns ? max_ns : into->max_ns;
}

void nm_hist_snap_merge(struct nm_hist_snap *into, const struct nm_hist_snap *from)
{
	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	add_outline(into, from->count, from->sum_ns, from->min_ns, from->max_ns);
}

struct nm_hist_packed *nm_hist_pack(const struct nm_hist_snap *s)
{
	struct nm_hist_packed *packed;
	size_t n = 0;

	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++)
		n += s->bucket[i] > 0;
	packed = malloc(sizeof *packed + n * sizeof packed->buckets[0]);
	if (!packed)
		return NULL;
	*packed = (struct nm_hist_packed){
		.count = s->count, .sum_ns = s->sum_ns, .min_ns = s->min_ns, .max_ns = s->max_ns};
	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++)
		if (s->bucket[i])
			packed->buckets[packed->n++] =
				(struct nm_hist_bucket){.count = s->bucket[i], .index = i};
	return packed;
}

void nm_hist_snap_add_packed(struct nm_hist_snap *into, const struct nm_hist_packed *packed)
{
	for (size_t i = 0; i < packed->n; i++)
		into->bucket[packed->buckets[i].index] += packed->buckets[i].count;
	add_outline(into, packed->count, packed->sum_ns, packed->min_ns, packed->max_ns);
}

/* Minimum and maximum from the edges of the buckets that are not empty, no wider than they were. */
static void find_edges(struct nm_hist_snap *s)
{
	unsigned first = 0, last = NM_HIST_BUCKETS - 1;

	if (!s->count) {
		s->min_ns = UINT64_MAX;
		s->max_ns = 0;
		return;
	}
	while (!s->bucket[first])
		first++;
	while (!s->bucket[last])
		last--;
	uint64_t low = nm_hist_bucket_low(first);
	uint64_t high = nm_hist_bucket_low(last) + (nm_hist_bucket_width(last) - 1);

	s->min_ns = low > s->min_ns ? low : s->min_ns;
	s->max_ns = high < s->max_ns ? high : s->max_ns;
}

void nm_hist_snap_subtract(struct nm_hist_snap *into, const struct nm_hist_snap *earlier)
{
	if (!earlier->count)
		return;
	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++)
		into->bucket[i] -= earlier->bucket[i];
	into->count -= earlier->count;
	into->sum_ns -= earlier->sum_ns;
	find_edges(into);
}

double nm_hist_percentile_s(const struct nm_hist_snap *s, double pct)
{
	if (!s->count)
		return 0;
	/* The ends are known better than a bucket tells. */
	if (pct <= 0)
		return (double)s->min_ns / 1e9;
	if (pct >= 100)
		return (double)s->max_ns / 1e9;
	/* 99.9 % of 1000 is a hair above 999 in binary: not a rank more. */
	uint64_t rank = (uint64_t)ceil(pct / 100 * (double)s->count * (1 - 1e-14));
	uint64_t seen = 0;

	rank = rank < 1 ? 1 : rank > s->count ? s->count : rank;
	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++) {
		seen += s->bucket[i];
		if (seen >= rank)
			return fmin(fmax(bucket_middle(i), (double)s->min_ns), (double)s->max_ns) /
			       1e9;
	}
	return (double)s->max_ns / 1e9;
}

/* From the buckets, ns: off by less than 1/256. */
static double mean_of_buckets(const struct nm_hist_snap *s)
{
	double sum = 0;

	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++)
		sum += (double)s->bucket[i] * bucket_middle(i);
	return sum / (double)s->count;
}

/* A sum that does not fit has lost its upper bits: then the buckets tell the mean. */
double nm_hist_mean_s(const struct nm_hist_snap *s)
{
	double count = (double)s->count, sum = (double)(s->sum_ns & INT64_MAX), mean;

	if (!s->count)
		return 0;
	if ((double)s->max_ns * count < SUM_EXACT)
		return sum / count * 1e-9;
	mean = mean_of_buckets(s);
	return (mean * count < SUM_EXACT / 2 ? sum / count : mean) * 1e-9;
}

double nm_hist_stddev_s(const struct nm_hist_snap *s)
{
	double mean, squares = 0;

	if (s->count < 2)
		return 0;
	mean = mean_of_buckets(s);
	for (unsigned i = 0; i < NM_HIST_BUCKETS; i++) {
		double off = bucket_middle(i) - mean;

		if (s->bucket[i])
			squares += (double)s->bucket[i] * off * off;
	}
	return sqrt(squares / (double)s->count) * 1e-9;
}
