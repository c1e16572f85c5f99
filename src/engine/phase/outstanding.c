/* SPDX-License-Identifier: Apache-2.0 */
/* The integral over time of how many passes are outstanding. */
#include "engine/phase/outstanding.h"

#include "flowop/request.h"
#include "stats/counters.h"

static uint64_t within(uint64_t at_ns, uint64_t last_ns)
{
	return at_ns < last_ns ? at_ns : last_ns;
}

void nm_outstanding_end(struct nm_outstanding *outstanding, const struct nm_request *request,
			uint64_t from_ns, uint64_t to_ns, uint64_t last_ns)
{
	uint64_t end_ns = within(to_ns, last_ns), pass_ns = end_ns - within(from_ns, last_ns);

	outstanding->now--;
	outstanding->sum_ns += end_ns;
	if (request->outcome != NM_UNDER_WAY)
		outstanding->failed_ns += pass_ns;
	else
		outstanding->after_ns += to_ns - from_ns - pass_ns;
}

void nm_outstanding_count(const struct nm_outstanding *outstanding, struct nm_counters *count,
			  uint64_t last_ns)
{
	uint64_t sum_ns = outstanding->sum_ns + outstanding->now * last_ns;

	nm_counter_add(&count->outstanding, sum_ns / NM_DELAY_STEP_NS);
	nm_counter_add(&count->outstanding_most, outstanding->most);
	nm_counter_add(&count->outstanding_failed, outstanding->failed_ns / NM_DELAY_STEP_NS);
	nm_counter_add(&count->outstanding_after, outstanding->after_ns / NM_DELAY_STEP_NS);
}
