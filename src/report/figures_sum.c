/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a whole run that its hosts and groups have one by one: loss, retransmits, CPU. */
#include <math.h>

#include "report/common.h"
#include "report/figures.h"
#include "result/datagram_stats.h"

static bool is_known(const struct nm_datagram_direction *way)
{
	return way->sent_known && (way->sent == 0 || way->lost_known);
}

/* Of all messages sent, both ways; NaN: not known. */
static double loss(const void *item)
{
	struct nm_datagram_stats stats;

	nm_result_datagrams(item, &stats);
	const struct nm_datagram_direction *there = &stats.to_slaves, *back = &stats.to_master;
	double sent = (double)there->sent + (double)back->sent;
	double lost =
		(there->sent ? (double)there->lost : 0) + (back->sent ? (double)back->lost : 0);

	return is_known(there) && is_known(back) && sent > 0 ? lost / sent : NAN;
}

static json_t *make_retransmits(const struct nm_at *at)
{
	uint64_t retransmits = 0;
	bool known = false;

	for (size_t i = 0; i < at->result->n_hosts; i++) {
		const struct nm_conn_report *connections = &at->result->hosts[i].connections;

		known = known || connections->connections;
		retransmits += connections->connections ? connections->retransmits : 0;
	}
	return known ? nm_json_count(retransmits) : json_null();
}

/* Of the host that was busiest; NaN: no host has told. */
static double cpu_busy(const void *item)
{
	const struct nm_result *result = item;
	double most = NAN;

	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];

		if (host->has_usage && host->usage.has_cpu)
			most = fmax(most, nm_cpu_share(&host->usage.cpu,
						       nm_cpu_busy_ns(&host->usage.cpu)));
	}
	return most;
}

#define SHARE_OR_NULL "{'type': ['number', 'null'], 'minimum': 0, 'maximum': 1}"

static const struct nm_figure sum_figures[] = {
	NM_SHARE("loss", loss, .has = nm_has_datagrams, .schema = SHARE_OR_NULL,
		 .doc = "Only when a transport may lose messages: of those sent, both ways, how "
			"many "
			"were never received."),
	NM_MADE("retransmits", make_retransmits, "known_count",
		.doc = "Of the TCP connections of all hosts that were open at the end, since they "
		       "were "
		       "opened."),
	NM_SHARE("cpu_busy", cpu_busy, .alias = "cpu", .schema = SHARE_OR_NULL,
		 .doc = "Of the host that was busiest, all its CPUs together."),
	NM_FIGURE_END,
};

const struct nm_object nm_sum_object = {
	.name = "sum",
	.doc = "What was done in a window of time, and what of the run its hosts and groups have "
	       "one by "
	       "one.",
	.figures = sum_figures,
	.base = &nm_window_object,
	.base_offset = offsetof(struct nm_result, totals),
	.closing = NM_OPEN,
};
