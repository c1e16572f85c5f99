/* SPDX-License-Identifier: Apache-2.0 */
#include "control/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"

/* What this host has counted in the measured transactions of the phase, and when. */
struct nm_usage_sampler_sum {
	struct nm_counts counts;
	uint64_t arrived_bytes; /* received over transports that may lose messages */
	bool arrived;		/* there are such transports */
	uint64_t arrived_to_ns;
	uint64_t begin_ns, to_ns; /* 0: this host does nothing in the phase */
};

int nm_usage_sampler_init(struct nm_usage_sampler *meter, const struct nm_engine *engine,
			  const struct nm_plan *plan, uint64_t interval_ns,
			  nm_usage_sampler_row_fn row, void *arg)
{
	*meter = (struct nm_usage_sampler){.engine = engine,
					   .plan = plan,
					   .interval_ns = interval_ns,
					   .row = row,
					   .arg = arg,
					   .sample = calloc(1, sizeof *meter->sample),
					   .last = calloc(1, sizeof *meter->last),
					   .now = calloc(1, sizeof *meter->now),
					   .delta = calloc(1, sizeof *meter->delta),
					   .before = calloc(1, sizeof *meter->before),
					   .after = calloc(1, sizeof *meter->after)};
	meter->count_from = calloc(1, sizeof *meter->count_from);
	if (!meter->count_from || !meter->sample || !meter->last || !meter->now || !meter->delta ||
	    !meter->before || !meter->after)
		return -ENOMEM;
	return 0;
}

void nm_usage_sampler_fini(struct nm_usage_sampler *meter)
{
	free(meter->sample);
	free(meter->last);
	free(meter->now);
	free(meter->delta);
	free(meter->before);
	free(meter->after);
	free(meter->count_from);
	*meter = (struct nm_usage_sampler){.running = false};
}

static uint64_t at(uint64_t begin_ns, int64_t after_ns)
{
	return after_ns == NM_USAGE_NEVER || after_ns == NM_USAGE_AT_END
		       ? UINT64_MAX
		       : begin_ns + (uint64_t)after_ns;
}

static void read_counts(struct nm_usage_sampler *meter, struct nm_counts *ret_counts)
{
	*ret_counts = (struct nm_counts){.iterations = 0};
	for (uint32_t g = 0; g < meter->plan->n_groups; g++) {
		const struct nm_group *group = &meter->plan->groups[g];
		uint32_t phase = meter->order.phase;

		if (!group->runs || phase >= group->n_phases || !group->phases[phase].measured)
			continue;
		nm_engine_sample(meter->engine, g, phase, meter->sample);
		nm_counts_add(ret_counts, &meter->sample->counts);
	}
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static void read_sum(struct nm_usage_sampler *meter, struct nm_usage_sampler_sum *ret)
{
	uint32_t phase = meter->order.phase;

	*ret = (struct nm_usage_sampler_sum){.arrived = false};
	for (uint32_t g = 0; g < meter->plan->n_groups; g++) {
		const struct nm_group *group = &meter->plan->groups[g];
		const struct nm_counts *counts = &meter->sample->counts;
		uint64_t begin_ns, end_ns;

		if (!group->runs || phase >= group->n_phases || !group->phases[phase].measured)
			continue;
		nm_engine_sample(meter->engine, g, phase, meter->sample);
		nm_engine_times(meter->engine, g, phase, &begin_ns, &end_ns);
		end_ns = end_ns ? end_ns : nm_clock_ns();
		nm_counts_add(&ret->counts, counts);
		ret->to_ns = later(ret->to_ns, end_ns);
		if (begin_ns && (ret->begin_ns == 0 || begin_ns < ret->begin_ns))
			ret->begin_ns = begin_ns;
		if (counts->messages_sent == 0 && counts->messages_received == 0)
			continue;
		ret->arrived = true;
		ret->arrived_bytes += counts->message_bytes;
		ret->arrived_to_ns = later(ret->arrived_to_ns, end_ns);
	}
}

static void count_from(struct nm_usage_sampler *meter, uint64_t now_ns)
{
	meter->counting = true;
	meter->count_from_ns = now_ns;
	read_sum(meter, meter->count_from);
}

static void add_to_window(struct nm_usage_sampler *meter, struct nm_usage_sampler_sum *sum)
{
	struct nm_host_window *window = &meter->window;
	uint64_t from_ns = later(meter->count_from_ns, sum->begin_ns);

	if (sum->begin_ns == 0 || sum->to_ns <= from_ns)
		return;
	nm_counts_subtract(&sum->counts, &meter->count_from->counts);
	nm_counts_add(&window->counts, &sum->counts);
	window->ns += sum->to_ns - from_ns;
	window->from_ns = window->from_ns ? window->from_ns : from_ns;
	window->to_ns = sum->to_ns;
}

static void count_until_now(struct nm_usage_sampler *meter)
{
	struct nm_usage_sampler_sum sum;

	if (!meter->counting)
		return;
	meter->counting = false;
	read_sum(meter, &sum);
	if (sum.arrived && sum.arrived_to_ns > meter->count_from_ns) {
		meter->arrived.bytes += sum.arrived_bytes - meter->count_from->arrived_bytes;
		meter->arrived.ns += sum.arrived_to_ns - meter->count_from_ns;
	}
	add_to_window(meter, &sum);
}

void nm_usage_sampler_begin(struct nm_usage_sampler *meter, const struct nm_phase_order *order,
			    uint64_t begin_ns)
{
	meter->order = *order;
	meter->running = true;
	meter->begin_ns = begin_ns;
	meter->from_ns = at(begin_ns, order->usage_from_ns);
	meter->to_ns = at(begin_ns, order->usage_to_ns);
	nm_interval_begin(&meter->grid, begin_ns, order->measured ? meter->interval_ns : 0,
			  order->stop_ns);
	meter->row_ns = 0;
	meter->counts = (struct nm_counts){.iterations = 0};
	meter->counting = order->measured && !meter->has_after &&
			  (meter->has_before || order->usage_from_ns == 0);
	meter->count_from_ns = begin_ns;
	memset(meter->count_from, 0, sizeof *meter->count_from);
	if (meter->grid.interval_ns)
		nm_usage_read(meter->last);
}

uint64_t nm_usage_sampler_next_ns(const struct nm_usage_sampler *meter)
{
	uint64_t next_ns = UINT64_MAX;

	if (!meter->running)
		return next_ns;
	if (meter->from_ns < next_ns)
		next_ns = meter->from_ns;
	if (meter->to_ns < next_ns)
		next_ns = meter->to_ns;
	return meter->grid.next_ns < next_ns ? meter->grid.next_ns : next_ns;
}

static void end_row(struct nm_usage_sampler *meter, uint64_t to_ns)
{
	struct nm_counts counts;
	struct nm_usage *swap = meter->last;
	struct nm_host_interval row = {.from_s = (double)meter->row_ns / 1e9,
				       .to_s = (double)to_ns / 1e9,
				       .phase = meter->order.phase};

	nm_usage_read(meter->now);
	nm_usage_delta(meter->last, meter->now, meter->delta);
	if (meter->delta->has_cpu)
		row.cpu = meter->delta->cpu;
	meter->last = meter->now;
	meter->now = swap;
	read_counts(meter, &counts);
	row.counts = counts;
	nm_counts_subtract(&row.counts, &meter->counts);
	meter->counts = counts;
	meter->row_ns = to_ns;
	meter->row(meter->arg, &row);
}

static void close_window(struct nm_usage_sampler *meter)
{
	count_until_now(meter);
	nm_perf_read(meter->perf, &meter->counters_after);
	nm_usage_read(meter->after);
	meter->has_after = true;
}

void nm_usage_sampler_run(struct nm_usage_sampler *meter, uint64_t now_ns)
{
	if (!meter->running)
		return;
	if (now_ns >= meter->from_ns) {
		meter->from_ns = UINT64_MAX;
		nm_usage_read(meter->before);
		nm_perf_read(meter->perf, &meter->counters_before);
		meter->has_before = true;
		if (!meter->counting)
			count_from(meter, now_ns);
	}
	if (now_ns >= meter->to_ns) {
		meter->to_ns = UINT64_MAX;
		close_window(meter);
	}
	if (now_ns >= meter->grid.next_ns)
		end_row(meter, nm_interval_pass(&meter->grid, now_ns));
}

void nm_usage_sampler_end(struct nm_usage_sampler *meter, uint64_t now_ns)
{
	if (!meter->running)
		return;
	struct nm_usage_sampler_sum sum;

	/* The last row ends with the last flow: of who has drained when the last message came. */
	read_sum(meter, &sum);
	uint64_t end_ns = sum.to_ns && sum.to_ns < now_ns ? sum.to_ns : now_ns;

	meter->running = false;
	if (meter->order.usage_to_ns != NM_USAGE_NEVER && !meter->has_after)
		close_window(meter);
	count_until_now(meter);
	if (meter->grid.interval_ns && end_ns > meter->begin_ns + meter->row_ns)
		end_row(meter, end_ns - meter->begin_ns);
}

bool nm_usage_sampler_usage(struct nm_usage_sampler *meter, struct nm_usage *ret_usage)
{
	if (!meter->has_before)
		return false;
	if (!meter->has_after)
		close_window(meter);
	nm_usage_delta(meter->before, meter->after, ret_usage);
	return true;
}

void nm_usage_sampler_counters(const struct nm_usage_sampler *meter,
			       struct nm_perf_values *ret_values)
{
	*ret_values = (struct nm_perf_values){.count = 0};
	if (meter->has_before && meter->has_after)
		nm_perf_delta(&meter->counters_before, &meter->counters_after, ret_values);
}
