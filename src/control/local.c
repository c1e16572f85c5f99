/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, reads and ends the part of a run that takes place on this host. */
#include "control/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/snapshot.h"
#include "engine/flowop_stats.h"
#include "transport/address.h"

static int add_samplers(struct nm_local *local, const struct nm_local_config *config)
{
	const struct nm_usage_config usage = {.engine = local->engine,
					      .plan = local->plan,
					      .perf = local->perf,
					      .interval_ns = config->interval_ns,
					      .row = config->row,
					      .arg = config->arg};
	const struct nm_flow_config flows = {.engine = local->engine,
					     .plan = local->plan,
					     .interval_ns = config->interval_ns,
					     .percentiles = config->percentiles,
					     .flows = config->flow_rows,
					     .tcp = config->tcp_rows,
					     .arg = config->arg};

	local->usage = nm_usage_sampler_new(&usage);
	local->flows = nm_flow_sampler_new(&flows);
	if (!local->usage || !local->flows)
		return -ENOMEM;
	nm_samplers_add(&local->samplers, nm_usage_sampler_base(local->usage));
	nm_samplers_add(&local->samplers, nm_flow_sampler_base(local->flows));
	nm_end_sampler_init(&local->ends, local->engine);
	nm_samplers_add(&local->samplers, &local->ends.base);
	return 0;
}

int nm_local_open(struct nm_local *local, const struct nm_local_config *config)
{
	const struct nm_plan *plan = config->engine.plan;

	*local = (struct nm_local){.plan = plan};
	int error = nm_engine_new(&config->engine, &local->engine);

	if (error)
		return error;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		if (plan->groups[g].n_workers > local->n_totals)
			local->n_totals = plan->groups[g].n_workers;
	}
	local->totals = calloc(local->n_totals + 1, sizeof *local->totals);
	if (!local->totals)
		return -ENOMEM;
	error = config->counters ? nm_perf_open(config->counters, &local->perf) : 0;
	return error ? error : add_samplers(local, config);
}

void nm_local_close(struct nm_local *local)
{
	local->engine = nm_engine_free(local->engine);
	local->usage = nm_usage_sampler_free(local->usage);
	local->flows = nm_flow_sampler_free(local->flows);
	local->perf = nm_perf_close(local->perf);
	free(local->totals);
	*local = (struct nm_local){.plan = NULL};
}

int nm_local_listen(struct nm_local *local, char *why, size_t why_size)
{
	int error = nm_engine_prepare(local->engine, why, why_size);

	return error ? error : nm_engine_listen(local->engine, why, why_size);
}

const uint64_t *nm_local_totals(struct nm_local *local, uint32_t group)
{
	for (uint32_t w = 0; w < local->plan->groups[group].n_workers; w++)
		local->totals[w] = nm_engine_iterations(local->engine, group, w);
	return local->totals;
}

bool nm_local_take_failure(struct nm_local *local, const char *file, char *text, size_t size,
			   bool *ret_secondary)
{
	struct nm_engine_error error;

	if (local->failed || !nm_engine_failed(local->engine, &error))
		return false;
	local->failed = true;
	nm_failure_text(&error, local->plan, file, text, size);
	*ret_secondary = nm_failure_is_secondary(&error);
	return true;
}

void nm_local_result(struct nm_local *local, uint64_t now_ns, struct nm_msg_result *ret)
{
	struct nm_usage_window *window = calloc(1, sizeof *window);
	struct nm_addr stranger;

	nm_counts_read(local->engine, local->plan, ret->groups);
	ret->cut = *nm_engine_cut(local->engine);
	nm_connections_read(local->engine, local->plan, &ret->connections, &ret->cut);
	ret->strangers = nm_engine_strangers(local->engine, &stranger);
	if (stranger.len)
		(void)nm_addr_text(&stranger, ret->last_stranger, sizeof ret->last_stranger);
	if (window) {
		nm_usage_sampler_window(local->usage, now_ns, window);
		ret->has_usage = window->has_usage;
		ret->usage = window->usage;
		ret->each = window->each;
		ret->counters = window->counters;
		ret->arrived = window->arrived;
		ret->window = window->counted;
	}
	free(window);
	if (nm_engine_details(local->engine) & NM_OBSERVE_REPORT)
		ret->report = nm_report_pack(local->engine, local->plan);
}
