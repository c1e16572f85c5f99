/* SPDX-License-Identifier: Apache-2.0 */
#include "control/wire/codec.h"

#include <errno.h>
#include <string.h>

#define N_CPU	     9
#define N_PROCESS    7
#define N_TCP	     5
#define N_NIC	     8
#define N_PSP	     10
#define N_INTERRUPTS 2
#define N_SOFTIRQS   (2 + NM_N_SOFTIRQS)

static json_t *pack_cpu(const struct nm_cpu_times *cpu)
{
	const uint64_t values[N_CPU] = {
		cpu->user_ns, cpu->nice_ns,    cpu->system_ns, cpu->idle_ns, cpu->iowait_ns,
		cpu->irq_ns,  cpu->softirq_ns, cpu->steal_ns,  cpu->n_cpus,
	};

	return nm_u64s_pack(values, N_CPU);
}

static int unpack_cpu(const json_t *list, struct nm_cpu_times *ret)
{
	uint64_t values[N_CPU];

	if (nm_u64s_unpack(list, values, N_CPU) || values[8] > INT32_MAX)
		return -EPROTO;
	*ret = (struct nm_cpu_times){
		.user_ns = values[0],
		.nice_ns = values[1],
		.system_ns = values[2],
		.idle_ns = values[3],
		.iowait_ns = values[4],
		.irq_ns = values[5],
		.softirq_ns = values[6],
		.steal_ns = values[7],
		.n_cpus = (unsigned)values[8],
	};
	return 0;
}

json_t *nm_interval_pack(const struct nm_host_interval *row)
{
	return json_pack("{s:I,s:f,s:f,s:o,s:o}", "phase", (json_int_t)row->phase, "from_s",
			 row->from_s, "to_s", row->to_s, "cpu", pack_cpu(&row->cpu), "counts",
			 nm_counts_pack(&row->counts));
}

int nm_interval_unpack(json_t *body, uint32_t n_phases, struct nm_host_interval *ret)
{
	json_t *phase, *cpu, *counts;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:F,s:F,s:o,s:o}", "phase", &phase,
			   "from_s", &ret->from_s, "to_s", &ret->to_s, "cpu", &cpu, "counts",
			   &counts) < 0 ||
	    n_phases == 0 || nm_u32_unpack(phase, n_phases - 1, &ret->phase) ||
	    unpack_cpu(cpu, &ret->cpu) || nm_counts_unpack(counts, &ret->counts))
		return -EPROTO;
	return 0;
}

static json_t *pack_nics(const struct nm_usage *usage)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < usage->n_nics; i++) {
		const struct nm_nic *nic = &usage->nics[i];
		const uint64_t values[N_NIC] = {
			nic->rx_bytes,	nic->tx_bytes,	nic->rx_packets, nic->tx_packets,
			nic->rx_errors, nic->tx_errors, nic->rx_dropped, nic->tx_dropped,
		};

		if (json_array_append_new(list, json_pack("[o,o]", nm_text_pack(nic->name),
							  nm_u64s_pack(values, N_NIC))) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static int unpack_nics(const json_t *list, struct nm_usage *ret)
{
	if (!json_is_array(list) || json_array_size(list) > NM_USAGE_MAX_NICS)
		return -EPROTO;
	ret->n_nics = json_array_size(list);
	for (size_t i = 0; i < ret->n_nics; i++) {
		const json_t *item = json_array_get(list, i);
		struct nm_nic *nic = &ret->nics[i];
		uint64_t values[N_NIC];

		if (!json_is_array(item) || json_array_size(item) != 2 ||
		    nm_text_copy(json_array_get(item, 0), nic->name, sizeof nic->name) ||
		    nm_u64s_unpack(json_array_get(item, 1), values, N_NIC))
			return -EPROTO;
		nic->rx_bytes = values[0];
		nic->tx_bytes = values[1];
		nic->rx_packets = values[2];
		nic->tx_packets = values[3];
		nic->rx_errors = values[4];
		nic->tx_errors = values[5];
		nic->rx_dropped = values[6];
		nic->tx_dropped = values[7];
	}
	return 0;
}

static json_t *pack_psp(const struct nm_usage *usage)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < usage->n_psp; i++) {
		const struct nm_psp_usage *device = &usage->psp[i];
		const struct nm_psp_stats *s = &device->stats;
		const uint64_t values[N_PSP] = {
			s->key_rotations, s->stale_events, s->rx_packets, s->rx_bytes,
			s->rx_auth_fail,  s->rx_error,	   s->rx_bad,	  s->tx_packets,
			s->tx_bytes,	  s->tx_error,
		};

		if (json_array_append_new(list, json_pack("[o,I,o]", nm_text_pack(device->name),
							  (json_int_t)device->id,
							  nm_u64s_pack(values, N_PSP))) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static int unpack_psp(const json_t *list, struct nm_usage *ret)
{
	if (!json_is_array(list) || json_array_size(list) > NM_PSP_MAX_DEVICES)
		return -EPROTO;
	ret->n_psp = json_array_size(list);
	for (size_t i = 0; i < ret->n_psp; i++) {
		const json_t *item = json_array_get(list, i);
		struct nm_psp_usage *device = &ret->psp[i];
		uint64_t values[N_PSP];

		if (!json_is_array(item) || json_array_size(item) != 3 ||
		    nm_text_copy(json_array_get(item, 0), device->name, sizeof device->name) ||
		    nm_u32_unpack(json_array_get(item, 1), UINT32_MAX, &device->id) ||
		    nm_u64s_unpack(json_array_get(item, 2), values, N_PSP))
			return -EPROTO;
		device->stats = (struct nm_psp_stats){
			.key_rotations = values[0],
			.stale_events = values[1],
			.rx_packets = values[2],
			.rx_bytes = values[3],
			.rx_auth_fail = values[4],
			.rx_error = values[5],
			.rx_bad = values[6],
			.tx_packets = values[7],
			.tx_bytes = values[8],
			.tx_error = values[9],
		};
	}
	return 0;
}

/* What is not had is the reason for that. */
static json_t *pack_interrupts(const struct nm_usage *usage)
{
	const uint64_t values[] = {usage->interrupts.hardware, usage->interrupts.context_switches};

	return usage->has_interrupts ? nm_u64s_pack(values, N_INTERRUPTS)
				     : nm_text_pack(usage->interrupts_why);
}

static json_t *pack_softirqs(const struct nm_usage *usage)
{
	const struct nm_softirqs *softirqs = &usage->softirqs;
	uint64_t values[N_SOFTIRQS] = {softirqs->total, softirqs->known};

	memcpy(&values[2], softirqs->kinds, sizeof softirqs->kinds);
	return usage->has_softirqs ? nm_u64s_pack(values, N_SOFTIRQS)
				   : nm_text_pack(usage->softirqs_why);
}

/* What is not told is the reason for that. */
static int unpack_interrupts(const json_t *interrupts, const json_t *softirqs, struct nm_usage *ret)
{
	uint64_t values[N_SOFTIRQS];

	ret->has_interrupts = json_is_array(interrupts);
	ret->has_softirqs = json_is_array(softirqs);
	if (ret->has_interrupts) {
		if (nm_u64s_unpack(interrupts, values, N_INTERRUPTS))
			return -EPROTO;
		ret->interrupts = (struct nm_interrupts){.hardware = values[0],
							 .context_switches = values[1]};
	} else if (nm_text_copy(interrupts, ret->interrupts_why, sizeof ret->interrupts_why)) {
		return -EPROTO;
	}
	if (ret->has_softirqs) {
		if (nm_u64s_unpack(softirqs, values, N_SOFTIRQS) || values[1] >> NM_N_SOFTIRQS)
			return -EPROTO;
		ret->softirqs.total = values[0];
		ret->softirqs.known = (uint32_t)values[1];
		memcpy(ret->softirqs.kinds, &values[2], sizeof ret->softirqs.kinds);
	} else if (nm_text_copy(softirqs, ret->softirqs_why, sizeof ret->softirqs_why)) {
		return -EPROTO;
	}
	return 0;
}

static json_t *pack_usage(const struct nm_usage *usage)
{
	const struct nm_rusage *process = &usage->process;
	const uint64_t of_process[N_PROCESS] = {
		process->utime_ns, process->stime_ns, process->maxrss_kb, process->minflt,
		process->majflt,   process->nvcsw,    process->nivcsw,
	};
	const uint64_t of_tcp[N_TCP] = {
		usage->tcp.segs_in,  usage->tcp.segs_out,	  usage->tcp.retrans_segs,
		usage->tcp.out_rsts, usage->tcp.listen_overflows,
	};

	return json_pack("{s:I,s:b,s:b,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			 "length_ns", (json_int_t)usage->at_ns, "has_cpu", (int)usage->has_cpu,
			 "has_nics", (int)usage->has_nics, "has_tcp", (int)usage->has_tcp,
			 "has_psp", (int)usage->has_psp, "cpu_why", nm_text_pack(usage->cpu_why),
			 "nics_why", nm_text_pack(usage->nics_why), "tcp_why",
			 nm_text_pack(usage->tcp_why), "psp_why", nm_text_pack(usage->psp_why),
			 "cpu", pack_cpu(&usage->cpu), "process",
			 nm_u64s_pack(of_process, N_PROCESS), "tcp", nm_u64s_pack(of_tcp, N_TCP),
			 "nics", pack_nics(usage), "psp", pack_psp(usage), "interrupts",
			 pack_interrupts(usage), "softirqs", pack_softirqs(usage));
}

static int unpack_usage_numbers(json_t *cpu, json_t *process, json_t *tcp, struct nm_usage *ret)
{
	uint64_t of_process[N_PROCESS], of_tcp[N_TCP];

	if (unpack_cpu(cpu, &ret->cpu) || nm_u64s_unpack(process, of_process, N_PROCESS) ||
	    nm_u64s_unpack(tcp, of_tcp, N_TCP))
		return -EPROTO;
	ret->process = (struct nm_rusage){
		.utime_ns = of_process[0],
		.stime_ns = of_process[1],
		.maxrss_kb = of_process[2],
		.minflt = of_process[3],
		.majflt = of_process[4],
		.nvcsw = of_process[5],
		.nivcsw = of_process[6],
	};
	ret->tcp = (struct nm_tcp_counters){
		.segs_in = of_tcp[0],
		.segs_out = of_tcp[1],
		.retrans_segs = of_tcp[2],
		.out_rsts = of_tcp[3],
		.listen_overflows = of_tcp[4],
	};
	return 0;
}

static int unpack_usage(json_t *body, struct nm_usage *ret)
{
	json_t *length, *cpu_why, *nics_why, *tcp_why, *psp_why, *cpu, *process, *tcp, *nics, *psp;
	json_t *interrupts, *softirqs;
	int has_cpu, has_nics, has_tcp, has_psp;

	if (json_unpack_ex(body, NULL, JSON_STRICT,
			   "{s:o,s:b,s:b,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			   "length_ns", &length, "has_cpu", &has_cpu, "has_nics", &has_nics,
			   "has_tcp", &has_tcp, "has_psp", &has_psp, "cpu_why", &cpu_why,
			   "nics_why", &nics_why, "tcp_why", &tcp_why, "psp_why", &psp_why, "cpu",
			   &cpu, "process", &process, "tcp", &tcp, "nics", &nics, "psp", &psp,
			   "interrupts", &interrupts, "softirqs", &softirqs) < 0)
		return -EPROTO;
	ret->has_cpu = has_cpu;
	ret->has_nics = has_nics;
	ret->has_tcp = has_tcp;
	ret->has_psp = has_psp;
	if (nm_u64_unpack(length, INT64_MAX, &ret->at_ns) ||
	    nm_text_copy(cpu_why, ret->cpu_why, sizeof ret->cpu_why) ||
	    nm_text_copy(nics_why, ret->nics_why, sizeof ret->nics_why) ||
	    nm_text_copy(tcp_why, ret->tcp_why, sizeof ret->tcp_why) ||
	    nm_text_copy(psp_why, ret->psp_why, sizeof ret->psp_why) || unpack_psp(psp, ret) ||
	    unpack_usage_numbers(cpu, process, tcp, ret) ||
	    unpack_interrupts(interrupts, softirqs, ret))
		return -EPROTO;
	return unpack_nics(nics, ret);
}

static json_t *pack_tls(const struct nm_tls_report *tls)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:o,s:o}", "connections", (json_int_t)tls->connections,
			 "resumed", (json_int_t)tls->resumed, "ktls_send",
			 (json_int_t)tls->ktls_send, "ktls_receive", (json_int_t)tls->ktls_receive,
			 "version", nm_text_pack(tls->version), "cipher",
			 nm_text_pack(tls->cipher));
}

static int unpack_tls(json_t *body, struct nm_tls_report *ret)
{
	json_t *connections, *resumed, *ktls_send, *ktls_receive, *version, *cipher;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:o,s:o,s:o,s:o}", "connections",
			   &connections, "resumed", &resumed, "ktls_send", &ktls_send,
			   "ktls_receive", &ktls_receive, "version", &version, "cipher",
			   &cipher) < 0 ||
	    nm_u64_unpack(connections, INT64_MAX, &ret->connections) ||
	    nm_u64_unpack(resumed, INT64_MAX, &ret->resumed) ||
	    nm_u64_unpack(ktls_send, INT64_MAX, &ret->ktls_send) ||
	    nm_u64_unpack(ktls_receive, INT64_MAX, &ret->ktls_receive) ||
	    nm_text_copy(version, ret->version, sizeof ret->version) ||
	    nm_text_copy(cipher, ret->cipher, sizeof ret->cipher))
		return -EPROTO;
	return 0;
}

static json_t *pack_connections(const struct nm_conn_report *conns)
{
	return json_pack("{s:I,s:I,s:f,s:f,s:f,s:f,s:I,s:I,s:o,s:o,s:o}", "connections",
			 (json_int_t)conns->connections, "retransmits",
			 (json_int_t)conns->retransmits, "rtt_min_s", conns->rtt_min_s,
			 "rtt_mean_s", conns->rtt_mean_s, "rtt_max_s", conns->rtt_max_s,
			 "cwnd_mean", conns->cwnd_mean, "mss_min", (json_int_t)conns->mss_min,
			 "mss_max", (json_int_t)conns->mss_max, "congestion_control",
			 nm_text_pack(conns->congestion_control), "why", nm_text_pack(conns->why),
			 "tls", pack_tls(&conns->tls));
}

static int unpack_connections(json_t *body, struct nm_conn_report *ret)
{
	json_t *connections, *retransmits, *mss_min, *mss_max, *cc, *why, *tls;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:F,s:F,s:F,s:F,s:o,s:o,s:o,s:o,s:o}",
			   "connections", &connections, "retransmits", &retransmits, "rtt_min_s",
			   &ret->rtt_min_s, "rtt_mean_s", &ret->rtt_mean_s, "rtt_max_s",
			   &ret->rtt_max_s, "cwnd_mean", &ret->cwnd_mean, "mss_min", &mss_min,
			   "mss_max", &mss_max, "congestion_control", &cc, "why", &why, "tls",
			   &tls) < 0 ||
	    nm_u64_unpack(connections, INT64_MAX, &ret->connections) ||
	    nm_u64_unpack(retransmits, INT64_MAX, &ret->retransmits) ||
	    nm_u32_unpack(mss_min, UINT32_MAX, &ret->mss_min) ||
	    nm_u32_unpack(mss_max, UINT32_MAX, &ret->mss_max) ||
	    nm_text_copy(cc, ret->congestion_control, sizeof ret->congestion_control) ||
	    nm_text_copy(why, ret->why, sizeof ret->why))
		return -EPROTO;
	return unpack_tls(tls, &ret->tls);
}

json_t *nm_result_pack(const struct nm_msg_result *result, size_t n_groups)
{
	json_t *groups = json_array();

	for (size_t i = 0; groups && i < n_groups; i++) {
		if (json_array_append_new(groups, nm_counts_pack(&result->groups[i])) < 0) {
			json_decref(groups);
			groups = NULL;
		}
	}
	const uint64_t arrived[] = {result->arrived.bytes, result->arrived.ns};

	const uint64_t window[] = {result->window.from_ns, result->window.to_ns, result->window.ns};

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:[o,o],s:o}", "groups", groups, "connections",
			 pack_connections(&result->connections), "usage",
			 result->has_usage ? pack_usage(&result->usage) : json_null(), "counters",
			 nm_perf_pack(&result->counters), "arrived", nm_u64s_pack(arrived, 2),
			 "window", nm_u64s_pack(window, 3), nm_counts_pack(&result->window.counts),
			 "report", result->report ? result->report : json_null());
}

int nm_result_unpack(json_t *body, size_t n_groups, struct nm_msg_result *ret)
{
	json_t *groups, *connections, *usage, *counters, *arrived, *times, *counts, *report;
	uint64_t of_arrived[2], of_window[3];

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:o,s:o,s:o,s:[o,o!],s:o}", "groups",
			   &groups, "connections", &connections, "usage", &usage, "counters",
			   &counters, "arrived", &arrived, "window", &times, &counts, "report",
			   &report) < 0 ||
	    !json_is_array(groups) || json_array_size(groups) != n_groups)
		return -EPROTO;
	for (size_t i = 0; i < n_groups; i++) {
		if (nm_counts_unpack(json_array_get(groups, i), &ret->groups[i]))
			return -EPROTO;
	}
	ret->has_usage = !json_is_null(usage);
	ret->report = json_is_null(report) ? NULL : report;
	if (nm_perf_unpack(counters, &ret->counters) || nm_u64s_unpack(arrived, of_arrived, 2))
		return -EPROTO;
	ret->arrived = (struct nm_arrived){.bytes = of_arrived[0], .ns = of_arrived[1]};
	if (nm_u64s_unpack(times, of_window, 3) || nm_counts_unpack(counts, &ret->window.counts))
		return -EPROTO;
	ret->window.from_ns = of_window[0];
	ret->window.to_ns = of_window[1];
	ret->window.ns = of_window[2];
	if (unpack_connections(connections, &ret->connections))
		return -EPROTO;
	return ret->has_usage ? unpack_usage(usage, &ret->usage) : 0;
}
