/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the counters of workers, and has the table that carries them to other rooms. */
#include "stats/counters.h"

#include <string.h>

const struct nm_field nm_counts_fields[] = {
#define FIELD(member, in_results, what)                                                            \
	NM_FIELD(U64, struct nm_counts, member, .figure = in_results, .doc = what),
	NM_COUNTERS(FIELD)
#undef FIELD
		NM_FIELD_END,
};

const struct nm_field nm_outcomes_fields[] = {
#define FIELD(member, in_results, what)                                                            \
	NM_FIELD(U64, struct nm_outcomes, member, .figure = in_results, .doc = what),
	NM_OUTCOMES(FIELD)
#undef FIELD
		NM_FIELD_END,
};

void nm_counts_collect(struct nm_counts *into, const struct nm_counters *from)
{
#define COLLECT(name, ...) into->name += nm_counter_read(&from->name);
	NM_COUNTERS_WITH(COLLECT, NM_OUTCOME_CLASSES)
#undef COLLECT
}

void nm_outcomes_collect(struct nm_outcomes *into, const struct nm_outcome_counters *from)
{
	struct nm_outcomes one;

#define COLLECT(name, ...) one.name = nm_counter_read(&from->name);
	NM_OUTCOME_CLASSES(COLLECT)
#undef COLLECT
	one.requests = nm_outcomes_sum(&one);
	nm_outcomes_add(into, &one);
}

void nm_outcomes_add(struct nm_outcomes *into, const struct nm_outcomes *from)
{
#define ADD(name, ...) into->name += from->name;
	NM_OUTCOMES(ADD)
#undef ADD
}

void nm_outcomes_subtract(struct nm_outcomes *into, const struct nm_outcomes *earlier)
{
#define SUBTRACT(name, ...) into->name -= earlier->name;
	NM_OUTCOMES(SUBTRACT)
#undef SUBTRACT
}

void nm_outcomes_set_back(struct nm_outcomes *outcomes, const struct nm_outcomes *earlier)
{
	const struct nm_outcomes now = *outcomes;

	*outcomes = *earlier;
	outcomes->timed_out = now.timed_out;
	outcomes->lost = now.lost;
	outcomes->malformed = now.malformed;
	outcomes->requests += nm_outcomes_failed(&now) - nm_outcomes_failed(earlier);
}

void nm_counts_set_back(struct nm_counts *counts, const struct nm_counts *earlier)
{
	const struct nm_counts now = *counts;
	struct nm_outcomes outcomes, then;

	memcpy(&outcomes, &now.requests, sizeof outcomes);
	memcpy(&then, &earlier->requests, sizeof then);
	nm_outcomes_set_back(&outcomes, &then);
	*counts = *earlier;
	memcpy(&counts->requests, &outcomes, sizeof outcomes);
	counts->errors = now.errors;
	counts->unanswered = now.unanswered;
	counts->unsent = now.unsent;
	counts->dropped_queue = now.dropped_queue;
	counts->dropped_late = now.dropped_late;
}

/* Those of passes, and so of their requests and of what failed in them: where passes are due by
 * themselves each belongs to the window in which its pass was due. All others belong to the window
 * in which they are counted. */
#define NM_PASS_COUNTERS(X)                                                                        \
	X(iterations)                                                                              \
	X(errors)                                                                                  \
	X(unanswered)                                                                              \
	X(arrivals)                                                                                \
	X(unsent)                                                                                  \
	X(dropped_queue)                                                                           \
	X(dropped_late)                                                                            \
	X(starved)                                                                                 \
	X(overdue)                                                                                 \
	X(tardy)                                                                                   \
	X(delay_busy)                                                                              \
	X(delay_kernel)                                                                            \
	X(delay_own)                                                                               \
	X(light)                                                                                   \
	X(light_ns)                                                                                \
	X(open_ns)                                                                                 \
	X(outstanding)                                                                             \
	X(outstanding_most)                                                                        \
	X(outstanding_failed)                                                                      \
	X(outstanding_after)                                                                       \
	NM_OUTCOMES(X)

void nm_counts_take_passes(struct nm_counts *into, const struct nm_counts *from)
{
#define TAKE(name, ...) into->name = from->name;
	NM_PASS_COUNTERS(TAKE)
#undef TAKE
}

void nm_counts_add_outcomes(struct nm_counts *into, const struct nm_outcomes *from)
{
#define ADD(name, ...) into->name += from->name;
	NM_OUTCOMES(ADD)
#undef ADD
}

void nm_counts_add(struct nm_counts *into, const struct nm_counts *from)
{
#define ADD(name, ...) into->name += from->name;
	NM_COUNTERS(ADD)
#undef ADD
}

void nm_counts_subtract(struct nm_counts *into, const struct nm_counts *earlier)
{
#define SUBTRACT(name, ...) into->name -= earlier->name;
	NM_COUNTERS(SUBTRACT)
#undef SUBTRACT
}
