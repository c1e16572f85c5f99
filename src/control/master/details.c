/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which details engines keep for the statistics that a user asks for. */
#include "control/master/details.h"

#include "control/wire/rows.h"
#include "engine/flowop_stats.h"

#define MAX_STRANDS 100000u /* in a table */

/* With more flows than this no percentiles are kept: each flow has two histograms. And to read one
 * takes some microseconds, which must be little beside an interval. */
#define MAX_TIMED     4096u
#define TIMED_READ_NS 40000u

static unsigned samples(const struct nm_run_options *options, const struct nm_plan *plan)
{
	if (nm_plan_flows(plan) > NM_FLOW_ROWS_MAX)
		return 0;
	return (options->samples_flows ? NM_OBSERVE_PASSES : 0u) |
	       (options->samples_tcp ? NM_OBSERVE_TCP : 0u);
}

/* The most flows for which percentiles can be kept. */
static uint64_t most_timed(const struct nm_run_options *options)
{
	uint64_t most = options->interval_ns / TIMED_READ_NS;

	return most && most < MAX_TIMED ? most : MAX_TIMED;
}

static bool times_flows(const struct nm_run_options *options, const struct nm_plan *plan)
{
	return (samples(options, plan) & NM_OBSERVE_PASSES) && options->samples_percentiles &&
	       nm_plan_flows(plan) <= most_timed(options);
}

unsigned nm_details_shared(const struct nm_run_options *options, const struct nm_plan *plan)
{
	unsigned statistics = options->statistics;
	const unsigned timed = NM_STAT_FLOWOPS | NM_STAT_TRANSACTIONS | NM_STAT_STRANDS |
			       NM_STAT_FLOWOP_CPU | NM_STAT_RESPONSES;
	unsigned details = statistics ? NM_OBSERVE_COUNTS : 0;

	if (statistics & timed)
		details |= NM_OBSERVE_TIMES;
	if ((statistics & NM_STAT_STRANDS) && nm_plan_flows(plan) <= MAX_STRANDS)
		details |= NM_OBSERVE_FLOWS;
	if (statistics & NM_STAT_FLOWOP_CPU)
		details |= NM_OBSERVE_CPU;
	return details | samples(options, plan);
}

unsigned nm_details_own(const struct nm_run_options *options, const struct nm_plan *plan)
{
	return nm_details_shared(options, plan) |
	       (options->statistics & NM_STAT_RESPONSES ? NM_OBSERVE_EXECS : 0u) |
	       (options->log_passes ? NM_OBSERVE_PASS_LOG : 0u) |
	       (times_flows(options, plan) ? NM_OBSERVE_PASS_TIMES : 0u);
}

void nm_details_warn(const struct nm_run_options *options, const struct nm_plan *plan,
		     struct nm_result *result)
{
	uint64_t flows = nm_plan_flows(plan);

	if ((options->statistics & NM_STAT_STRANDS) && flows > MAX_STRANDS)
		nm_result_warn(result,
			       "there is no table of strands: they are %llu, and at most %u are "
			       "listed",
			       (unsigned long long)flows, MAX_STRANDS);
	if ((options->samples_flows || options->samples_tcp) && flows > NM_FLOW_ROWS_MAX)
		nm_result_warn(result,
			       "there are no samples of flows: they are %llu, and at most %u are "
			       "sampled",
			       (unsigned long long)flows, NM_FLOW_ROWS_MAX);
	else if (options->samples_flows && options->samples_percentiles &&
		 !times_flows(options, plan))
		nm_result_warn(result,
			       "the samples of flows have no percentiles: the flows are %llu, and "
			       "those of at most %llu are kept with intervals of %.9g s",
			       (unsigned long long)flows, (unsigned long long)most_timed(options),
			       (double)options->interval_ns / 1e9);
}
