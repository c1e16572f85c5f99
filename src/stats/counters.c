/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/counters.h"

void nm_counts_collect(struct nm_counts *into, const struct nm_counters *from)
{
#define COLLECT(name) into->name += nm_counter_read(&from->name);
	NM_COUNTERS(COLLECT)
#undef COLLECT
}

void nm_counts_add(struct nm_counts *into, const struct nm_counts *from)
{
#define ADD(name) into->name += from->name;
	NM_COUNTERS(ADD)
#undef ADD
}

void nm_counts_subtract(struct nm_counts *into, const struct nm_counts *earlier)
{
#define SUBTRACT(name) into->name -= earlier->name;
	NM_COUNTERS(SUBTRACT)
#undef SUBTRACT
}
