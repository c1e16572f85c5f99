/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how many datagrams arrived or were lost, from the counts of both ends. */
#include "result/datagram_stats.h"

#include <math.h>

/* A message that comes twice has still been sent once. */
static void find_direction(const struct nm_counts *from, const struct nm_counts *to, double seconds,
			   struct nm_datagram_direction *ret)
{
	uint64_t once = to->messages_received - to->duplicates;

	*ret = (struct nm_datagram_direction){
		.sent_known = true,
		.received_known = true,
		.sent = from->messages_sent,
		.received = to->messages_received,
		.packets_sent = from->messages_sent - from->joined_sent,
		.packets_received = to->messages_received - to->joined_received,
		.order_known = !to->unnumbered,
		.lost_known = true,
		.lost = from->messages_sent > once ? (int64_t)(from->messages_sent - once) : 0,
		.reordered = to->reordered,
		.duplicates = to->duplicates,
		.late = to->late,
		.received_bits_per_s = seconds > 0 ? (double)to->message_bytes * 8 / seconds : 0,
		.has_jitter = to->jitters > 0,
		.jitter_s = to->jitters ? (double)to->jitter_ns / 1e9 / (double)to->jitters : 0,
	};
}

/* More messages came than were sent, though none is known to have come twice: they had no
 * number. */
static bool has_doubled(const struct nm_datagram_direction *way)
{
	return !way->order_known && way->received - way->duplicates > way->sent;
}

/* slaves NULL: their counts are not known. */
static bool has_moved(const struct nm_counts *master, const struct nm_counts *slaves)
{
	return master->messages_sent || master->messages_received ||
	       (slaves && slaves->messages_sent);
}

/* Each end with its own time. slaves as above. */
static void find_ways(const struct nm_counts *master, double seconds,
		      const struct nm_counts *slaves, double slaves_s,
		      struct nm_datagram_stats *ret)
{
	static const struct nm_counts none = {.iterations = 0};
	const struct nm_counts *there = slaves ? slaves : &none;

	ret->any = has_moved(master, slaves);
	ret->slaves_known = slaves != NULL;
	find_direction(master, there, slaves_s, &ret->to_slaves);
	find_direction(there, master, seconds, &ret->to_master);
	ret->timeouts = master->timeouts + there->timeouts;
	ret->unanswered = master->unanswered;
	/* An answer to a question that has come twice is one too many as well. */
	if (slaves && (has_doubled(&ret->to_slaves) || has_doubled(&ret->to_master)))
		ret->to_slaves.lost_known = ret->to_master.lost_known = false;
	if (slaves)
		return;
	ret->to_slaves.received_known = ret->to_master.sent_known = false;
	ret->to_slaves.order_known = false;
	ret->to_slaves.received_bits_per_s = NAN;
	ret->to_slaves.lost_known = ret->to_master.lost_known = false;
	ret->to_slaves.lost = 0;
}

static const struct nm_counts *slaves_of(const struct nm_result_phase *phase)
{
	return phase->slaves_known ? &phase->slaves : NULL;
}

void nm_phase_datagrams(const struct nm_result_phase *phase, struct nm_datagram_stats *ret)
{
	find_ways(&phase->whole.counts, phase->seconds, slaves_of(phase),
		  nm_span_s(phase->slaves_span), ret);
}

bool nm_result_has_datagrams(const struct nm_result *result)
{
	for (size_t g = 0; g < result->n_groups; g++)
		for (size_t k = 0; k < result->groups[g].n_phases; k++) {
			const struct nm_result_phase *phase = &result->groups[g].phases[k];

			if (phase->measured && has_moved(&phase->whole.counts, slaves_of(phase)))
				return true;
		}
	return false;
}

/* Sets the rates of reception within the window, of each host by its own clock. */
static void cut_rates(const struct nm_result *result, struct nm_datagram_stats *messages)
{
	messages->to_master.received_bits_per_s = 0;
	if (messages->slaves_known)
		messages->to_slaves.received_bits_per_s = 0;
	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];
		struct nm_datagram_direction *way =
			host->is_master ? &messages->to_master : &messages->to_slaves;

		if (host->arrived.ns)
			way->received_bits_per_s +=
				(double)host->arrived.bytes * 8e9 / (double)host->arrived.ns;
	}
}

void nm_result_datagrams(const struct nm_result *result, struct nm_datagram_stats *ret)
{
	struct nm_counts master = {.iterations = 0}, slaves = {.iterations = 0};
	double seconds = 0, slaves_s = 0;
	bool known = true;

	for (size_t g = 0; g < result->n_groups; g++) {
		double of_group = 0, of_slaves = 0;

		for (size_t k = 0; k < result->groups[g].n_phases; k++) {
			const struct nm_result_phase *phase = &result->groups[g].phases[k];

			nm_phase_datagrams(phase, ret);
			if (!phase->measured || !ret->any)
				continue;
			nm_counts_add(&master, &phase->whole.counts);
			nm_counts_add(&slaves, &phase->slaves);
			known &= phase->slaves_known;
			of_group += phase->seconds;
			of_slaves += nm_span_s(phase->slaves_span);
		}
		seconds = of_group > seconds ? of_group : seconds;
		slaves_s = of_slaves > slaves_s ? of_slaves : slaves_s;
	}
	find_ways(&master, seconds, known ? &slaves : NULL, slaves_s, ret);
	ret->seconds = seconds;
	if (nm_result_is_cut(result))
		cut_rates(result, ret);
}

/* In an interval the difference of sent and received messages would be those on their way. */
static void find_missing(const struct nm_counts *to, struct nm_datagram_direction *way)
{
	way->lost_known = way->received_known && !to->unnumbered;
	way->lost = way->lost_known ? (int64_t)to->skipped - (int64_t)to->reordered : 0;
}

/* The counts of slaves in the time of a row. */
struct slaves {
	struct nm_counts counts;
	double bits_per_s;
	bool known;
};

/* The last row of the master includes all counts of a slave since the row began: the slave may have
 * drained for longer. */
static void add_slave(const struct nm_result *result, size_t number,
		      const struct nm_result_host *host, struct slaves *slaves)
{
	const struct nm_result_interval *row = &result->intervals[number];
	const struct nm_host_interval *first = nm_host_interval_at(result, host, row);
	const struct nm_host_interval *end = first ? host->intervals + host->n_intervals : NULL;
	bool last = nm_interval_is_last(result, row);
	struct nm_counts counts = {.iterations = 0};
	double to_s = row->from_s;

	/* The slave was done before the row began. */
	if (!first && last && nm_host_done_by(host, row->phase, row->from_s))
		return;
	for (const struct nm_host_interval *own = first; own < end; own++) {
		if (own->phase != row->phase || (own != first && !last))
			break;
		nm_counts_add(&counts, &own->counts);
		to_s = own->to_s;
	}
	slaves->known = slaves->known && first;
	nm_counts_add(&slaves->counts, &counts);
	if (first && to_s > first->from_s)
		slaves->bits_per_s += (double)counts.message_bytes * 8 / (to_s - first->from_s);
}

void nm_interval_datagrams(const struct nm_result *result, size_t number,
			   struct nm_datagram_stats *ret)
{
	const struct nm_window *window = &result->intervals[number].window;
	struct slaves slaves = {.known = true};

	for (size_t i = 0; i < result->n_hosts; i++)
		if (!result->hosts[i].is_master)
			add_slave(result, number, &result->hosts[i], &slaves);
	find_ways(&window->counts, window->seconds, slaves.known ? &slaves.counts : NULL, 0, ret);
	if (slaves.known)
		ret->to_slaves.received_bits_per_s = slaves.bits_per_s;
	find_missing(&slaves.counts, &ret->to_slaves);
	find_missing(&window->counts, &ret->to_master);
}

void nm_host_interval_datagrams(const struct nm_host_interval *row,
				struct nm_datagram_direction *ret)
{
	find_direction(&row->counts, &row->counts, row->to_s - row->from_s, ret);
	find_missing(&row->counts, ret);
}
