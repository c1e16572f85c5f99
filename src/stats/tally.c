/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and differences of tallies. */
#include "stats/tally.h"

#include <stdlib.h>
#include <string.h>

#define NAME_OF(more, NAME, member, ...)	 #member,
#define LABEL_OF(more, NAME, member, label, ...) label,
const char *const nm_time_names[] = {NM_TIMES(NAME_OF, ) NM_SIZED_TIMES(NAME_OF, NAME_OF, )};
const char *const nm_time_labels[] = {NM_TIMES(LABEL_OF, ) NM_SIZED_TIMES(LABEL_OF, LABEL_OF, )};

#define LIMIT_OF(T, R, more, NAME, member, label, below_bytes) below_bytes,

unsigned nm_size_class(uint64_t bytes)
{
	static const uint64_t limits[] = {NM_SIZE_CLASSES(LIMIT_OF, , , )};
	unsigned size_class = 0;

	while (bytes >= limits[size_class] && size_class + 1 < sizeof(limits) / sizeof(limits[0]))
		size_class++;
	return size_class;
}

struct nm_tally_snap *nm_tally_snap_new(void)
{
	/* The memory of distributions that are never kept stays untouched. */
	struct nm_tally_snap *snap = calloc(1, sizeof *snap);

	for (unsigned i = 0; snap && i < NM_TIME__COUNT; i++)
		snap->times[i].min_ns = UINT64_MAX;
	return snap;
}

void nm_tally_snap_init(struct nm_tally_snap *snap)
{
	memset(&snap->counts, 0, sizeof snap->counts);
	snap->kept = 0;
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		nm_hist_snap_init(&snap->times[i]);
}

void nm_tally_snap_clear(struct nm_tally_snap *snap)
{
	memset(&snap->counts, 0, sizeof snap->counts);
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		if (nm_tally_keeps(snap, i))
			nm_hist_snap_init(&snap->times[i]);
	snap->kept = 0;
}

void nm_tally_copy(struct nm_tally_snap *into, const struct nm_tally_snap *from)
{
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		if (nm_tally_keeps(from, i) || nm_tally_keeps(into, i))
			into->times[i] = from->times[i];
	into->counts = from->counts;
	into->kept = from->kept;
}

void nm_tally_collect(struct nm_tally_snap *into, const struct nm_tally *from)
{
	nm_counts_collect(&into->counts, &from->counters);
	for (unsigned i = 0; i < NM_TIME__COUNT; i++) {
		if (!from->times[i])
			continue;
		into->kept |= 1u << i;
		nm_hist_collect(&into->times[i], from->times[i]);
	}
}

/* The whole passes; where a tally does not keep them nobody thinks, and they are its latency. */
static const struct nm_hist_snap *passes_of(const struct nm_tally_snap *snap)
{
	return nm_tally_keeps(snap, NM_TIME_PASS) ? &snap->pass : &snap->latency;
}

void nm_tally_add(struct nm_tally_snap *into, const struct nm_tally_snap *from)
{
	unsigned kept = into->kept | from->kept;

	nm_counts_add(&into->counts, &from->counts);
	if (kept >> NM_TIME_PASS & 1) {
		if (passes_of(into) != &into->pass)
			into->pass = into->latency;
		nm_hist_snap_merge(&into->pass, passes_of(from));
	}
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		if (i != NM_TIME_PASS && nm_tally_keeps(from, i))
			nm_hist_snap_merge(&into->times[i], &from->times[i]);
	into->kept = kept;
}

void nm_tally_subtract(struct nm_tally_snap *into, const struct nm_tally_snap *earlier)
{
	nm_counts_subtract(&into->counts, &earlier->counts);
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		/* Subtracting nothing would still round the extremes to the edges of buckets. */
		if (nm_tally_keeps(into, i) && earlier->times[i].count)
			nm_hist_snap_subtract(&into->times[i], &earlier->times[i]);
}
