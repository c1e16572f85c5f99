/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of each end, and how evenly its count grows, for the reports with neper's keys. */
#include "report/end_totals.h"

#include <math.h>

#include "report/common.h"

bool nm_is_stream(const struct nm_result *result)
{
	const struct nm_counts *counts = &result->totals.counts;

	if (result->throughput != NM_THROUGHPUT_AUTO)
		return result->throughput == NM_THROUGHPUT_BITS;
	return (counts->bytes_sent == 0) != (counts->bytes_received == 0);
}

static struct nm_end_totals end_of(const struct nm_counts *counts, double seconds)
{
	struct nm_end_totals end = {.known = seconds > 0,
				    .bytes_received = counts->bytes_received,
				    .bytes_mapped = counts->bytes_mapped};

	if (!end.known)
		return end;
	end.transactions_per_s = (double)counts->iterations / seconds;
	end.sent_bits_per_s = (double)counts->bytes_sent * 8 / seconds;
	end.received_bits_per_s = (double)counts->bytes_received * 8 / seconds;
	return end;
}

static void add_after(struct nm_end_totals *end, const struct nm_host_window *window)
{
	if (window->after_bytes) {
		end->after_bytes += window->after_bytes;
		end->after_s = fmax(end->after_s, (double)window->after_ns / 1e9);
	}
	if (window->late_bytes) {
		end->late_bytes += window->late_bytes;
		end->late_s = fmax(end->late_s, (double)window->late_ns / 1e9);
	}
}

struct nm_end_totals nm_master_totals(const struct nm_result *result)
{
	struct nm_end_totals end = end_of(&result->totals.counts, result->totals.seconds);

	if (result->n_hosts)
		add_after(&end, &result->hosts[0].window);
	return end;
}

struct nm_end_totals nm_slave_totals(const struct nm_result_host *host)
{
	struct nm_end_totals end = end_of(&host->window.counts, (double)host->window.ns / 1e9);

	add_after(&end, &host->window);
	return end;
}

/* The counts of all slaves in the measured transactions of one place in the groups; their time is
 * added to *seconds. */
static void add_phase(const struct nm_result *result, size_t k, struct nm_counts *counts,
		      double *seconds)
{
	struct nm_span span = {.from_ns = 0};

	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		if (k >= group->n_phases || !group->phases[k].measured)
			continue;
		nm_counts_add(counts, &group->phases[k].slaves);
		nm_span_cover(&span, group->phases[k].slaves_span);
	}
	*seconds += nm_span_s(span);
}

/* The slaves' counts in the measured transactions, and their own time in them: this is exact. Where
 * no slave had a part in any, they have done nothing in the master's time. */
static struct nm_end_totals end_of_phases(const struct nm_result *result)
{
	struct nm_counts sum = {0};
	double seconds = 0;
	size_t n_phases = 0;

	for (size_t g = 0; g < result->n_groups; g++)
		if (result->groups[g].n_phases > n_phases)
			n_phases = result->groups[g].n_phases;
	for (size_t k = 0; k < n_phases; k++)
		add_phase(result, k, &sum, &seconds);
	return end_of(&sum, seconds > 0 ? seconds : result->totals.seconds);
}

/* When the last of the slaves' windows closed. */
static uint64_t last_ns(const struct nm_result *result)
{
	uint64_t to_ns = 0;

	for (size_t h = 0; h < result->n_hosts; h++)
		if (!result->hosts[h].is_master && result->hosts[h].window.to_ns > to_ns)
			to_ns = result->hosts[h].window.to_ns;
	return to_ns;
}

/* The window with what came to the host after it, and before the last of the others closed: as if
 * that had come evenly. */
static struct nm_host_window with_late(const struct nm_host_window *window, uint64_t to_ns)
{
	struct nm_host_window with = *window;
	uint64_t within_ns = to_ns > window->to_ns ? to_ns - window->to_ns : 0;
	uint64_t bytes = window->late_bytes;

	if (within_ns >= window->late_ns)
		within_ns = window->late_ns;
	else
		bytes = (uint64_t)((double)bytes * (double)within_ns / (double)window->late_ns);
	with.counts.bytes_received += bytes;
	with.late_bytes -= bytes;
	with.late_ns -= within_ns;
	return with;
}

/* The slaves' counts where only a part of the phases is measured, over the time from the first of
 * their windows to the last: several may have had their part one after the other. What is between
 * the windows of one slave is no part of it. */
static struct nm_end_totals end_of_windows(const struct nm_result *result)
{
	struct nm_counts counts = {0};
	struct nm_span span = {.from_ns = 0};
	double longest_s = 0, between_s = 0;
	uint64_t to_ns = last_ns(result);

	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_host_window *window = &result->hosts[h].window;
		const struct nm_span own = {window->from_ns, window->to_ns};
		struct nm_host_window with;

		if (result->hosts[h].is_master || window->ns == 0)
			continue;
		with = with_late(window, to_ns);
		nm_counts_add(&counts, &with.counts);
		nm_span_cover(&span, own);
		longest_s = fmax(longest_s, (double)window->ns / 1e9);
		between_s = fmax(between_s, nm_span_s(own) - (double)window->ns / 1e9);
	}
	return end_of(&counts, fmax(longest_s, nm_span_s(span) - between_s));
}

static struct nm_end_totals all_slaves(const struct nm_result *result)
{
	struct nm_end_totals end =
		nm_result_is_cut(result) ? end_of_windows(result) : end_of_phases(result);
	uint64_t to_ns = last_ns(result);

	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];
		struct nm_host_window with;

		if (host->is_master)
			continue;
		with = with_late(&host->window, to_ns);
		add_after(&end, &with);
	}
	return end;
}

struct nm_end_totals nm_slaves_totals(const struct nm_result *result)
{
	bool complete = result->n_hosts > 1;

	for (size_t h = 0; h < result->n_hosts; h++)
		complete = complete && result->hosts[h].complete;
	if (!complete)
		return (struct nm_end_totals){.known = false};
	return all_slaves(result);
}

static void set_received(struct nm_way *way, const struct nm_end_totals *end)
{
	way->received_bits_per_s = end->received_bits_per_s;
	way->after_bytes = (double)end->after_bytes;
	way->after_s = end->after_s;
	way->late_bytes = (double)end->late_bytes;
	way->late_s = end->late_s;
}

void nm_ways_of(const struct nm_result *result, struct nm_ways *ret_ways)
{
	static const struct nm_way unknown = {NAN, NAN, NAN, NAN, NAN, NAN};
	struct nm_end_totals master = nm_master_totals(result), slaves = nm_slaves_totals(result);

	*ret_ways = (struct nm_ways){unknown, unknown};
	if (master.known) {
		ret_ways->to_slaves.sent_bits_per_s = master.sent_bits_per_s;
		set_received(&ret_ways->to_master, &master);
	}
	if (slaves.known) {
		ret_ways->to_master.sent_bits_per_s = slaves.sent_bits_per_s;
		set_received(&ret_ways->to_slaves, &slaves);
	}
}

double nm_ways_sent(const struct nm_ways *ways)
{
	return ways->to_slaves.sent_bits_per_s + ways->to_master.sent_bits_per_s;
}

double nm_ways_received(const struct nm_ways *ways)
{
	return ways->to_slaves.received_bits_per_s + ways->to_master.received_bits_per_s;
}

/* Points of a line, and the sums over them. */
struct line {
	size_t n;
	double x, y, mean_x, mean_y, xx, yy, xy;
};

static void add_point(struct line *line, double x, double y)
{
	double dx = x - line->mean_x, dy = y - line->mean_y;

	line->n++;
	line->mean_x += dx / (double)line->n;
	line->mean_y += dy / (double)line->n;
	line->xx += dx * (x - line->mean_x);
	line->yy += dy * (y - line->mean_y);
	line->xy += dx * (y - line->mean_y);
}

static void grow(struct line *line, double seconds, double count)
{
	line->x += seconds;
	line->y += count;
	add_point(line, line->x, line->y);
}

static double count_of(bool stream, uint64_t sent, uint64_t received, uint64_t iterations)
{
	return stream ? (double)sent + (double)received : (double)iterations;
}

static void grow_by_row(struct line *line, const struct nm_result *result,
			const struct nm_result_interval *row, const struct nm_result_host *host,
			bool stream)
{
	const struct nm_counts *counts = &row->window.counts;
	const struct nm_host_interval *own = host ? nm_host_interval_at(result, host, row) : NULL;

	if (own)
		grow(line, own->to_s - own->from_s,
		     count_of(stream, own->counts.bytes_sent, own->counts.bytes_received,
			      own->counts.iterations));
	else if (!host)
		grow(line, row->window.seconds,
		     count_of(stream, counts->bytes_sent, counts->bytes_received,
			      counts->iterations));
}

static void grow_by_window(struct line *line, const struct nm_result *result,
			   const struct nm_result_host *host, bool stream)
{
	const struct nm_counts *counts = host ? &host->window.counts : &result->totals.counts;

	if ((host ? host->window.ns == 0 : result->totals.seconds <= 0))
		return; /* nothing was measured */
	grow(line, host ? (double)host->window.ns / 1e9 : result->totals.seconds,
	     count_of(stream, counts->bytes_sent, counts->bytes_received, counts->iterations));
}

struct nm_linearity nm_linearity_of(const struct nm_result *result,
				    const struct nm_result_host *host)
{
	struct line line = {0};
	bool stream = nm_is_stream(result);

	add_point(&line, 0, 0); /* the begin */
	for (size_t i = 0; i < result->n_intervals; i++) {
		const struct nm_result_interval *row = &result->intervals[i];

		/* A row in which the warm-up ends has a part of it in its count. */
		if (row->part == NM_PART_MEASURED &&
		    row->from_s >= result->grid.warmup_s - NM_GRID_ROUNDING_S)
			grow_by_row(&line, result, row, host, stream);
	}
	if (line.n == 1)
		grow_by_window(&line, result, host, stream);
	struct nm_linearity linearity = {.samples = line.n - 1,
					 .known = line.xx > 0 && line.yy > 0};

	if (linearity.known)
		linearity.correlation = line.xy / sqrt(line.xx * line.yy);
	return linearity;
}
