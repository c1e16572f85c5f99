/* SPDX-License-Identifier: Apache-2.0 */
/* What is told while phases run: how far they are, and single executions of flowops. */
#include <errno.h>
#include <stdlib.h>

#include "control/master/master.h"
#include "flowop/flowop.h"
#include "host/clock.h"

#define ROWS	    4096u /* taken at a time */
#define PARTS	    32u
#define TAKE_NS	    50000000u /* at least so often */
#define MAX_STRANDS 100000u   /* in a table */

static bool tells_progress(const struct nm_master *master)
{
	return (master->options->statistics & NM_STAT_RAW) && master->options->events.progress;
}

static bool tells_responses(const struct nm_master *master)
{
	const struct nm_run_options *options = master->options;

	return ((options->statistics & NM_STAT_RESPONSES) || options->log_passes) &&
	       options->events.responses;
}

static bool tells_traffic(const struct nm_master *master)
{
	return master->options->traffic_ns && master->options->events.traffic;
}

static unsigned samples(const struct nm_master *master)
{
	const struct nm_run_options *options = master->options;

	if (nm_plan_flows(master->plan) > NM_FLOW_ROWS_MAX)
		return 0;
	return (options->samples_flows ? NM_DETAIL_PASSES : 0u) |
	       (options->samples_tcp ? NM_DETAIL_TCP : 0u);
}

/* Of how many flows percentiles can be kept. */
static uint64_t most_timed(const struct nm_master *master)
{
	uint64_t most = master->options->interval_ns / NM_FLOW_SAMPLER_TIMES_NS;

	return most && most < NM_FLOW_SAMPLER_MAX_TIMES ? most : NM_FLOW_SAMPLER_MAX_TIMES;
}

bool nm_master_times_flows(const struct nm_master *master)
{
	return (samples(master) & NM_DETAIL_PASSES) && master->options->samples_percentiles &&
	       nm_plan_flows(master->plan) <= most_timed(master);
}

unsigned nm_master_details(const struct nm_master *master)
{
	unsigned statistics = master->options->statistics;
	const unsigned timed = NM_STAT_FLOWOPS | NM_STAT_TRANSACTIONS | NM_STAT_STRANDS |
			       NM_STAT_FLOWOP_CPU | NM_STAT_RESPONSES;
	unsigned details = statistics ? NM_DETAIL_COUNTS : 0;

	if (statistics & timed)
		details |= NM_DETAIL_TIMES;
	if ((statistics & NM_STAT_STRANDS) && nm_plan_flows(master->plan) <= MAX_STRANDS)
		details |= NM_DETAIL_STRANDS;
	if (statistics & NM_STAT_FLOWOP_CPU)
		details |= NM_DETAIL_CPU;
	return details | samples(master);
}

int nm_progress_sampler_start(struct nm_master *master)
{
	struct nm_progress_sampler *ticker = &master->ticker;
	uint64_t flows = nm_plan_flows(master->plan);

	ticker->wall_offset_ns = nm_clock_wall_ns() - nm_clock_ns();
	ticker->grid.next_ns = ticker->traffic_grid.next_ns = UINT64_MAX;
	if ((master->options->statistics & NM_STAT_STRANDS) && flows > MAX_STRANDS)
		nm_result_warn(master->result,
			       "there is no table of strands: they are %llu, and at most %u are "
			       "listed",
			       (unsigned long long)flows, MAX_STRANDS);
	if ((master->options->samples_flows || master->options->samples_tcp) &&
	    flows > NM_FLOW_ROWS_MAX)
		nm_result_warn(master->result,
			       "there are no samples of flows: they are %llu, and at most %u are "
			       "sampled",
			       (unsigned long long)flows, NM_FLOW_ROWS_MAX);
	else if (master->options->samples_flows && master->options->samples_percentiles &&
		 !nm_master_times_flows(master))
		nm_result_warn(master->result,
			       "the samples of flows have no percentiles: the flows are %llu, and "
			       "those of at most %llu are kept with intervals of %.9g s",
			       (unsigned long long)flows, (unsigned long long)most_timed(master),
			       (double)master->options->interval_ns / 1e9);
	if (!tells_responses(master))
		return 0;
	ticker->responses = calloc(ROWS, sizeof *ticker->responses);
	ticker->rows = calloc(ROWS, sizeof *ticker->rows);
	return ticker->responses && ticker->rows ? 0 : -ENOMEM;
}

static void tell(const struct nm_master *master, enum nm_progress_event event, uint64_t bytes,
		 uint64_t operations)
{
	const struct nm_progress progress = {
		.event = event,
		.phase = master->phase,
		.wall_ns = nm_clock_ns() + master->ticker.wall_offset_ns,
		.bytes = bytes,
		.operations = operations,
	};

	if (tells_progress(master))
		master->options->events.progress(master->options->events.arg, master->plan,
						 &progress);
}

/* What has been done in the present phase. */
static void read_phase(const struct nm_master *master, uint64_t *ret_bytes,
		       uint64_t *ret_operations)
{
	*ret_bytes = *ret_operations = 0;
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		struct nm_counts counts;

		if (!master->groups[g].runs)
			continue;
		nm_engine_counts(master->engine, g, master->phase, &counts);
		*ret_bytes += counts.bytes_sent + counts.bytes_received;
		*ret_operations += nm_engine_operations(master->engine, g, master->phase);
	}
}

void nm_progress_sampler_begin(struct nm_master *master, const struct nm_phase_order *order)
{
	if (order->phase == 0)
		tell(master, NM_PROGRESS_START, 0, 0);
	nm_interval_begin(&master->ticker.grid, master->phase_begin_ns,
			  tells_progress(master) ? master->options->interval_ns : 0,
			  order->stop_ns);
	tell(master, NM_PROGRESS_BEGIN, 0, 0);
	/* Only where something is measured: what opens and closes connections is no traffic. */
	nm_interval_begin(&master->ticker.traffic_grid, master->phase_begin_ns,
			  tells_traffic(master) && order->measured ? master->options->traffic_ns
								   : 0,
			  order->stop_ns);
	master->ticker.traffic = (struct nm_counts){.iterations = 0};
	master->ticker.traffic_at_ns = master->phase_begin_ns;
}

/* What has moved since this was last told. */
static void tell_traffic(struct nm_master *master, uint64_t now_ns)
{
	struct nm_progress_sampler *ticker = &master->ticker;
	struct nm_counts sum = {.iterations = 0};
	struct nm_traffic traffic = {
		.at_s = (double)(now_ns - master->run_begin_ns) / 1e9,
		.seconds = (double)(now_ns - ticker->traffic_at_ns) / 1e9,
	};

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		struct nm_counts counts;

		if (!master->groups[g].runs)
			continue;
		nm_engine_counts(master->engine, g, master->phase, &counts);
		nm_counts_add(&sum, &counts);
	}
	traffic.counts = sum;
	nm_counts_subtract(&traffic.counts, &ticker->traffic);
	ticker->traffic = sum;
	ticker->traffic_at_ns = now_ns;
	if (traffic.seconds > 0)
		master->options->events.traffic(master->options->events.arg, &traffic);
}

static uint32_t phase_of(const struct nm_group *group, uint32_t instr)
{
	uint32_t low = 0, high = group->n_phases;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (group->phases[middle].first <= instr)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* In so many parts at most: whoever is faster than this loop must not keep it. */
static void take_responses(struct nm_master *master, unsigned parts)
{
	struct nm_progress_sampler *ticker = &master->ticker;
	size_t n;

	while (parts-- > 0 &&
	       (n = nm_engine_take_responses(master->engine, ticker->responses, ROWS)) > 0) {
		for (size_t i = 0; i < n; i++) {
			const struct nm_response *from = &ticker->responses[i];
			const struct nm_group *group = &master->plan->groups[from->group];
			uint32_t phase = phase_of(group, from->instr);
			const char *flowop =
				from->is_pass ? NULL : group->instrs[from->instr].op->name;
			uint64_t begin_ns, end_ns;

			nm_engine_times(master->engine, from->group, phase, &begin_ns, &end_ns);

			ticker->rows[i] = (struct nm_response_row){
				.wall_ns = from->end_ns + ticker->wall_offset_ns,
				.elapsed_ns = from->elapsed_ns,
				.group = group->name,
				.transaction = group->phases[phase].name,
				.flowop = flowop,
				.since_ns = from->end_ns - begin_ns,
				.worker = from->flow % group->n_workers,
				.phase = phase,
				.flow = from->flow,
				.failed = from->failed,
			};
		}
		master->options->events.responses(master->options->events.arg, ticker->rows, n);
		master->result->responses.told += n;
		for (size_t i = 0; i < n; i++)
			master->result->responses.passes += ticker->responses[i].is_pass;
	}
}

uint64_t nm_progress_sampler_next_ns(const struct nm_master *master)
{
	uint64_t next_ns = master->ticker.grid.next_ns;
	uint64_t take_ns = tells_responses(master) ? nm_clock_ns() + TAKE_NS : UINT64_MAX;

	if (master->ticker.traffic_grid.next_ns < next_ns)
		next_ns = master->ticker.traffic_grid.next_ns;
	return take_ns < next_ns ? take_ns : next_ns;
}

void nm_progress_sampler_run(struct nm_master *master, uint64_t now_ns)
{
	uint64_t bytes, operations;

	if (tells_responses(master))
		take_responses(master, PARTS);
	if (now_ns >= master->ticker.traffic_grid.next_ns) {
		(void)nm_interval_pass(&master->ticker.traffic_grid, now_ns);
		tell_traffic(master, now_ns);
	}
	if (now_ns < master->ticker.grid.next_ns)
		return;
	(void)nm_interval_pass(&master->ticker.grid, now_ns);
	read_phase(master, &bytes, &operations);
	tell(master, NM_PROGRESS_TICK, bytes, operations);
}

void nm_progress_sampler_end(struct nm_master *master)
{
	uint64_t bytes, operations;

	read_phase(master, &bytes, &operations);
	master->ticker.bytes += bytes;
	master->ticker.operations += operations;
	if (master->ticker.traffic_grid.interval_ns)
		tell_traffic(master, nm_clock_ns());
	master->ticker.traffic_grid = (struct nm_interval){.next_ns = UINT64_MAX};
	master->ticker.grid.next_ns = UINT64_MAX;
	tell(master, NM_PROGRESS_END, bytes, operations);
}

void nm_progress_sampler_finish(struct nm_master *master)
{
	master->result->end_wall_ns = master->run_end_ns + master->ticker.wall_offset_ns;
	tell(master, NM_PROGRESS_FINISH, master->ticker.bytes, master->ticker.operations);
	if (!tells_responses(master))
		return;
	take_responses(master, UINT16_MAX);
	master->result->responses.lost = nm_engine_lost_responses(master->engine);
	if (master->result->responses.lost)
		nm_result_warn(master->result,
			       "the log of responses is not complete: %llu of %llu came faster "
			       "than they could be written",
			       (unsigned long long)master->result->responses.lost,
			       (unsigned long long)(master->result->responses.told +
						    master->result->responses.lost));
}
