/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the transports' numbers of the connections that are open at the end of a phase. */
#include <math.h>
#include <string.h>

#include "engine/engine_priv.h"
#include "engine/observe/observe.h"
#include "stats/summary.h"
#include "transport/transport.h"

/* Options of each segment, which are timestamps, are a part of what was asked for. */
#define MSS_OPTIONS 12u

static void add_connection(struct nm_conn_summary *sum, const struct nm_conn_info *info)
{
	double srtt_s = info->srtt_us * 1e-6, min_rtt_s = info->min_rtt_us * 1e-6;
	double n = (double)++sum->connections;

	if (sum->connections == 1) {
		sum->srtt_min_s = srtt_s;
		sum->mss_min = info->snd_mss;
		memcpy(sum->congestion_control, info->congestion_control,
		       sizeof sum->congestion_control);
	}
	sum->retransmits += info->retransmits;
	sum->srtt_min_s = fmin(sum->srtt_min_s, srtt_s);
	sum->srtt_max_s = fmax(sum->srtt_max_s, srtt_s);
	sum->srtt_mean_s += (srtt_s - sum->srtt_mean_s) / n;
	sum->min_rtt_s = nm_least_known(sum->min_rtt_s, min_rtt_s);
	sum->cwnd_mean += (info->snd_cwnd - sum->cwnd_mean) / n;
	sum->mss_min = info->snd_mss < sum->mss_min ? info->snd_mss : sum->mss_min;
	sum->mss_max = info->snd_mss > sum->mss_max ? info->snd_mss : sum->mss_max;
	nm_conn_tls_add(&sum->tls, &info->tls);
}

/* What all openings of a connection ask for at least; 0: nothing. */
static uint32_t asked_mss(const struct nm_group *group, uint32_t slot)
{
	uint64_t least = UINT32_MAX;

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (!nm_instr_opens(instr) || (instr->slot != slot && !instr->stride))
			continue;
		uint64_t mss = nm_transport_mss_bytes(instr->transport, instr->open.transport_opts);

		least = mss < least ? mss : least;
	}
	return least < UINT32_MAX ? (uint32_t)least : 0;
}

void nm_worker_summarise_conns(const struct nm_worker *worker, struct nm_conn_summary *sum)
{
	for (uint32_t c = 0; c < worker->group->n_conns; c++) {
		uint32_t asked = asked_mss(worker->group, c);

		for (uint32_t i = 0; i < worker->n_flows; i++) {
			const struct nm_conn *conn = nm_flow_conn(nm_worker_flow(worker, i), c);
			struct nm_conn_info info;

			if (!(conn->flags & NM_CONN_OPEN) || !conn->transport->info ||
			    conn->transport->info(conn, &info) < 0)
				continue;
			add_connection(sum, &info);
			if (asked > info.snd_mss + MSS_OPTIONS)
				nm_buffers_add_mss(&sum->cut, asked, info.snd_mss);
		}
	}
}
