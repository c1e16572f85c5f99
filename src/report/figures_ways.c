/* SPDX-License-Identifier: Apache-2.0 */
/* Throughput by who sends and by who receives: figures of the totals. */
#include "report/end_totals.h"
#include "report/figures.h"

static const struct nm_figure way_figures[] = {
	NM_FIGURE(REAL, struct nm_way, sent_bits_per_s, "sent_bits_per_s",
		  .schema = NM_SCHEMA_REAL_OR_NULL, .doc = "By those who send."),
	NM_FIGURE(REAL, struct nm_way, received_bits_per_s, "received_bits_per_s",
		  .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "By those who receive: their bytes over their own time."),
	NM_FIGURE(REAL, struct nm_way, after_bytes, "after_bytes", .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "Those of the bytes received that came when the time of the transactions "
			 "was over; 0 where they have none."),
	NM_FIGURE(REAL, struct nm_way, after_s, "after_s", .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "How long these took: the time of those who receive is longer by that."),
	NM_FIGURE(REAL, struct nm_way, late_bytes, "late_bytes", .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "Bytes received when the window had closed, as the last flows had not yet "
			 "left: they are in no rate."),
	NM_FIGURE(REAL, struct nm_way, late_s, "late_s", .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "How long these took."),
	NM_FIGURE_END,
};

static const struct nm_object way_object = {.figures = way_figures};

static double sent(const void *item)
{
	return nm_ways_sent(item);
}

static double received(const void *item)
{
	return nm_ways_received(item);
}

const struct nm_figure nm_ways_figures[] = {
	NM_RATE("sent_bits_per_s", sent, .key = "sent_bits_per_s",
		.doc = "Both ways together, by those who send."),
	NM_RATE("received_bits_per_s", received, .key = "received_bits_per_s",
		.alias = "throughput", .doc = "Both ways together, by those who receive."),
	{.json = "to_slaves",
	 .kind = NM_FIGURE_OBJECT,
	 .offset = offsetof(struct nm_ways, to_slaves),
	 .object = &way_object,
	 .doc = "What the master sends and all slaves receive, of whomever."},
	{.json = "to_master",
	 .kind = NM_FIGURE_OBJECT,
	 .offset = offsetof(struct nm_ways, to_master),
	 .object = &way_object,
	 .doc = "What all slaves send, to whomever, and the master receives."},
	NM_FIGURE_END,
};

const struct nm_object nm_ways_object = {
	.name = "throughput",
	.doc = "Of messages, in the measured window, at both ends; null: not known.",
	.figures = nm_ways_figures,
};
