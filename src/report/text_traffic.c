/* SPDX-License-Identifier: Apache-2.0 */
/* What was sent and received, in the summary for people. */
#include "report/text_traffic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "report/common.h"
#include "report/end_totals.h"
#include "report/quantity.h"

#define TEXT NM_TEXT_BYTES

static const char *bits_text(uint64_t bytes, double seconds, char *buf)
{
	if (seconds <= 0)
		return "-";
	return nm_format_bitrate((double)bytes * 8 / seconds, buf, TEXT);
}

const char *nm_text_way(uint64_t bytes, double seconds, char *buf)
{
	return bytes ? bits_text(bytes, seconds, buf) : "-";
}

const char *nm_text_rate(uint64_t count, double seconds, char *buf)
{
	if (seconds <= 0)
		return "-";
	snprintf(buf, TEXT, "%.*f", (double)count / seconds < 100 ? 2 : 0, (double)count / seconds);
	return buf;
}

void nm_text_percentiles(struct nm_table *table, const struct nm_percentiles *percentiles)
{
	char key[TEXT];

	for (size_t i = 0; i < percentiles->count; i++)
		nm_table_text(table, nm_percentile_key(percentiles->pct[i], key, sizeof(key)));
}

size_t nm_text_row_percentiles(const struct nm_percentiles *percentiles, size_t ret_places[2])
{
	size_t count = 0;

	for (size_t i = 0; i < percentiles->count; i++)
		if ((percentiles->pct[i] == 50 || percentiles->pct[i] == 99) && count < 2)
			ret_places[count++] = i;
	return count;
}

static void add_direction(struct nm_table *table, const char *name,
			  const struct nm_datagram_direction *way)
{
	char bits[TEXT], jitter[TEXT], share[TEXT],
		lost[2 * TEXT] = "lost not known, some came twice";
	char order[3 * TEXT] = "  reordered, duplicates not known (too short for a number)";

	if (!way->sent && !way->received)
		return;
	nm_table_text(table, name);
	if (!way->received_known) {
		nm_table_cell(table, "sent %" PRIu64 "  received and lost are not known",
			      way->sent);
		return;
	}
	nm_format_bitrate(way->received_bits_per_s, bits, sizeof(bits));
	if (way->order_known)
		snprintf(order, sizeof order, "  reordered %" PRIu64 "  duplicates %" PRIu64,
			 way->reordered, way->duplicates);
	if (!way->sent_known) {
		nm_table_cell(table, "received %" PRIu64 " (%s)%s  sent and lost are not known",
			      way->received, bits, order);
		return;
	}
	if (way->lost_known)
		snprintf(lost, sizeof lost, "lost %" PRId64 " (%s)", way->lost,
			 nm_share_format(way->sent ? (double)way->lost / (double)way->sent : 0,
					 share, sizeof(share)));
	nm_table_cell(table, "sent %" PRIu64 "  received %" PRIu64 " (%s)  %s%s%s%s", way->sent,
		      way->received, bits, lost, order, way->has_jitter ? "  jitter " : "",
		      way->has_jitter ? nm_format_duration(way->jitter_s, jitter, sizeof(jitter))
				      : "");
}

void nm_text_messages(struct nm_table *table, const struct nm_result *result,
		      const struct nm_datagram_stats *messages)
{
	char late[TEXT] = "not known";

	if (messages->to_master.order_known &&
	    (messages->to_slaves.order_known || !messages->slaves_known))
		snprintf(late, sizeof late, "%" PRIu64,
			 messages->to_master.late + messages->to_slaves.late);
	add_direction(table, result->n_hosts > 1 ? "to slaves" : "to servers",
		      &messages->to_slaves);
	add_direction(table, "to master", &messages->to_master);
	if (messages->any &&
	    (messages->timeouts || messages->to_master.late || messages->to_slaves.late)) {
		nm_table_row(table, "time-outs",
			     "%" PRIu64 "  late answers %s%s  passes unanswered %" PRIu64,
			     messages->timeouts, late,
			     messages->slaves_known ? "" : ", of the master alone",
			     messages->unanswered);
	}
}

void nm_text_datagrams(struct nm_table *table, const struct nm_datagram_stats *messages)
{
	const struct nm_datagram_direction *out = &messages->to_slaves, *in = &messages->to_master;
	uint64_t sent = out->sent + in->sent, received = out->received + in->received;
	uint64_t packets = out->packets_sent + in->packets_sent;
	char a[TEXT], b[TEXT], c[TEXT], of_packets[3 * TEXT] = "";

	if (!messages->slaves_known || messages->seconds <= 0)
		return;
	if (packets < sent)
		snprintf(of_packets, sizeof(of_packets), "  (%.3g in a packet: %s packets/s)",
			 (double)sent / (double)packets,
			 nm_text_rate(packets, messages->seconds, c));
	nm_table_row(table, "datagrams", "sent %s/s  received %s/s%s",
		     nm_text_rate(sent, messages->seconds, a),
		     nm_text_rate(received, messages->seconds, b), of_packets);
}

static const char *way_end(double bits_per_s, char *buf)
{
	return isnan(bits_per_s) ? "not known" : nm_format_bitrate(bits_per_s, buf, TEXT);
}

static void add_way(struct nm_table *table, const char *label, const char *name,
		    const struct nm_way *way)
{
	char sent[TEXT], received[TEXT];

	nm_table_row(table, label, "%ssent %s  received %s", name,
		     way_end(way->sent_bits_per_s, sent),
		     way_end(way->received_bits_per_s, received));
}

#define MUCH_AFTER 0.01 /* of the window */

static void add_received(struct nm_table *table, double bytes, double seconds, double window_s,
			 const char *which, const char *when)
{
	char amount[TEXT], time[TEXT];

	if (!(bytes > 0) || seconds < MUCH_AFTER * window_s)
		return;
	nm_table_row(table, "", "%s %s received in %s %s",
		     nm_format_amount(bytes, amount, sizeof(amount)), which,
		     nm_format_duration(seconds, time, sizeof(time)), when);
}

/* The part of what was received that was still on its way when the time was over, where that took
 * long: the rate of who sends has all of it in a shorter time. And what came after the window. */
static void add_after(struct nm_table *table, const struct nm_way *way, double window_s)
{
	add_received(table, way->after_bytes, way->after_s, window_s, "of it",
		     "after the end of the time");
	add_received(table, way->late_bytes, way->late_s, window_s, "more",
		     "after that, which are in no rate");
}

void nm_text_stream(struct nm_table *table, const struct nm_result *result)
{
	double window_s = result->totals.seconds;
	struct nm_ways ways;

	nm_ways_of(result, &ways);
	bool out = ways.to_slaves.sent_bits_per_s > 0, in = ways.to_master.received_bits_per_s > 0;

	if (out || !in)
		add_way(table, "throughput", out && in ? "to slaves: " : "", &ways.to_slaves);
	if (out || !in)
		add_after(table, &ways.to_slaves, window_s);
	if (in)
		add_way(table, out ? "" : "throughput", out ? "to master: " : "", &ways.to_master);
	if (in)
		add_after(table, &ways.to_master, window_s);
}

void nm_text_throughput(struct nm_table *table, const struct nm_window *totals)
{
	const struct nm_counts *counts = &totals->counts;
	char sent[TEXT], received[TEXT];

	bits_text(counts->bytes_sent, totals->seconds, sent);
	bits_text(counts->bytes_received, totals->seconds, received);
	nm_table_text(table, "throughput");
	if (!counts->bytes_received)
		nm_table_cell(table, "sent %s", sent);
	else if (!counts->bytes_sent)
		nm_table_cell(table, "received %s", received);
	else
		nm_table_cell(table, "sent %s  received %s", sent, received);
}
