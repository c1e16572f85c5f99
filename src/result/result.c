/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees results, and answers questions about them. */
#include "result/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct nm_result *nm_result_new(void)
{
	return calloc(1, sizeof(struct nm_result));
}

static void free_group(struct nm_result_group *group)
{
	for (size_t i = 0; i < group->n_phases; i++) {
		free(group->phases[i].arrivals);
		free(group->phases[i].name);
		nm_window_fini(&group->phases[i].whole);
		nm_window_fini(&group->phases[i].due);
		for (size_t s = 0; s < group->phases[i].n_steps; s++)
			nm_window_fini(&group->phases[i].steps[s].window);
		free(group->phases[i].steps);
	}
	nm_window_fini(&group->totals);
	free(group->phases);
	free(group->name);
}

struct nm_host_report *nm_host_report_free(struct nm_host_report *report)
{
	for (size_t g = 0; report && report->groups && g < report->n_groups; g++) {
		struct nm_group_report *group = &report->groups[g];

		for (size_t k = 0; group->transactions && k < group->n_transactions; k++)
			free(group->transactions[k].flowops);
		free(group->transactions);
		free(group->strands);
	}
	if (report)
		free(report->groups);
	free(report);
	return NULL;
}

void nm_result_warn(struct nm_result *result, const char *fmt, ...)
{
	char **warnings = realloc(result->warnings.items,
				  (result->warnings.count + 1) * sizeof *result->warnings.items);
	va_list args;

	if (!warnings)
		return;
	result->warnings.items = warnings;
	va_start(args, fmt);
	if (vasprintf(&warnings[result->warnings.count], fmt, args) >= 0)
		result->warnings.count++;
	va_end(args);
}

static void free_interval(struct nm_result_interval *row)
{
	for (size_t g = 0; g < row->n_groups; g++)
		nm_window_fini(&row->groups[g]);
	free(row->groups);
	nm_window_fini(&row->window);
}

static void free_host(struct nm_result_host *host)
{
	nm_host_report_free(host->report);
	free(host->name);
	free(host->address);
	free(host->error);
	free(host->groups);
	free(host->intervals);
}

struct nm_result *nm_result_free(struct nm_result *result)
{
	if (!result)
		return NULL;
	/* Arrays may be missing while their counts are set: a result that ran out of memory. */
	for (size_t i = 0; result->groups && i < result->n_groups; i++)
		free_group(&result->groups[i]);
	for (size_t i = 0; result->hosts && i < result->n_hosts; i++)
		free_host(&result->hosts[i]);
	for (size_t i = 0; result->warnings.items && i < result->warnings.count; i++)
		free(result->warnings.items[i]);
	free(result->groups);
	free(result->hosts);
	free(result->warnings.items);
	free(result->id.servers);
	for (size_t i = 0; result->intervals && i < result->n_intervals; i++)
		free_interval(&result->intervals[i]);
	nm_window_fini(&result->totals);
	free(result->intervals);
	nm_params_fini(&result->params);
	free(result->profile.name);
	free(result->profile.path);
	free(result->id.run_id);
	free(result->id.version);
	free(result->verdict.incomplete_why);
	free(result->grid.warmup_until);
	free(result->verdict.reconcile_text);
	free(result);
	return NULL;
}

bool nm_phase_is_behind(const struct nm_result_phase *phase, uint32_t n_flows)
{
	double planned = phase->planned_per_s * phase->whole.seconds;

	const struct nm_counts *counts = &phase->whole.counts;

	return (double)(counts->iterations + counts->unanswered) + n_flows < 0.99 * planned;
}

const struct nm_latency *nm_window_passes(const struct nm_window *window)
{
	return window->pass.count ? &window->pass : &window->latency;
}

double nm_window_transactions_per_s(const struct nm_window *window)
{
	return window->seconds > 0 ? (double)window->counts.iterations / window->seconds : 0;
}

double nm_window_bits_per_s(const struct nm_window *window)
{
	double bytes = (double)window->counts.bytes_sent + (double)window->counts.bytes_received;

	return window->seconds > 0 ? bytes * 8 / window->seconds : 0;
}

bool nm_interval_is_last(const struct nm_result *result, const struct nm_result_interval *row)
{
	return row + 1 == result->intervals + result->n_intervals || row[1].phase != row->phase;
}

/* The grid of a host has the points of the master's, but for those that the host missed. It may go
 * on for longer: until the host's last flow. */
const struct nm_host_interval *nm_host_interval_at(const struct nm_result *result,
						   const struct nm_result_host *host,
						   const struct nm_result_interval *row)
{
	double half = (row->to_s - row->from_s) / 2;
	bool last = nm_interval_is_last(result, row);

	for (size_t i = 0; i < host->n_intervals; i++) {
		const struct nm_host_interval *own = &host->intervals[i];
		bool own_last = i + 1 == host->n_intervals || own[1].phase != own->phase;

		if (own->phase == row->phase &&
		    fabs(own->from_s - row->from_s) < NM_GRID_ROUNDING_S &&
		    (last || own_last || fabs(own->to_s - row->to_s) <= half))
			return own;
	}
	return NULL;
}

bool nm_host_done_by(const struct nm_result_host *host, uint32_t phase, double seconds)
{
	bool any = false;

	for (size_t i = 0; i < host->n_intervals; i++) {
		const struct nm_host_interval *own = &host->intervals[i];

		if (own->phase == phase && own->to_s > seconds + NM_GRID_ROUNDING_S)
			return false;
		any |= own->phase == phase;
	}
	return any;
}

double nm_cpu_share(const struct nm_cpu_times *cpu, uint64_t part_ns)
{
	uint64_t all_ns = cpu->user_ns + cpu->nice_ns + cpu->system_ns + cpu->idle_ns +
			  cpu->iowait_ns + cpu->irq_ns + cpu->softirq_ns + cpu->steal_ns;

	return all_ns ? (double)part_ns / (double)all_ns : 0;
}

/* Both ends count a connection and its fast open, if both hosts have delivered. */
void nm_span_cover(struct nm_span *span, struct nm_span other)
{
	if (other.to_ns <= other.from_ns)
		return;
	if (span->to_ns <= span->from_ns) {
		*span = other;
		return;
	}
	span->from_ns = other.from_ns < span->from_ns ? other.from_ns : span->from_ns;
	span->to_ns = other.to_ns > span->to_ns ? other.to_ns : span->to_ns;
}

double nm_span_s(struct nm_span span)
{
	return span.to_ns > span.from_ns ? (double)(span.to_ns - span.from_ns) / 1e9 : 0;
}

bool nm_result_fastopens(const struct nm_result *result, uint64_t *ret_fast, uint64_t *ret_all)
{
	bool asked = false;

	*ret_fast = *ret_all = 0;
	for (size_t g = 0; g < result->n_groups; g++) {
		struct nm_counts sum = {.iterations = 0};

		for (size_t i = 0; result->groups[g].opens_fast && i < result->n_hosts; i++)
			if (g < result->hosts[i].n_groups)
				nm_counts_add(&sum, &result->hosts[i].groups[g]);
		uint64_t ends = sum.connects + sum.accepts;
		uint64_t all = sum.connects > sum.accepts ? sum.connects : sum.accepts;

		asked |= result->groups[g].opens_fast;
		*ret_all += all;
		*ret_fast +=
			ends ? (uint64_t)((double)sum.fastopens * (double)all / (double)ends + 0.5)
			     : 0;
	}
	return asked;
}

bool nm_result_mapped(const struct nm_result *result, uint64_t *ret_mapped, uint64_t *ret_received)
{
	bool asked = false;

	*ret_mapped = *ret_received = 0;
	for (size_t g = 0; g < result->n_groups; g++) {
		asked |= result->groups[g].maps;
		for (size_t i = 0; result->groups[g].maps && i < result->n_hosts; i++) {
			const struct nm_result_host *host = &result->hosts[i];

			if (g >= host->n_groups)
				continue;
			*ret_mapped += host->groups[g].bytes_mapped;
			*ret_received += host->groups[g].bytes_received;
		}
	}
	return asked;
}

bool nm_result_is_late(const struct nm_result *result)
{
	bool late = false;

	for (size_t h = 0; h < result->n_hosts; h++)
		late |= result->hosts[h].window.late_ns > 0;
	return late;
}

bool nm_result_is_cut(const struct nm_result *result)
{
	return nm_result_is_late(result) || result->grid.warmup_s > 0 ||
	       result->grid.cooldown_s > 0 || result->grid.after.seconds > 0;
}
